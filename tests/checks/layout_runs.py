"""Runs in 14 segments, written as open traces: broken in every way and obeying every rule."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.checks.score import report_of
from tests.layouts import generator
from tests.samples import SAMPLES
from tracer.model.findings import Finding
from tracer.service import Service

BROKEN_SEEDS, HEALTHY_SEEDS = range(40), range(300, 324)
RUNS_A_BREAK = 2


class LayoutRun(NamedTuple):
    """One run and what the product found in it. `at_place` tells of the first finding of its
    rule."""

    name: str
    rule: str
    found: bool
    at_place: bool
    findings: tuple[Finding, ...]


def broken_runs(folder: Path) -> Iterator[LayoutRun]:
    """Every way to break a rule, in some runs that give the occasion."""
    for way in generator("breakers").BREAKS:
        made = 0
        for seed in BROKEN_SEEDS:
            trace = generator("seeded").healthy(seed).copy()
            place = way.apply(trace, Random(seed).choice)
            if place is not None:
                yield _broken(way, trace, place, folder / f"{way.rule}-{way.name}-{seed}")
                made += 1
            if made == RUNS_A_BREAK:
                break


def _broken(way: Any, trace: Any, place: Any, folder: Path) -> LayoutRun:
    rule = f"layout-14/{way.rule}"
    report = report_of([str(_written(trace, folder))], folder)
    findings = tuple(view.finding for view in report.findings)
    own = [f for f in findings if f.rule == rule]
    ids: dict[str, str] = {}
    for view in report.findings:
        requests = Service(folder / "checks.db").requests(view.session_id)
        ids |= {r.key: r.request_id for r in requests}
    at_place = bool(own) and (ids[own[0].key], own[0].message_index) == (place.request, place.index)
    return LayoutRun(folder.name, rule, bool(own), at_place, findings)


def healthy_runs(folder: Path) -> Iterator[LayoutRun]:
    """Runs drawn from seeds, and the samples that obey every rule."""
    for seed in HEALTHY_SEEDS:
        trace = generator("seeded").healthy(seed)
        path = _written(trace, folder / f"seed-{seed}")
        yield _healthy(f"seed-{seed}", str(path), folder / f"seed-{seed}")
    for sample in sorted((SAMPLES / "context-trace").iterdir()):
        if sample.is_dir() and not sample.name.startswith("broken-"):
            yield _healthy(f"sample-{sample.name}", str(sample), folder / sample.name)


def _healthy(name: str, path: str, folder: Path) -> LayoutRun:
    findings = tuple(view.finding for view in report_of([path], folder).findings)
    return LayoutRun(name, "", False, False, findings)


def _written(trace: Any, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trace.jsonl"
    lines = generator("write").Writer().lines(trace)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path
