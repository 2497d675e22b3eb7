"""Notes about plugins, whose words are not known (formats/zcode.md 8, `plugin_reference`).

The runtime adds one when the user's text had a `plugin://` reference. So a note without a known
opening that repeats such a reference of the user's message beside it is taken for one; and where it
is merged into system text, the paragraph that names the reference begins it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from tracer.anatomy.messages import PlacedSpan, Sort, Spans
from tracer.anatomy.reminder_sources import PLUGIN_SOURCE, UNKNOWN
from tracer.anatomy.reminders import ReminderSpan, paragraph_starts

_REFERENCE = re.compile(r"plugin://[^\s\"'`<>()\[\]]+")


def settle_plugins(
    texts: Sequence[Sequence[str]], sorts: Sequence[Sort], spans: Sequence[Spans]
) -> list[Spans]:
    """The spans of each message with plugin notes named. `texts` holds a message's block texts; the
    messages between two of the assistant belong together."""
    out = list(spans)
    for start, end in _stretches(sorts):
        references = {
            reference.rstrip(".,;:!?")
            for i in range(start, end)
            if sorts[i] is Sort.USER
            for text in texts[i]
            if "plugin://" in text
            for reference in _REFERENCE.findall(text)
        }
        if references:
            for i in range(start, end):
                if sorts[i] in (Sort.WRAPPED, Sort.MCS):
                    out[i] = tuple(
                        PlacedSpan(block, named)
                        for block, span in spans[i]
                        for named in _named(texts[i][block], span, references, sorts[i])
                    )
    return out


def _stretches(sorts: Sequence[Sort]) -> list[tuple[int, int]]:
    bounds = [-1, *(i for i, sort in enumerate(sorts) if sort is Sort.ASSISTANT), len(sorts)]
    return [(a + 1, b) for a, b in zip(bounds, bounds[1:], strict=False) if b > a + 1]


def _named(text: str, span: ReminderSpan, references: set[str], sort: Sort) -> list[ReminderSpan]:
    if span.source == UNKNOWN:
        body = text[span.start_char : span.end_char]
        named = any(reference in body for reference in references)
        return [replace(span, source=PLUGIN_SOURCE) if named else span]
    if sort is not Sort.MCS and not span.merged:
        return [span]
    for at in paragraph_starts(text, span.start_char, span.end_char):
        line = text[at : span.end_char].split("\n", 1)[0]
        if at > span.start_char and any(reference in line for reference in references):
            first = replace(span, end_char=at - 2, merged=True)
            second = replace(
                first,
                source=PLUGIN_SOURCE,
                start_char=at,
                end_char=span.end_char,
                ambiguous_with=(),
                presentation="",
            )
            return [first, second]
    return [span]
