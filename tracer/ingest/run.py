"""Ingesting files into the database: one `Ingestor` a database, used by one thread at a time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tracer.assemble.usage import normalise
from tracer.assemble.windows import KEPT_LISTS
from tracer.formats import Format, all_formats, detect, format_named
from tracer.hashing import digest
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
from tracer.ingest.lines import Line, read_lines
from tracer.ingest.others import OtherFiles
from tracer.ingest.prompts import FileState, PromptBuilder
from tracer.ingest.results import file_result, length_in, not_read, too_long, torn
from tracer.ingest.titles import title_of
from tracer.model.events import LogEvent, ModelCall
from tracer.model.ingest_views import FileResult, IngestResult, Progress
from tracer.model.source import SkipKind, Skipped
from tracer.store.connect import open_writer
from tracer.store.records import MAX_STORED_SKIPS, PromptFacts, Records, request_key
from tracer.store.restore import first_place, newest_chains
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
from tracer.store.tables import EVENT
from tracer.store.transactions import TURN_S, close_writer
from tracer.store.writer import Place, Writer

BATCH_BYTES = 24 << 20
BATCH_SECONDS = 0.7
SNIFF_BYTES = 256 << 10
COUNT_ELSEWHERE_FROM_BYTES = 8 << 20
MAX_STATES = 16
DEFAULT_MAX_LINE_BYTES = 64 << 20
_BLANK = b" \t\r\n\xef\xbb\xbf"


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


@dataclass(slots=True)
class _Reading:
    """One file while it is read. `base_*` are the counts before this read."""

    file: BinaryIO
    facts: FileFacts
    source: SourceRow
    format: Format
    state: FileState
    new_records: int = 0
    batch_bytes: int = 0
    batch_started: float = 0.0
    first_of_segment: bool = False


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
        self._states: dict[str, FileState] = {}
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
            reading: _Reading | FileResult | None = None
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
                if isinstance(reading, _Reading):
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
    ) -> _Reading | FileResult:
        change = change_of(file, facts, known)
        name = path_name(facts.path)
        if change is Change.UNCHANGED:  # but for a limit that was raised
            self._read_again.add(name)
            change = Change.REPLACED
        if change is Change.GROWN and known is not None:
            log_format = format_named(known.format)
            if log_format is None:
                return not_read(name, f"Its format {known.format!r} is not known any more.")
            return _Reading(file, facts, known, log_format, self._state(known))
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
        state = self._state(known) if known is not None else FileState()
        state.windows.begin_segment()
        self._states[name] = state
        head_bytes, head_hash = head_fingerprint(file, facts.size_bytes)
        source = SourceRow(
            0, name, known.segment + 1 if known else 1, log_format.name, log_format.agent,
            facts.device, facts.inode, head_bytes, head_hash, EMPTY_HASH, 0, 0, 0, 0, 0, 0, 0,
            CURRENT, _now_ms(),
        )  # fmt: skip
        return _Reading(file, facts, source, log_format, state, first_of_segment=known is not None)

    def _state(self, known: SourceRow) -> FileState:
        """What the file's next record may be relative to; loaded where another process read the
        file up to here."""
        name = known.path
        state = self._states.pop(name, None)
        if (
            state is None
            or state.generation != self._writer.generation
            or state.read_up_to != (known.id, known.offset_bytes)
        ):
            state = self._restored(name)
        self._states[name] = state
        while len(self._states) > MAX_STATES:
            self._states.pop(next(iter(self._states)))
        return state

    def _restored(self, name: str, before: tuple[int, int] | None = None) -> FileState:
        chains = newest_chains(self.connection, name, KEPT_LISTS, before)
        return self._builder.restored(chains)

    def _read(self, reading: _Reading, run: _Run) -> None:
        try:
            self._begin(reading)
            joined = self._ends_without_newline(reading)
            offset = reading.source.offset_bytes
            for line in read_lines(reading.file, offset, self.options.max_line_bytes):
                if joined and not line.torn and line.data is not None and not line.data.strip():
                    # The end of a line that was whole without it.
                    reading.source.offset_bytes += line.size_bytes
                elif not self._line(reading, line):
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
            self._states.pop(reading.source.path, None)
            raise
        reading.state.generation = self._writer.generation
        reading.state.read_up_to = (reading.source.id, reading.source.offset_bytes)

    def _begin(self, reading: _Reading) -> None:
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

    def _batch_is_full(self, reading: _Reading) -> bool:
        return (
            reading.batch_bytes >= BATCH_BYTES
            or time.monotonic() - reading.batch_started > BATCH_SECONDS
        )

    def _commit(self, reading: _Reading, run: _Run, *, at_end: bool) -> None:
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
            self._reload(reading)
        run.records = sum(r.new_records for r in run.results) + reading.new_records
        self._report(run, "reading", source.path)
        if run.counting is not None:
            try:
                run.counting.poke()
                run.counting.collect(self.connection)
            except CountingError as error:
                run.count_error = f"Tokens were not counted: {error}"
                run.counting = None

    def _reload(self, reading: _Reading) -> None:
        """The writer dropped its ids to save memory: load this file's lists anew."""
        name = reading.source.path
        self._states[name] = reading.state = self._restored(name)

    def _drop_torn(self, source: SourceRow) -> None:
        source.skipped -= drop_skipped(self.connection, source.id, SkipKind.TORN)

    def _ends_without_newline(self, reading: _Reading) -> bool:
        offset = reading.source.offset_bytes
        if offset == 0:
            return False
        reading.file.seek(offset - 1)
        return reading.file.read(1) != b"\n"

    def _line(self, reading: _Reading, line: Line) -> bool:
        """Take one line; False where it is torn and must wait for its rest."""
        source = reading.source
        place = Place(source.id, source.lines + 1, line.offset_bytes)
        event = self._parse(reading, line)
        if line.torn and not isinstance(event, ModelCall | LogEvent):
            if event is not None:
                self._skip(source, place, torn(event))
            return False
        source.lines += 1
        source.offset_bytes = line.offset_bytes + line.size_bytes
        if isinstance(event, Skipped):
            self._skip(source, place, event)
        elif event is not None:
            source.records += 1
            if self._store(reading, event, place, line.data or b""):
                reading.new_records += 1
            else:
                source.duplicates += 1
        return True

    def _parse(self, reading: _Reading, line: Line) -> ModelCall | LogEvent | Skipped | None:
        if line.data is None:
            return too_long(line.size_bytes, self.options.max_line_bytes, line.head)
        if not line.data.strip(_BLANK):
            return None
        return reading.format.parse(line.data)

    def _store(
        self, reading: _Reading, event: ModelCall | LogEvent, place: Place, data: bytes
    ) -> bool:
        agent = reading.format.agent
        if isinstance(event, LogEvent):
            name = event.identity.encode() or data.strip(_BLANK)
            if event.usage_row is not None:
                self._others.rows.put(event.usage_row, agent, place, EVENT)
            return self._records.log_event(event, agent, place, digest(name))
        line_hash = b"" if event.request_id else digest(data.strip(_BLANK))
        if reading.first_of_segment:
            self._recognise(reading, event, line_hash)
        if event.reset_json:
            reading.state.windows.begin_segment()
        prompt = self._builder.build(event, place, reading.state)
        facts = PromptFacts(
            prompt.node, prompt.message_count, prompt.verified_from, prompt.carry,
            prompt.observed, prompt.system_from, prompt.markers, prompt.layout,
        )  # fmt: skip
        usage = normalise(event.usage) if event.usage else None
        stored = self._records.request(event, usage, facts, agent, place, line_hash)
        if stored and event.started_at_ms is not None:
            self._records.title(event, agent, title_of)
        return stored

    def _recognise(self, reading: _Reading, event: ModelCall, line_hash: bytes) -> None:
        """A segment that begins with a record which the file has shown before is that file again,
        touched or edited: it is read with what was known before that record, as the first time."""
        reading.first_of_segment = False
        path = reading.source.path
        key = request_key(event.session_id, event.request_id, event.attempt, line_hash)
        place = first_place(self.connection, path, key)
        if place is not None:
            self._states[path] = reading.state = self._restored(path, before=place)
            reading.state.windows.begin_segment()

    def _skip(self, source: SourceRow, place: Place, skip: Skipped) -> None:
        source.skipped += 1
        if source.skipped <= MAX_STORED_SKIPS or skip.kind is SkipKind.TORN:
            self._records.skipped(place, skip)

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
