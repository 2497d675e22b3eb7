"""Where the read stopped, on the blocks."""

import pytest

from tests.unit.test_cache_facts import blocks, diverged, prompt_blocks
from tracer.cache.where import read_stop
from tracer.model.prompt import Tier

FOUND = blocks(
    (Tier.TOOLS, 20_000), (Tier.SYSTEM, 13_376), (Tier.MESSAGES, 7_130), (Tier.MESSAGES, 10_000)
)


@pytest.mark.parametrize(
    ("read", "index", "tokens", "words"),
    [
        (33_376, 1, 33_376, "at the end of system block 0, which is where tools and system end"),
        (20_000, 0, 20_000, "at the end of tool 0, which is where the tools end"),
        (40_448, 2, 40_506, "58 tokens before the end of message 0"),
        (40_600, 3, 40_506, "94 tokens after the end of message 0"),
        (50_506, 3, 50_506, "covers the whole prompt"),
        (60_000, 3, 50_506, "covers the whole prompt"),
    ],
)
def test_the_nearest_boundary_is_named(read: int, index: int, tokens: int, words: str) -> None:
    stop = read_stop(read, FOUND)
    assert stop is not None and (stop.index, stop.boundary_tokens) == (index, tokens)
    assert words in stop.sentence and stop.agrees is None
    assert stop.distance_tokens == read - tokens


def test_nothing_read() -> None:
    stop = read_stop(0, FOUND)
    assert stop is not None and stop.index is None and stop.sentence == "Nothing was read."


def test_without_blocks_there_is_no_place() -> None:
    assert read_stop(1_000, ()) is None


def test_blocks_in_any_order() -> None:
    assert read_stop(40_448, FOUND[::-1]) == read_stop(40_448, FOUND)


def test_agreement_with_the_comparison() -> None:
    found = prompt_blocks(60_000)
    at = read_stop(41_200, found, diverged(41_200, 0))
    assert at is not None and at.agrees is True
    short = read_stop(30_000, found, diverged(41_200, 0))
    assert short is not None and short.agrees is False
    assert (
        "part at about token 41,200 as billed: the provider stopped 11,200 tokens before"
        in short.sentence
    )
    past = read_stop(55_000, found, diverged(41_200, 0))
    assert past is not None and past.agrees is False and "past it" in past.sentence
