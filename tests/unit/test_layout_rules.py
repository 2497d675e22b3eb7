"""The rules of the 14-segment layout on what the sample generator's agent writes: a run in which
one rule is broken gives that finding and no other, a healthy run gives none."""

from functools import cache
from random import Random
from typing import Any

import pytest

from tests.layouts import RULES, found_in, generator, places

BREAKS = generator("breakers").BREAKS
STORIES = generator("stories").STORIES
HEALTHY_SEEDS = range(100, 124)
SEEDS = range(40)
RUNS_A_BREAK = 3

every_break = pytest.mark.parametrize("way", BREAKS, ids=lambda way: f"{way.rule}:{way.name}")


@cache
def healthy(seed: int) -> Any:
    return generator("seeded").healthy(seed)


def lines(trace: Any) -> list[str]:
    found: list[str] = generator("write").Writer().lines(trace)
    return found


def test_every_rule_is_broken_in_some_way() -> None:
    rules = {rule.name.removeprefix("layout-14/") for rule in RULES}
    assert {way.rule for way in BREAKS} == rules
    assert len(rules) == 19


@every_break
def test_a_broken_rule_is_found_at_its_place_and_no_other(way: Any) -> None:
    checked = 0
    for seed in SEEDS:
        trace = healthy(seed).copy()
        broken = way.apply(trace, Random(seed).choice)
        if broken is None:
            continue
        found = found_in(lines(trace))
        assert places(found) == [(way.rule, broken.request, broken.index)], seed
        assert all(value for _, value in found.findings[0].evidence)
        checked += 1
        if checked == RUNS_A_BREAK:
            return
    assert checked == RUNS_A_BREAK, "too few runs give the occasion"


@pytest.mark.parametrize("seed", HEALTHY_SEEDS)
def test_a_healthy_run_has_no_finding_and_leaves_nothing_open(seed: int) -> None:
    found = found_in(lines(healthy(seed)))
    assert found.findings == ()
    assert found.undecided == ()
    assert len(found.rules_run) == 19


@pytest.mark.parametrize("name", STORIES)
def test_a_story_has_no_finding(name: str) -> None:
    for trace in STORIES[name]():
        found = found_in(lines(trace))
        assert (found.findings, found.undecided) == ((), ())
