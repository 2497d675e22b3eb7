"""What a search finds, where it says that it stands, and who it says sent it."""

import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.cache_logs import tool_exchange
from tests.helpers import SAMPLES, SESSION, call, event, ingest, rows, system, user, write
from tests.homes import read, write_home
from tracer.errors import NotFoundError, UsageError
from tracer.model.search_views import KINDS, FoundText, SearchAsked, SearchPage
from tracer.service import Service
from tracer.service import searching as searching_module


def search(db: Path, query: str, **asked: Any) -> SearchPage:
    return Service(db).search(SearchAsked(query, **asked))


def only(db: Path, query: str, **asked: Any) -> FoundText:
    """The one text that holds the query; the title of its session may repeat its beginning."""
    (found,) = (t for t in search(db, query, **asked).texts if t.place.kind != "title")
    return found


def test_a_text_that_many_requests_sent_is_one_hit_with_its_first_and_last(
    db: Path, rollout: Path
) -> None:
    talk = [system("be brief"), user("the needle in the hay")]
    write(
        rollout,
        call("r1", [system("be brief"), user("first")], at=0),
        *(call(f"r{n}", [*talk, *(user(f"m{i}") for i in range(n))], at=n * 1000) for n in (2, 3)),
        call("r4", [system("be brief"), user("last")], at=9_000),
    )
    ingest(db, rollout)
    keys = dict(rows(db, "SELECT request_id, key FROM requests"))
    found = only(db, "NEEDLE in")
    (use,) = found.uses
    assert (use.session_id, use.times_sent) == (SESSION, 2)
    assert (use.first_key, use.last_key) == (keys["r2"], keys["r3"])
    assert (use.first_seq, use.last_seq) == (2, 3)
    assert (use.first_index, use.last_index) == (1, 1)
    place = found.place
    assert (place.kind, place.role, place.message_index, place.index) == ("user", "user", 1, 1)
    assert found.piece.text[slice(*found.piece.matches[0])] == "needle in"
    assert found.source is not None and found.source.line == 2
    block = Service(db).block(use.first_key, use.first_index or 0)
    assert "needle" in (block.text or "")


def test_a_prompt_that_has_a_text_twice_counts_once(db: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("echo echo"), user("between"), user("echo echo")]))
    ingest(db, rollout)
    found = only(db, "echo")
    assert found.matches == 2
    assert [use.times_sent for use in found.uses] == [1]


def test_sessions_are_told_apart(db: Path, rollout: Path) -> None:
    write(
        rollout,
        *(call(f"r{n}", [user("shared words")], session=f"sess_{n % 2}", at=n) for n in range(5)),
    )
    ingest(db, rollout)
    uses = only(db, "shared").uses
    assert {use.session_id: use.times_sent for use in uses} == {"sess_0": 3, "sess_1": 2}
    write(rollout.with_name("model-io-other.jsonl"), call("x", [user("mine")], session="sess_7"))
    ingest(db, rollout.parent)
    assert search(db, "shared", session_id="sess_7").total == 0
    assert search(db, "mine", session_id="sess_1").total == 0
    assert only(db, "mine", session_id="sess_7").uses[0].times_sent == 1
    with pytest.raises(NotFoundError):
        search(db, "shared", session_id="sess_9")


TEXT = "函数返回值 return x_1 = f(100%) \\n end"


@pytest.mark.parametrize(
    "query", ["返", "返回", "返回值", "return", "R", "x_1 = f(", "100%", "_", "\\n"]
)
def test_short_queries_chinese_and_code(db: Path, rollout: Path, query: str) -> None:
    write(rollout, call("r1", [user("go"), *tool_exchange("c1", TEXT)]))
    ingest(db, rollout)
    found = search(db, query, kind="tool-result").texts
    assert [t.piece.text for t in found] == [TEXT]


@pytest.mark.parametrize("filler", ["", "lorem ipsum " * 1_000])
def test_long_texts_are_stored_compressed_and_found(db: Path, rollout: Path, filler: str) -> None:
    write(rollout, call("r1", [user(f"{filler}Grüße an 世界{filler}")]))
    ingest(db, rollout)
    for query in ("GRÜSSE"[:3], "grüße", "世", "e an 世"):
        found = only(db, query)
        assert found.piece.cut_before == max(0, len(filler) + found_at(query) - 70)
        assert found.chars == 2 * len(filler) + 11


def found_at(query: str) -> int:
    return "grüße an 世界".find(query.lower())


def test_case_can_be_told_apart(db: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("Alpha"), user("alpha"), user("ALPHA")]))
    ingest(db, rollout)
    assert search(db, "alpha", kind="user").total == 3
    assert search(db, "alpha", kind="user", exact=True).total == 1


def test_what_stands_behind_a_nul_is_found(db: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("before\0behind")]))
    ingest(db, rollout)
    assert only(db, "behind").matches == 1
    assert rows(db, "SELECT count(*) FROM block_texts WHERE instr(text, char(0)) > 0") == [(0,)]


def test_an_old_database_is_brought_up_to_date(db: Path, rollout: Path) -> None:
    """A step compresses the texts with a NUL that an older version stored as they are."""
    write(rollout, call("r1", [user("before\0behind"), user("plain")]))
    ingest(db, rollout)
    connection = sqlite3.connect(db)
    (old,) = connection.execute(
        "SELECT block_id, text_zlib FROM block_texts WHERE text_zlib IS NOT NULL"
    ).fetchall()
    text = zlib.decompress(old[1]).decode()
    connection.execute(
        "UPDATE block_texts SET text = ?, text_zlib = NULL WHERE block_id = ?", (text, old[0])
    )
    connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'm008_nul_texts'")
    connection.commit()
    connection.close()
    ingest(db, rollout)
    assert only(db, "behind").piece.text == "before\0behind"
    assert only(db, "plain").matches == 1


def test_an_answer_names_its_request_until_a_prompt_carries_it(db: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("hi")]))
    ingest(db, rollout)
    (use,) = only(db, "answer to r1").uses
    assert (use.times_sent, use.first_key) == (0, "")
    assert use.answered_key == rows(db, "SELECT key FROM requests")[0][0]


def test_log_lines_sections_and_errors_are_found(db: Path, logs: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("hi")], response=None, error={"name": "E", "message": "burst"}))
    section = {"name": "Env", "source": "env_info", "content": "the quiet harbour", "chars": 17}
    built = {"sections": [section], "totalChars": 17}
    write(
        logs / "log" / "zcode-2026-01-05.jsonl",
        event("context.built", level="debug", context=built),
        event("odd.event", context={"detail": "lighthouse keeper"}),
    )
    ingest(db, logs)
    assert only(db, "lighthouse").place.kind == "event"
    assert only(db, "lighthouse").place.name == "odd.event"
    quiet = only(db, "quiet harbour", kind="section")
    assert (quiet.place.section, quiet.uses[0].times_sent) == ("env_info", None)
    assert quiet.uses[0].session_id == SESSION
    burst = only(db, "burst", kind="error")
    assert burst.uses[0].first_key == rows(db, "SELECT key FROM requests")[0][0]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of an agent with its session database, and every other sample."""
    folder = tmp_path_factory.mktemp("search")
    write_home(folder / "home")
    read(folder / "tracer.db", [folder / "home", SAMPLES])
    return folder / "tracer.db"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tool-row"])
def test_every_kind_can_be_asked_for(home: Path, kind: str) -> None:
    page = search(home, "e", kind=kind, limit=500)
    assert page.texts and {text.place.kind for text in page.texts} == {kind}


def test_messages_and_tool_rows_of_a_session_database_are_found(home: Path) -> None:
    (message,) = rows(home, "SELECT error_message FROM tool_rows WHERE error_message <> '' LIMIT 1")
    found = search(home, message[0][:12], kind="tool-row")
    assert found.texts[0].place.kind == "tool-row"
    assert "message" in {t.place.kind for t in search(home, "Skarvik", limit=500).texts}


def test_sections_and_reminders_around_a_match_filter(home: Path) -> None:
    found = search(home, "e", section="env_info", limit=500).texts
    assert found and {text.place.section for text in found} == {"env_info"}
    found = search(home, "e", source="todo_reminder", limit=500).texts
    assert found and {text.place.reminder for text in found} == {"todo_reminder"}
    everywhere = search(home, "Working directory", limit=500).texts
    assert {t.place.section for t in everywhere if t.place.kind == "system"} >= {"env_info"}
    assert not search(home, "e", section="no_such_section").texts


def test_pages_follow_each_other_without_gaps(home: Path) -> None:
    service = Service(home)
    whole = service.search(SearchAsked("the", limit=60)).texts
    pages = [service.search(SearchAsked("the", limit=20, offset=n)).texts for n in (0, 20, 40)]
    assert [t for page in pages for t in page] == list(whole)


def test_what_is_found_matches_a_scan_by_hand(home: Path) -> None:
    """Every text of a block that holds the words is found, and none else."""
    texts = [
        text if text is not None else zlib.decompress(packed).decode()
        for text, packed in rows(home, "SELECT text, text_zlib FROM block_texts")
    ]
    for query in ("Skarvik", "的", "pytest -q", "def "):
        wanted = {text for text in texts if query.lower() in text.lower()}
        blocks = [text for text in search(home, query, limit=500).texts if text.wire_hash]
        assert len(blocks) == len(wanted)


def test_new_texts_are_found_by_a_service_that_searched_before(db: Path, rollout: Path) -> None:
    write(rollout, call("r1", [user("early bird")]))
    ingest(db, rollout)
    service = Service(db)
    assert service.search(SearchAsked("bird", kind="user")).total == 1
    write(
        rollout,
        call("r1", [user("early bird")]),
        call("r2", [user("early bird"), user("late bird")]),
    )
    ingest(db, rollout)
    page = service.search(SearchAsked("bird", kind="user"))
    assert {text.piece.text: text.uses[0].times_sent for text in page.texts} == {
        "early bird": 2, "late bird": 1,
    }  # fmt: skip


def test_a_very_large_database_says_what_was_not_searched(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, call("r1", [user(f"word {n}") for n in range(30)]))
    ingest(db, rollout)
    monkeypatch.setattr(searching_module, "MOST_SEARCHED", 10)
    monkeypatch.setattr(searching_module, "TEXTS_AT_ONCE", 3)
    page = search(db, "word", kind="user", limit=100)
    assert page.unsearched == rows(db, "SELECT max(id) FROM blocks")[0][0] - 10
    assert 0 < page.total <= 10


def test_more_than_can_be_listed_is_said(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, call("r1", [user(f"word {n}") for n in range(30)]))
    ingest(db, rollout)
    monkeypatch.setattr(searching_module, "MOST_TEXTS", 10)
    page = search(db, "word", limit=100)
    assert (page.total, page.at_least) == (10, True)


@pytest.mark.parametrize("query", ["", "  \n", "x" * 1_001])
def test_an_empty_or_endless_query_is_wrong_use(home: Path, query: str) -> None:
    with pytest.raises(UsageError):
        search(home, query)


def test_an_unknown_kind_is_wrong_use(home: Path) -> None:
    with pytest.raises(UsageError, match="tool-result"):
        search(home, "e", kind="tools")


def test_choices_name_sections_and_sources(home: Path) -> None:
    choices = Service(home).search_choices()
    assert {"env_info", "skills", "current_date"} <= set(choices.sections)
    assert "todo_reminder" in choices.sources


def test_a_replaced_database_is_searched_as_it_is_now(db: Path, rollout: Path) -> None:
    """Somebody deletes the database and reads other files while a server runs."""
    filler = "lorem ipsum " * 1_000
    write(rollout, call("r1", [user(f"first {filler}")]))
    ingest(db, rollout)
    service = Service(db)
    assert service.search(SearchAsked("first", kind="user")).total == 1
    for path in db.parent.glob(f"{db.name}*"):
        path.unlink()
    write(rollout, call("r1", [user(f"other {filler}")]), call("r2", [user("more")], at=1_000))
    ingest(db, rollout)
    ingest(db, write(rollout.with_name("again.jsonl"), call("r3", [user("x")], session="s2")))
    assert service.search(SearchAsked("other", kind="user")).total == 1
    assert service.search(SearchAsked("first", kind="user")).total == 0
