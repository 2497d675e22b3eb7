"""The prompt map: one bar of everything that a request sent, in the provider's order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tracer.model.prompt import Part
from tracer.model.views import BlockView, MapRun, PartSize
from web.layout.scale import percent

SMALLEST_SHARE = 0.35
_PREFIX = (Part.TOOLS, Part.SYSTEM, Part.CONTEXT)
_NAMES = {
    Part.TOOLS: "tools", Part.SYSTEM: "system", Part.CONTEXT: "context", Part.HISTORY: "history",
    Part.REMINDER: "reminders", Part.MCS: "MCS", Part.GAP: "not logged",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MapPiece:
    """A stretch of the bar in percent. `first` is the index of its first block, where known."""

    css: str
    x: float
    width: float
    tokens: int
    blocks: int
    first: int | None
    label: str
    carried: bool = False


def part_name(part: Part) -> str:
    """The word for a part, the same in legends, tables and titles."""
    return _NAMES[part]


def map_of_parts(sizes: Sequence[PartSize]) -> tuple[MapPiece, ...]:
    """A piece for each part in stacking order, and what is new at the end.

    Tools, system and context come first in every prompt, so the first block of each is known, and
    so is where the rest begins; history, reminders and mid-conversation notes alternate.
    """
    total = sum(size.tokens for size in sizes)
    pieces: list[MapPiece] = []
    at = first = fresh = fresh_blocks = 0
    for size in sizes:
        in_prefix = size.part in _PREFIX
        new = 0 if in_prefix else min(size.new_tokens, size.tokens)
        old = size.tokens - new
        fresh += new
        fresh_blocks += size.blocks if new == size.tokens else 0
        start = first
        if in_prefix:
            first += size.blocks
        if old:
            pieces.append(
                MapPiece(
                    css=size.part.value, x=percent(at, total), width=percent(old, total),
                    tokens=old, blocks=size.blocks, first=start, label=part_name(size.part),
                )
            )  # fmt: skip
        at += old
    if fresh:
        pieces.append(
            MapPiece("new", percent(at, total), percent(fresh, total), fresh, fresh_blocks, None,
                     "new in this request")
        )  # fmt: skip
    return tuple(pieces)


def map_of_runs(runs: Sequence[MapRun]) -> tuple[MapPiece, ...]:
    """The whole prompt in order, however long it is: a piece for each run of blocks that look
    alike. Runs too thin to be seen join the piece before them, so that the bar stays full."""
    total = sum(run.tokens for run in runs) or 1
    least = total * SMALLEST_SHARE / 100
    pieces: list[MapPiece] = []
    at = 0
    for run in runs:
        css = "new" if run.new and run.part not in _PREFIX else run.part.value
        last = pieces[-1] if pieces else None
        if last is not None and run.tokens < least:
            pieces[-1] = replace(
                last, width=round(last.width + percent(run.tokens, total), 2),
                tokens=last.tokens + run.tokens, blocks=last.blocks + run.blocks,
            )  # fmt: skip
        else:
            end = run.first_index + run.blocks - 1
            name = part_name(run.part)
            label = f"blocks {run.first_index} to {end}, {name}"
            if run.blocks == 1:
                label = f"block {run.first_index}, {name}"
            pieces.append(
                MapPiece(css, percent(at, total), percent(run.tokens, total), run.tokens,
                         run.blocks, run.first_index, label, not run.verified)
            )  # fmt: skip
        at += run.tokens
    return tuple(piece for piece in pieces if piece.tokens)


def block_tokens(block: BlockView) -> int:
    """The best count of a block: BPE where counted, else the agent's estimate."""
    return block.tokens_estimate if block.tokens_bpe is None else block.tokens_bpe


def _css(block: BlockView) -> str:
    prefix = block.part in _PREFIX
    return "new" if block.new and not prefix else block.part.value


def map_of_blocks(blocks: Sequence[BlockView]) -> tuple[MapPiece, ...]:
    """A piece for each block; neighbours of one colour share a piece where they are thin."""
    total = sum(map(block_tokens, blocks)) or 1
    least = total * SMALLEST_SHARE / 100
    pieces: list[MapPiece] = []
    run: list[BlockView] = []
    at = tokens = 0

    def close() -> None:
        nonlocal at, tokens
        if run:
            one = len(run) == 1
            name = run[0].name or part_name(run[0].part)
            label = (
                f"block {run[0].index}, {name}" if one
                else f"blocks {run[0].index} to {run[-1].index}, {part_name(run[0].part)}"
            )  # fmt: skip
            pieces.append(
                MapPiece(_css(run[0]), percent(at, total), percent(tokens, total), tokens,
                         len(run), run[0].index, label, not run[0].verified)
            )  # fmt: skip
        at += tokens
        tokens = 0
        run.clear()

    for block in blocks:
        size = block_tokens(block)
        if run and (
            _css(run[0]) != _css(block)
            or run[0].verified != block.verified
            or tokens >= least
            or size >= least
        ):
            close()
        run.append(block)
        tokens += size
    close()
    return tuple(piece for piece in pieces if piece.tokens)
