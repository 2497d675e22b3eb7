"""When the date changes, the next turn tells so in a note; the date of the prefix stays.

Without the note the model goes on with yesterday's date, in file names, logs and answers. The
log's times are UTC and the agent's date is local, so only two days' difference is certain.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import (
    WHOLE_LIST,
    before,
    body_of,
    conversation,
    section_text,
)
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "A new date is told"
SOURCE = "formats/zcode.md 8.3"

REPORT = Reporter(__name__, LEVEL)
_NEEDS_DATE = "a date in the section current_date"
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SURE = timedelta(days=2)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for the first request of a turn with a date that is past."""
    for request in conversation(session):
        earlier = before(session, request)
        if earlier is not None and earlier.turn_id == request.turn_id:
            continue
        if not request.whole:
            yield REPORT.needs(WHOLE_LIST, request)
            continue
        if request.started_at_ms is None:
            continue
        known = _newest(request)
        if known is None:
            yield REPORT.needs(_NEEDS_DATE, request)
            continue
        now = datetime.fromtimestamp(request.started_at_ms / 1000, UTC).date()
        if now - known[0] >= _SURE:
            yield REPORT.found(
                request,
                f"The request was sent on {now} (UTC), and the newest date in it is {known[0]}.",
                known[1],
                newest_date=known[0],
                sent_on=now,
            )


def _newest(request: CheckedRequest) -> tuple[date, int] | None:
    """The newest date that the prompt tells, and its message."""
    found = []
    for section in request.sections:
        if section.source == "current_date":
            found.append((_date(section_text(request, section)), section.message_index))
    if not any(day for day, _ in found):
        return None
    for reminder in request.reminders:
        if reminder.source == "date_change":
            found.append((_date(body_of(request, reminder)), reminder.message_index))
    return max((day, index) for day, index in found if day is not None)


def _date(text: str) -> date | None:
    match = _ISO.search(text)
    if match is None:
        return None
    year, month, day = map(int, match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None
