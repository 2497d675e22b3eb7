"""Verdicts on an open trace: short prompts, what stands at the end of each, compactions, and
capabilities that were switched."""

from pathlib import Path

from tests.cache_logs import prose, verdict_on
from tests.helpers import ingest
from tests.traces import Json, completed, laid_out, line, ref, said, write
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Fault, Result, Verdict
from tracer.model.verdict_views import VerdictView

RULES = said("rules", prose(9_000), "system", kind="rules")
GUIDE = said("guide", "Use short queries.", "system", kind="capability_guide", capability="web")
NOTE_TOOL = {"name": "note", "description": "Writes.", "inputSchema": {"type": "object"}}
WEB_TOOL = {
    "name": "search", "description": "Searches.", "capability": "web",
    "inputSchema": {"type": "object"},
}  # fmt: skip


def usage(total: int, read: int) -> Json:
    return {"inputTokens": total, "outputTokens": 5, "cacheReadTokens": read, "inclusive": True}


def tools(*, web: bool = False) -> Json:
    return {"stable": [NOTE_TOOL], "dynamic": [WEB_TOOL] if web else []}


def todo(id: str, text: str) -> Json:
    return said(id, text, "system", kind="todo_reminder")


def answered(second: float, request: str, total: int, read: int) -> bytes:
    return completed(second, request, usage=usage(total, read))


def judged(folder: Path, *lines: bytes) -> Verdict:
    """The verdict on the second request."""
    return viewed(folder, *lines).verdict


def viewed(folder: Path, *lines: bytes) -> VerdictView:
    db = folder / "t.db"
    ingest(db, write(folder / "t.jsonl", *lines))
    return verdict_on(db, "q2")


# Short prompts -----------------------------------------------------------------------------------


def short(total: int, read: int, head: str) -> tuple[bytes, ...]:
    """Two short prompts, of which the second goes on from the first, but for its last message."""
    first = {1: [said("rules", head, "system", kind="rules")], 8: [said("in1")]}
    second = {1: [ref("rules")], 8: [said("in2", "another question")]}
    return (
        laid_out(1, "q1", first), answered(2, "q1", 440, 0),
        laid_out(3, "q2", second), answered(4, "q2", total, read),
    )  # fmt: skip


def test_a_short_prompt_that_an_earlier_request_cached_is_a_hit(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *short(480, 430, prose(1_700)))
    assert verdict.result is Result.HIT
    assert "first" not in verdict.one_line.lower() and "session" not in verdict.one_line


def test_a_short_prompt_of_which_nothing_was_read_is_too_short_to_judge(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *short(480, 0, prose(1_700)))
    assert verdict.result is Result.HIT
    assert "too few to judge a cache by (less than 1,024)" in verdict.one_line


def test_what_is_shared_is_never_more_than_the_earlier_prompt(tmp_path: Path) -> None:
    """The prompts are equal but for a word: counts scaled to the larger bill say more than 440."""
    verdict = judged(tmp_path, *short(520, 440, prose(1_700)))
    assert "440 tokens" in verdict.baseline_reason
    assert verdict.read_stop is not None and "about token 440" in verdict.read_stop.sentence


def test_a_read_that_no_earlier_request_explains_is_most_likely_anothers(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *short(9_000, 4_000, "Be brief."))
    assert verdict.result is Result.FIRST
    assert "most likely cached by another session" in verdict.one_line
    assert verdict.causes[0].certainty is Certainty.HIGH


def test_what_another_kind_of_call_of_the_session_cached_is_put_down_to_it(tmp_path: Path) -> None:
    rules = said("rules", prose(1_700), "system", kind="rules")
    verdict = judged(
        tmp_path,
        laid_out(1, "q1", {1: [rules], 8: [said("in1")]}), answered(2, "q1", 440, 0),
        laid_out(3, "q2", {1: [ref("rules")], 8: [said("in2")]}, querySource="review"),
        answered(4, "q2", 450, 384),
    )  # fmt: skip
    assert verdict.result is Result.FIRST
    assert "of this session" in verdict.one_line and "another session" not in verdict.one_line


# The end of a prompt -----------------------------------------------------------------------------


def step(n: int, size: int = 400) -> list[Json]:
    call = {"id": f"c{n}", "name": "note", "input": {"n": n}}
    return [
        said(f"a{n}", "I look.", "assistant", kind="assistant", toolCalls=[call]),
        said(f"t{n}", prose(size, 7 * n), "tool", kind="tool_result", toolCallId=f"c{n}"),
    ]


def moved_on(last: Json, read: int) -> tuple[bytes, ...]:
    """Two requests of a run, each with a message of segment 12 to 14 at its end."""
    start = {1: [RULES], 8: [said("in1", kind="user_input")]}
    again = {1: [ref("rules")], 8: [ref("in1")]}
    todo_of = todo("todo", prose(9_000, 3))
    return (
        laid_out(1, "q1", start | {12: [todo_of]}), answered(2, "q1", 5_000, 0),
        laid_out(3, "q2", again | {11: step(1), 12: [last]}), answered(4, "q2", 5_100, read),
    )  # fmt: skip


def test_a_reminder_that_moved_on_with_the_end_of_the_prompt_rewrites_no_history(
    tmp_path: Path,
) -> None:
    verdict = judged(tmp_path, *moved_on(ref("todo"), 2_400))
    assert verdict.result is Result.HIT
    assert verdict.also == () and verdict.rebilled_tokens == 0
    assert "HISTORY_REWRITTEN/EDIT" not in verdict.signals


def test_nor_does_one_with_another_text(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *moved_on(todo("todo", prose(9_000, 50)), 2_400))
    assert verdict.result is Result.HIT
    assert not any("HISTORY" in signal for signal in verdict.signals)


def test_an_edited_message_before_it_still_does(tmp_path: Path) -> None:
    steps = [*step(1, 3_000), *step(2, 9_000)]
    before = {1: [RULES], 8: [said("in1")], 11: steps, 12: [todo("todo", "Open: a")]}
    edited = said("t1", prose(3_000, 99), "tool", kind="tool_result", toolCallId="c1")
    timeline = [ref("a1"), edited, ref("a2"), ref("t2"), *step(3)]
    after = {1: [ref("rules")], 8: [ref("in1")], 11: timeline, 12: [todo("todo", "Open: b")]}
    verdict = judged(
        tmp_path,
        laid_out(1, "q1", before), answered(2, "q1", 5_000, 0),
        laid_out(3, "q2", after), answered(4, "q2", 5_200, 2_200),
    )  # fmt: skip
    assert verdict.result is Result.PARTIAL
    assert verdict.causes[0].code == "HISTORY_REWRITTEN"


# Compaction --------------------------------------------------------------------------------------


def test_a_summary_in_place_of_messages_is_a_compaction_and_expected(tmp_path: Path) -> None:
    history = [m for n in range(1, 4) for m in step(n, 3_000)]
    summary = said("sum", "Three were read.", "system", kind="summary", covers=["in1", "a1", "t1"])
    rest = [ref(m["id"]) for m in history[2:]]
    view = viewed(
        tmp_path,
        laid_out(1, "q1", {1: [RULES], 8: [said("in1")], 11: history}),
        answered(2, "q1", 5_000, 0),
        line("compaction.completed", 2.5, runId="r1", covers=["in1", "a1", "t1"], summaryId="sum"),
        laid_out(3, "q2", {1: [ref("rules")], 6: [summary], 7: rest, 8: [said("in2")]}),
        answered(4, "q2", 4_300, 2_400),
    )
    verdict = view.verdict
    assert verdict.result is Result.EXPECTED_REBUILD
    (cause,) = verdict.causes
    assert (cause.code, cause.subtype, cause.expected) == ("HISTORY_REWRITTEN", "COMPACTION", True)
    assert any("(summary)" in text for text in cause.evidence)
    assert not any(also.code == "SYSTEM_CHANGED" for also in verdict.also)
    assert view.change is not None and "(summary)" in view.change.place


# Capabilities ------------------------------------------------------------------------------------


def switched(*between: bytes, tool: bool = True, guide: bool = True) -> tuple[bytes, ...]:
    """A capability is there, and then it is not."""
    start = {1: [RULES], 4: [GUIDE], 8: [said("in1", prose(9_000, 5))]}
    again = {1: [ref("rules")], 4: [ref("guide")], 8: [ref("in1")]}
    if guide:
        del again[4]
    return (
        laid_out(1, "q1", start, tools=tools(web=True)), answered(2, "q1", 5_000, 0), *between,
        laid_out(3, "q2", again, tools=tools(web=not tool)), answered(4, "q2", 4_900, 0),
    )  # fmt: skip


OFF = line("capability.changed", 2.5, name="web", enabled=False, reason="the user went offline")
ON = line("capability.changed", 2.5, name="web", enabled=True)
OTHER = line("capability.changed", 2.5, name="mail", enabled=False)


def test_a_capability_that_was_switched_off_is_the_cause_and_was_meant(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *switched(OFF))
    assert verdict.result is Result.EXPECTED_REBUILD
    assert (verdict.avoidable_tokens, verdict.missed_tokens) == (0, 0)
    assert verdict.rebilled_tokens > 3_000
    cause = verdict.causes[0]
    assert (cause.code, cause.fault, cause.expected) == ("TOOLS_CHANGED", Fault.USER, True)
    assert "“Capability web switched off: the user went offline”." in cause.summary
    assert "freeze" not in cause.fix


def test_a_guide_alone_that_went_with_its_capability_was_meant(tmp_path: Path) -> None:
    verdict = judged(tmp_path, *switched(OFF, tool=False))
    assert verdict.result is not Result.MISS and verdict.result is not Result.PARTIAL
    told = (*verdict.causes, *verdict.also)
    (cause,) = (f for f in told if f.code == "SYSTEM_CHANGED")
    assert (cause.subtype, cause.expected, cause.tier) == ("capability", True, Tier.SYSTEM)
    assert "The guide of the capability web is gone" in cause.summary


def test_a_tool_that_went_without_a_switch_is_a_miss(tmp_path: Path) -> None:
    for name, between in {"none": (), "on": (ON,), "other": (OTHER,)}.items():
        verdict = judged(tmp_path / name, *switched(*between))
        assert verdict.result is Result.MISS
        assert verdict.causes[0].fault is Fault.CLIENT
        assert "freeze" in verdict.causes[0].fix
