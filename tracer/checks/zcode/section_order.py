"""The sections of the prefix stand in the builder's order, stable ones before dynamic ones, on the
wire and in the log.

The order is what keeps what changes behind what does not. A dynamic section before a stable one
takes the stable one out of the cache whenever it changes.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.anatomy.sections import SECTION_KINDS, SectionKind, section_rule
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._headings import META_KINDS, SYSTEM_KINDS, headings
from tracer.checks.zcode._requests import HEAD, body_of, conversation, same_head, text_of
from tracer.model.events import ContextBuilt
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Sections stand in their order"
SOURCE = "formats/zcode.md 7"

REPORT = Reporter(__name__, LEVEL)
_RANKS = {kind.source: rank for rank, kind in enumerate(SECTION_KINDS)}
_TARGETS, _HINTS = ("system", "meta_user"), ("stable", "dynamic")
_STABLE_AT, _DYNAMIC_AT = 1, 2


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each pair of sections in another order."""
    built: list[int] = []
    for request in conversation(session):
        if request.built is not None and id(request.built) not in built:
            built.append(id(request.built))
            yield from _of_log(request, request.built)
        if not request.head_proven:
            yield REPORT.needs(HEAD, request)
        elif not same_head(session, request):
            yield from _of_head(request)
        yield from _of_context(request)


def _of_log(request: CheckedRequest, built: ContextBuilt) -> Iterator[Found]:
    """The log gives the order of injection: by target, then by stability, then the builder's. A
    subagent lists its skills last."""
    known = [s.source for s in built.sections if s.source in _RANKS]
    if request.variant == Variant.SUBAGENT and known[-1:] == ["skills"]:
        known.pop()
    for before, after in zip(known, known[1:], strict=False):
        if _log_rank(before) > _log_rank(after):
            yield REPORT.found(
                request,
                f"The log lists the section {before} before {after}.",
                log_order=", ".join(known),
            )
            return


def _log_rank(source: str) -> tuple[int, int, int]:
    rule = section_rule(source)
    return _TARGETS.index(rule.target), _HINTS.index(rule.cache_hint), _RANKS[source]


def _of_head(request: CheckedRequest) -> Iterator[Found]:
    """Only the texts in which several sections stand can have an order."""
    if request.variant == Variant.MAIN:
        text = text_of(request.messages[_STABLE_AT])
        for heading in headings(text, SYSTEM_KINDS)[:1]:
            yield REPORT.found(
                request,
                f"The dynamic section {heading.kind.source} stands among the stable ones, in "
                f"message {_STABLE_AT}.",
                _STABLE_AT,
                heading=heading.kind.heading,
                belongs_in_message=_DYNAMIC_AT,
            )
    dynamic = {Variant.MAIN: _DYNAMIC_AT, Variant.WORKFLOW_ACTOR: 1}.get(Variant(request.variant))
    if dynamic is not None:
        yield from _in_order(request, dynamic, text_of(request.messages[dynamic]), SYSTEM_KINDS)


def _of_context(request: CheckedRequest) -> Iterator[Found]:
    for reminder in request.reminders:
        if reminder.message_index > request.leading + 1:
            break
        if reminder.source == "context_prefix" and reminder.message_index >= request.common:
            body = body_of(request, reminder)
            yield from _in_order(request, reminder.message_index, body, META_KINDS)


def _in_order(
    request: CheckedRequest, index: int, text: str, kinds: tuple[SectionKind, ...]
) -> Iterator[Found]:
    found = [heading.kind for heading in headings(text, kinds)]
    for before, after in zip(found, found[1:], strict=False):
        if _RANKS[before.source] > _RANKS[after.source]:
            yield REPORT.found(
                request,
                f"The section {before.source} stands before {after.source} in message {index}.",
                index,
                order=", ".join(kind.source for kind in found),
            )
            return
