"""Where each section stands in a text of the prefix.

First the texts that a log tells for the session are looked for as they are (`logged`); the prefix
is rebuilt at every turn without a new log line, so what is not found that way is looked for by its
heading, between its neighbours (`heading`). A section that fills a message of its own, or what is
left between two others, is known by its place (`place`). formats/zcode.md 7.

People write headings too: in AGENTS.md, in an output style, in a memory. So a heading counts only
in the text where its section belongs, at the start of a paragraph, outside code fences, and in the
builder's order; where a person's text can stand before it, the last one counts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tracer.anatomy.fences import Fences
from tracer.anatomy.layout import Place
from tracer.anatomy.parts import reminder_body
from tracer.anatomy.sections import (
    SECTION_KINDS,
    UNKNOWN_SECTION,
    SectionKind,
    section_name,
    section_rule,
)

RULES_VERSION = 1
"""Changes whenever the same text would be read differently than before."""

_TAG_CHARS = len("<system-reminder>\n")
_NESTED = re.compile(r"<(?=/?system-reminder)")
_ESCAPED = re.compile(r"&lt;(?=/?system-reminder)")
_ENVIRONMENT_WORDS = ("working directory", "platform", "shell", "os version", "git")
_MIN_KNOWN_CHARS = 8


class How(StrEnum):
    """How a section was found."""

    LOGGED = "logged"
    HEADING = "heading"
    PLACE = "place"


class LoggedText(NamedTuple):
    """A section's text as a log told it."""

    source: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section at `start_char` to `end_char` (code points) of its block's text."""

    source: str
    name: str
    start_char: int
    end_char: int
    how: How


class _Found(NamedTuple):
    start: int
    end: int
    source: str
    rank: float
    how: How


_WHOLE = frozenset(
    {
        Place.CLI,
        Place.ACTOR,
        Place.CUSTOM,
        Place.AGENT_PROMPT,
        Place.NOTES,
        Place.ENVIRONMENT,
        Place.SKILLS,
    }
)
_RANKS = {kind.source: float(rank) for rank, kind in enumerate(SECTION_KINDS)}
_HEADED = {
    kind.source: re.compile(
        re.escape(kind.heading) + (r"[ \t]*(?=\n|\Z)" if kind.whole_line else "")
    )
    for kind in SECTION_KINDS
    if kind.heading
}
_IN_PLACE: dict[Place, frozenset[str]] = {
    Place.STABLE: frozenset({"identity", "desktop_context"}),
    Place.DYNAMIC: frozenset(
        k.source for k in SECTION_KINDS if k.target == "system" and k.cache_hint == "dynamic"
    )
    - {"subagent_environment"},
    Place.CONTEXT: frozenset({"request_user_context", "current_date"}),
    Place.ANY: frozenset(k.source for k in SECTION_KINDS if k.target == "system"),
}


def unescape_nested(text: str) -> str:
    """The text of a wrapped section with its nested reminder tags as they were written."""
    return _ESCAPED.sub("<", text)


def recognise_sections(
    text: str, place: Place, known: Sequence[LoggedText] = ()
) -> tuple[SectionSpan, ...]:
    """The sections of a prefix text, in order, without overlap.

    `known` are the texts a log tells for the session, those of the newest line last; a source may
    occur more than once. A text of Place.ANY yields nothing but what is logged or headed.
    """
    if place in _WHOLE:
        return _whole(text, place, known)
    start, end = _region(text, place)
    if start >= end:
        return ()
    ranked = _ranked(known, place)
    anchors = _exact(text, start, end, ranked, escape=place is Place.CONTEXT)
    found = [*anchors]
    fences = Fences(text)
    for gap in _gaps(start, end, anchors):
        found += _fill(text, gap, place, fences, ranked, anchors)
    if place in (Place.ANY, Place.CONTEXT):
        found = [f for f in found if f.source != UNKNOWN_SECTION]
    names = {k.source: k.name for k in known}
    return tuple(
        SectionSpan(f.source, names.get(f.source) or section_name(f.source), f.start, f.end, f.how)
        for f in sorted(found)
    )


def _whole(text: str, place: Place, known: Sequence[LoggedText]) -> tuple[SectionSpan, ...]:
    """A section that fills its text; a wrapped one fills the tag."""
    start, end = 0, len(text)
    if place is Place.SKILLS:
        start, end = _region(text, place)
    content = unescape_nested(text[start:end]) if start else text
    logged = any(k.source == place.value and k.text == content for k in known)
    how = How.LOGGED if logged else How.PLACE
    return (SectionSpan(place.value, section_name(place.value), start, end, how),)


def _region(text: str, place: Place) -> tuple[int, int]:
    """The part of a text that holds sections: behind the layout's newlines, inside the tag."""
    if place in (Place.CONTEXT, Place.SKILLS):
        body = reminder_body(text)
        return (0, len(text)) if body is None else (_TAG_CHARS, _TAG_CHARS + len(body))
    return len(text) - len(text.lstrip("\n")), len(text)


class _Ranked(NamedTuple):
    rank: float
    source: str
    text: str


def _ranked(known: Sequence[LoggedText], place: Place) -> list[_Ranked]:
    """The known texts that belong to a place, with their rank in the builder's order. A section
    that was added from outside stands behind the one that the log names before it."""
    out, before = [], -1.0
    allowed = _IN_PLACE[place]
    target = "meta_user" if place is Place.CONTEXT else "system"
    for item in known:
        if item.source in _RANKS:
            rank = before = _RANKS[item.source]
        else:
            rank = before + 0.5
        outside = item.source not in _RANKS and section_rule(item.source).target == target
        if (item.source in allowed or outside) and len(item.text) >= _MIN_KNOWN_CHARS:
            out.append(_Ranked(rank, item.source, item.text))
    out.reverse()  # the newest first
    out.sort(key=lambda r: r.rank)
    return out


def _exact(
    text: str, start: int, end: int, ranked: Sequence[_Ranked], *, escape: bool
) -> list[_Found]:
    """Known texts that stand in the text as they are, in the builder's order."""
    found: list[_Found] = []
    cursor = start
    for item in ranked:
        if found and found[-1].source == item.source:
            continue  # a newer text of the same section was found
        content = _NESTED.sub("&lt;", item.text) if escape else item.text
        at = _find(text, content, cursor, end)
        if at < 0:
            content = content.strip("\n")
            at = _find(text, content, cursor, end) if content else -1
        if at >= 0:
            cursor = at + len(content)
            found.append(_Found(at, cursor, item.source, item.rank, How.LOGGED))
    return found


def _find(text: str, content: str, start: int, end: int) -> int:
    """Where `content` stands as whole lines, or -1."""
    at = text.find(content, start, end)
    while at >= 0:
        stop = at + len(content)
        if (at == start or text[at - 1] == "\n") and (stop == end or text[stop] == "\n"):
            return at
        at = text.find(content, at + 1, end)
    return -1


class _Gap(NamedTuple):
    start: int
    end: int
    low: float
    high: float


def _gaps(start: int, end: int, anchors: Sequence[_Found]) -> Iterable[_Gap]:
    """What lies between known texts, and between which ranks."""
    cursor, low = start, -1.0
    for anchor in anchors:
        yield _Gap(cursor, anchor.start, low, anchor.rank)
        cursor, low = anchor.end, anchor.rank
    yield _Gap(cursor, end, low, float(len(SECTION_KINDS)))


def _fill(
    text: str,
    gap: _Gap,
    place: Place,
    fences: Fences,
    ranked: Sequence[_Ranked],
    anchors: Sequence[_Found],
) -> list[_Found]:
    """The sections of one gap by their headings; what is left over by its place."""
    start, end = gap.start, gap.end
    inner, last = start > 0 and bool(gap.low >= 0), gap.high < len(SECTION_KINDS)
    if inner:
        start = _after_newlines(text, start, end)
    if last:
        end = _before_separator(text, start, end)
    if not text[start:end].strip():
        return []
    found = {a.source for a in anchors}
    allowed = {s for s in _IN_PLACE[place] if gap.low < _RANKS[s] < gap.high and s not in found}
    if place is Place.CONTEXT:
        return _context(text, start, end, allowed, fences)
    starts = _stable(text, start, end, allowed) if place is Place.STABLE else []
    starts = starts or _headings(text, start, end, allowed, fences)
    if not starts or starts[0][0] > start:
        starts.insert(0, (start, _only_missing(ranked, allowed, gap, {s for _, s in starts})))
    out = []
    for number, (at, source) in enumerate(starts):
        stop = _before_separator(text, at, starts[number + 1][0]) if starts[number + 1 :] else end
        how = How.HEADING if source in _HEADED or source == "identity" else How.PLACE
        out.append(_Found(at, stop, source, _RANKS.get(source, gap.low), how))
    return out


def _only_missing(ranked: Sequence[_Ranked], allowed: set[str], gap: _Gap, headed: set[str]) -> str:
    """The one logged section without a known heading that belongs into a gap, else `unknown`."""
    missing = {
        r.source
        for r in ranked
        if gap.low < r.rank < gap.high
        and r.source not in headed
        and (r.source in allowed or r.source not in _RANKS)
        and r.source not in _HEADED
    }
    return missing.pop() if len(missing) == 1 else UNKNOWN_SECTION


def _after_newlines(text: str, start: int, end: int) -> int:
    while start < end and text[start] == "\n":
        start += 1
    return start


def _before_separator(text: str, start: int, end: int) -> int:
    """The end of a section before the blank line that joins it to the next."""
    for _ in range(2):
        if end > start and text[end - 1] == "\n":
            end -= 1
    return end


def _candidates(text: str, start: int, end: int, kind: SectionKind, fences: Fences) -> list[int]:
    """Where a section's heading begins a paragraph outside code."""
    pattern, out = _HEADED[kind.source], []
    at = text.find(kind.heading, start, end)
    while at >= 0:
        opens = at == start or text[max(start, at - 2) : at] == "\n\n"
        if opens and pattern.match(text, at, end) and not fences.hold(at):
            out.append(at)
        at = text.find(kind.heading, at + 1, end)
    return out


def _headings(
    text: str, start: int, end: int, allowed: set[str], fences: Fences
) -> list[tuple[int, str]]:
    """The starts of the dynamic sections of a text, in the builder's order.

    `env_info` is the first `# Environment` that tells an environment; before it stands only the
    agent's own text, so the first heading counts. Behind it an output style may hold anything, so
    of what follows that the last counts.
    """
    starts: list[tuple[int, str]] = []
    at: dict[str, list[int]] = {
        kind.source: _candidates(text, start, end, kind, fences)
        for kind in SECTION_KINDS
        if kind.source in allowed and kind.source in _HEADED
    }
    environment = _environment(text, at.get("env_info", []), end)
    cursor = start
    for source in ("dynamic_behavior", "session_guidance", "memory"):
        limit = end if environment is None else environment
        first = next((p for p in at.get(source, []) if cursor <= p < limit), None)
        if first is not None:
            starts.append((first, source))
            cursor = first + 1
    if environment is not None:
        starts.append((environment, "env_info"))
        cursor = environment + 1
    managed = next((p for p in reversed(at.get("context_management", [])) if p >= cursor), None)
    style = next((p for p in at.get("output_style", []) if p >= cursor), None)
    if style is not None and (managed is None or style < managed):
        starts.append((style, "output_style"))
        cursor = style + 1
    if managed is not None:
        starts.append((managed, "context_management"))
        cursor = managed + 1
    behind = [p for p in at.get("system_context", []) if p >= cursor]
    if behind:
        starts.append((behind[0] if managed is not None else behind[-1], "system_context"))
    return starts


def _environment(text: str, candidates: Sequence[int], end: int) -> int | None:
    """The heading that an environment follows: a directory, a platform, a shell."""
    for number, at in enumerate(candidates):
        stop = candidates[number + 1] if number + 1 < len(candidates) else end
        words = text[at : min(stop, at + 1500)].lower()
        blank = words.find("\n\n")
        words = words if blank < 0 else words[:blank]
        if sum(word in words for word in _ENVIRONMENT_WORDS) >= 2:
            return at
    return candidates[0] if candidates else None


_HARNESS = re.compile(r"^# Harness[ \t]*$", re.MULTILINE)
_COMMENT = "::code-comment"


def _stable(text: str, start: int, end: int, allowed: set[str]) -> list[tuple[int, str]]:
    """The identity, and behind its `# Harness` block the desktop's rules for links, which have no
    heading: they begin with the paragraph behind that block, at the latest with the one that names
    the directive."""
    starts = [(start, "identity")] if "identity" in allowed else []
    if "desktop_context" not in allowed:
        return starts
    harness = _HARNESS.search(text, start, end)
    begin = harness.end() if harness else start
    comment = text.find(_COMMENT, begin, end)
    if comment < 0:
        return starts
    if not starts:
        return [(start, "desktop_context")]
    blank = text.find("\n\n", begin, comment)
    heading = text.rfind("\n\n# ", begin, comment)
    blank = heading if heading >= 0 else blank
    if blank >= 0:
        starts.append((blank + 2, "desktop_context"))
    return starts


_AGENTS = re.compile(r"^# agentsMd[ \t]*$", re.MULTILINE)
_DATE = re.compile(r"^# currentDate[ \t]*\n(?=[^\n]*\d)", re.MULTILINE)


def _context(text: str, start: int, end: int, allowed: set[str], fences: Fences) -> list[_Found]:
    """The sections of a context prefix: an intro, then instruction files (anybody's text), then
    the date, then a closing note. So the first `# agentsMd` counts and the last `# currentDate`."""
    out: list[_Found] = []
    agents = _AGENTS.search(text, start, end) if "request_user_context" in allowed else None
    dates = [
        m.start()
        for m in (_DATE.finditer(text, start, end) if "current_date" in allowed else ())
        if not fences.hold(m.start())
    ]
    date = dates[-1] if dates and (agents is None or dates[-1] > agents.start()) else None
    if agents is not None:
        stop = date if date is not None else end
        if date is not None:
            stop = _before_separator(text, agents.start(), date)
        elif end == _region(text, Place.CONTEXT)[1]:
            closing = text.rfind("\n\n", agents.start(), end)
            stop = closing if closing >= 0 else end
        rank = _RANKS["request_user_context"]
        out.append(_Found(agents.start(), stop, "request_user_context", rank, How.HEADING))
    if date is not None:
        stop = text.find("\n\n", date, end)
        rank = _RANKS["current_date"]
        out.append(_Found(date, stop if stop >= 0 else end, "current_date", rank, How.HEADING))
    return out
