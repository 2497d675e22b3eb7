"""Hunks: the changed lines of two texts with some equal lines around them, a page at a time.

Aligning the lines is done once (`diff_texts`); the lines of a hunk, with their changed words, are
only made for the page that is shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tracer.compare.lines import LineDiff, diff_lines
from tracer.compare.texts import invisible_chars, pretty_json
from tracer.compare.words import changed_words, ends_alike
from tracer.masking import mask_lines
from tracer.model.comparison import Change, Hunk, HunkPage, Line
from tracer.model.prompt import JSON_KINDS, Kind, Prompt

CONTEXT_LINES = 3
PAGE_HUNKS = 20
MAX_HUNK_LINES = 200
"""A longer hunk is continued in the next one."""

MAX_LINE_CHARS = 2_000
"""Characters of a line that are given; the place of the change is among them."""

_LEAST_LAID_OUT = 120
_REACH = 3
"""How many added lines ahead a version of a removed line is looked for."""

_JSON_OPENINGS = ("{", "[")


class _Piece(NamedTuple):
    """`size` lines of one operation, from `a` and `b` on."""

    op: str
    a: int
    b: int
    size: int


class _Plan(NamedTuple):
    pieces: list[_Piece]
    folded_before: int
    continued: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    """Two texts, aligned by lines. `pretty`: both are JSON and were laid out for reading, so that
    the lines are not those of the texts."""

    lines: LineDiff
    pretty: bool = False


def diff_texts(before: str | None, after: str | None, *, json: bool = False) -> TextDiff:
    """Two texts aligned by lines; None is a text that does not exist. With `json` they are laid out
    first, if both are JSON and do not look the same then."""
    if json:
        laid_a = None if before is None else pretty_json(before)
        laid_b = None if after is None else pretty_json(after)
        unread = (before is not None and laid_a is None) or (after is not None and laid_b is None)
        if not unread and laid_a != laid_b:
            return TextDiff(diff_lines(laid_a, laid_b), pretty=True)
    return TextDiff(diff_lines(before, after))


def diff_change(a: Prompt, b: Prompt, change: Change) -> TextDiff:
    """The texts of one change, aligned by lines: of two blocks, or of one that came or went. For a
    run of equal blocks the first one's."""
    x = None if change.a_index is None else a.blocks[change.a_index].block
    y = None if change.b_index is None else b.blocks[change.b_index].block
    kinds = {block.kind for block in (x, y) if block is not None}
    before = None if x is None else x.text
    after = None if y is None else y.text
    texts = [text for text in (before, after) if text is not None]
    json = kinds <= JSON_KINDS or (
        kinds <= JSON_KINDS | {Kind.TOOL_RESULT, Kind.UNKNOWN} and all(map(_packed_json, texts))
    )
    return diff_texts(before, after, json=json)


def _packed_json(text: str) -> bool:
    """Whether a text looks like JSON on one long line."""
    return (
        len(text) >= _LEAST_LAID_OUT and text.startswith(_JSON_OPENINGS) and "\n" not in text[:-1]
    )


def hunk_page(
    diff: TextDiff,
    *,
    offset: int = 0,
    limit: int = PAGE_HUNKS,
    context: int = CONTEXT_LINES,
    max_line_chars: int | None = MAX_LINE_CHARS,
    reveal: bool = False,
) -> HunkPage:
    """The hunks from `offset` on, `limit` at most, with `context` equal lines around changes.

    Secrets are masked unless `reveal`: here, since a line alone may be a part of a longer one.
    Cost: linear in the number of changed places, and in the lines of the page. With
    `max_line_chars` None lines are whole. Raises ValueError for a negative argument or a `limit`
    below 1.
    """
    if offset < 0 or limit < 1 or context < 0:
        raise ValueError("offset and context cannot be negative, and limit must be at least 1")
    plans = list(_plans(diff.lines, context))
    shown = plans[offset : offset + limit]
    following = offset + len(shown)
    last = following >= len(plans)
    return HunkPage(
        hunks=tuple(_hunk(diff.lines, plan, max_line_chars, reveal) for plan in shown),
        offset=offset,
        total=len(plans),
        next_offset=None if last else following,
        added_lines=diff.lines.added,
        removed_lines=diff.lines.removed,
        folded_after=_folded_after(diff.lines, plans) if last else 0,
        pretty=diff.pretty,
        fallback=diff.lines.fallback,
    )


def _folded_after(lines: LineDiff, plans: list[_Plan]) -> int:
    if not plans:
        return len(lines.a)
    last = plans[-1].pieces[-1]
    return len(lines.a) - last.a - (0 if last.op == "+" else last.size)


def _plans(lines: LineDiff, context: int) -> Iterator[_Plan]:
    """Changed places, put together where no more than twice the context lies between them."""
    pieces: list[_Piece] = []
    folded = end_a = end_b = 0
    for a_lo, a_hi, b_lo, b_hi in lines.gaps():
        between = a_lo - end_a
        if pieces and between > 2 * context:
            if context:
                pieces.append(_Piece(" ", end_a, end_b, context))
            yield from _cut(pieces, folded)
            pieces = []
            folded = between - 2 * context
        elif not pieces:
            folded = max(0, between - context)
        lead = between if pieces else min(context, between)
        if lead:
            pieces.append(_Piece(" ", a_lo - lead, b_lo - lead, lead))
        if a_hi > a_lo:
            pieces.append(_Piece("-", a_lo, b_lo, a_hi - a_lo))
        if b_hi > b_lo:
            pieces.append(_Piece("+", a_hi, b_lo, b_hi - b_lo))
        end_a, end_b = a_hi, b_hi
    if pieces:
        tail = min(context, len(lines.a) - end_a)
        if tail:
            pieces.append(_Piece(" ", end_a, end_b, tail))
        yield from _cut(pieces, folded)


def _cut(pieces: list[_Piece], folded: int) -> Iterator[_Plan]:
    """One hunk, in parts of MAX_HUNK_LINES at most."""
    part: list[_Piece] = []
    room, continued = MAX_HUNK_LINES, False
    for piece in pieces:
        op, a, b, size = piece
        while size > room:
            if room:
                part.append(_Piece(op, a, b, room))
            yield _Plan(part, 0 if continued else folded, continued)
            a += room if op != "+" else 0
            b += room if op != "-" else 0
            size -= room
            part, room, continued = [], MAX_HUNK_LINES, True
        part.append(_Piece(op, a, b, size))
        room -= size
    yield _Plan(part, 0 if continued else folded, continued)


def _hunk(lines: LineDiff, plan: _Plan, max_chars: int | None, reveal: bool) -> Hunk:
    made: list[Line] = []
    for at, (op, a, b, size) in enumerate(plan.pieces):
        if op == " ":
            made += [Line(" ", a + n + 1, b + n + 1, lines.a[a + n]) for n in range(size)]
        elif op == "-":
            behind = plan.pieces[at + 1] if at + 1 < len(plan.pieces) else None
            added = behind if behind and behind.op == "+" else None
            made += _replaced(lines, plan.pieces[at], added)
        elif not at or plan.pieces[at - 1].op != "-":
            made += _replaced(lines, None, plan.pieces[at])
    if not reveal:
        made = _masked(lines, made)
    first = plan.pieces[0]
    return Hunk(
        a_start=first.a + 1,
        a_count=sum(piece.size for piece in plan.pieces if piece.op != "+"),
        b_start=first.b + 1,
        b_count=sum(piece.size for piece in plan.pieces if piece.op != "-"),
        lines=tuple(_finished(line, max_chars) for line in made),
        folded_before=plan.folded_before,
        continued=plan.continued,
    )


def _replaced(lines: LineDiff, removed: _Piece | None, added: _Piece | None) -> list[Line]:
    """Removed lines, then added ones, with the changed words of those that are versions of one
    another: the next added line that shares enough with a removed one."""
    old = lines.a[removed.a : removed.a + removed.size] if removed else []
    new = lines.b[added.b : added.b + added.size] if added else []
    spans_old: dict[int, tuple[tuple[int, int], ...]] = {}
    spans_new: dict[int, tuple[tuple[int, int], ...]] = {}
    start = 0
    paired = len(old) == len(new)
    for i, line in enumerate(old):
        for j in range(i, i + 1) if paired else range(start, min(start + _REACH, len(new))):
            found = changed_words(line, new[j]) if paired or ends_alike(line, new[j]) else None
            if found is not None:
                spans_old[i], spans_new[j] = found
                start = j + 1
                break
    made = []
    if removed:
        made += [
            Line("-", removed.a + i + 1, None, text, spans_old.get(i, ()))
            for i, text in enumerate(old)
        ]
    if added:
        made += [
            Line("+", None, added.b + j + 1, text, spans_new.get(j, ()))
            for j, text in enumerate(new)
        ]
    return made


def _masked(lines: LineDiff, made: list[Line]) -> list[Line]:
    """The same lines with their secrets masked. Masks are as long, so spans stay where they are."""
    in_a = [line.a_line - 1 for line in made if line.a_line is not None]
    in_b = [line.b_line - 1 for line in made if line.b_line is not None]
    a = mask_lines(lines.a, in_a[0], in_a[-1] + 1) if in_a else []
    b = mask_lines(lines.b, in_b[0], in_b[-1] + 1) if in_b else []
    shown = []
    for line in made:
        if line.a_line is not None:
            text = a[line.a_line - 1 - in_a[0]]
        else:
            text = b[(line.b_line or 0) - 1 - in_b[0]]
        shown.append(line if text == line.text else replace(line, text=text))
    return shown


def _finished(line: Line, max_chars: int | None) -> Line:
    """A line cut to its length, and if it is not equal, with its invisible characters."""
    if max_chars is not None and len(line.text) > max_chars:
        line = _clip(line, max_chars)
    invisible = () if line.op == " " else invisible_chars(line.text)
    return replace(line, invisible=invisible) if invisible else line


def _clip(line: Line, most: int) -> Line:
    """A line with `most` characters at most, the first changed place among them."""
    at = line.spans[0][0] if line.spans else 0
    start = min(max(0, at - most // 4), len(line.text) - most)
    end = start + most
    return replace(
        line,
        text=line.text[start:end],
        spans=tuple(
            (max(low, start) - start, min(high, end) - start)
            for low, high in line.spans
            if low < end and high > start
        ),
        cut_before=start,
        cut_after=len(line.text) - end,
    )
