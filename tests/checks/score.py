"""What the rules find in a run, through the product: files are read, stored and checked."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.checks.breakers import BREAKERS, Broken
from tests.checks.stories import Run
from tracer import service
from tracer.model.check_views import CheckReport
from tracer.model.findings import Finding
from tracer.service import Service


class Outcome(NamedTuple):
    """What was found in a run that breaks a rule: the rule at its place, and anything else."""

    rule: str
    found: bool
    at_place: bool
    others: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    undecided: bool


def report_of(paths: Sequence[str], folder: Path) -> CheckReport:
    """Read files into a database of their own, and check all sessions."""
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "checks.db"
    database.unlink(missing_ok=True)
    service.ingest(database, paths, count_tokens=False)
    return Service(database).check()


def findings_of(run: Run, folder: Path) -> tuple[Finding, ...]:
    """The findings in a run."""
    report = report_of(run.write(folder), folder)
    return tuple(view.finding for view in report.findings)


def outcome(broken: Broken, folder: Path, window: int | None = None) -> Outcome:
    """Whether a rule is found broken where it is, and what else is found. With a window the log
    shows only the ends of lists."""
    if broken.counted:
        broken.run.count()
    report = report_of(broken.run.write(folder, window), folder)
    own = [v for v in report.findings if v.finding.rule == broken.rule]
    first = own[0] if own else None
    at_place = (
        first is not None
        and first.seq == broken.run.seq(broken.record)
        and first.finding.message_index == broken.message_index
    )
    findings = tuple(v.finding for v in report.findings)
    others = tuple(f for f in findings if f.rule != broken.rule)
    undecided = any(view.rule == broken.rule for view in report.undecided)
    return Outcome(broken.rule, first is not None, at_place, others, findings, undecided)


def outcomes(folder: Path) -> Iterator[Outcome]:
    """Every rule of ZCode, each with the run that breaks it."""
    for number, make in enumerate(BREAKERS.values()):
        yield outcome(make(), folder / f"{number:02}")
