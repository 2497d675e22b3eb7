"""What the agent writes, before references, estimates and usage are filled in."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from generate.text import Json, compact_json

LAYOUT = "segments-14"
MAIN_TURN = "main_turn"


@dataclass
class Message:
    """One message. `keys` are those beside id, role, kind and content."""

    id: str
    role: str
    kind: str
    content: Any = None
    keys: Json = field(default_factory=dict)

    def row(self) -> Json:
        """The message as it stands in a trace where it is written in full."""
        row: Json = {"id": self.id, "role": self.role}
        if self.kind:
            row["kind"] = self.kind
        if self.content is not None:
            row["content"] = self.content
        return row | self.keys

    def sent(self) -> str:
        """The text that the model is given."""
        if isinstance(self.content, str):
            text = self.content
        else:
            text = compact_json(
                self.content or self.keys.get("state") or self.keys.get("patch") or ""
            )
        calls = self.keys.get("toolCalls")
        return text + compact_json(calls) if calls else text


@dataclass
class Built:
    """A prompt. `segments` are (number, messages) in the order of the wire; `known` is what the
    agent holds to be the model's view of the world, which is not written."""

    at: datetime
    session: str
    run: str
    request: str
    model: Json
    stable: list[Json]
    dynamic: list[Json]
    segments: list[tuple[int, list[Message]]]
    source: str = MAIN_TURN
    layout: str = LAYOUT
    order: list[str] | None = None
    known: Json = field(default_factory=dict)

    def messages(self) -> list[Message]:
        """All messages in the order of the wire."""
        return [message for _, messages in self.segments for message in messages]

    def segment(self, number: int) -> list[Message]:
        """The messages of a segment, to be changed in place; an absent one is put where it belongs
        as soon as it is asked for."""
        for found, messages in self.segments:
            if found == number:
                return messages
        fresh: list[Message] = []
        self.segments.append((number, fresh))
        self.segments.sort(key=lambda pair: pair[0])
        return fresh

    def index_of(self, message: Message) -> int:
        """The place of this very object in the message list."""
        return next(i for i, found in enumerate(self.messages()) if found is message)

    def tools(self) -> list[Json]:
        """The schemas in the order of the wire."""
        both = self.stable + self.dynamic
        if self.order is None:
            return both
        by_name = {tool["name"]: tool for tool in both}
        return [by_name[name] for name in self.order]


@dataclass
class Usage:
    """The agent's own account of a prompt, which is made of the prompt when it is written."""

    at: datetime
    request: str
    window: int
    reserve: int


@dataclass
class Done:
    """How an attempt ended. `output` is its length in tokens."""

    at: datetime
    session: str
    run: str
    request: str
    attempt: int = 1
    status: str = "completed"
    duration_ms: int = 900
    output: int = 40
    finish: str = "stop"
    error: Json | None = None


@dataclass
class Note:
    """Any other event, with its keys behind the envelope."""

    at: datetime
    session: str
    event: str
    keys: Json = field(default_factory=dict)
    run: str = ""


Item: TypeAlias = Built | Usage | Done | Note


@dataclass
class Trace:
    """What one session's agent wrote, in order."""

    session: str
    items: list[Item]

    def copy(self) -> "Trace":
        """A trace that can be changed: messages that were one object stay one object nowhere."""
        copied = []
        for item in self.items:
            if isinstance(item, Built):
                segments = [(n, [deepcopy(m) for m in found]) for n, found in item.segments]
                item = deepcopy(item)
                item.segments = segments
            else:
                item = deepcopy(item)
            copied.append(item)
        return Trace(self.session, copied)

    def built(self) -> list[Built]:
        """The laid out prompts of the conversation, in order."""
        return [
            item
            for item in self.items
            if isinstance(item, Built) and item.layout == LAYOUT and item.source == MAIN_TURN
        ]

    def notes(self, prefix: str) -> Iterator[tuple[int, Note]]:
        """The events whose name begins so, with their places."""
        for place, item in enumerate(self.items):
            if isinstance(item, Note) and item.event.startswith(prefix):
                yield place, item

    def next_built(self, place: int) -> Built | None:
        """The first prompt of the conversation behind a place."""
        later = self.items[place + 1 :]
        mine = self.built()
        return next((i for i in later if isinstance(i, Built) and any(i is b for b in mine)), None)
