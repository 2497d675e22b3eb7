"""The database: its schema, its steps, its public views, and queries that stay fast."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlite_utils.db import Database

from tests.homes import fill
from tests.samples import SAMPLES
from tracer.errors import NewerStoreError, StoreError
from tracer.service import Service, ingest
from tracer.store import readers
from tracer.store.connect import open_reader, open_writer
from tracer.store.migrations import KNOWN_STEPS, migrations
from tracer.store.schema import SCHEMA_FILE, current_schema

PAGE = Path(__file__).resolve().parents[2] / "docs" / "database.md"
# Tables that grow with what is read: no page may read one of them from end to end.
GROWING = frozenset(
    {"requests", "nodes", "blocks", "block_texts", "block_tokens", "log_events", "markers"}
    | {"response_blocks", "request_sources", "context_sections", "context_usage", "params"}
    | {"usage_rows", "turn_rows", "tool_rows", "messages", "parts", "session_records", "todos"}
    | {"verdicts", "findings"}
    | {"layout_texts", "note_nodes", "request_layouts", "message_places"}
)
STEPS = [step.name for step in migrations.pending(Database(memory=True))]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all samples in it."""
    folder = tmp_path_factory.mktemp("filled")
    path = folder / "tracer.db"
    runs = [str(f) for f in SAMPLES.glob("*/*/") if f.parent.name not in ("generate", "zcode-home")]
    ingest(path, runs, count_tokens=False)
    fill(path, folder / "home")
    ingest(path, [str(a_broken_run(folder))], count_tokens=False)
    return path


def a_broken_run(folder: Path) -> Path:
    """A sample's requests without their cache markers, as a session of its own."""
    (sample,) = (SAMPLES / "zcode" / "mcs-off" / "rollout").glob("*.jsonl")
    text = sample.read_text(encoding="utf-8").replace(sample.stem[-12:], "broken-marks")
    path = folder / "broken.jsonl"
    path.write_text(re.sub(r',"(?:cacheControl|cache_control)":\{[^}]*\}', "", text), "utf-8")
    return path


@pytest.fixture
def connection(filled: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_reader(filled)) as found:
        yield found


def names(connection: sqlite3.Connection, kind: str) -> list[str]:
    """Our own tables or views."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "AND name NOT LIKE '\\_sqlite%' ESCAPE '\\' ORDER BY name",
        (kind,),
    )
    return [row[0] for row in rows]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


# The schema --------------------------------------------------------------------------------------


def test_the_committed_schema_is_the_one_that_the_steps_make() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == current_schema(), (
        "run `python -m tracer.store.schema --write`"
    )


def test_every_table_is_strict(connection: sqlite3.Connection) -> None:
    kinds = {row[1]: row[5] for row in connection.execute("PRAGMA table_list")}
    assert {table for table in names(connection, "table") if not kinds[table]} == set()


def test_all_samples_are_in_the_filled_database(connection: sqlite3.Connection) -> None:
    empty = {
        table
        for table in names(connection, "table")
        if connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    }
    assert empty == {"block_tokens"}
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# Steps -------------------------------------------------------------------------------------------


def test_steps_are_numbered_in_order_and_all_are_known() -> None:
    numbers = [int(name[1:4]) for name in STEPS]
    assert numbers == sorted(set(numbers))
    assert all(re.fullmatch(r"m\d{3}_[a-z_]+", name) for name in STEPS)
    assert set(STEPS) == KNOWN_STEPS


@pytest.mark.parametrize("step", STEPS)
def test_a_step_goes_through_with_rows_in_the_tables(filled: Path, step: str) -> None:
    """What the samples put into the tables is put into those before the step, then it is applied.

    An empty database hides most mistakes of a migration: a column that must not be NULL, say.
    """
    database = Database(memory=True)
    migrations.apply(database, stop_before=step)
    old = database.conn
    assert old is not None
    old.execute("ATTACH ? AS filled", (str(filled),))
    before = {}
    for table in names(old, "table"):
        shared = set(columns(old, table)) & {
            row[1] for row in old.execute(f"PRAGMA filled.table_info({table})")
        }
        kept = ", ".join(sorted(shared))
        old.execute(f"INSERT OR IGNORE INTO {table} ({kept}) SELECT {kept} FROM filled.{table}")
        before[table] = old.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    old.commit()
    old.execute("DETACH filled")
    migrations.apply(database)
    assert migrations.pending(database) == []
    now = set(names(old, "table"))
    for table, count in before.items():
        if table in now:
            assert old.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == count
    assert old.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()


def test_a_failed_step_leaves_nothing_behind() -> None:
    """What the steps rely on: each runs in one transaction with the record of it."""
    broken = type(migrations)("broken")

    @broken()
    def m001_broken(db: Database) -> None:
        db.execute("CREATE TABLE half (a INTEGER) STRICT")
        db.execute("INSERT INTO half VALUES ('text')")

    database = Database(memory=True)
    with pytest.raises(sqlite3.IntegrityError):
        broken.apply(database)
    assert [step.name for step in broken.pending(database)] == ["m001_broken"]
    assert "half" not in database.table_names()
    database.close()


# Other databases ---------------------------------------------------------------------------------


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


OPENERS = pytest.mark.parametrize("opener", [open_reader, open_writer])


@OPENERS
def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path, opener: object) -> None:
    path = tmp_path / "tracer.db"
    open_writer(path).close()
    execute(
        path,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('context-tracer', 'm999_from_the_future', '')",
    )
    assert callable(opener)
    with pytest.raises(NewerStoreError) as caught:
        opener(path)
    message = str(caught.value)
    assert str(path) in message and "m999_from_the_future" in message
    assert "Upgrade" in message and "--db" in message


@OPENERS
def test_another_programs_database_is_refused_and_left_as_it_is(
    tmp_path: Path, opener: object
) -> None:
    path = tmp_path / "db.sqlite"
    execute(path, "CREATE TABLE session (id TEXT PRIMARY KEY)")
    before = path.read_bytes()
    assert callable(opener)
    with pytest.raises(StoreError, match="another program"):
        opener(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["db.sqlite"]


@OPENERS
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, opener: object) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and many of them. " * 100)
    assert callable(opener)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be (used|read): file is not a data"):
        opener(path)


def test_reading_an_older_or_empty_database_says_how_to_bring_it_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "tracer.db"
    path.touch()
    with pytest.raises(StoreError, match="Run `tracer ingest`"):
        open_reader(path)
    open_writer(path).close()
    open_reader(path).close()


def test_a_writer_that_was_killed_before_its_first_step_can_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "tracer.db"
    with closing(sqlite3.connect(path)) as connection:
        migrations.ensure_migrations_table(Database(connection))
    open_writer(path).close()
    open_reader(path).close()


def test_reading_what_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Run `tracer ingest` first"):
        open_reader(tmp_path / "none.db")


def test_a_reader_cannot_write(filled: Path) -> None:
    with closing(open_reader(filled)) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM requests")


# The public views --------------------------------------------------------------------------------


def documented_views() -> dict[str, list[str]]:
    """The columns of each view as the page lists them."""
    page = PAGE.read_text(encoding="utf-8").partition("## Views")[2].partition("## Examples")[0]
    sections = re.split(r"^### (\w+)$", page, flags=re.MULTILINE)[1:]
    return {
        view: re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
        for view, text in zip(sections[::2], sections[1::2], strict=True)
    }


def test_every_view_is_documented_column_by_column(connection: sqlite3.Connection) -> None:
    real = {view: columns(connection, view) for view in names(connection, "view")}
    assert documented_views() == real


def test_every_table_is_mentioned(connection: sqlite3.Connection) -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Tables")[2]
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == names(connection, "table")


def test_every_view_has_rows(connection: sqlite3.Connection) -> None:
    for view in names(connection, "view"):
        assert connection.execute(f"SELECT * FROM {view} LIMIT 5").fetchall(), view


def test_no_documented_column_is_always_empty(connection: sqlite3.Connection) -> None:
    for view, listed in documented_views().items():
        counts = ", ".join(f"count(nullif({column}, ''))" for column in listed)
        found = connection.execute(f"SELECT {counts} FROM {view}").fetchone()
        empty = {column for column, count in zip(listed, found, strict=True) if not count}
        assert empty <= {"bpe_tokens"}, f"{view} {empty}"


def test_a_view_counts_each_request_once(connection: sqlite3.Connection) -> None:
    (views,) = connection.execute("SELECT count(*) FROM v_requests").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM requests").fetchone()
    assert views == tables > 100


def test_the_blocks_of_a_request_are_its_whole_chain(connection: sqlite3.Connection) -> None:
    requests = connection.execute(
        "SELECT key, blocks, prompt_chars FROM v_requests WHERE blocks IS NOT NULL "
        "ORDER BY blocks DESC LIMIT 3"
    ).fetchall()
    for key, blocks, chars in requests:
        rows = connection.execute(
            "SELECT prompt_index, chars FROM v_request_blocks WHERE key = ? ORDER BY prompt_index",
            (key,),
        ).fetchall()
        assert [row[0] for row in rows] == list(range(blocks))
        assert sum(row[1] for row in rows) == chars


def test_a_second_counter_does_not_double_the_blocks(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(filled.read_bytes())
    count = "SELECT count(*) FROM v_request_blocks WHERE key = (SELECT min(key) FROM v_requests)"
    with closing(sqlite3.connect(copy)) as connection:
        before = connection.execute(count).fetchone()
        for counter in ("o200k_base", "another"):
            connection.execute(
                "INSERT INTO block_tokens SELECT id, ?, 1, 1 FROM blocks", (counter,)
            )
        assert connection.execute(count).fetchone() == before


def test_times_are_iso_8601_with_milliseconds(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT v.started_at, r.started_at_ms FROM v_requests v JOIN requests r ON r.key = v.key"
    ).fetchall()
    for text, ms in rows:
        moment = datetime.fromtimestamp(ms // 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")
        assert text == f"{moment}.{ms % 1000:03}Z"


def test_the_examples_of_the_page_work(connection: sqlite3.Connection) -> None:
    examples = re.findall(r"^```sql\n(.+?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        assert connection.execute(example).fetchall(), example


# Queries -----------------------------------------------------------------------------------------


def full_scans(connection: sqlite3.Connection, sql: str) -> set[str]:
    """The growing tables that a query reads from end to end, by what SQLite plans for it."""
    aliases = {name: name for name in GROWING}
    for table, alias in re.findall(
        r"\b(?:FROM|JOIN)\s+(\w+)(?:\s+AS)?\s+(\w+)", sql, re.IGNORECASE
    ):
        aliases[alias] = table
    plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    scanned = {match[1] for row in plan if (match := re.match(r"SCAN (\w+)", row[3]))}
    return {aliases.get(name, name) for name in scanned} & GROWING


@pytest.fixture
def asked(filled: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that a service sends, values filled in."""
    queries: list[str] = []

    def traced(path: Path) -> sqlite3.Connection:
        connection = open_reader(path)
        connection.set_trace_callback(queries.append)
        return connection

    monkeypatch.setattr(readers, "open_reader", traced)
    return queries


def plan_of(connection: sqlite3.Connection, queries: Sequence[str]) -> dict[str, set[str]]:
    """Full scans by query, where there are any."""
    selects = [q for q in queries if re.match(r"\s*(SELECT|WITH)", q)]
    assert len(selects) > 3, queries
    return {q: scans for q in selects if (scans := full_scans(connection, q))}


def busiest(connection: sqlite3.Connection) -> str:
    sql = "SELECT session_id FROM v_requests GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    found: str = connection.execute(sql).fetchone()[0]
    return found


def test_a_session_is_read_without_a_full_scan(
    filled: Path, connection: sqlite3.Connection, asked: list[str]
) -> None:
    session = busiest(connection)
    reading = Service(filled)
    reading.timeline(session)
    reading.requests(session)
    assert plan_of(connection, asked) == {}


def test_a_request_is_read_without_a_full_scan(
    filled: Path, connection: sqlite3.Connection, asked: list[str]
) -> None:
    reading = Service(filled)
    rows = connection.execute(
        "SELECT key FROM v_requests WHERE session_id = ?", (busiest(connection),)
    )
    keys = [row[0] for row in rows]
    for key in (keys[0], keys[-1]):
        reading.request(key, text=True)
        reading.block(key, 0)
    assert plan_of(connection, asked) == {}


def test_the_list_of_sessions_is_read_without_a_full_scan(
    filled: Path, connection: sqlite3.Connection, asked: list[str]
) -> None:
    assert Service(filled).sessions().total > 10
    Service(filled).sessions("parser")
    assert plan_of(connection, asked) == {}


def test_a_story_is_read_without_a_full_scan(
    filled: Path, connection: sqlite3.Connection, asked: list[str]
) -> None:
    sql = "SELECT session_id FROM v_turns GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    (session,) = connection.execute(sql).fetchone()
    assert Service(filled).story(session).tools
    assert plan_of(connection, asked) == {}


def test_names_are_completed_without_a_full_scan(
    filled: Path, connection: sqlite3.Connection, asked: list[str]
) -> None:
    for prefix in ("", "a", "sess_"):
        Service(filled).keys_like(prefix)
        Service(filled).session_ids_like(prefix)
    assert plan_of(connection, asked) == {}


def test_a_full_scan_would_be_seen(connection: sqlite3.Connection) -> None:
    assert full_scans(connection, "SELECT * FROM requests r WHERE r.status = 'failed'") == {
        "requests"
    }
    assert full_scans(connection, "SELECT * FROM nodes WHERE depth = 3") == {"nodes"}
    assert full_scans(connection, "SELECT * FROM requests r WHERE r.key = 'a'") == set()
