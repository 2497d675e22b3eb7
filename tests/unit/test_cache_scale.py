"""How exactly a place is known in billed tokens, and what follows for causes (`cache.scale`)."""

from dataclasses import replace

import pytest

from tests.unit.test_cache_facts import CLAUDE, blocks, call, diverged, judge, marker
from tracer.cache.scale import EXACT, Scale, anchored
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Change, Difference, Earlier, History, Result

FOUND = blocks(
    (Tier.TOOLS, 4_000), (Tier.SYSTEM, 4_000), (Tier.MESSAGES, 4_000), (Tier.MESSAGES, 8_000)
)


def fork(common: int = 10_000, kept: int = 8_000, **changes: object) -> Difference:
    """Prompts that part inside message 0, of 20,000 tokens by count and by bill."""
    made = Difference(2, common, 4, 4, kept_after_tokens=kept, boundaries=FOUND, error_fraction=0.2)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_error_grows_with_the_distance_from_what_is_exact() -> None:
    scale = Scale((0, 10_000, 30_000), 0.2)
    assert [scale.error_at(t) for t in (0, 1_000, 10_000, 20_000, 28_000)] == [
        0, 200, 0, 2_000, 400,
    ]  # fmt: skip
    assert EXACT.error_at(5_000) == 0


def test_the_ends_of_earlier_whole_prompts_are_exact() -> None:
    first = call("a", 0, 9_000, 0)
    known = (Earlier(first, 9_000, 2, True), Earlier(first, 3_000, 1, False))
    found, scale = anchored(fork(), call("b", 9, 20_000, 0), known)
    assert [b.end_tokens for b in found.boundaries] == [4_500, 9_000, 12_667, 20_000]
    assert found.common_tokens == 10_833 and found.kept_after_tokens == 7_334
    assert scale.exact == (0, 9_000, 20_000)


@pytest.mark.parametrize(
    "other",
    [
        Earlier(call("a", 0, 9_000, 0, returned_model_id="glm-4.6"), 9_000, 2, True),
        Earlier(call("a", 0, None, None), 9_000, 2, True),
        Earlier(call("a", 0, 25_000, 0), 25_000, 2, True),
        Earlier(call("a", 0, 9_000, 0), 9_000, None, True),
    ],
)
def test_what_no_bill_tells_is_no_exact_place(other: Earlier) -> None:
    found, scale = anchored(fork(), call("b", 9, 20_000, 0), (other,))
    assert found == fork() and scale.exact == (0, 20_000)


def test_without_blocks_only_the_ends_are_known() -> None:
    bare = fork(boundaries=())
    assert anchored(bare, call("b", 9, 20_000, 0), ()) == (bare, Scale((0, 20_000), 0.2))


def test_a_read_near_the_difference_is_one_that_ended_there() -> None:
    """The counts put the change at 20,000; the read of 17,500 ended at it all the same."""
    change = Change(Op.CHANGED, Tier.MESSAGES, 1, 1, role="user", token_offset=20_000)
    found = diverged(20_000, 38_000, total=60_000, changes=(change,), error_fraction=0.2)
    verdict = judge(call("b", 9, 60_000, 17_536), call("a", 0, 59_000, 0), found)
    assert [c.code for c in verdict.causes] == ["HISTORY_REWRITTEN"]
    assert verdict.missed_tokens == 0 and verdict.expected_read_tokens == 17_536
    assert verdict.read_stop is not None and verdict.read_stop.agrees


def test_a_rewind_that_the_counts_put_too_deep_is_no_miss() -> None:
    change = Change(Op.REMOVED, Tier.MESSAGES, 4, None, role="user", token_offset=30_000)
    found = diverged(30_000, 0, total=60_000, changes=(change,), error_fraction=0.2)
    verdict = judge(call("b", 9, 60_000, 27_008), call("a", 0, 59_000, 0), found)
    assert verdict.result is Result.HIT


def test_a_certain_change_is_named_although_the_read_went_a_little_past_it() -> None:
    """Tools that the provider counts a third higher: the change is really where the read ended."""
    change = Change(
        Op.CHANGED, Tier.SYSTEM, 0, 0, token_offset=5_600, before="2026-01-12", after="2026-01-13"
    )
    found = diverged(5_600, 52_000, total=60_000, changes=(change,), error_fraction=0.2)
    verdict = judge(call("b", 9, 60_000, 7_552), call("a", 0, 59_000, 0), found)
    assert [(c.code, c.subtype) for c in verdict.causes] == [("SYSTEM_CHANGED", "date")]


def test_a_read_far_past_a_change_clears_it() -> None:
    change = Change(
        Op.CHANGED, Tier.SYSTEM, 0, 0, token_offset=5_600, before="2026-01-12", after="2026-01-13"
    )
    found = diverged(5_600, 52_000, total=60_000, changes=(change,), error_fraction=0.2)
    verdict = judge(call("b", 9, 60_000, 30_016), call("a", 0, 59_000, 0), found)
    assert [c.code for c in verdict.causes] == ["UNKNOWN"]


def test_an_older_entry_is_looked_for_where_it_stands() -> None:
    """On Bedrock each call counts: the first request's entry is out of reach behind 24 of them."""
    runs = [(Tier.MESSAGES, 100)] * 24
    found = blocks((Tier.TOOLS, 9_000), (Tier.MESSAGES, 6_000), *runs, (Tier.MESSAGES, 9_000))
    old = call("a", 0, 15_000, 0, 15_000, CLAUDE, markers=(marker(Tier.MESSAGES, 0),))
    before = call(
        "b", 9, 26_000, 15_000, 11_000, CLAUDE,
        markers=(marker(Tier.TOOLS, 0), marker(Tier.MESSAGES, 25)),
    )  # fmt: skip
    now = replace(before, key="c", started_at_ms=(before.started_at_ms or 0) + 9_000)
    change = Change(Op.ADDED, Tier.MESSAGES, None, 24, role="user", token_offset=17_300)
    difference = Difference(
        25, 17_300, 26, 27, changes=(change,), kept_after_tokens=9_000, boundaries=found
    )
    known = History(earlier=(Earlier(old, 15_000, 2, True), Earlier(before, 17_300, 25, False)))
    verdict = judge(now, before, difference, known)
    assert verdict.expected_read_tokens is not None and verdict.expected_read_tokens < 15_000


def test_places_are_not_worked_out_where_all_was_read() -> None:
    """The prompt before was read to its end: the verdict needs no place inside it."""
    before, now = call("a", 0, 9_000, 0), call("b", 9, 20_000, 8_960)
    found = fork(10_000, 0, common_blocks=2, baseline_blocks=2)
    known = History(earlier=(Earlier(before, 9_000, 2, True),))
    verdict = judge(now, before, found, known)
    assert verdict.result is Result.HIT and verdict.read_stop is not None
    assert verdict.read_stop.boundary_tokens == 8_000
    missed = judge(replace(now, usage=call("b", 9, 20_000, 0).usage), before, found, known)
    assert missed.read_stop is not None and missed.expected_read_tokens == 8_960
