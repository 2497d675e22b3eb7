"""Reading the open trace format: references, attempts, notes beside the prompt, and damaged input
(docs/formats/context-trace.md)."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import (
    SESSION,
    contents,
    evidence_codes,
    ingest,
    ingest_one,
    messages_of,
    only_request,
    reader,
    request,
    row_counts,
    rows,
)
from tests.traces import built, completed, laid_out, line, ref, said, write
from tracer.model.events import Status
from tracer.model.segments import MessageNote, PromptLayout, Segment, ToolNote
from tracer.service import Service
from tracer.service.checking.cases import session_case
from tracer.store.layout_reading import SessionLayouts, session_layouts


def texts(db: Path, request_id: str) -> list[str | None]:
    return [m["content"] if m else None for m in messages_of(db, request_id)]


def layouts(db: Path, session: str = SESSION) -> tuple[SessionLayouts, dict[str, int]]:
    """The layouts of a session, and the row ids of its requests by request id and attempt."""
    with reader(db) as connection:
        row = connection.execute(
            "SELECT id FROM sessions WHERE session_id = ?", (session,)
        ).fetchone()
        ids = connection.execute(
            "SELECT request_id || ':' || attempt, id FROM requests WHERE session_id = ?", row
        )
        return session_layouts(connection, row[0]), dict(ids.fetchall())


def layout(db: Path, request_id: str, attempt: int = 1) -> PromptLayout:
    found, ids = layouts(db)
    return found.layouts[ids[f"{request_id}:{attempt}"]].layout


def notes(db: Path, request_id: str) -> tuple[MessageNote, ...]:
    found, ids = layouts(db)
    return found.notes_of(ids[f"{request_id}:1"])


def evidence_codes_of(db: Path, key: str) -> set[str]:
    return {evidence.code for evidence in Service(db).request(key).evidence}


# References --------------------------------------------------------------------------------------


def test_a_reference_is_the_message_that_was_written_before(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1"), said("m2")]),
        built(2, "q2", [ref("m1"), ref("m2"), said("m3")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert texts(db, "q2") == ["text of m1", "text of m2", "text of m3"]
    assert request(db, "q2").observed == "full"
    (blocks,) = rows(db, "SELECT count(*) FROM blocks")[0]
    assert blocks == 3


def test_a_message_written_again_under_its_id_is_what_later_references_mean(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1", "old")]),
        built(2, "q2", [said("m1", "new")]),
        built(3, "q3", [ref("m1")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert [texts(db, q) for q in ("q1", "q2", "q3")] == [["old"], ["new"], ["new"]]


def test_the_same_id_in_another_session_is_another_message(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1", "mine")]),
        built(2, "p1", [said("m1", "theirs")], session="s2"),
        built(3, "q2", [ref("m1")]),
        built(4, "p2", [ref("m1")], session="s2"),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert (texts(db, "q2"), texts(db, "p2")) == (["mine"], ["theirs"])


def test_a_reference_reaches_into_the_file_before_and_past_a_restart(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    ingest(db, write(tmp_path / "a.jsonl", built(1, "q1", [said("m1")])))
    second = write(tmp_path / "b.jsonl", built(2, "q2", [ref("m1"), said("m2")]))
    ingest(db, second)
    with second.open("ab") as file:
        file.write(built(3, "q3", [ref("m1"), ref("m2"), said("m3")]))
    ingest(db, second)
    assert texts(db, "q3") == ["text of m1", "text of m2", "text of m3"]


def test_a_reference_means_what_the_other_file_had_at_the_time(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    first = (built(1, "q1", [said("m1", "old")]), built(9, "q9", [said("m1", "new")]))
    ingest(db, write(tmp_path / "a.jsonl", *first))
    ingest(db, write(tmp_path / "b.jsonl", built(5, "q5", [ref("m1")])))
    assert texts(db, "q5") == ["old"]


def test_what_nothing_defines_is_a_gap_that_the_request_shows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1")]),
        built(2, "q2", [ref("m1"), ref("lost"), said("m2")]),
        built(3, "q3", [ref("m1"), ref("m2")]),
    )
    db = tmp_path / "t.db"
    assert ingest_one(db, path).skipped == ()
    assert texts(db, "q2") == ["text of m1", None, "text of m2"]
    found = request(db, "q2")
    assert (found.observed, found.verified_from, found.message_count) == ("windowed", 2, 3)
    assert "gap" in evidence_codes(db, "q2")
    assert layout(db, "q2").unresolved == ("lost",)
    assert (request(db, "q3").observed, texts(db, "q3")) == ("full", ["text of m1", "text of m2"])


def test_a_gap_is_filled_when_the_file_that_defines_it_is_read_later(tmp_path: Path) -> None:
    first = write(tmp_path / "b.jsonl", built(1, "q1", [said("m1"), said("m2")]))
    second = write(
        tmp_path / "a.jsonl",
        built(2, "q2", [ref("m1"), ref("m2"), ref("lost"), said("m3")]),
        built(3, "q3", [ref("m1"), ref("m2"), ref("m3")]),
        completed(4, "q3", status="failed"),
        completed(5, "q3", 2),
    )
    late, at_once = tmp_path / "late.db", tmp_path / "once.db"
    ingest(late, second)
    assert texts(late, "q2") == [None, None, None, "text of m3"]
    ingest(late, first)
    ingest(at_once, first)
    ingest(at_once, second)
    assert texts(late, "q2") == ["text of m1", "text of m2", None, "text of m3"]
    assert request(late, "q2").verified_from == 3 and layout(late, "q2").unresolved == ("lost",)
    for attempt in Service(late).requests(SESSION)[-2:]:
        assert (attempt.request_id, attempt.observed) == ("q3", "full")
    assert layout(late, "q3", 2).unresolved == ()
    assert notes(late, "q3") == notes(at_once, "q3")
    tips = "SELECT r.key, n.hash, r.observed, r.verified_from, r.carry, r.system_from FROM "
    tips += "requests r JOIN nodes n ON n.id = r.node_id ORDER BY 1"
    assert rows(late, tips) == rows(at_once, tips)


def test_a_file_that_is_later_defines_nothing(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    ingest(db, write(tmp_path / "a.jsonl", built(1, "q1", [ref("m1")])))
    ingest(db, write(tmp_path / "b.jsonl", built(9, "q9", [said("m1")])))
    assert texts(db, "q1") == [None]


def test_log_lines_of_another_session_with_the_same_request_id_stay_away(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    lines = [built(1, "q1", [said("m1")]), completed(2, "q1")]
    lines += [built(1, "q1", [said("m1")], session="s2")]
    lines += [line("request.completed", 2, "s2", requestId="q1", attempt=1, status="failed")]
    ingest(db, write(tmp_path / "t.jsonl", *lines))
    found = Service(db).request(only_request(db).key)
    assert [(e.event, e.status) for e in found.log] == [("request.completed", "completed")]
    assert only_request(db).status == Status.COMPLETED


def test_markers_are_those_of_each_request(tmp_path: Path) -> None:
    marker: dict[str, Any] = {"cacheControl": {"type": "ephemeral", "ttl": "1h"}}
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1", **marker), said("m2")]),
        built(2, "q2", [ref("m1"), ref("m2", **marker)]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    found = {q: [(m.index, m.ttl) for m in request(db, q).markers] for q in ("q1", "q2")}
    assert found == {"q1": [(0, "1h")], "q2": [(1, "1h")]}
    nodes = rows(db, "SELECT count(*) FROM nodes")[0][0]
    assert nodes == 2  # a marker is no part of the prompt


# Layout and notes --------------------------------------------------------------------------------


def test_segments_and_notes_are_kept_beside_the_prompt(tmp_path: Path) -> None:
    world: dict[str, Any] = {"id": "w", "role": "system", "kind": "world_state", "scope": "session"}
    world |= {"mode": "full", "state": {"cwd": "/w"}}
    guide = said("g", role="system", kind="capability_guide", capability="web", mood="fine")
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {4: [guide], 5: [world], 8: [said("m1", kind="user_input")]}),
        laid_out(2, "q2", {4: [ref("g")], 5: [ref("w")], 7: [ref("m1")], 8: [said("m2")]}),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert texts(db, "q1") == ["text of g", '{"cwd":"/w"}', "text of m1"]
    found = layout(db, "q2")
    assert found.layout == "segments-14"
    assert found.segments == (
        Segment(4, 0, 1), Segment(5, 1, 1), Segment(7, 2, 1), Segment(8, 3, 1)
    )  # fmt: skip
    first, second, third, fourth = notes(db, "q2")
    assert first == MessageNote(
        "g", "capability_guide", capability="web", extra_json='{"mood":"fine"}'
    )
    assert (second.scope, second.mode, second.state) == ("session", "full", {"cwd": "/w"})
    assert (third.id, third.kind, fourth.id) == ("m1", "user_input", "m2")
    # What moved from segment 8 to 7 is the same message of the same prompt.
    tips = dict(rows(db, "SELECT request_id, node_id FROM requests"))
    (parent,) = rows(db, "SELECT parent_id FROM nodes WHERE id = ?", tips["q2"])[0]
    assert parent == tips["q1"]


def test_a_new_id_or_kind_is_no_change_of_the_prompt(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1", "hello", kind="user_input")]),
        built(2, "q2", [said("n1", "hello", kind="guidance")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert len({row[0] for row in rows(db, "SELECT node_id FROM requests")}) == 1
    assert [n.id for n in (*notes(db, "q1"), *notes(db, "q2"))] == ["m1", "n1"]


def test_only_the_prefix_is_the_systems_tier(tmp_path: Path) -> None:
    """A World State diff that follows a summary stays what it was before the compaction."""
    diff = said("d", role="system", kind="world_state", mode="diff", patch={"a": 1})
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {1: [said("r", role="system")], 7: [said("u"), diff], 8: [said("v")]}),
        laid_out(2, "q2", {1: [ref("r")], 6: [said("s", role="system")], 7: [ref("d")]}),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    tiers = dict(rows(db, "SELECT preview, tier FROM blocks"))
    assert tiers == {
        "text of r": "system", "text of u": "messages", "text of d": "messages",
        "text of v": "messages", "text of s": "system",
    }  # fmt: skip


def test_tools_are_in_the_order_of_the_wire(tmp_path: Path) -> None:
    tools = {
        "stable": [{"name": "a", "inputSchema": {}}, {"name": "b"}],
        "dynamic": [{"name": "c", "capability": "web"}],
    }
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1")], tools=tools),
        built(2, "q2", [ref("m1")], tools=tools | {"order": ["c", "a"]}),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert request(db, "q1").tools == ("a", "b", "c")
    assert request(db, "q2").tools == ("c", "a", "b")
    assert layout(db, "q1").tools[2] == ToolNote("c", "dynamic", "web")
    schemas = rows(db, "SELECT name, text FROM blocks b JOIN block_texts t ON t.block_id = b.id "
                       "WHERE tier = 'tools' ORDER BY name")  # fmt: skip
    assert schemas[2] == ("c", '{"name":"c"}')  # what is said beside a schema is not sent


def test_unknown_layouts_kinds_keys_and_events_are_kept(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {99: [said("m1", kind="weather")]}, layout="rings", mood=3),
        line("garden.watered", 2, litres=3),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert (layout(db, "q1").layout, layout(db, "q1").segments) == ("rings", (Segment(99, 0, 1),))
    assert notes(db, "q1")[0].kind == "weather"
    assert rows(db, "SELECT extra_json FROM request_layouts") == [('{"mood":3}',)]
    events = rows(db, "SELECT event, context_json FROM log_events")
    assert events == [("garden.watered", '{"litres":3}')]
    assert [e.detail for e in Service(db).timeline(SESSION).events] == ["garden.watered"]


def test_rules_see_layout_notes_and_budget(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {8: [said("m1", kind="user_input")]}),
        line("context_usage_snapshot", 1, requestId="q1", contextWindow=9, outputReserve=2),
        laid_out(2, "q2", {7: [ref("m1"), said("m2", "text of m1")]}),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    with reader(db) as connection:
        (row,) = connection.execute("SELECT id FROM sessions").fetchone()
        first, second = session_case(connection, row).checked.requests
    assert first.layout.segments == (Segment(8, 0, 1),)
    assert [m.note.id for m in second.messages] == ["m1", "m2"]
    assert first.messages[0] is second.messages[0] is not second.messages[1]
    assert second.messages[0].wire_hash == second.messages[1].wire_hash
    assert second.common == 1
    assert first.usage is not None and second.usage is None
    assert dict(first.usage.counts) == {"contextWindow": 9, "outputReserve": 2}


# Answers -----------------------------------------------------------------------------------------

USAGE = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 64, "inclusive": True}


def test_an_answer_goes_to_its_prompt_whichever_is_read_first(tmp_path: Path) -> None:
    prompt, answer = built(1, "q1", [said("m1")]), completed(3, "q1", usage=USAGE, durationMs=1500)
    found = []
    for name, files in (("one", (prompt, answer)), ("two", (answer, prompt))):
        db = tmp_path / f"{name}.db"
        for number, content in enumerate(files):
            ingest(db, write(tmp_path / name / f"{number}.jsonl", content))
        found.append(only_request(db))
    for one in found:
        assert (one.status, one.duration_ms, one.observed) == (Status.COMPLETED, 1500, "full")
        assert one.usage is not None
        assert (one.usage.fresh_tokens, one.usage.cache_read_tokens) == (36, 64)
        assert one.started_at_ms == one.completed_at_ms - 2000 if one.completed_at_ms else False
    assert found[0].key == found[1].key


def test_attempts_share_the_prompt_of_their_request(tmp_path: Path) -> None:
    error = {"name": "Overloaded", "message": "busy", "statusCode": 529}
    marked = said("m1", cacheControl={"type": "ephemeral"})
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {8: [marked]}),
        completed(2, "q1", status="failed", error=error, durationMs=400),
        completed(5, "q1", 2, usage=USAGE, durationMs=1000),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    first, second = Service(db).requests(SESSION)
    assert (first.status, first.error, first.attempts) == (
        Status.FAILED, "Overloaded: busy (status 529)", 2
    )  # fmt: skip
    assert first.usage is None
    assert (second.attempt, second.status, second.observed) == (2, Status.COMPLETED, "full")
    assert second.call_key == first.key and second.markers == first.markers != ()
    assert (second.started_at_ms or 0) - (first.started_at_ms or 0) == 3000
    assert layout(db, "q1", 2) == layout(db, "q1", 1)
    assert evidence_codes_of(db, second.key) == {"uncounted"}


def test_an_answer_without_a_prompt_is_a_request_that_says_so(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    ingest(db, write(tmp_path / "t.jsonl", completed(2, "q1", usage=USAGE)))
    assert only_request(db).observed == "metadata"
    assert "events-only" in evidence_codes(db, "q1")


def test_a_prompt_without_an_answer_is_shown_at_once(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]))
    ingest(db, path)
    assert only_request(db).status == Status.UNKNOWN
    with path.open("ab") as file:
        file.write(completed(2, "q1", usage=USAGE))
    ingest(db, path)
    assert only_request(db).status == Status.COMPLETED


# The session -------------------------------------------------------------------------------------


def test_a_session_is_named_as_its_agent_says_and_knows_its_children(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("session.started", 0, agent="Gardener", title="Roses", project="/garden"),
        built(1, "q1", [said("m1")]),
        line("subagent.started", 2, childSessionId="s2", parentRequestId="q1"),
        line("session.started", 3, "s2", agent="Gardener"),
        built(4, "p1", [said("m1", "Count the roses.")], session="s2"),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    found = {s.session_id: s for s in Service(db).sessions().sessions}
    assert (found[SESSION].agent, found[SESSION].title, found[SESSION].project) == (
        "Gardener", "Roses", "/garden"
    )  # fmt: skip
    assert found["s2"].title == "Count the roses."
    assert found["s2"].parent_session_id == SESSION


# Again, in pieces, damaged -----------------------------------------------------------------------


def test_reading_again_changes_nothing(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        laid_out(1, "q1", {8: [said("m1")]}),
        completed(2, "q1", status="failed"),
        completed(3, "q1", 2, usage=USAGE),
        laid_out(4, "q2", {7: [ref("m1"), ref("lost")], 8: [said("m2")]}),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    before, counts = contents(db), row_counts(db)
    assert ingest_one(db, path).status == "unchanged"
    copy = write(tmp_path / "copy.jsonl", path.read_bytes())
    assert ingest_one(db, copy).new_records == 0
    after = contents(db)
    same: list[str] = [k for k in before if k not in ("sources",)]
    assert {k: after[k] for k in same} == {k: before[k] for k in same}
    grown = {k for k, n in row_counts(db).items() if n != counts[k]}
    assert grown == {"sources", "request_sources", "message_places"}


def test_a_file_that_was_begun_anew_keeps_what_it_had(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]), completed(2, "q1"))
    ingest(db, path)
    write(path, built(9, "q9", [ref("m1"), said("m2")]))
    ingest(db, path)
    assert texts(db, "q1") == ["text of m1"]
    assert texts(db, "q9") == ["text of m1", "text of m2"]


@pytest.mark.parametrize(
    ("keys", "count"),
    [
        ({"messages": None}, 0),
        ({"messages": "a text"}, 1),
        ({"messages": [1, None, {"ref": 3}, {"role": 5, "content": {"a": 1}}]}, 4),
        ({"segments": [3, {"n": "x", "messages": [{"id": []}]}, {"n": 2, "messages": 7}]}, 3),
        ({"segments": {"n": 1}}, 0),
        ({"segments": 5}, 1),
        ({"messages": [], "tools": [1, {"name": 2}], "model": 7, "layout": 1}, 0),
        ({"messages": [], "tools": {"stable": 1, "dynamic": None, "order": "x"}}, 0),
    ],
)
def test_odd_values_are_shown_and_never_fatal(
    tmp_path: Path, keys: dict[str, Any], count: int
) -> None:
    db = tmp_path / "t.db"
    path = write(tmp_path / "t.jsonl", line("context.built", 1, requestId="q1", **keys))
    assert ingest_one(db, path).skipped == ()
    assert only_request(db).message_count == count
    found = only_request(db)
    Service(db).request(found.key, block_limit=None, text=True)
    Service(db).timeline(SESSION)
