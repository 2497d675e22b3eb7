"""Sections, reminders and presence through ingest and service, against the run that was logged."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.anatomy_accuracy import WITHOUT_WORDS
from tests.helpers import SAMPLES, ingest
from tracer.anatomy.presence import Groups, Request, groups_of, presence_rows
from tracer.anatomy.prompt import AnatomyContext, PromptAnatomy, anatomy_of
from tracer.anatomy.reminder_sources import UNKNOWN
from tracer.model.anatomy_views import Presence
from tracer.model.prompt import Prompt
from tracer.model.views import RequestSummary
from tracer.service import Service
from tracer.service.contents import Contents
from tracer.service.loading import load_prompts
from tracer.service.requests import SessionData, load_session
from tracer.store.connect import open_reader, open_writer
from tracer.store.reading import RequestLine

NAMES = sorted(path.parent.name for path in SAMPLES.glob("*/expected.json"))
SIDES = ("with the log", "without it")
ROWS = {"section": "sections", "reminder": "reminders", "mcs": "mcs", "tool": "tools"}
HIDDEN = Request((), False, system_shown=False)
Row = dict[str, Any]


def truth(name: str) -> list[tuple[str, list[Row]]]:
    """What the generator knew of each session's requests."""
    sessions = json.loads((SAMPLES / name / "expected.json").read_text("utf-8"))["sessions"]
    return [(s["session_id"], s["requests"]) for s in sessions]


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A sample's database, with its structured log or with the model I/O alone."""

    @cache
    def made(name: str, side: str) -> Path:
        db = tmp_path_factory.mktemp(name) / "tracer.db"
        folders = [p for p in sorted((SAMPLES / name).iterdir()) if p.is_dir()]
        ingest(db, *[p for p in folders if side == SIDES[0] or p.name != "log"])
        return db

    return made


def pairs(db: Path, name: str) -> Iterator[tuple[Row, RequestSummary]]:
    """Each request of the truth that has a prompt, with what the service says of it."""
    service = Service(db)
    for session_id, rows in truth(name):
        found = {(r.request_id, r.attempt): r for r in service.requests(session_id)}
        for row in rows:
            request = found.get((row["request_id"], row["attempt"]))
            if request is not None and row["message_count"] is not None and request.roles:
                yield row, request


def at(span: str) -> tuple[int, str]:
    message, _, inside = span.partition(":")
    return int(message), inside


def visible(row: Row, request: RequestSummary) -> set[int]:
    """The messages whose content this request's own record proves."""
    proven = request.verified_from
    first = row["message_count"] if proven is None else proven
    return set(range(first, row["message_count"])) | set(range(row["roles"].get("system", 0)))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_sections_stand_where_the_agent_put_them(name: str, side: str, databases: Any) -> None:
    misses = total = 0
    for row, request in pairs(databases(name, side), name):
        seen = visible(row, request)
        want = [
            (source, *at(span))
            for source, span in zip(row["sections"], row["section_spans"], strict=True)
            if at(span)[0] in seen
        ]
        got = [
            (s.source, s.message_index, f"{s.start_char}-{s.end_char}")
            for s in request.sections
            if s.message_index in seen
        ]
        total += len(want)
        misses += len(set(want) ^ set(got))
        if side == SIDES[0]:
            assert sorted(got) == sorted(want), request.key
    assert misses <= total * 0.02


@pytest.mark.parametrize("name", NAMES)
def test_reminders_and_mcs_messages_are_those_of_the_run(name: str, databases: Any) -> None:
    for row, request in pairs(databases(name, SIDES[0]), name):
        seen = visible(row, request)
        found = {
            (r.via, r.message_index, f"{r.start_char}-{r.end_char}"): (r.source, *r.ambiguous_with)
            for r in request.reminders
            if r.message_index in seen
        }
        for reminder, span in zip(row["reminders"], row["reminder_spans"], strict=True):
            message, inside = at(span)
            if message not in seen:
                continue
            sources = found.pop((reminder["via"], message, inside))
            wordless = reminder["source"] in WITHOUT_WORDS and reminder["via"] != "inline"
            assert (UNKNOWN if wordless else reminder["source"]) in sources
        assert found == {}
        merged = [m for m in row["mcs"] if m["message_index"] in seen]
        got = [m for m in request.mcs if m.message_index in seen]
        assert [(m.message_index, len(m.sources)) for m in got] == [
            (m["message_index"], len(m["sources"])) for m in merged
        ]
        state = request.mcs_state
        assert state is not None and request.variant == row["variant"]
        if row["mcs_on"] is not None and state.state != "undecidable":
            assert state.state == ("on" if row["mcs_on"] else "off")


def prompts(
    connection: sqlite3.Connection, data: SessionData
) -> Iterator[tuple[int, Prompt, PromptAnatomy]]:
    """The anatomy of each prompt of a session by itself, from all of its texts."""
    for seq, row in enumerate(data.rows, 1):
        if row.node_id is not None:
            (loaded,) = load_prompts(connection, [(row, [])])
            prompt = loaded.prompt
            texts = data.sections.texts(data.sections.version(row.started_at_ms))
            yield seq, prompt, anatomy_of(prompt, AnatomyContext(texts))


@pytest.mark.parametrize("name", NAMES)
def test_a_session_read_at_once_is_its_prompts_read_one_by_one(name: str, databases: Any) -> None:
    db = databases(name, SIDES[0])
    service = Service(db)
    with closing(open_reader(db)) as connection:
        ids = connection.execute("SELECT id, session_id FROM sessions").fetchall()
        for row_id, session_id in ids:
            data = load_session(connection, row_id)
            anatomies = Contents(connection, row_id, data.rows, data.sections).anatomies
            alone = {}
            for seq, prompt, found in prompts(connection, data):
                whole = anatomies[seq - 1]
                assert whole is not None
                assert whole.sections == found.sections
                assert whole.reminders == found.reminders
                assert whole.mcs == found.mcs_messages
                assert whole.verdict == found.mcs
                assert (whole.variant, whole.variant_evidence) == (
                    found.variant,
                    found.variant_evidence,
                )
                assert whole.whole is not bool(found.gaps)
                alone[seq] = groups_of(prompt, found)
                assert whole.groups == alone[seq]
                for section in service.requests(session_id)[seq - 1].sections:
                    if section.prompt_index is not None:
                        block = prompt.blocks[section.prompt_index]
                        place = section.message_index, section.block_index
                        assert (block.message_index, block.block_index) == place
            assert cells_of(service.presence(session_id)) == cells_alone(data, alone)


Cells = dict[tuple[str, str, int], str]
"""What a matrix says: a cell by group, name and request."""


def cells_of(presence: Presence) -> Cells:
    return {
        (row.group, row.name.removeprefix("message "), seq): run.cell
        for lane in presence.lanes
        for row in lane.rows
        for run in row.runs
        for seq in lane.seqs
        if run.first_seq <= seq <= run.last_seq
    }


def cells_alone(data: SessionData, alone: dict[int, Groups]) -> Cells:
    """The cells that the requests of each purpose give, each prompt read by itself."""
    purposes: dict[str, list[int]] = {}
    for seq, row in enumerate(data.rows, 1):
        purposes.setdefault(row.query_source, []).append(seq)
    cells: Cells = {}
    for seqs in purposes.values():
        for group, attribute in ROWS.items():
            told = [
                proven(getattr(alone[s], attribute), data.rows[s - 1], group)
                if s in alone
                else HIDDEN
                for s in seqs
            ]
            if all(request is HIDDEN for request in told):
                continue
            for lived in presence_rows(told):
                for run in lived.runs:
                    for seq in seqs[run.first : run.last + 1]:
                        cells[group, lived.key.removeprefix(f"{group} "), seq] = run.cell.value
    return cells


def proven(request: Request, row: RequestLine, group: str) -> Request:
    """What the record of a request proves: its tools, and the rest from a message on."""
    if group == "tool":
        return request
    index = 10**6 if row.verified_from is None else row.verified_from
    return Request(request.items, request.complete, index, bool(row.system_from))


# How sections lived ------------------------------------------------------------------------------


def changes_of(requests: Sequence[RequestSummary], source: str) -> list[int]:
    return [r.seq for r in requests for s in r.sections if s.source == source and s.changed]


def test_a_long_windowed_session_shows_what_changed_in_its_prefix(databases: Any) -> None:
    """Another model from request 30 on, an edited AGENTS.md, a compaction."""
    service = Service(databases("windowed-long", SIDES[0]))
    ((session_id, rows),) = truth("windowed-long")
    requests, presence = service.requests(session_id), service.presence(session_id)
    talk = [r for r in requests if r.query_source == "main_turn"]
    switched = next(b.seq for a, b in zip(talk, talk[1:], strict=False) if a.model_id != b.model_id)
    assert changes_of(talk, "env_info") == [switched]
    (edited,) = changes_of(talk, "request_user_context")
    assert edited > switched
    for frozen in ("cli_prefix", "identity", "dynamic_behavior", "context_management"):
        assert changes_of(talk, frozen) == []
        assert {s.since_seq for r in talk for s in r.sections if s.source == frozen} == {2}
    cells = cells_of(presence)
    for request in talk:
        for section in request.sections:
            cell = cells["section", section.source, request.seq]
            assert (cell == "changed") is section.changed
            assert (cell == "unseen") is not section.verified
            assert section.since_seq is not None and section.since_seq <= request.seq
    lane = next(lane for lane in presence.lanes if switched in lane.seqs)
    env = next(row for row in lane.rows if (row.group, row.name) == ("section", "env_info"))
    assert (env.runs[0].cell, env.runs[0].first_seq) == ("changed", switched)
    baseline = service.request(env.runs[0].baseline_key).request
    assert baseline.model_id != requests[switched - 1].model_id
    assert env.note == "system, dynamic" and env.changes == 1
    opened = service.block(env.runs[0].first_key, env.runs[0].block_index or 0)
    assert "env_info" in opened.sections and "# Environment" in (opened.text or "")
    compacted = next(r for r in requests if r.query_source == "compact")
    after = next(r for r in talk if r.seq > compacted.seq)
    assert (after.message_count or 0) < (talk[talk.index(after) - 1].message_count or 0)
    assert cells["section", "identity", after.seq] == "same"
    assert rows


def test_an_edit_under_a_window_is_not_called_the_same(databases: Any) -> None:
    """The log shows the edit of AGENTS.md 22 requests after it: until then the section is carried
    over from request 32, the last whose record shows it, and nothing says that it is the same."""
    service = Service(databases("windowed-long", SIDES[0]))
    ((session_id, _),) = truth("windowed-long")
    requests, presence = service.requests(session_id), service.presence(session_id)
    main = [lane for lane in presence.lanes if lane.lane.startswith("main_turn")]
    row = next(r for r in main[-1].rows if r.name == "request_user_context")
    assert [(run.cell, run.first_seq, run.last_seq) for run in row.runs] == [
        ("same", 30, 32), ("unseen", 33, 62), ("changed", 64, 64), ("same", 65, 72),
    ]  # fmt: skip
    changed = row.runs[2]
    assert changed.baseline_seq == 32 and changed.baseline_key == requests[31].key
    told = {s.source: s for s in requests[41].sections}
    carried, frozen = told["request_user_context"], told["env_info"]
    assert (carried.verified, carried.proven_seq, carried.since_seq) == (False, 32, 2)
    assert (frozen.verified, frozen.proven_seq) == (True, None), "its body holds the system blocks"
    assert not carried.changed
    (note,) = (r for r in requests[41].reminders if r.source == "context_prefix")
    assert not note.verified
    for request in requests:
        proven_from = request.verified_from
        notes = [(n.verified, n.message_index) for n in request.reminders]
        notes += [(m.verified, m.message_index) for m in request.mcs]
        for verified, index in notes:
            assert verified is (proven_from is not None and index >= proven_from)


def test_only_the_conversation_comes_first(databases: Any) -> None:
    ((session_id, _),) = truth("windowed-long")
    presence = Service(databases("windowed-long", SIDES[0])).presence(session_id)
    purposes = [lane.lane.partition("@")[0] for lane in presence.lanes]
    assert purposes == ["main_turn", "main_turn", "session_title", "compact"]
    assert sorted(s for lane in presence.lanes for s in lane.seqs) == list(
        range(1, presence.requests + 1)
    )


# Poorer logs -------------------------------------------------------------------------------------


def structured_log_alone(name: str, tmp_path: Path) -> Service:
    db = tmp_path / "log.db"
    ingest(db, SAMPLES / name / "log")
    return Service(db)


def test_a_structured_log_alone_tells_sections_and_usage(tmp_path: Path) -> None:
    service = structured_log_alone("development-debug", tmp_path)
    session_id = truth("development-debug")[0][0]
    requests = service.requests(session_id)
    talk = [r for r in requests if r.query_source == "main_turn"]
    assert talk and all(r.observed == "metadata" for r in talk)
    for request in talk:
        assert {(s.how, s.message_index) for s in request.sections} == {("not observed", None)}
        assert (request.variant, request.mcs_state, request.reminders) == ("", None, ())
    assert "identity" in {s.source for s in talk[0].sections}
    detail = service.request(talk[0].key)
    anatomy = detail.anatomy
    assert anatomy is not None and anatomy.usage is not None
    assert anatomy.mcs_state.state == "undecidable" and not anatomy.usage.complete
    by_source = {c.source: c for c in anatomy.usage.categories}
    system = by_source["system_prompt"]
    assert (system.method, system.redacted, system.tokens) == ("logged", True, None)
    assert system.chars == system.logged_chars and system.recomputed_chars is None
    assert system.contributors and system.contributors[0].chars
    lane = next(x for x in service.presence(session_id).lanes if talk[0].seq in x.seqs)
    assert {row.group for row in lane.rows} == {"section"}
    assert all(run.block_index is None for row in lane.rows for run in row.runs)


def test_a_production_log_alone_tells_the_whole_anatomy(databases: Any) -> None:
    """Model I/O records only: no section is logged, all are found by heading and place."""
    service = Service(databases("production-info", SIDES[1]))
    for session_id, _ in truth("production-info"):
        for request in service.requests(session_id):
            if request.query_source != "main_turn" or not request.roles:
                continue
            assert {s.how for s in request.sections} <= {"heading", "place"}
            assert {"cli_prefix", "identity", "env_info"} <= {s.source for s in request.sections}
            anatomy = service.request(request.key).anatomy
            assert anatomy is not None and anatomy.usage is not None
            assert anatomy.variant == request.variant == "main"
            assert {c.method for c in anatomy.usage.categories} == {"recomputed"}


# One request -------------------------------------------------------------------------------------


def test_usage_counted_again_stands_beside_what_was_logged(databases: Any) -> None:
    service = Service(databases("unredacted", SIDES[0]))
    compared = 0
    for session_id, _ in truth("unredacted"):
        for request in service.requests(session_id):
            anatomy = service.request(request.key, block_limit=0).anatomy
            if anatomy is None or anatomy.usage is None or not anatomy.usage.logged_strength:
                continue
            for category in anatomy.usage.categories:
                assert category.method == "logged" and not category.redacted
                assert category.tokens == category.logged_tokens == category.recomputed_tokens
                assert category.chars == category.logged_chars == category.recomputed_chars
                compared += 1
    assert compared > 10


def test_blocks_name_what_stands_in_them(databases: Any) -> None:
    """Several sections in one system message, several notes in one system text."""
    service = Service(databases("anatomy-on", SIDES[0]))
    sections: set[str] = set()
    for session_id, _ in truth("anatomy-on"):
        for request in service.requests(session_id):
            detail = service.request(request.key, block_limit=None)
            for block in detail.blocks:
                assert block.section == (block.sections[0] if len(block.sections) == 1 else "")
                sections.update(block.sections)
            listed = [source for block in detail.blocks for source in block.reminders]
            assert listed == [r.source for r in request.reminders]
            for reminder in request.reminders:
                assert reminder.prompt_index is not None
                text = service.block(request.key, reminder.prompt_index).text or ""
                assert reminder.chars and text[reminder.start_char : reminder.end_char]
            break
    assert {"identity", "env_info", "skills", "current_date"} <= sections


def test_instruction_files_demoted_notes_and_look_alikes_are_told(databases: Any) -> None:
    scopes: set[str] = set()
    demoted = unverified = 0
    for name in ("chinese", "anatomy-on", "anatomy-off"):
        service = Service(databases(name, SIDES[0]))
        for session_id, rows in truth(name):
            by_id = {(r["request_id"], r["attempt"]): r for r in rows}
            for request in service.requests(session_id):
                row = by_id.get((request.request_id, request.attempt))
                anatomy = service.request(request.key, block_limit=0).anatomy
                if row is None or anatomy is None or request.observed != "full":
                    continue
                scopes |= {file.scope for file in anatomy.instruction_files}
                assert {u.message_index for u in anatomy.unverified} == set(row["look_alikes"])
                demoted += len(anatomy.demoted)
                unverified += len(anatomy.unverified)
                indexes = [view.prompt_index for view in anatomy.unverified]
                indexes += [view.prompt_index for view in anatomy.instruction_files]
                indexes += [view.prompt_index for view in anatomy.demoted]
                assert None not in indexes
    assert scopes == {"user", "workspace", "memory"}
    assert demoted and unverified


def test_calibrated_tokens_and_their_rest_add_up_to_the_bill(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    ingest(db, SAMPLES / "windowed-long", count_tokens=True)
    service = Service(db)
    ((session_id, _),) = truth("windowed-long")
    methods = set()
    for request in service.requests(session_id):
        detail = service.request(request.key, block_limit=None)
        scale = detail.anatomy.calibration if detail.anatomy else None
        billed = request.usage.input_tokens if request.usage else None
        if scale is None or billed is None:
            continue
        assert 0 < scale.low <= scale.factor <= scale.high and scale.samples
        parts = sum(block.tokens_calibrated or 0 for block in detail.blocks)
        assert parts + (scale.remainder_tokens or 0) == billed
        methods.add(scale.method)
    assert "own" in methods


# Storing -----------------------------------------------------------------------------------------


def test_other_rules_read_every_text_again(
    databases: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "tracer.db"
    db.write_bytes(databases("anatomy-on", SIDES[0]).read_bytes())
    read = "SELECT * FROM block_reminders ORDER BY block_id, position"
    look = "SELECT * FROM block_unverified ORDER BY block_id, position"
    tables = (read, look, "SELECT * FROM block_readings ORDER BY block_id")
    with closing(sqlite3.connect(db)) as connection:
        before = [connection.execute(sql).fetchall() for sql in tables]
        assert all(before)
        connection.execute("DELETE FROM block_unverified")
        connection.execute("UPDATE block_reminders SET source = 'by old rules'")
        connection.commit()
    open_writer(db).close()
    with closing(open_reader(db)) as connection:
        assert connection.execute("SELECT count(*) FROM block_unverified").fetchone() == (0,)
    monkeypatch.setattr("tracer.store.readings.RULES_VERSION", 99)
    monkeypatch.setattr("tracer.store.readings._BATCH_BLOCKS", 7)
    open_writer(db).close()
    with closing(open_reader(db)) as connection:
        assert [connection.execute(sql).fetchall() for sql in tables] == before


def test_the_view_lists_what_the_texts_say(databases: Any) -> None:
    """But for what only the place of a note can tell."""
    for name in ("anatomy-on", "mcs-off"):
        db = databases(name, SIDES[0])
        with closing(open_reader(db)) as connection:
            rows = connection.execute(
                "SELECT key, via, message_index, source, ambiguous_with, start_char, end_char, "
                "counted, content_hash FROM v_reminders"
            ).fetchall()
        listed: dict[str, dict[tuple[Any, ...], tuple[str, ...]]] = {}
        for key, via, message, source, others, start, end, counted, content in rows:
            place = (via, message, start, end, bool(counted), content)
            listed.setdefault(key, {})[place] = (source, *others.split())
        service = Service(db)
        for session_id, _ in truth(name):
            for request in service.requests(session_id):
                mine = listed.get(request.key, {})
                for r in request.reminders:
                    if r.source == "plugin_reference":
                        continue
                    spot = (r.via, r.message_index, r.start_char, r.end_char, r.counted)
                    sources = mine.get((*spot, r.content_hash))
                    assert sources is None or r.source in sources
                hits = sum(
                    (r.via, r.message_index, r.start_char, r.end_char, r.counted, r.content_hash)
                    in mine
                    for r in request.reminders
                )
                assert hits >= 0.8 * len(request.reminders)
