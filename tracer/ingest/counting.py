"""Counting tokens beside the reading, on a second core.

The worker process reads the blocks that have no count yet from the database itself, so reading
never waits for it and nothing has to be handed over; it sends back numbers, and the one writer
stores them. A killed process leaves blocks without a count, and the next run counts them.
"""

import multiprocessing
import sqlite3
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tracer.store.connect import open_reader
from tracer.store.tokens import CountRow, store_counts, uncounted_blocks, uncounted_total
from tracer.store.transactions import begin_writing, commit_news
from tracer.tokens import DEFAULT_ENCODING
from tracer.tokens_bpe import BpeCounter

BATCH_BLOCKS = 256
_POLL_S = 0.2


class CountingError(RuntimeError):
    """The counter could not be used; says why."""


def count_batch(
    connection: sqlite3.Connection, counter: BpeCounter, after_id: int
) -> list[CountRow]:
    """Counts of the next blocks after `after_id` that have none; empty when all are counted."""
    blocks = uncounted_blocks(connection, counter.name, after_id, BATCH_BLOCKS)
    counts = counter.count_many([block.text for block in blocks])
    return [
        CountRow(block.id, count.tokens, int(count.exact))
        for block, count in zip(blocks, counts, strict=True)
    ]


def count_here(
    connection: sqlite3.Connection,
    after_batch: Callable[[int, int], None] | None = None,
) -> int:
    """Count what is missing in this process; the number of blocks. `after_batch` is told how many
    are done and how many are left. Raises CountingError."""
    left = uncounted_total(connection, DEFAULT_ENCODING)
    if not left:
        return 0
    counter = BpeCounter(DEFAULT_ENCODING, threads=1)
    done, after_id = 0, 0
    while True:
        try:
            counts = count_batch(connection, counter, after_id)
        except RuntimeError as error:
            raise CountingError(str(error)) from error
        if not counts:
            return done
        _store(connection, counts)
        after_id = counts[-1].block_id
        done += len(counts)
        if after_batch:
            after_batch(done, max(left - done, 0))


class CountingProcess:
    """A worker on another core. `poke` after a commit, `collect` now and then, `finish` at the
    end."""

    def __init__(self, db_path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(str(db_path), theirs), daemon=True, name="tracer-count"
        )
        self._process.start()
        theirs.close()
        self._poked = 0
        self._answered = 0
        self.counted = 0

    def poke(self) -> None:
        """Tell the worker that there may be new blocks."""
        self._poked += 1
        self._send(("go", self._poked))

    def collect(self, connection: sqlite3.Connection, *, wait_s: float = 0.0) -> None:
        """Store the counts that have come in. Raises CountingError."""
        pending: list[CountRow] = []
        while self._pipe.poll(0 if pending else wait_s):
            kind, value = self._receive()
            if kind == "counts":
                pending += [CountRow(*row) for row in value]
            elif kind == "idle":
                self._answered = value
            else:
                raise CountingError(str(value))
        if pending:
            _store(connection, pending)
            self.counted += len(pending)

    def finish(
        self,
        connection: sqlite3.Connection,
        after_batch: Callable[[int, int], None] | None = None,
    ) -> int:
        """Wait until every block is counted, stop the worker; the number of blocks counted."""
        self.poke()
        while self._answered < self._poked:
            self.collect(connection, wait_s=_POLL_S)
            if after_batch:
                after_batch(self.counted, uncounted_total(connection, DEFAULT_ENCODING))
        self.close()
        return self.counted

    def close(self) -> None:
        """Stop the worker; what it has not counted is counted next time."""
        if self._process.is_alive():
            self._send(("stop", 0))
            self._process.join(timeout=5)
            if self._process.is_alive():
                self._process.terminate()
                self._process.join()
        self._pipe.close()

    def _send(self, message: tuple[str, int]) -> None:
        try:
            self._pipe.send(message)
        except (BrokenPipeError, OSError) as error:
            raise CountingError("the counting process ended unexpectedly") from error

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except EOFError as error:
            raise CountingError("the counting process ended unexpectedly") from error


def _store(connection: sqlite3.Connection, counts: list[CountRow]) -> None:
    begin_writing(connection)
    store_counts(connection, DEFAULT_ENCODING, counts)
    commit_news(connection)


def _work(db_path: str, pipe: Connection) -> None:
    """The worker: counts whatever has no count, and says when nothing is left."""
    try:
        counter = BpeCounter(DEFAULT_ENCODING, threads=1)
        connection = open_reader(Path(db_path))
        heard, after_id = 0, 0
        while True:
            while pipe.poll(None if heard == 0 else 0):
                kind, heard = pipe.recv()
                if kind == "stop":
                    return
            counts = count_batch(connection, counter, after_id)
            if counts:
                after_id = counts[-1].block_id
                pipe.send(("counts", [tuple(c) for c in counts]))
                continue
            pipe.send(("idle", heard))
            heard = 0
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return  # the parent is gone or stops: what is left is counted next time
    except Exception as error:  # the parent must hear of any failure, whatever it is
        pipe.send(("error", f"{type(error).__name__}: {error}"))
