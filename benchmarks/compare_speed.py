"""How fast two prompts are compared, beside difflib on their lines in the same run.

    python benchmarks/compare_speed.py [--repeats 5] [--no-difflib]

A measurement is `compare` and the first page of hunks of the first 20 changes: what a compare page
shows first. Hashes and token counts are given, as the store has them. Figures are medians in
milliseconds; `difflib` is `unified_diff` over all lines of both prompts, read to its end.
"""

import argparse
import difflib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tracer.compare import compare, diff_change, hunk_page
from tracer.hashing import norm_hash, wire_hash
from tracer.model.comparison import Op
from tracer.model.prompt import Block, Kind, PlacedBlock, Prompt, Tier

SHOWN_CHANGES = 20
LIMITS_MS = {"200 KB": 30, "5 MB": 400, "5,000 blocks": 50}
_ALL_CHANGED_MS = 150
"""For 5,000 blocks of which none is the same, nor where it was: 10,000 changes."""
REWRITTEN = "all messages rewritten"

_NAMES = ("retry", "upload", "chunk", "limit", "queue", "client", "total", "index", "buffer")


def a_line(rng: random.Random) -> str:
    """A line that looks like code."""
    a, b, c = (rng.choice(_NAMES) for _ in range(3))
    return f"{' ' * 4 * rng.randrange(4)}{a}_{rng.randrange(1000)} = {b}.{c}({rng.random():.6f})"


def a_text(rng: random.Random, chars: int) -> str:
    """Lines of code, some `chars` characters of them; every fifth is blank."""
    lines: list[str] = []
    size = 0
    while size < chars:
        line = "" if rng.random() < 0.2 else a_line(rng)
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)


def a_tool(rng: random.Random, n: int) -> Block:
    """A tool of some 1.7 KB."""
    schema = {"name": f"tool_{n}", "description": a_text(rng, 1_600), "type": "object"}
    text = json.dumps(schema, separators=(",", ":"))
    return Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, text, "array", f"tool_{n}")


def some_blocks(rng: random.Random, messages: int, chars: int) -> list[Block]:
    """25 tools, 3 system blocks, and messages: a question, calls with their results, an answer."""
    blocks = [a_tool(rng, n) for n in range(25)]
    blocks += [Block(Tier.SYSTEM, "system", Kind.TEXT, a_text(rng, 2_300)) for _ in range(3)]
    for n in range(messages):
        if n % 6 == 0:
            blocks.append(Block(Tier.MESSAGES, "user", Kind.TEXT, a_text(rng, chars // 4)))
        elif n % 6 == 5:
            blocks.append(Block(Tier.MESSAGES, "assistant", Kind.TEXT, a_text(rng, chars // 2)))
        elif n % 2:
            call = json.dumps({"path": f"src/{n}.py", "limit": n}, separators=(",", ":"))
            blocks.append(
                Block(Tier.MESSAGES, "assistant", Kind.TOOL_CALL, call, "call", "Read", f"call_{n}")
            )
        else:
            blocks.append(
                Block(
                    Tier.MESSAGES,
                    "tool",
                    Kind.TOOL_RESULT,
                    a_text(rng, 2 * chars),
                    name="Read",
                    call_id=f"call_{n - 1}",
                )
            )
    return blocks


def placed(blocks: list[Block]) -> Prompt:
    """A prompt of blocks, a message each."""
    found = []
    in_tier = dict.fromkeys(Tier, 0)
    for index, block in enumerate(blocks):
        tools = in_tier[Tier.TOOLS]
        found.append(
            PlacedBlock(
                index=index,
                tier_index=in_tier[block.tier],
                message_index=None if block.tier is Tier.TOOLS else index - tools,
                block_index=0,
                block=block,
                wire_hash=wire_hash(block),
                norm_hash=norm_hash(block),
                tokens=len(block.text) // 4,
            )
        )
        in_tier[block.tier] += 1
    return Prompt(tuple(found))


def edit_lines(rng: random.Random, text: str, edits: int) -> str:
    """A text with `edits` lines changed."""
    lines = text.split("\n")
    for _ in range(edits):
        lines[rng.randrange(len(lines))] = a_line(rng)
    return "\n".join(lines)


def cases(rng: random.Random, blocks: list[Block]) -> dict[str, list[Block]]:
    """What can become of a prompt, by name."""
    more = some_blocks(rng, 2, 1_000)[-2:]
    half = len(blocks) // 2
    scattered = list(blocks)
    for at in rng.sample(range(30, len(blocks)), min(60, len(blocks) - 30)):
        scattered[at] = replace(scattered[at], text=edit_lines(rng, scattered[at].text, 2))
    cleared = [
        replace(block, text="[Old tool result content cleared]")
        if block.kind is Kind.TOOL_RESULT
        else block
        for block in blocks
    ]
    rewritten = [
        replace(block, text=a_text(rng, len(block.text))) if block.tier is Tier.MESSAGES else block
        for block in blocks
    ]
    return {
        "two messages more": [*blocks, *more],
        "one old message edited": [
            *blocks[:half],
            replace(blocks[half], text=edit_lines(rng, blocks[half].text, 3)),
            *blocks[half + 1 :],
            *more,
        ],
        "tools in another order": [*blocks[12:25], *blocks[:12], *blocks[25:], *more],
        "60 blocks edited": [*scattered, *more],
        "all results cleared": [*cleared, *more],
        "all messages as arrays": [
            replace(b, shape="array") if b.tier is Tier.MESSAGES else b for b in blocks
        ],
        REWRITTEN: rewritten,
    }


def measured(a: Prompt, b: Prompt) -> None:
    """What a compare page does first."""
    changes = [change for change in compare(a, b).changes if change.op is not Op.EQUAL]
    for change in changes[:SHOWN_CHANGES]:
        hunk_page(diff_change(a, b, change))


def by_difflib(a: Prompt, b: Prompt) -> None:
    """All lines through difflib."""
    old, new = (
        [line for placed in prompt.blocks for line in placed.block.text.split("\n")]
        for prompt in (a, b)
    )
    for _ in difflib.unified_diff(old, new, lineterm=""):
        pass


def median_ms(repeats: int, act: Callable[[], None]) -> float:
    """The median time of an action."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        times.append((time.perf_counter() - started) * 1_000)
    return statistics.median(times)


def one_block(rng: random.Random, size: int) -> tuple[list[Block], list[Block]]:
    """A prompt with one huge block, and the same with 60 lines of it edited."""
    text = a_text(rng, size)
    block = Block(Tier.MESSAGES, "user", Kind.TEXT, text)
    return [block], [replace(block, text=edit_lines(rng, text, 60))]


def report(size: str, case: str, a: Prompt, b: Prompt, args: argparse.Namespace) -> bool:
    """Measure and print one line; false where it took longer than allowed."""
    ours = median_ms(args.repeats, lambda: measured(a, b))
    theirs = "" if args.no_difflib else f"{median_ms(1, lambda: by_difflib(a, b)):>10,.1f}"
    limit = LIMITS_MS[size]
    if size == "5,000 blocks" and case == REWRITTEN:
        limit = _ALL_CHANGED_MS
    print(f"{size:<13}{case:<26}{ours:>8,.1f}{limit:>8}{theirs}", flush=True)
    return ours <= limit


def main() -> int:
    """Measure everything; exit code 1 where a limit was missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-difflib", action="store_true")
    args = parser.parse_args()
    rng = random.Random(7)
    print(f"{'size':<13}{'case':<26}{'ours ms':>8}{'limit':>8}{'difflib ms':>10}")
    fine = True
    for size, messages, chars in (
        ("200 KB", 180, 1_000),
        ("5 MB", 1_500, 4_200),
        ("5,000 blocks", 5_000, 120),
    ):
        blocks = some_blocks(rng, messages, chars)
        a = placed(blocks)
        print(f"{size}: {sum(len(b.text) for b in blocks):,} characters, {len(blocks):,} blocks")
        for case, changed in cases(rng, blocks).items():
            fine &= report(size, case, a, placed(changed), args)
        if size != "5,000 blocks":
            one, other = one_block(rng, 200_000 if size == "200 KB" else 5_000_000)
            fine &= report(size, "one block, 60 lines edited", placed(one), placed(other), args)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
