"""Each rule of ZCode is found broken in a run that breaks it and only it, at its place; healthy
runs give nothing."""

from pathlib import Path
from random import Random

import pytest

from tests.checks.corpus import HIDING, NOT_HEALTHY
from tests.checks.more_breakers import WAYS
from tests.checks.score import outcome, report_of
from tests.checks.stories import HEALTHY, compacted, listing, plain, planning
from tests.samples import SAMPLES
from tracer import service
from tracer.model.findings import Level

ODD_TEXTS = ["", [], "\ud83d", "<system-reminder>\n<system-reminder>\n</system-reminder>"]
# What the samples show on purpose, or what is so by nature.
EXPECTED = {
    "anatomy-off": {"zcode/frozen-snapshot", "zcode/todo-cadence"},
    "anatomy-on": {"zcode/frozen-snapshot", "zcode/todo-cadence"},
    "windowed-long": {"zcode/frozen-snapshot"},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_broken_rule_is_found_where_it_is_and_nothing_else(way: str, tmp_path: Path) -> None:
    found = outcome(WAYS[way](), tmp_path)
    assert found.at_place, found.findings
    assert found.others == ()
    assert all(evidence for f in found.findings for _, evidence in f.evidence)


@pytest.mark.parametrize("way", WAYS)
def test_a_log_with_windows_finds_it_or_says_that_it_cannot_tell(way: str, tmp_path: Path) -> None:
    """A rule never passes silently where the log hides what would decide it."""
    found = outcome(WAYS[way](), tmp_path, HIDING)
    assert found.found or found.undecided
    assert found.others == ()


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_gives_no_finding(name: str, tmp_path: Path) -> None:
    report = report_of(HEALTHY[name]().write(tmp_path), tmp_path)
    assert [view.finding for view in report.findings] == []
    assert len(report.rules_run) == len({way.split()[0] for way in WAYS})


@pytest.mark.parametrize("folder", sorted((SAMPLES / "zcode").iterdir()), ids=lambda p: p.name)
def test_the_samples_obey_the_rules(folder: Path, tmp_path: Path) -> None:
    report = report_of([str(folder)], tmp_path)
    found = {v.finding.rule for v in report.findings if v.finding.level is not Level.INFO}
    assert found == EXPECTED.get(folder.name, set())
    assert (found != set()) == (folder.name in NOT_HEALTHY)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_records_hold_no_rule_fails(seed: int, tmp_path: Path) -> None:
    """Messages are lost, doubled, swapped and emptied at random: rules find what they find."""
    random = Random(seed)
    run = random.choice([plain, planning, compacted, listing])()
    for record in run.records:
        messages = record["request"]["messages"]
        for _ in range(random.randrange(4)):
            at, to = random.randrange(len(messages)), random.randrange(len(messages))
            match random.randrange(5):
                case 0 if len(messages) > 1:
                    del messages[at]
                case 1:
                    messages.insert(to, dict(messages[at]))
                case 2:
                    messages[at], messages[to] = messages[to], messages[at]
                case 3:
                    messages[at] = messages[at] | {"content": random.choice(ODD_TEXTS)}
                case _:
                    messages[at] = messages[at] | {"role": random.choice(["system", "user", "x"])}
    for line in run.log:
        if random.random() < 0.1:
            line["context"] = random.choice([{}, {"messageCount": "many"}, {"sections": [1]}])
    database = tmp_path / "fuzz.db"
    window = random.choice([None, 5])
    result = service.ingest(database, run.write(tmp_path, window), count_tokens=False)
    assert result.verdict_errors == ()
    assert service.Service(database).check().rules_run


def test_what_a_window_hides_is_said(tmp_path: Path) -> None:
    """A log with windows cannot decide what holds for whole lists, and says so; what it shows is
    checked all the same."""
    report = report_of([str(SAMPLES / "zcode" / "windowed-long")], tmp_path)
    undecided = {view.rule: view for view in report.undecided}
    assert "window" in undecided["zcode/tool-results-together"].needs
    assert undecided["zcode/tool-results-together"].requests > 30
    assert "zcode/leading-system-messages" not in undecided, "the wire body holds the head"
    assert "snapshot" in undecided["zcode/usage-estimates"].needs
