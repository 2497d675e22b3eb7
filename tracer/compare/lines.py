"""Which lines of two texts are the same. Fast for large texts: equal ends are cut off before
anything is split, and lines are compared as numbers (see `match`).

A text is split at line feeds only, so that joining its lines with line feeds gives it back.
"""

from dataclasses import dataclass

from tracer.compare.match import Matching, Run, few_edits, match
from tracer.compare.texts import common_suffix, first_difference

FALLBACK = (
    "The texts are long and repeat many lines, so equal lines were paired by how often they had "
    "occurred; a shorter difference may exist."
)

_LONG = 2_000
"""Lines from which on it pays to look first for a few edits."""

_FEW = 200
"""Lines that came or went up to which they are few."""


@dataclass(frozen=True, slots=True)
class LineDiff:
    """The lines of two texts and the runs that they share. None stands for a text that does not
    exist: it has no lines, where an empty text has one."""

    a: list[str]
    b: list[str]
    runs: list[Run]
    fallback: str = ""

    @property
    def added(self) -> int:
        """Lines of B that A does not have."""
        return len(self.b) - sum(run.size for run in self.runs)

    @property
    def removed(self) -> int:
        """Lines of A that B does not have."""
        return len(self.a) - sum(run.size for run in self.runs)

    def gaps(self) -> list[tuple[int, int, int, int]]:
        """What lies between the shared runs, as (a_lo, a_hi, b_lo, b_hi)."""
        found = []
        at_a = at_b = 0
        for run in [*self.runs, Run(len(self.a), len(self.b), 0)]:
            if run.a > at_a or run.b > at_b:
                found.append((at_a, run.a, at_b, run.b))
            at_a, at_b = run.a + run.size, run.b + run.size
        return found


def diff_lines(before: str | None, after: str | None) -> LineDiff:
    """The lines of two texts, aligned."""
    if before is None or after is None:
        return LineDiff(_split(before), _split(after), [])
    lines_a, lines_b = before.split("\n"), after.split("\n")
    if before == after:
        return LineDiff(lines_a, lines_b, [Run(0, 0, len(lines_a))])
    head = first_difference(before, after)
    tail = common_suffix(before, after, min(len(before), len(after)) - head)
    head_lines = before.count("\n", 0, head)
    tail_lines = before.count("\n", len(before) - tail)
    stop_a, stop_b = len(lines_a) - tail_lines, len(lines_b) - tail_lines
    found = _matched(lines_a[head_lines:stop_a], lines_b[head_lines:stop_b])
    runs = [Run(0, 0, head_lines)] if head_lines else []
    runs += [Run(head_lines + a, head_lines + b, size) for a, b, size in found.runs]
    if tail_lines:
        runs.append(Run(stop_a, stop_b, tail_lines))
    return LineDiff(lines_a, lines_b, _joined(runs), FALLBACK if found.fallback else "")


def _matched(a: list[str], b: list[str]) -> Matching:
    if min(len(a), len(b)) >= _LONG:
        runs = few_edits(a, b, _FEW)
        if runs is not None:
            return Matching(runs, False)
    ids: dict[str, int] = {}
    number = ids.setdefault
    return match([number(line, len(ids)) for line in a], [number(line, len(ids)) for line in b])


def _split(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _joined(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in runs:
        if joined:
            last = joined[-1]
            if last.a + last.size == run.a and last.b + last.size == run.b:
                joined[-1] = Run(last.a, last.b, last.size + run.size)
                continue
        joined.append(run)
    return joined
