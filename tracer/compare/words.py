"""What changed inside a line: spans of words, on short lines only."""

import re

from tracer.compare.match import Run, match
from tracer.compare.texts import common_suffix, first_difference

MAX_WORD_CHARS = 2_000
"""Longer lines are not split into words: one span covers everything between their equal ends."""

MAX_WORDS = 400
LEAST_SHARED = 0.3
"""Share of the longer line below which two lines are not versions of one: no spans."""

_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\s+|.",
    re.DOTALL,
)
Spans = tuple[tuple[int, int], ...]


def changed_words(before: str, after: str) -> tuple[Spans, Spans] | None:
    """The changed spans of either line; None where the lines share too little. Looks at
    MAX_WORDS words at most on either side."""
    head = first_difference(before, after)
    tail = common_suffix(before, after, min(len(before), len(after)) - head)
    longer = max(len(before), len(after))
    if longer <= MAX_WORD_CHARS:
        words = _by_words(before, after)
        if words is not None:
            a, b, shared = words
            return (a, b) if shared >= LEAST_SHARED * longer else None
    if head + tail < LEAST_SHARED * longer:
        return None
    return _span(head, len(before) - tail), _span(head, len(after) - tail)


def ends_alike(before: str, after: str) -> bool:
    """Whether the equal ends of two lines alone make them versions of one. Cheap."""
    head = first_difference(before, after)
    tail = common_suffix(before, after, min(len(before), len(after)) - head)
    return head + tail >= LEAST_SHARED * max(len(before), len(after), 1)


def _by_words(before: str, after: str) -> tuple[Spans, Spans, int] | None:
    a, b = _WORD.findall(before), _WORD.findall(after)
    if len(a) > MAX_WORDS or len(b) > MAX_WORDS:
        return None
    ids: dict[str, int] = {}
    numbers_a = [ids.setdefault(word, len(ids)) for word in a]
    numbers_b = [ids.setdefault(word, len(ids)) for word in b]
    starts_a, starts_b = _starts(a), _starts(b)
    spans_a: list[tuple[int, int]] = []
    spans_b: list[tuple[int, int]] = []
    shared = at_a = at_b = 0
    for run in [*match(numbers_a, numbers_b).runs, Run(len(a), len(b), 0)]:
        spans_a += _span(starts_a[at_a], starts_a[run.a])
        spans_b += _span(starts_b[at_b], starts_b[run.b])
        at_a, at_b = run.a + run.size, run.b + run.size
        shared += sum(len(word) for word in a[run.a : at_a] if not word.isspace())
    return tuple(spans_a), tuple(spans_b), shared


def _starts(words: list[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _span(start: int, end: int) -> Spans:
    return ((start, end),) if end > start else ()
