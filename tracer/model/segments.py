"""A prompt laid out in numbered segments, as its trace says (docs/formats/context-trace.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MessageNote:
    """What a trace says of a message beside its content. Empty or None where it says nothing.

    `kind` is an open list. A World State has a `scope` (`session` or `run`) and a `mode` (`full`
    or `diff`) with its `state` or its `patch`; a summary `covers` message ids, all of them so far.
    `extra_json` is an object of the keys that are none of these.
    """

    id: str = ""
    kind: str = ""
    scope: str = ""
    mode: str = ""
    state: Mapping[str, Any] | None = None
    patch: Mapping[str, Any] | None = None
    reason: str = ""
    capability: str = ""
    skill: str = ""
    covers: tuple[str, ...] = ()
    extra_json: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """Segment `n` holds `messages` messages from message `first_message` on."""

    n: int
    first_message: int
    messages: int


@dataclass(frozen=True, slots=True)
class ToolNote:
    """What a trace says of a tool: `group` is `stable` or `dynamic`."""

    name: str
    group: str
    capability: str = ""


@dataclass(frozen=True, slots=True)
class PromptLayout:
    """How a request's prompt was laid out. `layout` is its name, empty where the trace gives a
    plain list of messages. Segments stand in the order of the trace, whatever their numbers; tools
    in the order of the wire. `unresolved` are references to messages that were never defined."""

    layout: str = ""
    segments: tuple[Segment, ...] = ()
    tools: tuple[ToolNote, ...] = ()
    unresolved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """What a record says of its messages beside their content.

    `ids` has an entry for each message: its id, or the id that it refers to; empty where it has
    none. `refs` has a byte for each: 1 for a reference, whose content stands in an earlier record.
    `prefix_messages` limits how many messages at the head may be part of the system tier; None: as
    many as there are. `extra_json` holds the record's unknown keys.
    """

    layout: PromptLayout
    ids: tuple[str, ...]
    refs: bytes = b""
    prefix_messages: int | None = None
    extra_json: str = ""
