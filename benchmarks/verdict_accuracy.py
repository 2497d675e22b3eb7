"""How often the verdicts are right, measured on simulated sessions whose truth is known.

    python benchmarks/verdict_accuracy.py [--seed 1] [--providers N] [--failures]

Agents and providers are simulated in `tests/simulated`, by the rules that providers document and
without the product's own: markers with a lookback of 20 positions, two lifetimes and three tiers of
parameters (Claude, and Bedrock's way of counting); steps of 128 tokens (OpenAI before GPT-5.6),
exact breakpoints (from then on); whole units that take seconds to appear (DeepSeek); blocks of 64
on nodes (GLM); a cache without a promise (Gemini); blocks in a memory of limited size (vLLM,
SGLang); slots (llama.cpp). Each session plays one scene: one for every cause that a log can show,
and others in which nothing is lost although it looks so. The scene labels its requests by what it
did to them. The product sees prompts, times and bills; the providers' tokenizer it does not know.

A miss is labelled with its primary cause; the block is the first changed one. Where the rules let
two causes be primary (a pause and a change at once), both are right. Not simulated: see the list
at the end of the output. `--providers N` plays each scene on N of its providers only.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.simulated.scenes import stories
from tests.simulated.score import Row, Score, score

TARGETS = {"precision": 0.99, "recall": 0.99, "cause": 0.95, "block": 0.98}
NOT_SIMULATED = (
    "log files: records, windows and joins are rebuilt elsewhere and tested there",
    "server tools, tool search and cache edits, which change the prompt on the provider's side",
    "engines that cannot rewind (sliding-window and hybrid models), and eviction inside a block",
    "two prompts that alternate: what is lost depends on which earlier one counts as the baseline",
    "explicit cache objects, gateways that rewrite usage, prices",
    "requests of other sessions or accounts on the same cache",
)  # fmt: skip


def main() -> int:
    """Print the figures; 1 where one is below its target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--providers", type=int, default=None, metavar="N")
    parser.add_argument("--failures", action="store_true", help="list every disagreement")
    options = parser.parse_args()
    began = time.perf_counter()
    found = score(stories(options.seed, options.providers))
    seconds = time.perf_counter() - began
    print(summary(found, seconds))
    print()
    print(by_cause(found.rows))
    print()
    print(matrix(found))
    print("\nNot simulated:")
    for line in NOT_SIMULATED:
        print(f"  {line}")
    if options.failures:
        print(f"\n{len(found.disagreements())} disagreements")
        for row in found.disagreements():
            print(f"  {row.line}")
    return 0 if all(getattr(found, name) >= least for name, least in TARGETS.items()) else 1


def summary(found: Score, seconds: float) -> str:
    """The figures beside their targets."""
    rows = found.rows
    sessions = len({id(row.story) for row in rows})
    misses = sum(row.label.miss for row in rows)
    lines = [
        f"{len(rows):,} requests in {sessions} sessions, {misses:,} of them misses; "
        f"{seconds:.1f} s, {1_000 * seconds / max(1, len(rows)):.1f} ms a request",
        "",
        f"{'':<34} {'measured':>9} {'target':>8}",
    ]
    names = {
        "precision": "is a miss: precision",
        "recall": "is a miss: recall",
        "cause": "right primary cause",
        "exact": "  of them the labelled one itself",
        "block": "right block",
        "subtype": "right subtype (cause right)",
        "result": "right result (no miss)",
    }
    for name, words in names.items():
        target = f"{TARGETS[name]:.2f}" if name in TARGETS else ""
        lines.append(f"{words:<34} {getattr(found, name):>9.4f} {target:>8}")
    return "\n".join(lines)


def by_cause(rows: Sequence[Row]) -> str:
    """A line a cause: labelled misses, found ones, right causes, subtypes and blocks."""
    lines = [f"{'cause':<24} {'misses':>7} {'found':>6} {'cause':>6} {'subtype':>8} {'block':>6}"]
    real = [row for row in rows if row.label.miss]
    for code in sorted({row.label.code for row in real}):
        mine = [row for row in real if row.label.code == code]
        kinds = [row for row in mine if row.label.subtype]
        placed = [row for row in mine if row.label.place]
        lines.append(
            f"{code:<24} {len(mine):>7} {sum(r.answer.verdict.is_miss for r in mine):>6} "
            f"{sum(r.right_cause for r in mine):>6} {_of(r.right_subtype for r in kinds):>8} "
            f"{_of(r.right_block for r in placed):>6}"
        )
    return "\n".join(lines)


def matrix(found: Score) -> str:
    """Truth by line, verdict by column; columns are numbered, and named below."""
    counts = found.matrix()
    totals: Counter[str] = Counter()
    for (truth, _), count in counts.items():
        totals[truth] += count
    truths = sorted(totals, key=lambda name: (not name.isupper(), name))
    columns = sorted({guess for _, guess in counts}, key=lambda name: (not name.isupper(), name))
    width = 5
    lines = ["truth \\ verdict".ljust(26) + "".join(f"{n:>{width}}" for n in _numbers(columns))]
    for truth in truths:
        cells = [counts[truth, column] for column in columns]
        line = "".join(f"{cell or '.':>{width}}" for cell in cells)
        lines.append(f"{truth:<26}{line}")
    names = [f"{n} {name}" for n, name in zip(_numbers(columns), columns, strict=True)]
    lines.append("")
    lines += [
        "  ".join(f"{name:<26}" for name in names[i : i + 4]) for i in range(0, len(names), 4)
    ]
    return "\n".join(line.rstrip() for line in lines)


def _numbers(columns: Sequence[str]) -> list[str]:
    return [str(n) for n in range(1, len(columns) + 1)]


def _of(right: Iterable[bool]) -> str:
    """The number of right ones; empty where there is nothing to be right about."""
    values = list(right)
    return str(sum(values)) if values else ""


if __name__ == "__main__":
    raise SystemExit(main())
