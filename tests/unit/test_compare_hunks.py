"""Hunks, their lines and words, JSON laid out, invisible characters, labels."""

import json

import pytest

from tests.unit.test_compare_builders import (
    TOOLS_GAP,
    a_call,
    a_gap,
    a_note,
    a_prompt,
    a_result,
    a_system,
    a_text,
    a_tool,
    an_image,
)
from tracer.compare import (
    block_label,
    compare,
    diff_change,
    diff_texts,
    field_changes,
    hunk_page,
    run_label,
)
from tracer.compare.hunks import MAX_HUNK_LINES
from tracer.compare.lines import FALLBACK, diff_lines
from tracer.compare.match import match
from tracer.compare.texts import char_name, first_difference, pretty_json
from tracer.compare.words import changed_words
from tracer.model.comparison import Hunk, Invisible, Op
from tracer.model.prompt import PlacedBlock


def numbered(count: int, **changed: str) -> str:
    """Lines `line 0` to `line <count - 1>`; `changed` are other lines, by `n<number>`."""
    return "\n".join(changed.get(f"n{n}", f"line {n}") for n in range(count))


def drawn(hunk: Hunk) -> list[str]:
    """A hunk as unified diffs draw it."""
    return [line.op + line.text for line in hunk.lines]


def test_a_changed_line_stands_between_three_equal_ones() -> None:
    page = hunk_page(diff_texts(numbered(20), numbered(20, n9="line nine")))
    (hunk,) = page.hunks
    around = [[f" line {n}" for n in range(6, 9)], [f" line {n}" for n in range(10, 13)]]
    assert drawn(hunk) == [*around[0], "-line 9", "+line nine", *around[1]]
    assert (hunk.a_start, hunk.a_count, hunk.b_start, hunk.b_count) == (7, 7, 7, 7)
    assert (hunk.folded_before, page.folded_after) == (6, 7)
    assert (page.added_lines, page.removed_lines, page.total, page.next_offset) == (1, 1, 1, None)
    removed, added = hunk.lines[3], hunk.lines[4]
    assert (removed.a_line, removed.b_line, removed.spans) == (10, None, ((5, 6),))
    assert (added.a_line, added.b_line, added.spans) == (None, 10, ((5, 9),))


def test_near_changes_share_a_hunk_and_far_ones_do_not() -> None:
    near = hunk_page(diff_texts(numbered(30), numbered(30, n9="x", n16="y")))
    assert [len(hunk.lines) for hunk in near.hunks] == [16]
    far = hunk_page(diff_texts(numbered(30), numbered(30, n9="x", n17="y")))
    assert [hunk.folded_before for hunk in far.hunks] == [6, 1]
    assert far.folded_after == 9


def test_hunks_come_in_pages() -> None:
    diff = diff_texts(numbered(100), numbered(100, n10="x", n30="x", n50="x", n70="x", n90="x"))
    first = hunk_page(diff, limit=2)
    assert (len(first.hunks), first.total, first.next_offset, first.folded_after) == (2, 5, 2, 0)
    last = hunk_page(diff, offset=4, limit=2)
    assert (len(last.hunks), last.next_offset, last.folded_after) == (1, None, 6)
    assert hunk_page(diff, offset=9).hunks == ()
    with pytest.raises(ValueError, match="limit"):
        hunk_page(diff, limit=0)


def test_a_long_hunk_is_continued() -> None:
    page = hunk_page(diff_texts("", numbered(450)))
    assert [len(hunk.lines) for hunk in page.hunks] == [MAX_HUNK_LINES, MAX_HUNK_LINES, 51]
    assert [hunk.continued for hunk in page.hunks] == [False, True, True]
    assert page.hunks[1].lines[0].b_line == 200
    assert page.hunks[1].b_start == 200


def test_a_text_that_does_not_exist_has_no_lines() -> None:
    page = hunk_page(diff_texts(None, "a\nb"))
    assert drawn(page.hunks[0]) == ["+a", "+b"]
    page = hunk_page(diff_texts("a", None))
    assert drawn(page.hunks[0]) == ["-a"]


def test_equal_texts_have_no_hunks() -> None:
    page = hunk_page(diff_texts("a\nb", "a\nb"))
    assert (page.hunks, page.total, page.folded_after) == ((), 0, 2)


def test_the_words_of_lines_of_which_some_are_new() -> None:
    before = "first\nthe limit is 3 retries\nlast"
    after = "first\nquite something else\nthe limit is 5 retries\nlast"
    (hunk,) = hunk_page(diff_texts(before, after)).hunks
    assert [(line.op, line.spans) for line in hunk.lines] == [
        (" ", ()), ("-", ((13, 14),)), ("+", ()), ("+", ((13, 14),)), (" ", ()),
    ]  # fmt: skip


def test_chinese_is_compared_by_character() -> None:
    found = changed_words(
        "\u4eca\u5929\u662f\u661f\u671f\u4e00", "\u4eca\u5929\u662f\u661f\u671f\u4e8c"
    )
    assert found == (((5, 6),), ((5, 6),))


def test_lines_with_little_in_common_have_no_spans() -> None:
    assert changed_words("alpha beta gamma", "one two three four") is None
    assert changed_words("x" * 5_000 + "a", "y" * 5_000 + "b") is None


def test_a_long_line_is_cut_around_its_change() -> None:
    before, after = "x" * 9_000 + "old" + "z" * 90_000, "x" * 9_000 + "new" + "z" * 90_000
    (hunk,) = hunk_page(diff_texts(before, after), max_line_chars=100).hunks
    for line, word in zip(hunk.lines, ("old", "new"), strict=True):
        ((low, high),) = line.spans
        assert line.text[low:high] == word and len(line.text) == 100
        assert line.cut_before + len(line.text) + line.cut_after == len(before)


def test_invisible_characters_of_changed_lines_are_named() -> None:
    before, after = "same\u200b\nplain text", "same\u200b\nplain\u00a0te\u200bxt\r"
    (hunk,) = hunk_page(diff_texts(before, after)).hunks
    assert [line.invisible for line in hunk.lines] == [
        (),
        (),
        (
            Invisible(5, "U+00A0 NO-BREAK SPACE"),
            Invisible(8, "U+200B ZERO WIDTH SPACE"),
            Invisible(11, "U+000D CARRIAGE RETURN"),
        ),
    ]
    assert char_name("\x07") == "U+0007 CONTROL CHARACTER"


def test_json_is_laid_out_with_its_keys_in_order() -> None:
    text = '{"b":1.0,"a":"one\\ntwo \\\\n","c":[]}'
    assert pretty_json(text) == '{\n  "b": 1.0,\n  "a": "one\\n\n    two \\\\n",\n  "c": []\n}'
    assert pretty_json("no json") is None
    assert pretty_json("\ud800") is None
    assert pretty_json("[" * 100_000 + "]" * 100_000) is None


def test_a_schema_is_compared_line_by_line() -> None:
    a = a_prompt(a_tool("Bash", "Runs a command.\nUse with care.", timeout=60, cwd="/"))
    b = a_prompt(a_tool("Bash", "Runs a command.\nUse with great care.", timeout=60, cwd="/"))
    (change,) = compare(a, b).changes
    page = hunk_page(diff_change(a, b, change))
    assert page.pretty
    changed = [line.text.strip() for line in page.hunks[0].lines if line.op != " "]
    assert changed == ['Use with care.",', 'Use with great care.",']


def test_json_that_only_looks_the_same_is_compared_as_it_is() -> None:
    page = hunk_page(diff_texts('{"a":1}', '{"a": 1}', json=True))
    assert not page.pretty and page.total == 1


def test_a_tool_result_of_packed_json_is_laid_out() -> None:
    rows = [{"name": f"row {n}", "value": n} for n in range(20)]
    old, new = json.dumps(rows), json.dumps([*rows[:9], {"name": "other"}, *rows[10:]])
    a, b = a_prompt(a_result("call_1", old)), a_prompt(a_result("call_1", new))
    page = hunk_page(diff_change(a, b, compare(a, b).changes[0]))
    assert page.pretty and (page.removed_lines, page.added_lines) == (2, 1)


def test_the_hunks_of_a_block_that_came_or_went() -> None:
    a, b = a_prompt(a_text("user", "one\ntwo")), a_prompt(a_text("assistant", "three"))
    removed, added = compare(a, b).changes
    assert (removed.op, added.op) == (Op.REMOVED, Op.ADDED)
    assert drawn(hunk_page(diff_change(a, b, removed)).hunks[0]) == ["-one", "-two"]
    assert drawn(hunk_page(diff_change(a, b, added)).hunks[0]) == ["+three"]


def test_the_fields_beside_the_text() -> None:
    a, b = a_text("user", "x"), a_text("user", "y", shape="array", extra_json='{"id":1}')
    assert [(c.field, c.before, c.after) for c in field_changes(a, b)] == [
        ("shape", "string", "array"),
        ("extra", "", '{"id":1}'),
    ]


def test_many_repeated_lines_fall_back_and_say_so() -> None:
    before = "\n".join(["x"] * 300 + ["y"] * 300)
    after = "\n".join(["y"] * 300 + ["x"] * 300)
    diff = diff_lines(before, after)
    assert diff.fallback == FALLBACK
    assert sum(run.size for run in diff.runs) >= 300
    assert hunk_page(diff_texts(before, after)).fallback == FALLBACK
    assert diff_lines(numbered(5000), numbered(5000, n7="x", n4000="y")).fallback == ""


def test_a_moved_passage_is_matched_but_for_one_side() -> None:
    head, tail = list(range(2_000)), list(range(2_000, 5_000))
    found = match(head + tail, tail + head)
    assert not found.fallback
    assert [run.size for run in found.runs] == [3_000]


@pytest.mark.parametrize(
    ("a", "b", "offset"),
    [
        ("", "", 0),
        ("a", "", 0),
        ("abc", "abd", 2),
        ("abc", "abcd", 3),
        ("x" * 100_000 + "\U0001f600", "x" * 100_000 + "\U0001f601", 100_000),
        ("same", "same", 4),
    ],
)
def test_the_first_difference(a: str, b: str, offset: int) -> None:
    assert first_difference(a, b) == first_difference(b, a) == offset


def a_placed(*blocks: object) -> tuple[PlacedBlock, ...]:
    """The blocks of a prompt."""
    return a_prompt(*blocks).blocks  # type: ignore[arg-type]


def test_labels_are_short_and_on_one_line() -> None:
    prompt = a_placed(
        a_tool("Bash"),
        a_tool(""),
        a_system("You are an agent."),
        (a_text("user", "hello"), an_image()),
        a_call("call_ab12"),
        a_result("toolu_01A09q90qw90lq917835", "x", name=""),
        a_note("The date has changed.\nToday's date is now 2026-01-13. Say nothing about it."),
        a_text("system", "Plan mode is active."),
        a_gap(12),
        a_tool("evil\n\u202ename" + "x" * 100),
        TOOLS_GAP,
    )
    assert [block_label(placed) for placed in prompt] == [
        "tool Bash",
        "tool 1",
        "system block 0",
        "message 1 \u00b7 user text",
        "message 1, block 1 \u00b7 user image",
        "call of Read (call_ab12)",
        "result (\u2026lq917835)",
        "message 4 \u00b7 reminder \u201cThe date has changed. Today's date is n\u2026\u201d",
        "message 5 \u00b7 system text",
        "12 messages that the log did not show",
        "tool evil name" + "x" * 50 + "\u2026",
        "tools that the log did not show",
    ]


def test_labels_of_runs() -> None:
    prompt = a_placed(
        a_tool("A"), a_tool("B"), (a_text("user", "x"), an_image()), a_text("user", "y")
    )
    assert run_label(prompt[:1]) == "tool A"
    assert run_label(prompt[:2]) == "tools 0 to 1"
    assert run_label(prompt[2:4]) == "message 0, blocks 0 to 1"
    assert run_label(prompt[2:]) == "messages 0 to 1"
    with pytest.raises(ValueError, match="no blocks"):
        run_label(())
