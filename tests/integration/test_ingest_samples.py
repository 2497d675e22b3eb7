"""Every sample is read as its `expected.json` says: the truth that its generator recorded."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import SAMPLES, ingest, message_sha256, messages_of, rows
from tracer.model.events import Status
from tracer.model.ingest_views import FileResult
from tracer.model.prompt import Kind
from tracer.model.views import RequestSummary
from tracer.service import Service

NAMES = sorted(path.parent.name for path in SAMPLES.glob("*/expected.json"))
SIDE_SOURCES = ("session_title", "compact", "goal_completion_verification")


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Reads a sample once, and returns its database and what reading it said."""
    folder = tmp_path_factory.mktemp("samples")

    @cache
    def read(name: str) -> tuple[Path, tuple[FileResult, ...]]:
        db = folder / f"{name}.db"
        return db, ingest(db, SAMPLES / name).files

    return read


def expected(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((SAMPLES / name / "expected.json").read_text("utf-8"))
    return truth


def pairs(db: Path, name: str) -> list[tuple[dict[str, Any], RequestSummary]]:
    """What was expected of each request, and what was found."""
    found = []
    for session in expected(name)["sessions"]:
        stored = Service(db).requests(session["session_id"])
        by_id = {(r.request_id, r.attempt): r for r in stored}
        found += [(row, by_id[row["request_id"], row["attempt"]]) for row in session["requests"]]
    return found


def test_there_are_samples() -> None:
    assert len(NAMES) >= 8


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_read_in_its_format_with_every_bad_line_named(
    name: str, databases: Any
) -> None:
    _, files = databases(name)
    folder = SAMPLES / name
    by_path = {str(Path(f.path).relative_to(folder)): f for f in files}
    truth = {f["path"]: f for f in expected(name)["files"]}
    assert set(by_path) == set(truth)
    for path, file in by_path.items():
        row = truth[path]
        assert (file.format, file.records, file.status) == (row["format"], row["records"], "read")
        assert file.new_records + file.duplicates == row["records"]
        skips = [(s.line, s.kind) for s in file.skipped]
        assert skips == [(s["line"], s["reason_kind"]) for s in row["skipped"]]
        assert file.skipped_total == len(row["skipped"])
        assert file.bytes == (folder / path).stat().st_size


@pytest.mark.parametrize("name", NAMES)
def test_exactly_the_sessions_and_requests_of_the_run_are_found(name: str, databases: Any) -> None:
    db, _ = databases(name)
    service = Service(db)
    log_only = {key for (key,) in rows(db, "SELECT key FROM requests WHERE from_log = 1")}
    truth = expected(name)["sessions"]
    for session in truth:
        stored = service.requests(session["session_id"])
        found = [(r.request_id, r.attempt) for r in stored if r.key not in log_only]
        assert found == [(r["request_id"], r["attempt"]) for r in session["requests"]]
        # What the structured log alone knows of says so.
        for request in stored:
            codes = [e.code for e in service.request(request.key).evidence]
            assert ("log-only" in codes) == (request.key in log_only)
    known = {session["session_id"] for session in truth}
    assert {s.session_id for s in service.sessions().sessions if s.requests} == known


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_of_every_request_are_those_of_the_run(name: str, databases: Any) -> None:
    db, _ = databases(name)
    for row, found in pairs(db, name):
        assert found.turn_id == (row["turn_id"] or "")
        assert found.query_source == (row["query_source"] or "")
        assert (found.model_id, found.provider_id) == (row["model_id"], row["provider_id"] or "")
        assert iso(found.started_at_ms) == row["started_at"]
        assert found.status == Status(row["status"])
        if row["message_count"] is not None:
            assert found.message_count == row["message_count"]
            assert found.window_kind == (row["messages_kind"] or "full")
            if found.window_kind != "full":
                assert found.verified_from == row["message_offset"]
            assert (found.verified_from == 0) == (not row["message_offset"])
        if row["usage"] is None:
            assert found.usage is None
        else:
            assert found.usage is not None
            counts = {
                "input": found.usage.input_tokens,
                "output": found.usage.output_tokens,
                "cache_read": found.usage.cache_read_tokens,
                "cache_write": found.usage.cache_write_tokens,
            }
            assert counts == row["usage"]


def iso(ms: int | None) -> str:
    assert ms is not None
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("name", NAMES)
def test_proven_messages_are_the_messages_that_were_sent(name: str, databases: Any) -> None:
    db, _ = databases(name)
    proven = 0
    for row, found in pairs(db, name):
        if found.verified_from is None:
            assert found.observed == "metadata"
            continue
        digests = row["messages_sha256"]
        rebuilt = [m and message_sha256(m) for m in messages_of(db, found.key)]
        assert len(rebuilt) == len(digests) == found.message_count
        assert rebuilt[found.verified_from :] == digests[found.verified_from :]
        assert (found.observed == "full") == (found.verified_from == 0)
        proven += len(digests) - found.verified_from
    assert proven


@pytest.mark.parametrize("name", NAMES)
def test_what_a_record_does_not_prove_is_flagged_or_unknown(name: str, databases: Any) -> None:
    """One run edits a message that its windows hide: there, what is carried over is out of date,
    and nothing but the flag can say so. In the others it can be checked as well."""
    db, _ = databases(name)
    outdated = 0
    for row, found in pairs(db, name):
        rebuilt = messages_of(db, found.key)
        views = Service(db).request(found.key, block_limit=None).blocks
        if found.verified_from is None:
            continue
        for index in range(found.verified_from):
            of_message = [b for b in views if b.message_index == index]
            if any(b.tier == "system" for b in of_message):
                continue  # proven by the wire body
            assert not any(b.verified for b in of_message)
            message = rebuilt[index]
            if message is not None:
                outdated += message_sha256(message) != row["messages_sha256"][index]
    assert bool(outdated) == (name == "windowed-long")


@pytest.mark.parametrize("name", NAMES)
def test_roles_tools_markers_and_mcs_messages_are_those_of_the_run(
    name: str, databases: Any
) -> None:
    db, _ = databases(name)
    for row, found in pairs(db, name):
        if row["message_count"] is None or found.verified_from is None:
            continue
        assert list(found.tools) == row["tools"]
        start = found.verified_from
        blocks = Service(db).request(found.key, block_limit=None).blocks
        if not any(b.kind is Kind.GAP and b.span_messages for b in blocks):
            assert found.roles == row["roles"]
            assert [m.message_index for m in found.mcs] == [m["message_index"] for m in row["mcs"]]
        assert [m.message_index for m in found.mcs if m.message_index >= start] == [
            m["message_index"] for m in row["mcs"] if m["message_index"] >= start
        ]
        placed = [m.message_index for m in found.markers if m.message_index is not None]
        assert [i for i in placed if i >= start] == [i for i in row["markers"] if i >= start]
        assert set(placed) <= set(row["markers"])


@pytest.mark.parametrize("name", NAMES)
def test_sections_are_those_of_the_run(name: str, databases: Any) -> None:
    """Whether the log names them or not; a request that hides messages may hide sections, too."""
    db, _ = databases(name)
    compared = 0
    for row, found in pairs(db, name):
        located = sorted(s.source for s in found.sections if s.message_index is not None)
        if found.observed == "full":
            assert located == sorted(row["sections"])
            compared += 1
        elif found.query_source in SIDE_SOURCES and not row["sections"]:
            assert located == []
        else:
            assert set(located) <= set(row["sections"])
    assert compared or all(found.observed != "full" for _, found in pairs(db, name))
