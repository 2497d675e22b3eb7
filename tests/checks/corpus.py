"""Every run with known findings: those that break one rule, and those that obey all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.checks.layout_runs import broken_runs, healthy_runs
from tests.checks.more_breakers import WAYS
from tests.checks.score import outcome, report_of
from tests.checks.stories import HEALTHY
from tests.samples import SAMPLES
from tracer.model.findings import Finding, Level

HIDING = 4
"""How many messages of each list a log shows that hides the others."""

NOT_HEALTHY = {
    "anatomy-off": "its to-do note stands where a test wants one, and an instruction file changes",
    "anatomy-on": "the same",
    "windowed-long": "an instruction file is edited while the program runs",
}
"""Samples that break a rule on purpose, and why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run and what was found in it. `rule` is the one that it breaks, empty for none; `others`
    are the findings that should not be there."""

    name: str
    family: str
    rule: str
    found: bool
    at_place: bool
    undecided: bool
    hidden: bool
    findings: tuple[Finding, ...]
    others: tuple[Finding, ...]


def trials(folder: Path) -> Iterator[Trial]:
    """The runs that break a rule."""
    for way, make in WAYS.items():
        for window in (None, HIDING):
            name = way.replace("/", "-").replace(" ", "-") + ("-hidden" if window else "")
            got = outcome(make(), folder / name, window)
            yield Trial(
                name,
                "zcode",
                got.rule,
                got.found,
                got.at_place,
                got.undecided,
                window is not None,
                got.findings,
                got.others,
            )

    for run in broken_runs(folder / "layout"):
        others = tuple(f for f in run.findings if f.rule != run.rule)
        yield Trial(
            run.name,
            "layout-14",
            run.rule,
            run.found,
            run.at_place,
            False,
            False,
            run.findings,
            others,
        )


def healthy_trials(folder: Path) -> Iterator[Trial]:
    """The runs that obey every rule. What is told for information is true of healthy runs, too."""
    for run in healthy_runs(folder / "layout"):
        yield _trial(run.name, "layout-14", run.findings)
    for name, make in HEALTHY.items():
        yield _healthy(f"healthy-{name}", make().write(folder / name), folder / name)
    for sample in sorted((SAMPLES / "zcode").iterdir()):
        if sample.name not in NOT_HEALTHY:
            yield _healthy(f"sample-{sample.name}", [str(sample)], folder / sample.name)


def _healthy(name: str, paths: list[str], folder: Path) -> Trial:
    findings = tuple(view.finding for view in report_of(paths, folder).findings)
    return _trial(name, "zcode", findings)


def _trial(name: str, family: str, findings: tuple[Finding, ...]) -> Trial:
    wrong = tuple(f for f in findings if f.level is not Level.INFO)
    return Trial(name, family, "", False, False, False, False, findings, wrong)
