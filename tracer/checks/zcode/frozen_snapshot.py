"""What the agent saw when it was started stays as it was: git status, date and instruction files do
not change in the prefix until the program is started anew.

The prefix is built again at every turn, from the same snapshot. If it changes, everything behind it
is billed again; a new date is told by a note at the end instead.
"""

from collections.abc import Iterator

from tracer.anatomy.instructions import instruction_files
from tracer.anatomy.prompt import PlacedSection
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import (
    LOG,
    EventTimes,
    around,
    conversation,
    section_text,
    undecided,
)
from tracer.compare.texts import first_difference
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "The snapshot of the workspace does not change"
SOURCE = "formats/zcode.md 8.3"

REPORT = Reporter(__name__, LEVEL)
_WHAT = {
    "system_context": "The git status",
    "current_date": "The date",
    "request_user_context": "What the instruction files say",
}
_STARTS = frozenset({"session.resumed", "context.built", "session_resumed", "session_created"})


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each change; with a log that does not tell of starts, what it needs."""
    last: dict[tuple[str, str], tuple[PlacedSection, CheckedRequest]] = {}
    starts = EventTimes(session, _STARTS)
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for section in request.sections:
            if section.source not in _WHAT or not request.proves(section.message_index):
                continue
            key = request.query_source, section.source
            was = last.get(key)
            last[key] = section, request
            if was is None or was[0].content_hash == section.content_hash:
                continue
            if not session.events:
                yield REPORT.needs(LOG, request)
            elif not starts.between(was[1], request):
                yield _found(request, section, *was)


def _found(
    request: CheckedRequest, section: PlacedSection, was: PlacedSection, earlier: CheckedRequest
) -> Found:
    before, now = section_text(earlier, was), section_text(request, section)
    at = first_difference(before, now)
    return REPORT.found(
        request,
        f"{_WHAT[section.source]} changed in message {section.message_index} while the program "
        f"ran: request {earlier.seq} had another text.",
        section.message_index,
        section=section.source,
        **_files(section.source, before, now),
        before=around(before, at),
        now=around(now, at),
    )


def _files(source: str, before: str, now: str) -> dict[str, object]:
    if source != "request_user_context":
        return {}
    one, other = _contents(before), _contents(now)
    changed = [p for p in {**one, **other} if one.get(p) != other.get(p)]
    return {"files": ", ".join(changed)} if changed else {}


def _contents(text: str) -> dict[str, str]:
    return {f.path: text[f.start_char : f.end_char] for f in instruction_files(text, 0, len(text))}
