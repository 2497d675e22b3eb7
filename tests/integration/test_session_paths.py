"""A session's prompts read as legs say what they say read node by node."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import SAMPLES, ingest
from tests.legs import one_by_one
from tracer.anatomy.mcs import verdict
from tracer.assemble.chains import ChainNode, path_sums, unlink
from tracer.assemble.trees import PromptTree
from tracer.store import session_paths
from tracer.store.prompts import session_nodes
from tracer.store.readings import stored_readings
from tracer.store.session_paths import session_tree


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
            nodes = [ChainNode(*row) for row in session_nodes(connection, row_id)]
            stored = stored_readings(connection, {node.block_id for node in nodes})
            readings = {block: found.reading for block, found in stored.items()}
            plugins = {block for block, found in stored.items() if found.plugins}
            sums = path_sums(one_by_one(nodes, readings), readings, plugins)
            tree = PromptTree(session_tree(connection, row_id), readings, plugins)
            parents = {node.id: node.parent_id for node in nodes}
            before: set[int] = set()
            for number, tip in enumerate(tips):
                one, sizes, told = sums[tip], tree.sizes(tip), tree.told(tip)
                assert (sizes.blocks, sizes.chars) == (one.blocks, one.chars)
                assert (sizes.tokens, sizes.roles) == (one.tokens, one.roles)
                assert (sizes.depth, sizes.total_tokens) == (one.depth, one.total_tokens)
                assert (tree.uncounted(tip), told.whole) == (one.uncounted, one.whole)
                assert (told.head, verdict(told.stand)) == (one.head, verdict(one.stand))
                assert unlink(told.marks) == unlink(one.marks)
                assert unlink(told.tools) == unlink(one.tools)
                path = set(path_to(tip, parents))
                if number:
                    shared = tree.shared(tip, tips[number - 1])
                    assert shared == max(path & before, default=None)
                before = path
            seen += len(nodes)
            several += len(nodes) - len(tree.legs)
    assert several > seen / 5


def path_to(tip: int | None, parents: dict[int, int | None]) -> Iterator[int]:
    """The nodes of a prompt, last first."""
    while tip is not None:
        yield tip
        tip = parents[tip]
