"""A session's prompts read as legs say what they say read node by node."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import SAMPLES, ingest
from tests.legs import one_by_one
from tracer.assemble.chains import ChainNode, PathWalker, path_sums, unlink
from tracer.store import session_paths
from tracer.store.prompts import session_nodes
from tracer.store.readings import stored_readings
from tracer.store.session_paths import session_legs


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All samples, every third block counted."""
    db = tmp_path_factory.mktemp("legs") / "tracer.db"
    ingest(db, SAMPLES, count_tokens=True)
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("DELETE FROM block_tokens WHERE block_id % 3")
    return db


def sessions(connection: sqlite3.Connection) -> Iterator[tuple[int, list[int]]]:
    """Row ids of sessions with prompts, and the ends of these by start time."""
    for (row_id,) in connection.execute("SELECT id FROM sessions").fetchall():
        tips = connection.execute(
            "SELECT node_id FROM requests WHERE session_id = ? AND node_id IS NOT NULL "
            "ORDER BY started_at_ms, key",
            (row_id,),
        ).fetchall()
        if tips:
            yield row_id, [tip for (tip,) in tips]


@pytest.mark.parametrize("span", [64, 0], ids=["a span of ids", "parent by parent"])
def test_legs_say_what_nodes_say(db: Path, span: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_paths, "_SPAN_NODES_PER_REQUEST", span)
    seen = several = 0
    with closing(sqlite3.connect(db)) as connection:
        for row_id, tips in sessions(connection):
            nodes, legs = session_nodes(connection, row_id), session_legs(connection, row_id)
            stored = stored_readings(connection, {node[2] for node in nodes})
            readings = {block: found.reading for block, found in stored.items()}
            plugins = {block for block, found in stored.items() if found.plugins}
            slow = path_sums(
                one_by_one([ChainNode(*n) for n in nodes], readings), readings, plugins
            )
            fast = path_sums(legs, readings, plugins)
            one, other = PathWalker(slow), PathWalker(fast)
            for tip in tips:
                here, there = fast[tip], slow[tip]
                assert here.blocks == there.blocks and here.chars == there.chars
                assert here.tokens == there.tokens and here.roles == there.roles
                assert (here.depth, here.total_tokens) == (there.depth, there.total_tokens)
                assert (here.uncounted, here.whole) == (there.uncounted, there.whole)
                assert (here.head, here.stand) == (there.head, there.stand)
                assert unlink(here.marks) == unlink(there.marks)
                assert unlink(here.tools) == unlink(there.tools)
                assert other.step(tip) == one.step(tip)
            seen += len(nodes)
            several += len(nodes) - len(legs)
    assert several > seen / 5
