"""What an open trace says of a session's prompts beside their content, for rules to see."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from tracer.checks import CheckedMessage
from tracer.model.segments import PromptLayout
from tracer.store.layout_reading import session_layouts

_NO_LAYOUT = PromptLayout()


class NotedMessages:
    """Puts notes to messages. A message under another note is another object: its content is the
    same, what the trace says of it is not."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._stored = session_layouts(connection, row_id)
        self._made: dict[tuple[int, int], CheckedMessage] = {}

    def layout(self, request: int) -> PromptLayout:
        """How the prompt of a request (by its row id) was laid out."""
        stored = self._stored.layouts.get(request)
        return stored.layout if stored else _NO_LAYOUT

    def of(self, request: int, messages: list[CheckedMessage]) -> Sequence[CheckedMessage]:
        """The messages of a request with their notes; the same list where there are none. The
        messages must live as long as this object does."""
        stored = self._stored.layouts.get(request)
        if stored is None or len(stored.note_ids) != len(messages):
            return messages
        return [
            self._noted(message, note_id)
            for message, note_id in zip(messages, stored.note_ids, strict=True)
        ]

    def _noted(self, message: CheckedMessage, note_id: int) -> CheckedMessage:
        key = id(message), note_id
        found = self._made.get(key)
        if found is None:
            note = self._stored.notes[note_id]
            found = self._made[key] = replace(message, note=note)
        return found
