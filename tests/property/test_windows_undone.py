"""Random lives of a model I/O file, read in pieces, give back exactly the messages they prove.

The files come from an independent re-implementation of the agent's writer (window_writer.py). They
are cut anywhere, overwritten and created again while they are read, by one process or by several.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers import bare, contents, later, messages_of, rows
from tests.property.window_writer import Call, History, histories
from tracer.ingest import IngestOptions, Ingestor
from tracer.service import Service

ONE_AT_A_TIME = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@dataclass
class Reader:
    """Reads one file again and again; knows what it has been shown."""

    folder: Path
    on_disk: list[tuple[bytes, Call]] = field(default_factory=list)
    read: dict[str, Call] = field(default_factory=dict)
    segments: list[list[bytes]] = field(default_factory=lambda: [[]])
    new_records: int = 0

    def __post_init__(self) -> None:
        self.db = self.folder / "tracer.db"
        shutil.copy(empty_database(), self.db)
        self.path = self.folder / "model-io-sess_0000.jsonl"
        self._ingestor = Ingestor(self.db, IngestOptions(count_tokens=False))

    def ingest(self, *, new_process: bool) -> None:
        if new_process:
            self._ingestor.close()
            self._ingestor = Ingestor(self.db, IngestOptions(count_tokens=False))
        (file,) = self._ingestor.ingest([self.path]).files
        self.new_records += file.new_records
        self.segments[-1] = [line for line, _ in self.on_disk]
        self.read |= {call.request_id: call for _, call in self.on_disk}

    def replace(self, *, create_anew: bool) -> None:
        """The file is emptied, or deleted to be created again by the next write."""
        if create_anew:
            self.path.unlink()
        else:
            self.path.write_bytes(b"")
        self.on_disk = []
        self.segments.append([])

    def write(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)
        later(self.path)  # clocks of file systems are coarse, those of agents are slow

    def close(self) -> None:
        self._ingestor.close()


@cache
def empty_database() -> Path:
    """A database with its schema: copying it is faster than creating one for each example."""
    path = Path(tempfile.mkdtemp()) / "empty.db"
    Ingestor(path).close()
    return path


@contextmanager
def reader() -> Iterator[Reader]:
    with tempfile.TemporaryDirectory() as folder:
        made = Reader(Path(folder))
        try:
            yield made
        finally:
            made.close()


def live_through(
    history: History, draw: Callable[[st.SearchStrategy[Any]], Any], to: Reader
) -> None:
    """Write the file as the history says, and read it at drawn moments, also in mid-line."""
    segment = 0
    for line, call in zip(history.lines, history.calls, strict=True):
        if call.segment != segment:
            if draw(st.booleans()):
                to.ingest(new_process=draw(st.booleans()))
            to.replace(create_anew=b'"modelIOReset"' not in line)
            segment = call.segment
        data = line + b"\n"
        if draw(st.integers(0, 3)) == 0:
            cut = draw(st.integers(1, len(line)))
            to.write(data[:cut])
            if cut == len(line):
                to.on_disk.append((line, call))
            to.ingest(new_process=draw(st.booleans()))
            to.write(data[cut:])
            if cut == len(line):
                continue
        else:
            to.write(data)
        to.on_disk.append((line, call))
        if draw(st.integers(0, 2)) == 0:
            to.ingest(new_process=draw(st.booleans()))
    to.ingest(new_process=draw(st.booleans()))


@ONE_AT_A_TIME
@given(histories(max_steps=10), st.data())
def test_what_was_read_in_pieces_is_what_the_log_proves(
    history: History, data: st.DataObject
) -> None:
    with reader() as to:
        live_through(history, data.draw, to)
        check_all(to, history)


@ONE_AT_A_TIME
@given(histories(max_steps=10), st.data())
def test_reading_in_pieces_makes_no_difference(history: History, data: st.DataObject) -> None:
    with reader() as pieces, reader() as whole:
        live_through(history, data.draw, pieces)
        for lines in pieces.segments:
            if lines:
                whole.path.write_bytes(b"".join(line + b"\n" for line in lines))
                later(whole.path)
                whole.ingest(new_process=False)
        for part in ("messages", "blocks", "nodes", "markers", "responses"):
            assert contents(pieces.db)[part] == contents(whole.db)[part]
        assert facts(pieces) == facts(whole)


def facts(of: Reader) -> list[dict[str, Any]]:
    """The rows of all requests, but for the path of the file."""
    return [row | {"path": ""} for row in contents(of.db)["requests"]]


def check_all(to: Reader, history: History) -> None:
    stored = [
        summary
        for session in Service(to.db).sessions().sessions
        for summary in Service(to.db).requests(session.session_id)
    ]
    assert sorted(s.request_id for s in stored) == sorted(to.read)
    assert to.new_records == len(stored)
    # A line that was torn when it was seen, and overwritten before its rest was.
    lost = "SELECT count(*) FROM v_skipped k JOIN sources s USING (path, segment) WHERE "
    assert rows(to.db, lost + "k.kind <> 'torn' OR s.status <> 'replaced'") == [(0,)]
    shown: set[tuple[int, str]] = set()
    by_id = {summary.request_id: summary for summary in stored}
    for call in history.calls:
        if call.request_id not in to.read:
            continue
        summary = by_id[call.request_id]
        truth = [bare(message) for message in call.messages]
        messages = messages_of(to.db, summary.key)
        proven = summary.verified_from
        assert (summary.attempt, summary.query_source) == (call.attempt, call.query_source)
        assert (summary.session_id, summary.turn_id) == (call.session_id, call.turn_id)
        assert summary.message_count == len(messages) == len(truth)
        assert proven == call.offset
        assert messages[proven:] == truth[proven:]
        assert (summary.observed == "full") == (call.offset == 0)
        if summary.observed == "full":
            assert messages == truth
        for index, message in enumerate(messages[:proven]):
            assert message is None or (index, repr(message)) in shown
        shown |= {(i, repr(m)) for i, m in enumerate(messages[proven:], proven)}
        blocks = Service(to.db).request(summary.key, block_limit=None).blocks
        for block in blocks:
            if block.message_index is not None:
                last = block.message_index + block.span_messages - 1
                assert block.verified == (block.message_index >= proven) or block.kind == "gap"
                assert block.kind != "gap" or (not block.verified and last < proven)
