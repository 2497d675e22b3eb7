"""What the next record of each file may be relative to, kept for the files that grow."""

from tracer.assemble.windows import KEPT_LISTS
from tracer.ingest.prompts import FileState, PromptBuilder
from tracer.store.restore import newest_chains
from tracer.store.sources import SourceRow
from tracer.store.writer import Writer

MAX_STATES = 16


class FileStates:
    """The states of the files that were read last, by path."""

    def __init__(self, writer: Writer, builder: PromptBuilder) -> None:
        self._writer = writer
        self._builder = builder
        self._states: dict[str, FileState] = {}

    def of(self, known: SourceRow) -> FileState:
        """A file's state; loaded where another process read the file up to here."""
        state = self._states.pop(known.path, None)
        if (
            state is None
            or state.generation != self._writer.generation
            or state.read_up_to != (known.id, known.offset_bytes)
        ):
            state = self._restored(known.path)
        self._states[known.path] = state
        while len(self._states) > MAX_STATES:
            self._states.pop(next(iter(self._states)))
        return state

    def new(self, path: str) -> FileState:
        """The state of a file of which nothing was read."""
        state = self._states[path] = FileState()
        return state

    def load(self, path: str, before: tuple[int, int] | None = None) -> FileState:
        """A file's state as it is stored: all of it, or what was known before a place (the row of a
        segment, a line)."""
        state = self._states[path] = self._restored(path, before)
        return state

    def drop(self, path: str) -> None:
        """Forget a file's state after an error."""
        self._states.pop(path, None)

    def _restored(self, path: str, before: tuple[int, int] | None = None) -> FileState:
        chains = newest_chains(self._writer.connection, path, KEPT_LISTS, before)
        return self._builder.restored(chains)
