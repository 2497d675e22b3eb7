"""What is kept of a session while others grow: never anything but what a new start would read."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import ingest
from tests.samples import SAMPLES
from tracer.service import Service
from tracer.service.contents import Contents, KeptContents
from tracer.service.requests import load_session
from tracer.store.connect import open_reader
from tracer.store.reading import session_row_id

PARTS = 3
NAMES = (
    "zcode/anatomy-on",
    "zcode/damaged",
    "zcode/retries-failures",
    "zcode/subagent",
    "zcode/unredacted",
    "zcode-home/session-database",
    "context-trace/cases",
    "context-trace/compaction",
)


def grown(sample: Path, folder: Path) -> Iterator[None]:
    """Copies the logs of a sample into a folder, each file a part longer each time; at the end
    what is no log, too."""
    files = [p for p in sorted(sample.rglob("*")) if p.is_file() and p.name != "expected.json"]
    for part in range(1, PARTS + 1):
        for path in files:
            to = folder / path.relative_to(sample)
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".jsonl":
                lines = path.read_bytes().splitlines(keepends=True)
                to.write_bytes(b"".join(lines[: max(1, len(lines) * part // PARTS)]))
            elif part == PARTS:
                shutil.copy(path, to)
        yield


def shown(service: Service) -> dict[str, object]:
    """What pages show of the first and the last request of each session, and of all in short."""
    found: dict[str, object] = {}
    for session in service.sessions(limit=500).sessions:
        requests = tuple(service.requests(session.session_id))
        found[session.session_id] = requests, service.presence(session.session_id)
        for request in (*requests[:1], *requests[-1:]):
            found[request.key] = service.request(request.key, text=True)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_stays_on_shows_what_a_new_one_would(name: str, tmp_path: Path) -> None:
    db, folder = tmp_path / "tracer.db", tmp_path / "logs"
    service = None
    for _ in grown(SAMPLES / name, folder):
        ingest(db, folder)
        service = service or Service(db)
        assert shown(service) == shown(Service(db))
    assert service is not None
    before = shown(service)
    ingest(db, folder, count_tokens=True)
    assert shown(service) == shown(Service(db)) != before


def contents_of(kept: KeptContents, db: Path, session_id: str) -> Contents:
    """The contents of a session as it is stored now."""
    with closing(open_reader(db)) as connection:
        connection.execute("BEGIN")
        row_id = session_row_id(connection, session_id)
        assert row_id is not None
        return kept.get(connection, row_id, load_session(connection, row_id))


def first_session(db: Path) -> str:
    """The session with the most requests."""
    sessions = Service(db).sessions(limit=500).sessions
    return max(sessions, key=lambda session: session.requests).session_id


def test_contents_stay_while_another_session_grows(tmp_path: Path) -> None:
    db, kept = tmp_path / "tracer.db", KeptContents()
    ingest(db, SAMPLES / "zcode" / "anatomy-on", count_tokens=True)
    session = first_session(db)
    made = contents_of(kept, db, session)
    ingest(db, SAMPLES / "zcode" / "damaged", count_tokens=True)
    assert contents_of(kept, db, session) is made


def test_contents_are_made_again_as_the_session_itself_grows(tmp_path: Path) -> None:
    db, folder, kept = tmp_path / "tracer.db", tmp_path / "logs", KeptContents()
    made: list[Contents] = []
    for _ in grown(SAMPLES / "zcode" / "retries-failures", folder):
        ingest(db, folder, count_tokens=True)
        made.append(contents_of(kept, db, first_session(db)))
    assert len({id(contents) for contents in made}) == PARTS


def test_contents_are_not_kept_before_all_is_counted(tmp_path: Path) -> None:
    db, kept = tmp_path / "tracer.db", KeptContents()
    ingest(db, SAMPLES / "zcode" / "retries-failures")
    session = first_session(db)
    assert contents_of(kept, db, session) is not contents_of(kept, db, session)


def test_the_contents_of_a_trace_are_made_again_in_each_revision(tmp_path: Path) -> None:
    db, kept = tmp_path / "tracer.db", KeptContents()
    ingest(db, SAMPLES / "context-trace" / "compaction", count_tokens=True)
    session = first_session(db)
    made = contents_of(kept, db, session)
    assert contents_of(kept, db, session) is made
    ingest(db, SAMPLES / "zcode" / "damaged", count_tokens=True)
    assert contents_of(kept, db, session) is not made
