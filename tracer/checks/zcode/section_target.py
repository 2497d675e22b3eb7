"""Each section goes where it belongs: those for the system into the leading system messages, the
skills, the instruction files and the date into the notes behind them.

What changes from day to day or with a file would otherwise stand in the system text, before
everything that could be cached; and instructions of a person would speak with the system's voice.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.anatomy.sections import section_rule
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._headings import META_KINDS, SKILLS_OPENING, headings
from tracer.checks.zcode._requests import HEAD, body_of, conversation, same_head, text_of
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Sections go to their target"
SOURCE = "formats/zcode.md 7.1"

REPORT = Reporter(__name__, LEVEL)
_ENOUGH_CHARS = 40
_PEOPLES_TEXT = {Variant.CUSTOM: 1, Variant.SUBAGENT: 1}
"""The system message that holds a prompt which a person wrote."""


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each section in the other half of the prefix."""
    for request in conversation(session):
        if not request.head_proven:
            yield REPORT.needs(HEAD, request)
        elif not same_head(session, request):
            yield from _in_system(request)
        yield from _in_context(request)


def _in_system(request: CheckedRequest) -> Iterator[Found]:
    skip = _PEOPLES_TEXT.get(Variant(request.variant)) if request.variant else None
    for index in range(request.leading):
        if index == skip:
            continue
        text = text_of(request.messages[index])
        for heading in headings(text, META_KINDS):
            yield _found(request, index, heading.kind.source, heading.kind.heading)
        if f"\n\n{SKILLS_OPENING}" in text:
            yield _found(request, index, "skills", SKILLS_OPENING)


def _in_context(request: CheckedRequest) -> Iterator[Found]:
    """People write headings into instruction files, so only what the log names as a section of the
    system counts."""
    if request.built is None:
        return
    for reminder in request.reminders:
        at = reminder.message_index
        if at > request.leading + 1:
            break
        if reminder.source != "context_prefix" or at < request.common or not request.proves(at):
            continue
        body = body_of(request, reminder)
        for section in request.built.sections:
            long_enough = section.text is not None and len(section.text) >= _ENOUGH_CHARS
            is_system = section_rule(section.source).target == "system"
            if long_enough and is_system and section.text is not None and section.text in body:
                yield _found(request, at, section.source, section.text[:_ENOUGH_CHARS])


def _found(request: CheckedRequest, index: int, source: str, begins: str) -> Found:
    belongs = "the notes behind" if section_rule(source).target == "meta_user" else "one of"
    return REPORT.found(
        request,
        f"The section {source} stands in message {index}; it belongs into {belongs} the leading "
        "system messages.",
        index,
        begins_with=begins,
    )
