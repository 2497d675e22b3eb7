"""Properties of comparing prompts and texts, over drawn prompts that share much content."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_compare_builders import (
    TOOLS_GAP,
    a_call,
    a_gap,
    a_note,
    a_prompt,
    a_result,
    a_system,
    a_text,
    a_thought,
    a_tool,
    an_image,
    hashes,
)
from tracer.compare import apply, compare, diff_texts, hunk_page, text_changes
from tracer.compare.fields import starts_message
from tracer.compare.match import few_edits, match
from tracer.compare.texts import common_suffix, first_difference
from tracer.compare.words import changed_words
from tracer.model.comparison import HunkPage, Op, Relation
from tracer.model.prompt import Block, Kind, Prompt

WORDS = st.sampled_from(
    [
        "ok",
        "fix the retry in the uploader",
        "fix the retry in the downloader",
        "a\nb\nc",
        "a\nB\nc",
        "",
    ]
)
IDS = st.sampled_from(["call_1", "call_2", "call_3"])
TOOLS = st.lists(
    st.builds(a_tool, st.sampled_from(["Bash", "Edit", "Read", "mcp__git__log"]), WORDS), max_size=5
)
SYSTEMS = st.lists(st.builds(a_system, WORDS), max_size=3)
BLOCKS = st.one_of(
    st.builds(a_text, st.sampled_from(["user", "assistant", "system"]), WORDS),
    st.builds(a_note, WORDS),
    st.builds(a_thought, WORDS),
    st.builds(a_call, IDS, path=WORDS),
    st.builds(a_result, IDS, WORDS),
    st.builds(an_image, st.sampled_from(["x", "y"])),
    st.builds(lambda text: a_text("user", text, shape="array"), WORDS),
    st.builds(lambda text: a_text("user", text, message_json='{"id":1}'), WORDS),
)
MESSAGES = st.lists(st.lists(BLOCKS, min_size=1, max_size=3), max_size=8)


@st.composite
def prompts(draw: st.DrawFn, gaps: bool = False) -> Prompt:
    """A prompt; with `gaps` the log may hide some of it."""
    messages = draw(MESSAGES)
    tools: list[Block] = draw(TOOLS)
    if gaps:
        if draw(st.booleans()):
            tools = [TOOLS_GAP]
        for at in draw(st.lists(st.integers(0, len(messages)), max_size=2)):
            messages.insert(at, [a_gap(draw(st.integers(1, 3)))])
    return a_prompt(*tools, *draw(SYSTEMS), *messages)


@st.composite
def edited(draw: st.DrawFn, prompt: Prompt) -> Prompt:
    """A prompt made of another one: pieces left out, said twice, put elsewhere, changed."""
    entries: list[list[Block]] = []
    for placed in prompt.blocks:
        if starts_message(placed):
            entries.append([])
        entries[-1].append(placed.block)
    tiers: dict[str, list[list[Block]]] = {}
    for entry in entries:
        tiers.setdefault(entry[0].tier, []).append(entry)
    for own in tiers.values():
        for _ in range(draw(st.integers(0, 2))):
            if not own:
                break
            at, to = draw(st.integers(0, len(own) - 1)), draw(st.integers(0, len(own) - 1))
            what = draw(st.sampled_from(["drop", "double", "move", "shape", "text", "swap"]))
            entry = own.pop(at)
            if what == "double":
                own[at:at] = [entry, entry]
            elif what in ("move", "swap"):
                own.insert(to, entry)
            elif what != "drop":
                changes = {"shape": "array"} if what == "shape" else {"text": draw(WORDS)}
                own.insert(at, [replace(entry[0], **changes), *entry[1:]])  # type: ignore[arg-type]
    return a_prompt(*(entry for own in tiers.values() for entry in own))


@st.composite
def pairs(draw: st.DrawFn, gaps: bool = False) -> tuple[Prompt, Prompt]:
    """Two prompts, related or not."""
    a = draw(prompts(gaps=gaps))
    return a, draw(st.one_of(edited(a), prompts(gaps=gaps)))


@given(prompts())
def test_a_prompt_compared_with_itself_shows_nothing(prompt: Prompt) -> None:
    found = compare(prompt, prompt)
    assert {change.op for change in found.changes} <= {Op.EQUAL}
    assert found.relation is Relation.IDENTICAL and found.first_divergence is None
    assert found.common.blocks == len(prompt.blocks)


@given(pairs(gaps=True))
@settings(max_examples=300)
def test_the_operations_turn_a_into_b(pair: tuple[Prompt, Prompt]) -> None:
    a, b = pair
    found = compare(a, b)
    assert apply(hashes(a), found) == hashes(b)
    for change in found.changes:
        if change.op in (Op.MOVED, Op.REORDERED, Op.CHANGED, Op.EQUAL):
            assert change.a_index is not None and change.b_index is not None
            kinds = {a.blocks[change.a_index].block.kind, b.blocks[change.b_index].block.kind}
            assert Kind.GAP not in kinds
    if found.hidden is None:
        assert Op.UNKNOWN not in {change.op for change in found.changes}
        assert found.relation is not Relation.UNKNOWN
        assert found.common_at_most == found.common


@given(pairs(gaps=True))
@settings(max_examples=300)
def test_the_common_prefix_is_symmetric_and_whole(pair: tuple[Prompt, Prompt]) -> None:
    a, b = pair
    forward, backward = compare(a, b), compare(b, a)
    assert forward.common == backward.common
    n = forward.common.blocks
    assert hashes(a)[:n] == hashes(b)[:n]
    one, other = forward.first_divergence, backward.first_divergence
    hidden = forward.hidden
    if hidden is None or not hidden.a_messages + hidden.b_messages:
        assert (one is None) == (other is None)
    if one is not None and other is not None and not one.after_gap:
        assert (one.index, one.tier, one.char_offset) == (n, other.tier, other.char_offset)
        assert (one.before, one.after) == (other.after, other.before)


@given(pairs())
@settings(max_examples=300)
def test_the_first_divergence_is_the_first_difference(pair: tuple[Prompt, Prompt]) -> None:
    a, b = pair
    at = compare(a, b).first_divergence
    n = min(len(a.blocks), len(b.blocks))
    if at is None:
        assert hashes(a)[:n] == hashes(b)[:n]
        return
    x, y = a.blocks[at.a_index].block, b.blocks[at.index].block
    o = at.char_offset
    assert x.text[:o] == y.text[:o]
    if at.differs == ("text",):
        assert x.text[o : o + 1] != y.text[o : o + 1]
    before = sum(placed.tokens for placed in b.blocks[: at.index])
    assert before <= at.token_offset <= before + b.blocks[at.index].tokens
    assert x.text.startswith(at.before, at.snippet_start)
    assert y.text.startswith(at.after, at.snippet_start)


@given(MESSAGES, st.lists(st.lists(BLOCKS, min_size=1, max_size=3), min_size=1), TOOLS, SYSTEMS)
def test_appending_never_diverges(
    messages: list[list[Block]], more: list[list[Block]], tools: list[Block], systems: list[Block]
) -> None:
    a = a_prompt(*tools, *systems, *messages)
    found = compare(a, a_prompt(*tools, *systems, *messages, *more))
    assert found.first_divergence is None and found.relation is Relation.APPENDED
    assert {change.op for change in found.changes} <= {Op.EQUAL, Op.ADDED}


@given(prompts(), st.data())
def test_markers_anywhere_are_no_change(prompt: Prompt, data: st.DataObject) -> None:
    marked = [p.block for p in prompt.blocks]
    indexes = st.sets(st.integers(0, max(0, len(marked) - 1)), max_size=4)
    one, other = (a_prompt(*marked, marked=data.draw(indexes)) for _ in range(2))
    found = compare(one, other)
    assert found.same_content and found.first_divergence is None


LINES = st.lists(
    st.sampled_from(["", "a", "b", "a b c", "x = 1", "\u4e2d\u6587", "\r"]), max_size=30
)
TEXTS = st.one_of(LINES.map("\n".join), st.text(max_size=40))


def rebuilt(before: str, page: HunkPage, own: str) -> str:
    """One side of a text pair, from its hunks and the equal lines between them."""
    lines = before.split("\n")
    made: list[str] = []
    at = 0
    for hunk in page.hunks:
        made += lines[at : at + hunk.folded_before]
        at += hunk.folded_before
        made += [line.text for line in hunk.lines if line.op in (" ", own)]
        at += hunk.a_count
    assert at + page.folded_after == len(lines)
    return "\n".join([*made, *lines[at:]])


@given(TEXTS, TEXTS, st.integers(0, 4))
@settings(max_examples=300)
def test_hunks_rebuild_both_texts(before: str, after: str, context: int) -> None:
    page = hunk_page(diff_texts(before, after), context=context, limit=1_000, max_line_chars=None)
    assert rebuilt(before, page, "-") == before
    assert rebuilt(before, page, "+") == after
    for hunk in page.hunks:
        olds = [line.a_line for line in hunk.lines if line.a_line is not None]
        assert olds == list(range(hunk.a_start, hunk.a_start + hunk.a_count))
        news = [line.b_line for line in hunk.lines if line.b_line is not None]
        assert news == list(range(hunk.b_start, hunk.b_start + hunk.b_count))


@given(st.lists(st.integers(0, 5), max_size=400), st.lists(st.integers(0, 5), max_size=400))
@settings(deadline=None)
def test_a_matching_is_a_common_subsequence(a: list[int], b: list[int]) -> None:
    last_a = last_b = 0
    for i, j, size in match(a, b).runs:
        assert i >= last_a and j >= last_b and size > 0
        assert a[i : i + size] == b[j : j + size]
        last_a, last_b = i + size, j + size


def longest_common(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence, by the book."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


@given(
    st.lists(st.integers(0, 3), max_size=25),
    st.lists(st.integers(0, 3), max_size=25),
    st.integers(0, 30),
)
def test_few_edits_are_as_few_as_possible(a: list[int], b: list[int], most: int) -> None:
    runs = few_edits(a, b, most)
    edits = len(a) + len(b) - 2 * longest_common(a, b)
    assert (runs is None) == (edits > most)
    if runs is not None:
        assert len(a) + len(b) - 2 * sum(run.size for run in runs) == edits
        assert runs == sorted(runs)
        for i, j, size in runs:
            assert size > 0 and a[i : i + size] == b[j : j + size]


@given(TEXTS, TEXTS)
def test_ends_are_as_long_as_they_can_be(a: str, b: str) -> None:
    head = first_difference(a, b)
    assert a[:head] == b[:head] and (head == min(len(a), len(b)) or a[head] != b[head])
    tail = common_suffix(a, b, min(len(a), len(b)) - head)
    assert a[len(a) - tail :] == b[len(b) - tail :]


@given(st.text("ab c\u4e2d", max_size=30), st.text("ab c\u4e2d", max_size=30))
def test_outside_the_spans_two_lines_are_equal(a: str, b: str) -> None:
    found = changed_words(a, b)
    if found is not None:
        kept = []
        for text, spans in zip((a, b), found, strict=True):
            for low, high in reversed(spans):
                text = text[:low] + text[high:]
            kept.append(text)
        assert kept[0] == kept[1]


@given(TEXTS, TEXTS)
def test_evidence_is_taken_from_the_texts(before: str, after: str) -> None:
    for change in text_changes(before, after).changes:
        for text, span in ((before, change.before), (after, change.after)):
            assert text[span.start : span.end] == span.text
            assert text.startswith(span.window, span.window_start)
