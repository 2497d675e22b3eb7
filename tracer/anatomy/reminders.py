"""Which reminders a block holds, judged by its text, its role and how it was carried.

The request has no labels: a reminder is known by its place and by how its body starts
(formats/zcode.md 8 and 8.2). What a block alone cannot decide is left open here: two sources with
one opening are both named, and `tracer.anatomy.prompt` settles them by place where it can.

Everything is an offset in Unicode code points into the block's own text; a span covers a body
without its tag.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from tracer.anatomy.fences import Fences
from tracer.anatomy.parts import reminder_body
from tracer.anatomy.reminder_sources import (
    BODY_START,
    GOAL_STATE,
    INLINE_SOURCE,
    REMINDER_SOURCES,
    UNKNOWN,
    Match,
    match_opening,
)

RULES_VERSION = 1
"""Changes whenever the same block would be read differently than before."""

OPEN_TAG = "<system-reminder>"
CLOSE_TAG = "</system-reminder>"
MAX_UNVERIFIED = 50
"""Look-alike tags kept of one block; a text with more of them is about tags."""

_GOAL = Match(("goal_state_change",))
_TAG_CHARS = len(OPEN_TAG) + 1
_LOOK_ALIKE = re.compile(r"</?\s*system[-_ ]reminder\b[^>\n]{0,80}>?", re.IGNORECASE)
_INLINE = re.compile(
    rf"(?:\A|\n\n){OPEN_TAG}\n(?P<body>(?:(?!</?system-reminder>).)*)\n{CLOSE_TAG}\n?\Z", re.DOTALL
)


class Via(StrEnum):
    """How a reminder was carried: in a tagged user message, as mid-conversation system text, or
    inside a tool's result."""

    REMINDER = "reminder"
    MCS = "mcs"
    INLINE = "inline"


class Trust(StrEnum):
    """Why a text is believed to be a reminder.

    TAGGED: the whole text is one tag pair. SYSTEM: it has the system role, which only the runtime
    can give. PLACE: it stands where the runtime would put it, but the tool could have printed it
    as well; such a one is shown and never counted.
    """

    TAGGED = "tagged"
    SYSTEM = "system"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class ReminderSpan:
    """One reminder body, `start_char` to `end_char` of its block's text.

    `source` is `unknown` where no opening fits. `ambiguous_with` names the other sources with the
    same opening. `presentation` is that of an incoming message (formats/zcode.md 8.1). `merged`
    tells that several bodies stand in one tag.
    """

    source: str
    start_char: int
    end_char: int
    ambiguous_with: tuple[str, ...] = ()
    presentation: str = ""
    trust: Trust = Trust.TAGGED
    merged: bool = False

    @property
    def counted(self) -> bool:
        """False where a tool may have printed it."""
        return self.trust is not Trust.PLACE

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every source it may come from."""
        return (self.source, *self.ambiguous_with)


@dataclass(frozen=True, slots=True)
class Unverified:
    """A text that looks like a reminder's tag and is none: typed, quoted or printed by a tool."""

    start_char: int
    end_char: int
    why: str


def recognise_reminders(text: str, role: str, via: Via) -> tuple[ReminderSpan, ...]:
    """The reminder bodies of a block, in order (formats/zcode.md 8 and 8.2).

    `via` says how the block could carry one: MCS for a system text behind the prefix, REMINDER for
    a user's text block, INLINE for a tool's result. Anything else holds none, whatever its text.
    """
    if via is Via.MCS and role == "system":
        return _merged(text, 0, len(text), Trust.SYSTEM)
    if via is Via.REMINDER and role == "user":
        return _tagged(text)
    if via is Via.INLINE and role == "tool":
        return _inline(text)
    return ()


def unverified_tags(text: str, spans: Sequence[ReminderSpan], why: str) -> tuple[Unverified, ...]:
    """The look-alike tags of a block that are not the tags of its recognised reminders."""
    if "reminder" not in text and "REMINDER" not in text.upper():
        return ()
    return tuple(islice(_look_alikes(text, spans, why), MAX_UNVERIFIED))


def _look_alikes(text: str, spans: Sequence[ReminderSpan], why: str) -> Iterator[Unverified]:
    own = set()
    if spans and spans[0].trust is not Trust.SYSTEM:
        own = {spans[0].start_char - _TAG_CHARS, spans[-1].end_char + 1}
    for tag in _LOOK_ALIKE.finditer(text):
        if tag.start() not in own:
            yield Unverified(tag.start(), tag.end(), why)


def _tagged(text: str) -> tuple[ReminderSpan, ...]:
    """A user's text counts only where it is one tag pair as a whole. Its bodies are several only
    if the first may be system text: a fallback joins nothing else (formats/zcode.md 9, P3.6)."""
    body = reminder_body(text)
    if body is None:
        return ()
    start, end = _TAG_CHARS, _TAG_CHARS + len(body)
    first = match_opening(text, start)
    if first is not None and REMINDER_SOURCES[first.sources[0]].mcs:
        spans = _merged(text, start, end, Trust.TAGGED)
        if len(spans) > 1:
            return spans
    return (_span(text, first, start, end, Trust.TAGGED),)


def _merged(text: str, start: int, end: int, trust: Trust) -> tuple[ReminderSpan, ...]:
    """The bodies of a text that may hold several, joined by a blank line. Bodies hold blank lines
    themselves, so a new one begins only where a known opening begins a paragraph."""
    starts = _starts(text, start, end)
    if not starts or starts[0][0] > start:
        starts.insert(0, (start, None))
    merged = len(starts) > 1
    spans = []
    for number, (at, match) in enumerate(starts):
        stop = starts[number + 1][0] - 2 if number + 1 < len(starts) else end
        spans.append(_span(text, match, at, stop, trust, merged))
    return tuple(spans)


def paragraph_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Where paragraphs begin: at `start`, and behind every blank line."""
    at = start
    while at < end:
        yield at
        at = text.find("\n\n", at, end)
        if at < 0:
            return
        while at < end and text[at] == "\n":
            at += 1


def _starts(text: str, start: int, end: int) -> list[tuple[int, Match | None]]:
    fences, goals = Fences(text), text.find(GOAL_STATE, start, end) >= 0
    starts: list[tuple[int, Match | None]] = []
    for at in paragraph_starts(text, start, end):
        match = None
        if BODY_START.match(text, at, end):
            match = match_opening(text, at, mcs_only=True)
        elif goals and (not starts or starts[-1][1] != _GOAL):  # one body may say it again
            blank = text.find("\n\n", at, end)
            match = _GOAL if text.find(GOAL_STATE, at, blank if blank >= 0 else end) >= 0 else None
        if match is not None and not fences.hold(at):
            starts.append((at, match))
    return starts


def _span(
    text: str, match: Match | None, start: int, end: int, trust: Trust, merged: bool = False
) -> ReminderSpan:
    if match is None and text.find(GOAL_STATE, start, end) >= 0:
        match = _GOAL
    if match is None:
        return ReminderSpan(UNKNOWN, start, end, trust=trust, merged=merged)
    source, *others = match.sources
    return ReminderSpan(source, start, end, tuple(others), match.presentation, trust, merged)


def _inline(text: str) -> tuple[ReminderSpan, ...]:
    """A tag pair that is a tool's whole result or its end behind a blank line, the only tag of the
    text. The words of these reminders are not known, so nothing but the place speaks for it."""
    if not text.rstrip("\n").endswith(CLOSE_TAG) or text.count(OPEN_TAG) != 1:
        return ()
    found = _INLINE.search(text, max(0, text.find(OPEN_TAG) - 2))
    if not found or len(_LOOK_ALIKE.findall(text)) != 2:
        return ()
    return (
        ReminderSpan(
            INLINE_SOURCE,
            found.start("body"),
            found.end("body"),
            ("goal_completion_verification",),
            trust=Trust.PLACE,
        ),
    )
