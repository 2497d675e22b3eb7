"""Marks on a prompt map: where the read stopped, what was billed again, what changed.

A map is drawn from counts, a read is billed: the two scales differ where not all was counted. So a
mark stands at its block where the block is known, and by its share of the tokens where not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from web.layout.prompt_map import MapPiece
from web.layout.scale import percent

SMALLEST_SHARE = 0.6
"""A mark is at least so many percent wide: it must be seen, however small."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the map in percent."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class ReadMarks:
    """The marks of a map in percent of its width, None for what is unknown or nowhere."""

    stop: float | None
    lost: Stretch | None
    changed: Stretch | None
    words: str


@dataclass(frozen=True, slots=True)
class Billed:
    """What a request was billed, in tokens."""

    prompt: int
    read: int
    rebilled: int


def read_marks(
    pieces: Sequence[MapPiece],
    billed: Billed,
    stop_index: int | None,
    changed_index: int | None,
    words: str = "",
) -> ReadMarks | None:
    """The marks of a map. `stop_index` is the block in which the read ended, `changed_index` the
    one that changed, both over the whole prompt; None where they are not known."""
    if not pieces or billed.prompt <= 0:
        return None
    by_share = min(100.0, percent(billed.read, billed.prompt))
    inside = _block(pieces, stop_index) if billed.read else None
    stop = round(inside.x + inside.width / 2, 2) if inside else by_share
    lost = None
    rest = billed.prompt - billed.read
    if billed.rebilled and rest > 0:
        wide = (100 - stop) * min(1.0, billed.rebilled / rest)
        lost = _wide(stop, round(wide, 2))
    changed = _block(pieces, changed_index)
    return ReadMarks(stop, lost, _wide(changed.x, changed.width) if changed else None, words)


def _block(pieces: Sequence[MapPiece], index: int | None) -> Stretch | None:
    """Where a block lies: the blocks of a piece share its width alike."""
    if index is None:
        return None
    for piece in pieces:
        if piece.first is not None and piece.first <= index < piece.first + piece.blocks:
            each = piece.width / piece.blocks
            return Stretch(round(piece.x + each * (index - piece.first), 2), round(each, 2))
    return None


def _wide(x: float, width: float) -> Stretch:
    wide = max(width, SMALLEST_SHARE)
    return Stretch(round(min(x, 100 - wide), 2), wide)
