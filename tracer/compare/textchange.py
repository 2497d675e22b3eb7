"""What kind of text changed inside a block: a date, a nonce, the git status, the skills, ...

Nothing is guessed. A change has a kind where both sides show it: the lines are the same but for
pieces of that kind, or they stand in a passage that says what it is (a skills listing, an
instruction file). Otherwise the kind is None. Every change carries the pieces as evidence.
"""

from tracer.compare.lines import LineDiff, diff_lines
from tracer.compare.passages import Passage, line_kind, passage_at, passages_of
from tracer.compare.patterns import Piece, differing_pieces
from tracer.compare.texts import SNIPPET_CHARS, common_suffix, first_difference
from tracer.model.comparison import Span, TextChange, TextChanges, TextKind

MAX_PLACES = 50
"""Changed places of a text that are looked at."""

_MAX_PAIRED_LINES = 20


def text_changes(before: str, after: str) -> TextChanges:
    """The changes from one text to another, in order, each with its kind if it can be told."""
    if before == after:
        return TextChanges(())
    diff = diff_lines(before, after)
    places = diff.gaps()
    reader = _Reader(before, after, diff)
    found: list[TextChange] = []
    for place in places[:MAX_PLACES]:
        found += reader.changes(*place)
    return TextChanges(tuple(found), max(0, len(places) - MAX_PLACES))


class _Reader:
    def __init__(self, before: str, after: str, diff: LineDiff) -> None:
        self.before = before
        self.after = after
        self.diff = diff
        self.starts_a = _starts(diff.a)
        self.starts_b = _starts(diff.b)
        self.passages_a = passages_of(before)
        self.passages_b = passages_of(after)

    def changes(self, a_lo: int, a_hi: int, b_lo: int, b_hi: int) -> list[TextChange]:
        """The changes of one place: lines a_lo to a_hi became b_lo to b_hi."""
        old, new = self.diff.a[a_lo:a_hi], self.diff.b[b_lo:b_hi]
        passage = self._passage(a_lo, b_lo, old, new)
        if passage is not None and passage.kind is not None and passage.holds(old, new):
            detail = passage.detail(old, new)
            return [self._whole(a_lo, a_hi, b_lo, b_hi, passage.kind, detail)]
        found = self._in_lines(a_lo, b_lo, old, new)
        return found or [self._whole(a_lo, a_hi, b_lo, b_hi, None)]

    def _passage(self, a_lo: int, b_lo: int, old: list[str], new: list[str]) -> Passage | None:
        """The passage in which a place lies: the same on both sides, or that of the
        side which has lines at all."""
        in_a = passage_at(self.passages_a, self.starts_a[a_lo]) if old else None
        in_b = passage_at(self.passages_b, self.starts_b[b_lo]) if new else None
        if not old or not new:
            return in_b if new else in_a
        if in_a is None or in_b is None or in_a.kind is not in_b.kind:
            return None
        return in_b

    def _in_lines(self, a_lo: int, b_lo: int, old: list[str], new: list[str]) -> list[TextChange]:
        """The changed pieces of lines that are the same otherwise; nothing if any line is not."""
        if len(old) != len(new) or len(old) > _MAX_PAIRED_LINES:
            return []
        found: list[TextChange] = []
        for n, (x, y) in enumerate(zip(old, new, strict=True)):
            if x == y:
                continue
            start_a, start_b = self.starts_a[a_lo + n], self.starts_b[b_lo + n]
            keyed = line_kind(x, y)
            pieces = [_values(x, y, *keyed)] if keyed else differing_pieces(x, y)
            if not pieces:
                return []
            found += [self._piece(start_a, start_b, *piece) for piece in pieces]
        return found

    def _piece(
        self, start_a: int, start_b: int, kind: TextKind, piece_a: Piece, piece_b: Piece
    ) -> TextChange:
        return TextChange(
            kind,
            _span(self.before, start_a + piece_a.start, start_a + piece_a.end),
            _span(self.after, start_b + piece_b.start, start_b + piece_b.end),
        )

    def _whole(
        self, a_lo: int, a_hi: int, b_lo: int, b_hi: int, kind: TextKind | None, detail: str = ""
    ) -> TextChange:
        """A change of whole lines, without what their ends have in common."""
        low_a, high_a = self.starts_a[a_lo], self._end(self.starts_a, a_lo, a_hi)
        low_b, high_b = self.starts_b[b_lo], self._end(self.starts_b, b_lo, b_hi)
        a, b = _middle(self.before[low_a:high_a], self.after[low_b:high_b])
        return TextChange(
            kind,
            _span(self.before, low_a + a.start, low_a + a.end),
            _span(self.after, low_b + b.start, low_b + b.end),
            detail,
        )

    @staticmethod
    def _end(starts: list[int], low: int, high: int) -> int:
        """The offset behind the last line, its line feed left out."""
        return starts[high] - 1 if high > low else starts[low]


def _values(x: str, y: str, kind: TextKind, start: int) -> tuple[TextKind, Piece, Piece]:
    """What two lines say after the same words."""
    return kind, Piece(start, len(x.rstrip())), Piece(start, len(y.rstrip()))


def _middle(x: str, y: str) -> tuple[Piece, Piece]:
    """What lies between the equal ends of two texts."""
    head = first_difference(x, y)
    tail = common_suffix(x, y, min(len(x), len(y)) - head)
    return Piece(head, len(x) - tail), Piece(head, len(y) - tail)


def _starts(lines: list[str]) -> list[int]:
    """The offset of each line, and of one more behind the last line and its line feed."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _span(text: str, start: int, end: int) -> Span:
    start, end = min(start, len(text)), min(end, len(text))
    low = max(0, start - SNIPPET_CHARS)
    return Span(start, end, text[start:end], text[low : end + SNIPPET_CHARS], low)
