"""A request is shown by what is stored of its session as it is by the session itself."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers import rows
from tests.integration.test_kept_contents import grown
from tests.samples import SAMPLES
from tracer import service
from tracer.ingest import IngestOptions, Ingestor
from tracer.model.unfolded import Unfolded
from tracer.model.verdict_views import VerdictView
from tracer.model.views import RequestDetail
from tracer.service import Service, stored_contents
from tracer.service.checking.keeping import check_all
from tracer.service.contents import Contents, KeptContents
from tracer.store.connect import open_writer
from tracer.store.transactions import begin_writing, commit_news

NAMES = [
    path.parent.relative_to(SAMPLES).as_posix()
    for path in sorted(SAMPLES.glob("*/*/expected.json"))
]
GROWING = (
    "zcode/anatomy-on",
    "zcode/retries-failures",
    "zcode/windowed-long",
    "zcode-home/session-database",
    "context-trace/compaction",
)
MIXED = ("zcode/anatomy-on", "zcode/prompt-variants", "zcode/windowed-long", "zcode/mcs-off")
Shown = dict[str, tuple[RequestDetail, list[str], VerdictView]]


class AskedError(AssertionError):
    """A whole session was read."""


@contextmanager
def sessions_unread(db: Path) -> Iterator[None]:
    """Inside, no session may be read for one of its requests, but those that traces tell."""
    found = rows(
        db,
        "SELECT DISTINCT r.session_id FROM request_layouts l "
        "JOIN requests r ON r.id = l.request_id",
    )
    traced = {row[0] for row in found}
    usual = KeptContents.get

    def get(self: KeptContents, connection: object, row_id: int, data: object) -> Contents:
        if row_id not in traced:
            raise AskedError(f"session {row_id}")
        return usual(self, connection, row_id, data)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptContents, "get", get)
        yield


def shown(db: Path, reads: Service | None = None) -> Shown:
    """Every request with the order of its roles, and why it read what it read."""
    reads = reads or Service(db)
    found: Shown = {}
    for (key,) in rows(db, "SELECT key FROM requests ORDER BY key"):
        detail = reads.request(key, block_limit=None, text=True)
        found[key] = detail, list(detail.request.roles), reads.explain(key)
    return found


def by_sessions(db: Path) -> Shown:
    """The same of sessions that are loaded, by other rules than what is stored was made by."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_contents, "contents_rules", lambda: "other rules")
        reads = Service(db)
        for (session,) in rows(db, "SELECT session_id FROM sessions"):
            tuple(reads.requests(session))
        return shown(db, reads)


@pytest.mark.parametrize("name", NAMES)
def test_every_request_of_the_samples(name: str, db: Path) -> None:
    service.ingest(db, [str(SAMPLES / name)])
    with sessions_unread(db):
        alone = shown(db)
    assert alone == by_sessions(db)
    assert alone


@pytest.mark.parametrize("name", GROWING)
def test_a_session_that_grows_and_is_not_checked_yet(name: str, db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    for number, _ in enumerate(grown(SAMPLES / name, folder)):
        if number:
            with closing(Ingestor(db, IngestOptions())) as ingestor:
                ingestor.ingest([p for p in sorted(folder.rglob("*")) if p.is_file()])
            assert shown(db) == by_sessions(db), "read, and neither judged nor checked"
        service.ingest(db, [str(folder)])
        with sessions_unread(db):
            alone = shown(db)
        assert alone == by_sessions(db)


def test_files_read_in_another_order(db: Path, tmp_path: Path) -> None:
    """The later half of a session first: its requests get other numbers."""
    (path,) = (SAMPLES / "zcode" / "windowed-long").rglob("model-io-*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    late, early = tmp_path / "late.jsonl", tmp_path / path.name
    late.write_bytes(b"".join(lines[len(lines) // 2 :]))
    service.ingest(db, [str(late)])
    before = shown(db)
    early.write_bytes(b"".join(lines[: len(lines) // 2]))
    service.ingest(db, [str(early)])
    with sessions_unread(db):
        alone = shown(db)
    assert alone == by_sessions(db)
    assert {key: d.request.seq for key, (d, *_) in before.items()} != {
        key: d.request.seq for key, (d, *_) in alone.items() if key in before
    }


def test_what_was_stored_before_all_is_counted_is_made_again(db: Path) -> None:
    sample = str(SAMPLES / "zcode" / "anatomy-on")
    service.ingest(db, [sample], count_tokens=False)
    assert rows(db, "SELECT DISTINCT counted FROM session_contents") == [(0,)]
    assert shown(db) == by_sessions(db)
    service.ingest(db, [sample])
    assert rows(db, "SELECT DISTINCT counted FROM session_contents") == [(1,)]
    with sessions_unread(db):
        alone = shown(db)
    assert alone == by_sessions(db)


def test_texts_read_by_other_rules(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service.ingest(db, [str(SAMPLES / "zcode" / "anatomy-on")])
    monkeypatch.setattr("tracer.store.readings.RULES_VERSION", 99)
    with sessions_unread(db), pytest.raises(AskedError):
        shown(db)


def test_stored_lives_of_other_sections_are_not_shown(db: Path) -> None:
    service.ingest(db, [str(SAMPLES / "zcode" / "anatomy-on")])
    with closing(open_writer(db)) as connection:
        connection.execute("UPDATE section_lives SET sections_hash = x'00'")
    with sessions_unread(db), pytest.raises(AskedError):
        shown(db)
    assert shown(db) == by_sessions(db)


def test_a_request_without_a_time_takes_away_what_is_stored(db: Path, tmp_path: Path) -> None:
    (*_, line) = lines_of("zcode/windowed-long")
    record = json.loads(line)
    for name in ("startedAt", "completedAt"):
        record.pop(name, None)
    record["requestId"] = "a request without a time"
    folder = tmp_path / "logs"
    shutil.copytree(SAMPLES / "zcode" / "windowed-long", folder)
    service.ingest(db, [str(folder)])
    late = folder / "rollout" / "model-io-late.jsonl"
    late.write_text(json.dumps(record) + "\n", "utf-8")
    with closing(Ingestor(db, IngestOptions())) as ingestor:
        ingestor.ingest([late])
    assert rows(
        db,
        "SELECT count(*) FROM requests r JOIN session_contents c ON c.session_id = r.session_id "
        "WHERE r.started_at_ms IS NULL",
    ) == [(0,)]
    assert shown(db) == by_sessions(db)
    service.ingest(db, [str(folder)])
    with sessions_unread(db):
        alone = shown(db)
    assert alone == by_sessions(db)
    assert None in {detail.request.started_at_ms for detail, *_ in alone.values()}


def lines_of(name: str) -> list[bytes]:
    """The records of prompts of a sample."""
    paths = sorted((SAMPLES / name).rglob("model-io-*.jsonl"))
    return [line for path in paths for line in path.read_bytes().splitlines(keepends=True)]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_any_records_in_any_parts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Records of a session go missing, and come in parts: what they carry over is proven by others
    than before. Counts are made up: what they are is all the same here."""
    lines = lines_of(data.draw(st.sampled_from(MIXED)))
    kept = sorted(data.draw(st.sets(st.integers(0, len(lines) - 1), min_size=1, max_size=40)))
    cut = data.draw(st.integers(0, len(kept)))
    parts = [kept[:cut], kept[cut:]]
    if data.draw(st.booleans()):
        parts.reverse()
    folder = tmp_path_factory.mktemp("parts")
    db = folder / "tracer.db"
    for number, part in enumerate(parts):
        path = folder / f"model-io-part-{number}.jsonl"
        path.write_bytes(b"".join(lines[i] for i in part))
        with closing(Ingestor(db, IngestOptions(count_tokens=False))) as ingestor:
            ingestor.ingest([path])
            begin_writing(ingestor.connection)
            ingestor.connection.execute(
                "INSERT OR IGNORE INTO block_tokens "
                "SELECT id, 'o200k_base', estimate_tokens + 3, 1 FROM blocks WHERE kind <> 'gap'"
            )
            commit_news(ingestor.connection)
            check_all(ingestor.connection)
        with sessions_unread(db):
            alone = shown(db)
        assert alone == by_sessions(db)


def test_only_the_texts_that_are_asked_for_are_given(db: Path) -> None:
    service.ingest(db, [str(SAMPLES / "zcode" / "anatomy-on")], count_tokens=False)
    reads, wanted = Service(db), Unfolded({1}, {5, 7})
    some = 0
    for (key,) in rows(db, "SELECT key FROM requests WHERE node_id IS NOT NULL"):
        whole = reads.request(key, block_limit=None, text=True)
        asked = reads.request(key, block_limit=None, text=wanted)
        holding = {section.prompt_index for section in whole.request.sections}
        texts = {b.wire_hash: b.text for b in whole.blocks}
        for block in asked.blocks:
            if block.index == 1 or block.message_index in (5, 7) or block.index in holding:
                assert block.text == texts[block.wire_hash] is not None
                some += 1
        given = {b.wire_hash for b in asked.blocks if b.text is not None}
        assert len(given) < len(texts) or len(texts) < 8
        assert asked.response == whole.response
    assert some
