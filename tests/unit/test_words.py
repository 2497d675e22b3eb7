"""Counts with their nouns, and what counts as failed."""

from dataclasses import replace

import pytest

from tests.story_factories import a_story
from tracer.words import plural


@pytest.mark.parametrize(
    ("count", "nouns", "words"),
    [
        (0, ("file",), "0 files"),
        (1, ("file",), "1 file"),
        (1_200, ("file",), "1,200 files"),
        (2, ("retry", "retries"), "2 retries"),
        (1, ("retry", "retries"), "1 retry"),
    ],
)
def test_a_count_stands_with_its_noun(count: int, nouns: tuple[str, ...], words: str) -> None:
    assert plural(count, *nouns) == words


@pytest.mark.parametrize(
    ("status", "failed"),
    [("error", True), ("failed", True), ("cancelled", True), ("denied", True),
     ("completed", False), ("running", False), ("", False)],
)  # fmt: skip
def test_a_tool_call_that_was_cancelled_or_denied_has_failed(status: str, failed: bool) -> None:
    assert replace(a_story().tools[0], status=status).failed is failed
