"""Any part of what an agent leaves on a machine, read in any order, gives one and the same picture:
nothing is counted twice, and every number is the one that the run really had."""

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.homes import VARIANTS, read, write_home

KINDS = ("log", "rollout", "db", "agents", "transcript")
SUBSETS = [c for n in range(1, len(KINDS) + 1) for c in combinations(KINDS, n)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    root = tmp_path_factory.mktemp("home")
    return root, write_home(root)


def files_of(root: Path, kind: str) -> list[Path]:
    if kind == "db":
        return [root / "db" / "db.sqlite"]
    if kind in ("agents", "transcript"):
        name = "metadata.json" if kind == "agents" else "transcript.jsonl"
        return sorted((root / "agents").rglob(name))
    return sorted((root / kind).glob("*.jsonl"))


def picture(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What a page could show, without row ids and places."""
    with closing(sqlite3.connect(db)) as connection:
        return {
            name: sorted(connection.execute(sql).fetchall(), key=repr)
            for name, sql in (
                (
                    "sessions",
                    "SELECT session_id, title, project, parent_session_id, first_at_ms, "
                    "last_at_ms, unjoined FROM sessions",
                ),
                (
                    "requests",
                    "SELECT r.key, s.session_id, request_id, attempt, turn_id, query_source, lane, "
                    "started_at_ms, completed_at_ms, duration_ms, status, observed, input_tokens, "
                    "fresh_tokens, cache_read_tokens, cache_write_tokens, output_tokens, from_log "
                    "FROM requests r JOIN sessions s ON s.id = r.session_id",
                ),
                (
                    "usage",
                    "SELECT session_id, usage_id, origin, request_key, join_strength, join_key, "
                    "conflicts_json FROM v_usage",
                ),
                ("turns", "SELECT * FROM v_turns"),
                ("tools", "SELECT * FROM v_tools"),
                ("conversation", "SELECT * FROM v_conversation"),
            )
        }


def expected(home: Any, subset: Sequence[str]) -> dict[str, tuple[int, int, int, int]]:
    """Requests and billed tokens of each session, as far as these files can tell."""
    found = {}
    scribe = next(path.split("/")[2] for path in home.files if path.endswith("transcript.jsonl"))
    for session, total in home.totals().items():
        told_by_events = "transcript" in subset and session.endswith(scribe)
        if {"log", "rollout"} & set(subset) or told_by_events:
            requests = total["attempts"]
        else:
            requests = total["calls"] if "db" in subset else 0
        billed = {"rollout", "db"} & set(subset) or told_by_events
        names = ("input", "cache_read", "output")
        tokens = [total[name] if billed else 0 for name in names]
        found[session] = (requests, tokens[0], tokens[1], tokens[2])
    return {session: row for session, row in found.items() if row[0]}


def counted(db: Path) -> dict[str, tuple[int, int, int, int]]:
    with closing(sqlite3.connect(db)) as connection:
        rows = connection.execute(
            "SELECT session_id, count(*), coalesce(sum(input_tokens), 0), "
            "coalesce(sum(cache_read_tokens), 0), coalesce(sum(output_tokens), 0) "
            "FROM v_requests GROUP BY 1"
        )
        return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}


@pytest.mark.parametrize("subset", SUBSETS, ids="+".join)
def test_any_subset_in_any_order_gives_the_true_counts_and_one_picture(
    subset: tuple[str, ...], home: tuple[Path, Any], tmp_path: Path
) -> None:
    root, known = home
    files = [path for kind in subset for path in files_of(root, kind)]
    shuffled = files[:]
    random.Random("+".join(subset)).shuffle(shuffled)
    pictures = []
    for number, order in enumerate((files, files[::-1], shuffled)):
        db = tmp_path / f"{number}.db"
        read(db, order)
        assert counted(db) == expected(known, subset)
        pictures.append(picture(db))
    assert pictures[1] == pictures[0]
    assert pictures[2] == pictures[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_database_of_any_generation_tells_the_same(variant: str, tmp_path: Path) -> None:
    known = write_home(tmp_path / "home", variant)
    root = tmp_path / "home"
    for number, subset in enumerate((("db",), ("rollout", "db"), ("db", "log"))):
        db = tmp_path / f"{number}.db"
        read(db, [path for kind in subset for path in files_of(root, kind)])
        assert counted(db) == expected(known, subset)


def test_reading_everything_twice_changes_nothing(home: tuple[Path, Any], tmp_path: Path) -> None:
    root, _ = home
    db = tmp_path / "tracer.db"
    read(db, [root])
    before = picture(db)
    again = read(db, [root])
    assert again.new_records == 0
    assert {file.status for file in again.files} == {"unchanged"}
    assert picture(db) == before


def test_a_copy_of_the_database_elsewhere_adds_nothing(
    home: tuple[Path, Any], tmp_path: Path
) -> None:
    root, _ = home
    db = tmp_path / "tracer.db"
    read(db, [root])
    before = picture(db)
    copy = tmp_path / "backup.sqlite"
    copy.write_bytes((root / "db" / "db.sqlite").read_bytes())
    read(db, [copy])
    assert picture(db) == before
