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
_MARKS = frozenset(("--T::", "-- ::"))


def epoch_ms(value: Any) -> int | None:
    """Milliseconds since 1970 UTC of an ISO time (no zone: UTC) or of a number that is already
    epoch milliseconds; None for anything else."""
    if isinstance(value, str):
        ms = _as_written(value)
        ms = _from_iso(value) if ms is None else ms
    else:
        ms = int_of(value)
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


def _as_written(value: str) -> int | None:
    """The same of a time as agents write it, as in `2026-01-12T09:02:11.123Z`, found several times
    as fast; None for any other."""
    if len(value) != 24 or value[23] != "Z" or value[19] != "." or not value.isascii():
        return None
    # What else has this length, as a week's date, has no such marks at these places; whether a day
    # has an hour 24 depends on Python's version.
    if value[4::3][:5] not in _MARKS or not value[20:23].isdigit() or value[11:13] == "24":
        return None
    try:
        moment = datetime.fromisoformat(value[:19] + "Z")
    except ValueError:
        return None
    return int(moment.timestamp()) * 1000 + int(value[20:23])


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
