"""What a format makes of a line: a model call, a timeline event, or a context report.

Large parts of a model call stay as the bytes of the line (`RawItem`): most of them were seen in an
earlier line, and are recognised by hash instead of being parsed again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from tracer.model.prompt import Block, Message
from tracer.model.segments import MessageNote, Outline
from tracer.model.usage import ReportedUsage
from tracer.model.usage_rows import UsageRow

RawItem: TypeAlias = bytes
"""The JSON bytes of one message or one list of tools, as they stood in the line."""


class WindowKind(StrEnum):
    """How a record carries its message list (formats/zcode.md 3.6); ABSENT: no list at all."""

    FULL = "full"
    DELTA = "delta"
    TAIL = "tail"
    ABSENT = "absent"


class Status(StrEnum):
    """How an attempt ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Window:
    """The messages that a record carries: `items[0]` is message `offset` of `count`."""

    kind: WindowKind
    offset: int
    count: int
    items: tuple[RawItem, ...]


@dataclass(frozen=True, slots=True)
class PromptParsers:
    """How this format's raw items become blocks. Each raises ValueError on bytes it cannot read.
    `note` tells what stands beside a message's content, in formats whose records have an outline.
    """

    message: Callable[[RawItem], Message]
    tools: Callable[[RawItem], tuple[Message, ...]]
    system: Callable[[RawItem], tuple[Message, ...]]
    note: Callable[[RawItem], MessageNote] = lambda raw: MessageNote()


@dataclass(frozen=True, slots=True)
class CallError:
    """Why an attempt failed, in the log's words."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One finished attempt of one model call.

    Times are UTC epoch milliseconds. `tools` and `system` are raw JSON arrays, or empty where the
    record has none: then the tier is unknown. `params_json` holds the other parameters of the
    request as one object, `wire_json` the shape of the message list of the wire body, where the
    record also carried that. `outline` is set where the format lays prompts out.
    """

    session_id: str
    request_id: str
    attempt: int
    window: Window
    parsers: PromptParsers
    trace_id: str = ""
    turn_id: str = ""
    query_source: str = ""
    provider_id: str = ""
    model_id: str = ""
    model_json: str = ""
    started_at_ms: int | None = None
    completed_at_ms: int | None = None
    duration_ms: int | None = None
    status: Status = Status.UNKNOWN
    error: CallError | None = None
    finish_reason: str = ""
    returned_model_id: str = ""
    response_id: str = ""
    response_blocks: tuple[Block, ...] = ()
    usage: ReportedUsage | None = None
    tools: RawItem = b""
    system: RawItem = b""
    tool_names: tuple[str, ...] = ()
    params_json: str = ""
    headers_json: str = ""
    reset_json: str = ""
    notes: tuple[str, ...] = ()
    wire_json: str = ""
    outline: Outline | None = None


@dataclass(frozen=True, slots=True)
class LoggedSection:
    """One section of a `context.built` line. `tokens` is None where the logger redacted it."""

    name: str
    source: str
    chars: int | None
    tokens: int | None
    text: str | None
    tokens_redacted: bool = False


@dataclass(frozen=True, slots=True)
class UsageCategory:
    """One category of a `context_usage_snapshot`, or one role of its message breakdown.

    `percent` is the logged fraction 0..1. `contributors_json` is the logged list, unchanged.
    """

    name: str
    source: str
    chars: int | None
    tokens: int | None
    tokens_redacted: bool
    percent: float | None = None
    count: int | None = None
    contributors_json: str = ""


@dataclass(frozen=True, slots=True)
class ContextBuilt:
    """The sections of the prompt's prefix, as of the moment they were first built."""

    sections: tuple[LoggedSection, ...]
    total_chars: int | None
    total_tokens: int | None


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """The agent's own account of what fills the context window before a request."""

    model: str
    total_chars: int | None
    total_tokens: int | None
    tokens_redacted: bool
    categories: tuple[UsageCategory, ...]
    roles: tuple[UsageCategory, ...]
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One line of a structured log. Unknown events are kept as they are.

    `request_id` and `attempt` are filled for lines about one attempt (exact join key);
    `context_json` and `error_json` hold what the line carried, without section texts.

    `attempt_event` is the structured log's name for what the line says of an attempt, where its own
    name differs; `reported` is the usage of that attempt, `usage_row` that of a call which the line
    does not name. `identity` names the event in every file that holds it; empty: its bytes do.
    `place` is where a stored event was read: file (a number) and line.
    """

    at_ms: int | None
    level: str
    event: str
    module: str
    message: str
    session_id: str = ""
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""
    duration_ms: int | None = None
    status: str = ""
    request_id: str = ""
    attempt: int | None = None
    query_source: str = ""
    provider_id: str = ""
    model_id: str = ""
    child_session_id: str = ""
    context_json: str = ""
    error_json: str = ""
    built: ContextBuilt | None = None
    usage: ContextUsage | None = None
    redacted: tuple[str, ...] = field(default=())
    attempt_event: str = ""
    reported: ReportedUsage | None = None
    usage_row: UsageRow | None = None
    place: tuple[int, int] | None = None
    identity: str = ""


Event: TypeAlias = ModelCall | LogEvent
