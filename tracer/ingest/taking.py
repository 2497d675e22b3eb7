"""Taking lines: each becomes a record, a copy of a known one, or a skipped line with its reason."""

from dataclasses import dataclass
from typing import BinaryIO

from tracer.assemble.usage import normalise
from tracer.formats import Format
from tracer.hashing import digest
from tracer.ingest.files import FileFacts
from tracer.ingest.lines import Line
from tracer.ingest.prompts import FileState, PromptBuilder
from tracer.ingest.results import too_long, torn
from tracer.ingest.states import FileStates
from tracer.ingest.titles import title_of
from tracer.model.events import LogEvent, ModelCall
from tracer.model.source import SkipKind, Skipped
from tracer.store.records import MAX_STORED_SKIPS, PromptFacts, Records, request_key
from tracer.store.restore import first_place
from tracer.store.sources import SourceRow
from tracer.store.tables import EVENT, TableRows
from tracer.store.writer import Place, Writer

_BLANK = b" \t\r\n\xef\xbb\xbf"


@dataclass(slots=True)
class Reading:
    """One file while it is read. `new_records` counts what this read stored."""

    file: BinaryIO
    facts: FileFacts
    source: SourceRow
    format: Format
    state: FileState
    new_records: int = 0
    batch_bytes: int = 0
    batch_started: float = 0.0
    first_of_segment: bool = False


class LineTaker:
    """Takes lines in the transaction of a `Writer`."""

    def __init__(
        self,
        writer: Writer,
        builder: PromptBuilder,
        records: Records,
        rows: TableRows,
        states: FileStates,
        max_line_bytes: int,
    ) -> None:
        self._connection = writer.connection
        self._builder = builder
        self._records = records
        self._rows = rows
        self._states = states
        self._max_line_bytes = max_line_bytes

    def take(self, reading: Reading, line: Line) -> bool:
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

    def _parse(self, reading: Reading, line: Line) -> ModelCall | LogEvent | Skipped | None:
        if line.data is None:
            return too_long(line.size_bytes, self._max_line_bytes, line.head)
        if not line.data.strip(_BLANK):
            return None
        return reading.format.parse(line.data)

    def _store(
        self, reading: Reading, event: ModelCall | LogEvent, place: Place, data: bytes
    ) -> bool:
        agent = reading.format.agent
        if isinstance(event, LogEvent):
            name = event.identity.encode() or data.strip(_BLANK)
            if event.usage_row is not None:
                self._rows.put(event.usage_row, agent, place, EVENT)
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

    def _recognise(self, reading: Reading, event: ModelCall, line_hash: bytes) -> None:
        """A segment that begins with a record which the file has shown before is that file again,
        touched or edited: it is read with what was known before that record, as the first time."""
        reading.first_of_segment = False
        path = reading.source.path
        key = request_key(event.session_id, event.request_id, event.attempt, line_hash)
        place = first_place(self._connection, path, key)
        if place is not None:
            reading.state = self._states.load(path, before=place)
            reading.state.windows.begin_segment()

    def _skip(self, source: SourceRow, place: Place, skip: Skipped) -> None:
        source.skipped += 1
        if source.skipped <= MAX_STORED_SKIPS or skip.kind is SkipKind.TORN:
            self._records.skipped(place, skip)
