"""Sentences about requests, for accessible names and titles. Exact numbers, no charts."""

from tracer.model.anatomy_views import SectionView
from tracer.model.events import Status
from tracer.model.prompt import Marker
from tracer.model.usage import Convention, Usage
from tracer.model.views import RequestOutline, RequestSummary, TimelineColumn
from tracer.words import TIER_WORDS, plural
from web.filters import duration, num, one_line
from web.verdict_words import brief_words

_SIDE = (("title", "T", "title"), ("compact", "C", "compaction"), ("summar", "C", "compaction"),
         ("agent", "S", "subagent"))  # fmt: skip


def side_call(request: RequestSummary | RequestOutline) -> tuple[str, str]:
    """The letter and the word for a call outside the conversation: ("T", "title")."""
    source = request.query_source or request.lane.partition("@")[0]
    for piece, letter, word in _SIDE:
        if piece in source.lower():
            return letter, word
    return (one_line(source)[:1].upper() or "?"), one_line(source) or "side call"


def usage_words(usage: Usage | None) -> str:
    """What the provider billed, as a sum: input 125,440 = read 36,992 + fresh 88,448."""
    return "usage not reported" if usage is None else counts_words(usage)


def counts_words(usage: Usage | RequestOutline) -> str:
    """The same of the counts of a request in short."""
    if usage.input_tokens is None:
        return "usage not reported"
    pieces = [
        f"{name} {num(value)}"
        for name, value in (
            ("read", usage.cache_read_tokens),
            ("write", usage.cache_write_tokens),
            ("fresh", usage.fresh_tokens),
        )
        if value is not None
    ]
    total = f"input {num(usage.input_tokens)}"
    return f"{total} = {' + '.join(pieces)}" if len(pieces) > 1 else total


_CONVENTIONS = {
    Convention.INCLUSIVE: "input includes the cache counts: fresh = input − read − write",
    Convention.EXCLUSIVE: "cache counts come on top: input = reported input + read + write",
    Convention.UNKNOWN: "it is not known whether input includes the cache counts",
}


def convention_words(convention: Convention) -> str:
    """How the reported numbers add up, in words."""
    return _CONVENTIONS[convention]


_HOW = {
    "logged": "as logged", "heading": "by its heading", "place": "by its place",
    "not observed": "named by the log",
}  # fmt: skip


def carried_words(section: SectionView) -> str:
    """What is known of a section that stands in a message which the record does not show."""
    proven = section.proven_seq
    last = (
        f"request {num(proven)} was the last to show this section"
        if proven
        else "no earlier request shows this section"
    )
    return f"taken over from other records, an edit of it would not show here: {last}"


def how_words(how: str) -> str:
    """How a section was found, in words."""
    return _HOW.get(how, one_line(how))


_VARIANTS = {
    "main": "the default agent", "custom": "a custom system prompt",
    "workflow_actor": "an actor of a workflow", "subagent": "a subagent",
    "none": "no agent: a bare call", "unknown": "unknown",
}  # fmt: skip


def variant_words(variant: str) -> str:
    """The kind of prefix, in words."""
    return _VARIANTS.get(variant, one_line(variant).replace("_", " "))


def marker_words(marker: Marker) -> str:
    """Where a cache breakpoint stands: message 12, to live 5m."""
    if marker.message_index is not None:
        place = f"message {num(marker.message_index)}"
    else:
        place = f"{TIER_WORDS[marker.tier]} {num(marker.index)}"
    if marker.block_index:
        place += f", block {num(marker.block_index)}"
    notes = [f"to live {one_line(marker.ttl)}"] if marker.ttl else []
    notes += [f"scope {one_line(marker.scope)}"] if marker.scope else []
    return ", ".join([place, *notes])


def place_words(request: RequestSummary | RequestOutline) -> str:
    """Where in the conversation a request stands: turn 4, step 3."""
    if request.side_call:
        return f"{side_call(request)[1]} call"
    if request.turn_number is None:
        return "no turn"
    step = "" if request.step is None else f", step {request.step}"
    return f"turn {request.turn_number}{step}"


def column_words(column: TimelineColumn) -> str:
    """The whole column in words, with exact numbers."""
    request = column.request
    parts = [f"Request {request.seq}, {place_words(request)}", request.status.value]
    if request.attempts > 1:
        parts.append(f"attempt {request.attempt} of {request.attempts}")
    if request.status is Status.FAILED and request.error:
        parts.append(one_line(request.error)[:120])
    new = sum(size.new_tokens for size in column.parts)
    scale = "BPE tokens" if all(size.counted for size in column.parts) else "tokens"
    parts.append(
        f"prompt {num(column.prompt_tokens)} {scale}, {num(new)} new"
        if column.parts
        else "prompt not logged"
    )
    parts.append(usage_words(request.usage))
    if request.verdict is not None:
        parts.append(brief_words(request.verdict))
    parts.append(f"{one_line(request.model_id)}, {duration(request.duration_ms)}")
    if request.markers:
        parts.append(plural(len(request.markers), "marker"))
    if request.observed != "full":
        parts.append(request.observed)
    return "; ".join(parts)


WORDS = {
    "convention_words": convention_words,
    "carried_words": carried_words,
    "how_words": how_words,
    "marker_words": marker_words,
    "place_words": place_words,
    "side_call": side_call,
    "usage_words": usage_words,
    "variant_words": variant_words,
}
"""The filters of this module, by name."""
