"""Tying usage rows to requests does not depend on any order."""

import random

from hypothesis import given
from hypothesis import strategies as st

from tracer.assemble.usage_joins import CallFacts, join_usage


def call(name: str, start: int, end: int, input_tokens: int) -> CallFacts:
    """A completed call of one turn."""
    return CallFacts(
        name, "t", "tr", "main_turn", "m", "completed", start, end, input_tokens, 60, 10
    )


@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_the_answer_does_not_depend_on_any_order(shuffled: random.Random, count: int) -> None:
    requests = [call(f"r{n}", n * 500, n * 500 + 900, 100 + n % 3) for n in range(count)]
    rows = [call(f"u{n}", n * 500, n * 500 + 900, 100 + n % 3) for n in range(count)]
    first = join_usage(requests, rows)
    shuffled.shuffle(requests)
    shuffled.shuffle(rows)
    assert join_usage(requests, rows) == first
    keys = [join.request_key for join in first if join.request_key]
    assert len(keys) == len(set(keys)) == count
    assert all(join.usage_id[1:] == join.request_key[1:] for join in first)
