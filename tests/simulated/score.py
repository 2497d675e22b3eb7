"""How verdicts agree with the labels: precision, recall, causes, blocks, confusion."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.simulated.judged import Answer, answers_of, place_of
from tests.simulated.wire import Label, Story

RESULTS = {
    "append": {"hit"},
    "retry": {"hit"},
    "small change": {"hit"},
    "windowed": {"hit"},
    "rewind": {"hit", "expected_rebuild"},
    "first": {"first"},
    "subagent": {"first", "hit"},
    "cleared": {"first", "hit", "expected_rebuild"},
    "failed": {"no_usage"},
    "title": {"first", "hit"},
    "compaction call": {"first", "hit", "expected_rebuild"},
    "compacted": {"expected_rebuild"},
    "model switch": {"expected_rebuild"},
    "not reported": {"not_reported"},
}
"""The results that are right for a request that lost nothing, by what it is."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled request and its verdict."""

    story: Story
    answer: Answer

    @property
    def label(self) -> Label:
        """The truth."""
        return self.answer.seen.step.label

    @property
    def truth(self) -> str:
        """The row of the matrix."""
        return self.label.code if self.label.miss else self.label.kind

    @property
    def code(self) -> str:
        """The primary cause of a miss, else empty."""
        verdict = self.answer.verdict
        return verdict.causes[0].code if verdict.is_miss and verdict.causes else ""

    @property
    def guess(self) -> str:
        """The column of the matrix."""
        return self.code or self.answer.verdict.result.value

    @property
    def right_cause(self) -> bool:
        """The primary cause is the labelled one, or one that is as right."""
        return self.code == self.label.code or self.code in self.label.either

    @property
    def right_subtype(self) -> bool:
        """The subtype, too, is the labelled one."""
        causes = self.answer.verdict.causes
        return self.right_cause and bool(causes) and causes[0].subtype == self.label.subtype

    @property
    def right_block(self) -> bool:
        """The place of the primary cause is the first changed block."""
        return place_of(self.answer.verdict) == self.label.place

    @property
    def right_result(self) -> bool:
        """The result is one of those that are right for the label."""
        verdict = self.answer.verdict
        if self.label.miss:
            return verdict.is_miss
        return verdict.result.value in RESULTS[self.label.kind]

    @property
    def line(self) -> str:
        """What was expected, what came out, and the product's sentence."""
        label, step = self.label, self.answer.seen.step
        want = f"{self.truth}/{label.subtype}" + (f" at {label.place}" if label.place else "")
        causes = self.answer.verdict.causes
        subtype = causes[0].subtype if causes else ""
        got = f"{self.guess}/{subtype} at {place_of(self.answer.verdict)}"
        where = f"{self.story.name} on {self.story.house} #{step.sent.key[-3:]}"
        return f"{where}: expected {want}, got {got}: {self.answer.verdict.one_line}"


@dataclass(slots=True)
class Score:
    """The rows, and what they add up to."""

    rows: list[Row] = field(default_factory=list)

    @property
    def misses(self) -> list[Row]:
        """Labelled misses that were found."""
        return [row for row in self.rows if row.label.miss and row.answer.verdict.is_miss]

    @property
    def precision(self) -> float:
        """Of what was called a miss, the share that is one."""
        called = [row for row in self.rows if row.answer.verdict.is_miss]
        return _share(sum(row.label.miss for row in called), len(called))

    @property
    def recall(self) -> float:
        """Of the misses, the share that was called one."""
        return _share(len(self.misses), sum(row.label.miss for row in self.rows))

    @property
    def cause(self) -> float:
        """Of all misses, the share with the right primary cause."""
        real = [row for row in self.rows if row.label.miss]
        return _share(sum(row.right_cause for row in real), len(real))

    @property
    def exact(self) -> float:
        """The same, where a cause that is as right as the labelled one does not count."""
        real = [row for row in self.rows if row.label.miss]
        return _share(sum(row.code == row.label.code for row in real), len(real))

    @property
    def subtype(self) -> float:
        """Of the misses with a subtype and the right cause, the share with the right subtype."""
        rows = [row for row in self.misses if row.label.subtype and row.right_cause]
        return _share(sum(row.right_subtype for row in rows), len(rows))

    @property
    def block(self) -> float:
        """Of the misses that begin at a block, the share with the right one."""
        rows = [row for row in self.rows if row.label.miss and row.label.place]
        return _share(sum(row.right_block for row in rows), len(rows))

    @property
    def result(self) -> float:
        """Of the requests that lost nothing, the share with the right result."""
        rows = [row for row in self.rows if not row.label.miss]
        return _share(sum(row.right_result for row in rows), len(rows))

    def disagreements(self) -> list[Row]:
        """Rows with anything wrong: result, cause, subtype or block."""
        return [row for row in self.rows if _wrong(row)]

    def matrix(self) -> Counter[tuple[str, str]]:
        """How often a truth came out as what."""
        return Counter((row.truth, row.guess) for row in self.rows)


def score(stories: Iterable[Story]) -> Score:
    """The verdicts of stories, beside their labels."""
    return Score([Row(story, answer) for story in stories for answer in answers_of(story)])


def _wrong(row: Row) -> bool:
    label = row.label
    if not row.right_result:
        return True
    if not label.miss:
        return False
    if not row.right_cause or (label.subtype and not row.right_subtype):
        return True
    return label.place is not None and not row.right_block


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
