"""Ingesting files into the database: one `Ingestor` a database, used by one thread at a time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tracer.formats import all_formats, detect, format_named
from tracer.ingest.asked_format import check_format
from tracer.ingest.counting import CountingError, CountingProcess, count_here
from tracer.ingest.files import (
    EMPTY_HASH,
    UNFINISHED,
    Change,
    FileFacts,
    change_of,
    file_facts,
    head_fingerprint,
    open_regular,
    path_name,
    same_stat,
    tail_hash,
)
from tracer.ingest.joining import join_sessions
from tracer.ingest.lines import read_lines
from tracer.ingest.others import OtherFiles
from tracer.ingest.prompts import PromptBuilder
from tracer.ingest.results import file_result, length_in, not_read
from tracer.ingest.states import FileStates
from tracer.ingest.taking import LineTaker, Reading
from tracer.model.ingest_views import FileResult, IngestResult, Progress
from tracer.model.source import SkipKind
from tracer.store.connect import open_writer
from tracer.store.records import MAX_STORED_SKIPS, Records
from tracer.store.sources import (
    CURRENT,
    SourceRow,
    add_source,
    current_source,
    drop_skipped,
    known_paths,
    mark_current,
    mark_missing,
    save_source,
    skipped_lines,
)
from tracer.store.transactions import TURN_S, close_writer
from tracer.store.writer import Writer

BATCH_BYTES = 24 << 20
BATCH_SECONDS = 0.7
SNIFF_BYTES = 256 << 10
COUNT_ELSEWHERE_FROM_BYTES = 8 << 20
DEFAULT_MAX_LINE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to read. `format_name` forces a format for every file."""

    format_name: str | None = None
    count_tokens: bool = True
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES


@dataclass(slots=True)
class _Run:
    """What one call has done so far."""

    started: float
    total_bytes: int
    progress: Callable[[Progress], None] | None
    done_bytes: int = 0
    records: int = 0
    results: list[FileResult] = field(default_factory=list)
    counting: CountingProcess | None = None
    count_error: str = ""


class _OvertakenError(Exception):
    """Another process has read on in the same file: look at it anew."""


class Ingestor:
    """Reads files into one database. Close it when done."""

    def __init__(self, db_path: Path, options: IngestOptions | None = None) -> None:
        self.options = options or IngestOptions()
        check_format(self.options.format_name)
        self.db_path = db_path
        self.connection = open_writer(db_path)
        self._writer = Writer(self.connection)
        self._records = Records(self._writer)
        self._builder = PromptBuilder(self._writer)
        self._others = OtherFiles(self._writer, self._records)
        self._states = FileStates(self._writer, self._builder)
        self._taker = LineTaker(
            self._writer, self._builder, self._records, self._others.rows, self._states,
            self.options.max_line_bytes,
        )  # fmt: skip
        self._not_read: dict[str, tuple[FileFacts, FileResult]] = {}
        self._read_again: set[str] = set()

    def close(self) -> None:
        """Close the database."""
        close_writer(self.connection)

    def ingest(
        self, files: Sequence[Path], progress: Callable[[Progress], None] | None = None
    ) -> IngestResult:
        """Read what is new in `files`, count what has no count yet, and say what was done."""
        run = _Run(time.monotonic(), self._bytes_to_read(files), progress)
        if self.options.count_tokens and run.total_bytes > COUNT_ELSEWHERE_FROM_BYTES:
            run.counting = CountingProcess(self.db_path)
        try:
            for path in files:
                if self._others.wants(path):
                    self._other(path, run)
                else:
                    run.results.append(self._file(path, run))
            join_sessions(self._writer)
            counted = self._finish_counting(run)
        finally:
            if run.counting is not None:
                run.counting.close()
        return IngestResult(
            files=tuple(run.results),
            read_bytes=run.done_bytes,
            new_records=sum(r.new_records for r in run.results),
            counted_blocks=counted,
            elapsed_ms=int((time.monotonic() - run.started) * 1000),
            count_error=run.count_error,
        )

    def note_missing(self, files: Sequence[Path]) -> None:
        """Mark the files that were read once and are no longer on disk; their data is kept."""
        present = {path_name(f) for f in files}
        for path, status in known_paths(self.connection).items():
            if status == "current" and path not in present and not Path(path).exists():
                mark_missing(self.connection, path)

    def _bytes_to_read(self, files: Sequence[Path]) -> int:
        total = 0
        for path in files:
            if self._others.wants(path):
                continue
            try:
                facts = file_facts(path)
            except OSError:
                continue
            known = current_source(self.connection, path_name(path))
            if known is None or facts.size_bytes < known.offset_bytes:
                total += facts.size_bytes
            elif not same_stat(facts, known):
                total += facts.size_bytes - known.offset_bytes
        return total

    def _finish_counting(self, run: _Run) -> int:
        if not self.options.count_tokens:
            return 0

        def report(done: int, left: int) -> None:
            self._report(run, "counting", "", counted=done, uncounted=left)

        try:
            if run.counting is not None:
                return run.counting.finish(self.connection, report)
            return count_here(self.connection, report)
        except CountingError as error:
            run.count_error = f"Tokens were not counted: {error}"
            return run.counting.counted if run.counting else 0

    def _other(self, path: Path, run: _Run) -> None:
        """Read a file that is not lines."""
        self._report(run, "reading", path_name(path))
        reading = self._others.read(path)
        run.results.append(reading.result)
        run.done_bytes += reading.read_bytes
        run.records += reading.result.new_records

    def _file(self, path: Path, run: _Run) -> FileResult:
        name = path_name(path)
        new_records = 0
        while True:
            reading: Reading | FileResult | None = None
            try:
                facts = file_facts(path)
                known = current_source(self.connection, name)
                same = known is not None and same_stat(facts, known)
                if known is not None and same and not self._is_readable_now(known):
                    if known.status != CURRENT:
                        mark_current(self.connection, known)
                    return file_result(
                        self.connection, known, new_records, "read" if new_records else "unchanged"
                    )
                refused = self._not_read.get(name)
                if refused is not None and refused[0] == facts:
                    return refused[1]
                with open_regular(path) as file:
                    reading = self._open(file, facts, known)
                    if isinstance(reading, FileResult):
                        self._not_read[name] = (facts, reading)
                        return reading
                    self._read(reading, run)
            except _OvertakenError:
                if isinstance(reading, Reading):
                    new_records += reading.new_records
                continue
            except OSError as error:
                return not_read(name, f"The file could not be read: {error.strerror or error}.")
            return file_result(
                self.connection, reading.source, new_records + reading.new_records, "read"
            )

    def _is_readable_now(self, known: SourceRow) -> bool:
        """True where a line was passed over for its length, and the limit was raised since: once
        an ingestor, the file is read again."""
        if not known.skipped or known.path in self._read_again:
            return False
        limit = self.options.max_line_bytes
        return any(
            skip.kind == SkipKind.TOO_LONG and length_in(skip.reason) <= limit
            for skip in skipped_lines(self.connection, known.id, MAX_STORED_SKIPS)
        )

    def _open(
        self, file: BinaryIO, facts: FileFacts, known: SourceRow | None
    ) -> Reading | FileResult:
        change = change_of(file, facts, known)
        name = path_name(facts.path)
        if change is Change.UNCHANGED:  # but for a limit that was raised
            self._read_again.add(name)
            change = Change.REPLACED
        if change is Change.GROWN and known is not None:
            log_format = format_named(known.format)
            if log_format is None:
                return not_read(name, f"Its format {known.format!r} is not known any more.")
            return Reading(file, facts, known, log_format, self._states.of(known))
        file.seek(0)
        head = file.read(SNIFF_BYTES)
        if not head:
            return not_read(name, "The file is empty; it will be read once it has content.")
        chosen = self.options.format_name
        log_format = format_named(chosen) if chosen else detect(head)
        if log_format is None:
            known_names = ", ".join(f.name for f in all_formats())
            return not_read(
                name,
                f"Its content is none of the known formats ({known_names}). If it is one of them, "
                "name it with --format.",
            )
        state = self._states.of(known) if known is not None else self._states.new(name)
        state.windows.begin_segment()
        head_bytes, head_hash = head_fingerprint(file, facts.size_bytes)
        source = SourceRow(
            0, name, known.segment + 1 if known else 1, log_format.name, log_format.agent,
            facts.device, facts.inode, head_bytes, head_hash, EMPTY_HASH, 0, 0, 0, 0, 0, 0, 0,
            CURRENT, _now_ms(),
        )  # fmt: skip
        return Reading(file, facts, source, log_format, state, first_of_segment=known is not None)

    def _read(self, reading: Reading, run: _Run) -> None:
        try:
            self._begin(reading)
            joined = self._ends_without_newline(reading)
            offset = reading.source.offset_bytes
            for line in read_lines(reading.file, offset, self.options.max_line_bytes):
                if joined and not line.torn and line.data is not None and not line.data.strip():
                    # The end of a line that was whole without it.
                    reading.source.offset_bytes += line.size_bytes
                elif not self._taker.take(reading, line):
                    break
                joined = False
                reading.batch_bytes += line.size_bytes
                run.done_bytes += line.size_bytes
                if self._batch_is_full(reading):
                    self._commit(reading, run, at_end=False)
                    time.sleep(TURN_S)
                    self._begin(reading)
            self._commit(reading, run, at_end=True)
        except BaseException:
            self._writer.rollback()
            self._records.forget()
            self._others.rows.forget()
            self._states.drop(reading.source.path)
            raise
        reading.state.generation = self._writer.generation
        reading.state.read_up_to = (reading.source.id, reading.source.offset_bytes)

    def _begin(self, reading: Reading) -> None:
        """Begin a batch where the last one ended, unless another process was faster."""
        self._writer.begin()
        source = reading.source
        stored = current_source(self.connection, source.path)
        if source.id == 0:
            if (stored.segment if stored else 0) != source.segment - 1:
                raise _OvertakenError
            add_source(self.connection, source)
        else:
            if stored is None or (stored.id, stored.offset_bytes) != (
                source.id,
                source.offset_bytes,
            ):
                raise _OvertakenError
            stored.status = CURRENT
            reading.source = stored
        self._drop_torn(reading.source)
        reading.batch_bytes = 0
        reading.batch_started = time.monotonic()

    def _batch_is_full(self, reading: Reading) -> bool:
        return (
            reading.batch_bytes >= BATCH_BYTES
            or time.monotonic() - reading.batch_started > BATCH_SECONDS
        )

    def _commit(self, reading: Reading, run: _Run, *, at_end: bool) -> None:
        source, facts = reading.source, reading.facts
        source.device, source.inode = facts.device, facts.inode
        source.size_bytes, source.mtime_ns = facts.size_bytes, facts.mtime_ns
        if not at_end:
            # Whoever goes on after this process was killed must not take the file for unchanged.
            source.size_bytes, source.mtime_ns = source.offset_bytes, UNFINISHED
        position = reading.file.tell()
        source.head_bytes, source.head_hash = head_fingerprint(
            reading.file, min(facts.size_bytes, max(source.offset_bytes, source.head_bytes))
        )
        source.tail_hash = tail_hash(reading.file, source.offset_bytes)
        reading.file.seek(position)
        source.last_read_at_ms = _now_ms()
        save_source(self.connection, source)
        self._others.rows.flush()
        self._records.flush()
        generation = self._writer.generation
        self._writer.commit()
        if self._writer.generation != generation:
            # The writer dropped its ids to save memory: this file's lists are loaded anew.
            reading.state = self._states.load(source.path)
        run.records = sum(r.new_records for r in run.results) + reading.new_records
        self._report(run, "reading", source.path)
        if run.counting is not None:
            try:
                run.counting.poke()
                run.counting.collect(self.connection)
            except CountingError as error:
                run.count_error = f"Tokens were not counted: {error}"
                run.counting = None

    def _drop_torn(self, source: SourceRow) -> None:
        source.skipped -= drop_skipped(self.connection, source.id, SkipKind.TORN)

    def _ends_without_newline(self, reading: Reading) -> bool:
        offset = reading.source.offset_bytes
        if offset == 0:
            return False
        reading.file.seek(offset - 1)
        return reading.file.read(1) != b"\n"

    def _report(
        self, run: _Run, phase: str, path: str, counted: int = 0, uncounted: int = 0
    ) -> None:
        if run.progress is None:
            return
        run.progress(
            Progress(
                phase=phase,
                path=path,
                done_bytes=run.done_bytes,
                total_bytes=max(run.total_bytes, run.done_bytes),
                records=run.records,
                elapsed_ms=int((time.monotonic() - run.started) * 1000),
                counted_blocks=counted,
                uncounted_blocks=uncounted,
            )
        )


def _now_ms() -> int:
    return int(time.time() * 1000)
