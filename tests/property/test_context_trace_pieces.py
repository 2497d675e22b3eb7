"""A trace that is read in pieces, by new processes, gives what it gives when it is read at once."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import contents, ingest, reader
from tests.traces import built, completed, laid_out, ref, said
from tracer.store.layout_reading import session_layouts

IDS = ("m1", "m2", "m3", "m4")
Step = tuple[str, list[tuple[str, bool, str]], bool]

messages = st.lists(
    st.tuples(st.sampled_from(IDS), st.booleans(), st.sampled_from(("", "other words"))),
    max_size=6,
)
steps = st.lists(
    st.tuples(st.sampled_from(("plain", "segments", "answer")), messages, st.booleans()),
    min_size=1,
    max_size=8,
)


def lines_of(given_steps: Sequence[Step]) -> list[bytes]:
    """The lines that an agent writes: messages in full or as references, some of them to what was
    never written, some written anew with other words."""
    lines = []
    for number, (what, held, marked) in enumerate(given_steps):
        marks: dict[str, Any] = {"cacheControl": {"type": "ephemeral"}} if marked else {}
        made = [ref(i, **marks) if short else said(i, words, **marks) for i, short, words in held]
        if what == "answer":
            lines.append(completed(number, f"q{number // 2}", 1 + len(held) % 2))
        elif what == "plain":
            lines.append(built(number, f"q{number}", made))
        else:
            lines.append(laid_out(number, f"q{number}", {1: made[:2], 8: made[2:]}))
    return lines


def everything(db: Path) -> dict[str, Any]:
    """What two databases can be compared by, layouts included."""
    found = contents(db)
    with reader(db) as connection:
        for row, name in connection.execute("SELECT id, session_id FROM sessions").fetchall():
            stored = session_layouts(connection, row)
            keys = dict(connection.execute("SELECT id, key FROM requests").fetchall())
            found[f"layouts of {name}"] = {
                keys[request]: (layout.layout, stored.notes_of(request))
                for request, layout in stored.layouts.items()
            }
    return found


@settings(max_examples=30, deadline=None)
@given(steps, st.lists(st.integers(1, 8), max_size=3), st.integers(0, 60))
def test_pieces_make_the_whole(given_steps: list[Step], cuts: list[int], torn: int) -> None:
    lines = lines_of(given_steps)
    whole = b"".join(lines)
    ends = sorted({min(sum(map(len, lines[:cut])) + torn, len(whole)) for cut in cuts})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        start = 0
        for end in (*ends, len(whole)):
            with path.open("ab") as file:
                file.write(whole[start:end])
            start = end
            ingest(Path(folder) / "pieces.db", path)
        ingest(Path(folder) / "whole.db", path)
        assert everything(Path(folder) / "pieces.db") == everything(Path(folder) / "whole.db")


def prompts(db: Path) -> dict[str, Any]:
    """The prompts and their layouts: what must not depend on the order of files."""
    found = everything(db)
    with reader(db) as connection:
        tips = connection.execute(
            "SELECT r.key, r.status, r.observed, r.verified_from, n.hash FROM requests r "
            "LEFT JOIN nodes n ON n.id = r.node_id ORDER BY r.key"
        ).fetchall()
    return {"tips": tips, **{k: v for k, v in found.items() if k.startswith("layouts")}}


@settings(max_examples=40, deadline=None)
@given(steps, st.integers(0, 8))
def test_two_files_may_be_read_in_any_order(given_steps: list[Step], cut: int) -> None:
    lines = lines_of(given_steps)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "b.jsonl", Path(folder) / "a.jsonl"
        first.write_bytes(b"".join(lines[:cut]))
        second.write_bytes(b"".join(lines[cut:]))
        for name, files in (("one", (first, second)), ("two", (second, first))):
            for file in files:
                ingest(Path(folder) / f"{name}.db", file)
        assert prompts(Path(folder) / "one.db") == prompts(Path(folder) / "two.db")
