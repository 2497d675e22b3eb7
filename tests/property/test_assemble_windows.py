"""Undone windows against the truth of whole simulated files (window_writer.py)."""

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.window_writer import Call, History, histories
from tracer.assemble.windows import Carry, Undone, Windows, equal_length
from tracer.model.events import WindowKind


def truth(call: Call) -> list[str]:
    """The messages that were sent, without the cache marker."""
    return [
        json.dumps({k: v for k, v in message.items() if k != "cacheControl"}, sort_keys=True)
        for message in call.messages
    ]


def undo_all(history: History) -> list[Undone[str]]:
    """What a reader makes of a file that it has followed from its beginning."""
    windows, segment, undone = Windows[str](), 0, []
    for call in history.calls:
        if call.segment != segment:
            windows.begin_segment()
            segment = call.segment
        kind = WindowKind(call.kind or "full")
        items = truth(call)
        undone.append(windows.undo(kind, call.offset, len(items), items[call.offset :]))
    return undone


@given(histories())
def test_what_is_called_verified_is_true(history: History) -> None:
    for call, undone in zip(history.calls, undo_all(history), strict=True):
        assert len(undone.messages) == len(call.messages)
        assert undone.verified_from == call.offset
        assert undone.messages[call.offset :] == truth(call)[call.offset :]
        assert (undone.carry is Carry.NONE) == (call.offset == 0)


@given(histories())
def test_a_carried_message_was_shown_by_an_earlier_record_at_that_place(history: History) -> None:
    shown: set[tuple[int, str]] = set()
    for call, undone in zip(history.calls, undo_all(history), strict=True):
        for index, message in enumerate(undone.messages[: undone.verified_from]):
            assert message is None or (index, message) in shown
        shown |= set(enumerate(truth(call)[call.offset :], call.offset))


@given(histories())
def test_a_lost_beginning_is_unknown_and_only_a_lost_one_has_no_base(history: History) -> None:
    for undone in undo_all(history):
        if undone.carry is Carry.LOST:
            assert undone.base is None
            assert not any(undone.messages[: undone.verified_from])
        elif undone.carry is not Carry.NONE:
            assert undone.base is not None
            assert undone.messages[: undone.verified_from] == undone.base[: undone.verified_from]


@given(histories())
def test_the_base_is_equal_as_far_as_it_says(history: History) -> None:
    for undone in undo_all(history):
        equal = undone.base_equal
        assert 0 <= equal <= len(undone.messages)
        if undone.base is not None:
            assert undone.base[:equal] == undone.messages[:equal]


@given(histories())
def test_in_one_process_a_delta_goes_on_from_the_record_before(history: History) -> None:
    calls = history.calls
    if {call.process for call in calls} != {0} or any(call.kind is None for call in calls):
        return
    undone = undo_all(history)
    for before, now, call in zip(undone, undone[1:], calls[1:], strict=False):
        if call.kind == "delta":
            assert now.carry is Carry.SEQUENCE
            assert now.messages[: now.verified_from] == before.messages


@given(histories())
def test_of_a_list_that_only_grew_nothing_carried_is_wrong(history: History) -> None:
    if {call.process for call in history.calls} != {0}:
        return
    before: list[str] = []
    for call, undone in zip(history.calls, undo_all(history), strict=True):
        sent = truth(call)
        if sent[: len(before)] != before or call.kind is None:
            return
        pairs = zip(undone.messages, sent, strict=True)
        assert all(message in (None, true) for message, true in pairs)
        before = sent


LISTS = st.lists(st.sampled_from("abc"), max_size=6)


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(st.sampled_from(WindowKind), st.integers(-2, 8), st.integers(0, 12), LISTS),
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_any_sequence_of_windows_gives_lists_of_the_announced_length(
    records: Sequence[tuple[WindowKind, int, int, list[str]]], breaks: int
) -> None:
    windows = Windows[str]()
    for n, (kind, offset, count, items) in enumerate(records):
        if n == breaks:
            windows.begin_segment()
        undone = windows.undo(kind, offset, count, items)
        assert len(undone.messages) == count
        assert 0 <= undone.verified_from <= count
        assert 0 <= undone.base_equal <= count


@given(st.lists(st.integers(0, 1), max_size=40), st.lists(st.integers(0, 1), max_size=40))
def test_the_equal_length_is_where_a_walk_finds_the_first_difference(
    a: list[int], b: list[int]
) -> None:
    pairs = list(zip(a, b, strict=False))
    walked = next((i for i, (x, y) in enumerate(pairs) if x != y), len(pairs))
    assert equal_length(a, b) == walked
