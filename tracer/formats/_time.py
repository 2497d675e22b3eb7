"""ISO 8601 times of logs as UTC epoch milliseconds."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from tracer.formats._json import int_of

# The years 1 to 9999: other numbers are no times, and no calendar could show them.
_FIRST_MS = -62_135_596_800_000
_LAST_MS = 253_402_300_799_999
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
)


def epoch_ms(value: Any) -> int | None:
    """Milliseconds since 1970 UTC of an ISO time (no zone: UTC) or of a number that is already
    epoch milliseconds; None for anything else."""
    ms = _from_iso(value) if isinstance(value, str) else int_of(value)
    return ms if ms is not None and _FIRST_MS <= ms <= _LAST_MS else None


def _from_iso(value: str) -> int | None:
    match = _ISO.fullmatch(value.strip())
    if not match:
        return None
    year, month, day, hour, minute, second = (int(g) for g in match.groups()[:6])
    if second > 60:
        return None
    millis = int((match[7] or "0").ljust(3, "0")[:3])
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=_zone(match[8]))
    except ValueError:
        return None
    return int(moment.timestamp()) * 1000 + millis


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
