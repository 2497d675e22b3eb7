"""Undoing windows, rule by rule (formats/zcode.md 3.6); a message is a letter here, `?` an unknown.

tests/property/test_assemble_windows.py holds whole simulated files against the truth.
"""

import pytest

from tracer.assemble.windows import KEPT_LISTS, Carry, Undone, Windows
from tracer.model.events import WindowKind

FULL, DELTA, TAIL, ABSENT = WindowKind


def full(windows: Windows[str], letters: str, count: int | None = None) -> Undone[str]:
    return windows.undo(FULL, 0, len(letters) if count is None else count, list(letters))


def delta(windows: Windows[str], offset: int, letters: str) -> Undone[str]:
    return windows.undo(DELTA, offset, offset + len(letters), list(letters))


def tail(windows: Windows[str], offset: int, letters: str, count: int = -1) -> Undone[str]:
    total = offset + len(letters) if count < 0 else count
    return windows.undo(TAIL, offset, total, list(letters))


def shown(undone: Undone[str]) -> tuple[str, int, Carry]:
    """The list as a word, from where it is proven, and where the rest comes from."""
    return (
        "".join(m or "?" for m in undone.messages),
        undone.verified_from,
        undone.carry,
    )


@pytest.fixture
def windows() -> Windows[str]:
    return Windows()


def test_a_full_list_proves_itself(windows: Windows[str]) -> None:
    assert shown(full(windows, "abc")) == ("abc", 0, Carry.NONE)


def test_a_full_list_replaces_whatever_was_known(windows: Windows[str]) -> None:
    full(windows, "abc")
    undone = full(windows, "abX")
    assert shown(undone) == ("abX", 0, Carry.NONE)
    assert (undone.base_equal, undone.base) == (2, list("abc"))


def test_a_delta_goes_on_where_the_record_before_ended(windows: Windows[str]) -> None:
    full(windows, "abc")
    assert shown(delta(windows, 3, "de")) == ("abcde", 3, Carry.SEQUENCE)
    assert shown(delta(windows, 5, "f")) == ("abcdef", 5, Carry.SEQUENCE)


def test_an_empty_delta_is_the_same_list_and_proves_nothing_of_it(windows: Windows[str]) -> None:
    full(windows, "abc")
    assert shown(delta(windows, 3, "")) == ("abc", 3, Carry.SEQUENCE)


def test_a_delta_at_the_start_of_a_file_is_relative_to_something_lost(
    windows: Windows[str],
) -> None:
    undone = delta(windows, 3, "de")
    assert shown(undone) == ("???de", 3, Carry.LOST)
    assert undone.base is None


def test_a_delta_whose_offset_fits_no_known_list_is_lost(windows: Windows[str]) -> None:
    full(windows, "abc")
    assert shown(delta(windows, 4, "e")) == ("????e", 4, Carry.LOST)


def test_a_delta_after_a_lost_one_keeps_what_is_unknown_unknown(windows: Windows[str]) -> None:
    delta(windows, 2, "c")
    assert shown(delta(windows, 3, "d")) == ("??cd", 3, Carry.SEQUENCE)


def test_a_delta_from_the_start_is_a_full_list(windows: Windows[str]) -> None:
    assert shown(delta(windows, 0, "abc")) == ("abc", 0, Carry.NONE)


def test_a_tail_that_agrees_with_the_list_before_is_laid_on_it(windows: Windows[str]) -> None:
    full(windows, "abcd")
    assert shown(tail(windows, 2, "cdef")) == ("abcdef", 2, Carry.OVERLAP)


def test_tails_can_be_laid_on_tails(windows: Windows[str]) -> None:
    full(windows, "abcd")
    tail(windows, 2, "cdef")
    assert shown(tail(windows, 4, "efgh")) == ("abcdefgh", 4, Carry.OVERLAP)


def test_a_tail_without_any_overlap_is_lost(windows: Windows[str]) -> None:
    full(windows, "abcd")
    assert shown(tail(windows, 4, "efgh")) == ("????efgh", 4, Carry.LOST)


def test_a_tail_that_contradicts_the_list_before_is_lost(windows: Windows[str]) -> None:
    full(windows, "abcd")
    assert shown(tail(windows, 2, "XYef")) == ("??XYef", 2, Carry.LOST)


def test_a_tail_with_an_edit_after_some_agreement_is_laid_on(windows: Windows[str]) -> None:
    full(windows, "abcdef")
    undone = tail(windows, 2, "cdXY", count=6)
    assert shown(undone) == ("abcdXY", 2, Carry.OVERLAP)
    assert undone.base_equal == 4


def test_a_tail_after_a_gap_stays_unknown_until_a_full_list(windows: Windows[str]) -> None:
    tail(windows, 2, "cd")
    assert shown(tail(windows, 3, "de")) == ("??cde", 3, Carry.OVERLAP)
    assert shown(full(windows, "abcdef")) == ("abcdef", 0, Carry.NONE)


def test_a_list_that_got_shorter_is_not_carried_over(windows: Windows[str]) -> None:
    full(windows, "abcdefgh")
    # A compaction left a summary and the last messages; at the same place stands the same text.
    assert shown(tail(windows, 4, "ef", count=6)) == ("????ef", 4, Carry.LOST)


def test_after_a_compaction_the_shorter_full_list_counts(windows: Windows[str]) -> None:
    full(windows, "abcdefgh")
    full(windows, "aSgh")
    assert shown(delta(windows, 4, "i")) == ("aSghi", 4, Carry.SEQUENCE)


def test_a_title_call_in_between_does_not_part_the_conversation(windows: Windows[str]) -> None:
    full(windows, "abc")
    full(windows, "T")
    assert shown(delta(windows, 3, "de")) == ("abcde", 3, Carry.EARLIER)
    full(windows, "TU")
    assert shown(tail(windows, 2, "cdef")) == ("abcdef", 2, Carry.OVERLAP)


def test_two_processes_go_on_from_their_own_lists(windows: Windows[str]) -> None:
    full(windows, "abc")
    full(windows, "ABCDE")
    assert shown(delta(windows, 3, "d")) == ("abcd", 3, Carry.EARLIER)
    assert shown(delta(windows, 5, "F")) == ("ABCDEF", 5, Carry.EARLIER)
    assert shown(delta(windows, 4, "e")) == ("abcde", 4, Carry.EARLIER)


def test_of_two_lists_of_one_length_the_newest_is_gone_on_from(windows: Windows[str]) -> None:
    full(windows, "abc")
    full(windows, "ABC")
    assert shown(delta(windows, 3, "D")) == ("ABCD", 3, Carry.SEQUENCE)


def test_a_tail_is_laid_on_the_list_it_agrees_with_and_not_on_the_newest(
    windows: Windows[str],
) -> None:
    full(windows, "abcd")
    full(windows, "ABCD")
    assert shown(tail(windows, 2, "cde")) == ("abcde", 2, Carry.OVERLAP)


def test_a_tail_prefers_the_longer_agreement(windows: Windows[str]) -> None:
    full(windows, "abcd")
    full(windows, "ABcX")
    assert shown(tail(windows, 2, "cde")) == ("abcde", 2, Carry.OVERLAP)


def test_only_the_last_few_lists_are_kept(windows: Windows[str]) -> None:
    full(windows, "abc")
    for n in range(KEPT_LISTS):
        full(windows, "T" * (n + 4))
    assert shown(delta(windows, 3, "d")) == ("???d", 3, Carry.LOST)


def test_a_new_segment_ends_the_sequence(windows: Windows[str]) -> None:
    full(windows, "abc")
    windows.begin_segment()
    assert shown(delta(windows, 3, "d")) == ("???d", 3, Carry.LOST)


def test_after_a_new_segment_a_tail_may_still_agree_and_deltas_go_on(
    windows: Windows[str],
) -> None:
    full(windows, "abcd")
    windows.begin_segment()
    assert shown(tail(windows, 2, "cde")) == ("abcde", 2, Carry.OVERLAP)
    assert shown(delta(windows, 5, "f")) == ("abcdef", 5, Carry.SEQUENCE)


def test_another_process_may_still_go_on_from_a_list_of_the_segment_before(
    windows: Windows[str],
) -> None:
    full(windows, "abc")
    windows.begin_segment()
    full(windows, "ABCD")
    assert shown(delta(windows, 3, "d")) == ("abcd", 3, Carry.EARLIER)


def test_a_count_above_what_is_shown_leaves_unknown_messages_at_the_end(
    windows: Windows[str],
) -> None:
    assert shown(full(windows, "ab", count=4)) == ("ab??", 0, Carry.NONE)


def test_a_count_below_what_is_shown_cuts_the_list(windows: Windows[str]) -> None:
    full(windows, "abcde")
    undone = full(windows, "abcde", count=3)
    assert shown(undone) == ("abc", 0, Carry.NONE)
    assert undone.base_equal == 3
    undone = windows.undo(DELTA, 3, 2, [])
    assert shown(undone) == ("ab", 2, Carry.SEQUENCE)
    assert undone.base_equal == 2


def test_lists_known_from_an_earlier_run_are_gone_on_from() -> None:
    windows = Windows[str](known=[["T"], ["a", "b", None]])
    assert shown(delta(windows, 3, "d")) == ("ab?d", 3, Carry.SEQUENCE)


def test_a_corrected_list_takes_the_place_of_the_newest(windows: Windows[str]) -> None:
    tail(windows, 2, "cd")
    windows.replace_newest(["S", "b", "c", "d"])
    assert shown(delta(windows, 4, "e")) == ("Sbcde", 4, Carry.SEQUENCE)


def test_an_earlier_list_is_not_changed_by_a_later_record(windows: Windows[str]) -> None:
    first = full(windows, "abc")
    delta(windows, 3, "d")
    tail(windows, 1, "bcdX")
    assert first.messages == list("abc")
