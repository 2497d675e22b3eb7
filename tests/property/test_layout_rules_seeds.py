"""The rules of the 14-segment layout on sessions that nobody chose."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layouts import RULES, found_in, generator, places, session_of
from tracer.checks.run import run_rules

SEEDS = st.integers(0, 10_000_000)
WAYS = st.sampled_from(generator("breakers").BREAKS)


def session(seed: int, runs: int, steps: int) -> Any:
    return generator("seeded").healthy(seed, runs, steps)


def lines(trace: Any) -> list[str]:
    found: list[str] = generator("write").Writer().lines(trace)
    return found


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 9))
def test_no_healthy_session_has_a_finding(seed: int, runs: int, steps: int) -> None:
    found = found_in(lines(session(seed, runs, steps)))
    assert (found.findings, found.undecided) == ((), ())


@settings(max_examples=60, deadline=None)
@given(SEEDS, WAYS)
def test_a_break_is_found_wherever_it_is_put(seed: int, way: Any) -> None:
    trace = session(seed, 4, 6).copy()
    broken = way.apply(trace, Random(seed).choice)
    if broken is not None:
        found = places(found_in(lines(trace)))
        assert found == [(way.rule, broken.request, broken.index)]


@settings(max_examples=15, deadline=None)
@given(SEEDS, WAYS, st.floats(0, 1))
def test_what_comes_later_changes_nothing_that_was_found(seed: int, way: Any, part: float) -> None:
    """A session that still grows is checked like one that has ended."""
    trace = session(seed, 3, 5).copy()
    way.apply(trace, Random(seed).choice)
    whole = session_of(lines(trace))
    kept = whole.requests[: round(part * len(whole.requests))]
    early = run_rules(replace(whole, requests=kept, memo={}), RULES)
    late = run_rules(whole, RULES)
    keys = {request.key for request in kept}
    assert early.findings == tuple(f for f in late.findings if f.key in keys)
    assert run_rules(whole, RULES) == late
