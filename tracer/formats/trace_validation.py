"""Is a trace a good one? Every line against the shapes of its event, and lines against each other.

What the format does not know is kept by it, so it is a note here and never an error.
"""

from collections.abc import Iterator
from typing import Any

from tracer.formats._json import decode_object, int_of, strip_line, text_of
from tracer.formats._trace_events import (
    ENVELOPE,
    EVENTS,
    KINDS,
    LAYOUTS,
    MESSAGE_KEYS,
    SEGMENTS,
    TOOL_KEYS,
)
from tracer.formats._trace_shapes import Misfit
from tracer.model.source import Skipped
from tracer.model.trace_views import ProblemLevel, TraceProblem

_ERROR, _NOTE = ProblemLevel.ERROR, ProblemLevel.NOTE
_KEPT = "Nothing to do: it is kept and shown as it is."
_BLANK = b" \t\r\n\xef\xbb\xbf"


class TraceValidator:
    """Takes the lines of one or more files in their order: a session may go on in the next file."""

    def __init__(self) -> None:
        self.events = 0
        self.requests: set[tuple[str, str, int]] = set()
        self.sessions: set[str] = set()
        self._ids: set[tuple[str, str]] = set()
        self._asked: set[tuple[str, str]] = set()
        self._last: dict[str, str] = {}
        self._told: set[str] = set()

    def line(self, number: int, data: bytes) -> Iterator[TraceProblem]:
        """What is to be said of a line. Blank lines are no matter."""
        if not data.strip(_BLANK):
            return
        decoded = decode_object(strip_line(data))
        if isinstance(decoded, Skipped):
            yield TraceProblem(_ERROR, number, "", decoded.reason, "Write one JSON object a line.")
            return
        self.events += 1
        value = decoded[0]
        for misfit in misfits(value):
            yield TraceProblem(_ERROR, number, *misfit)
        yield from self._together(number, value)
        for key, misfit in _unknown(value):
            if key not in self._told:
                self._told.add(key)
                yield TraceProblem(_NOTE, number, *misfit)

    def _together(self, number: int, value: dict[str, Any]) -> Iterator[TraceProblem]:
        """What a line says against the lines before it."""
        session, at = text_of(value.get("sessionId")), text_of(value.get("timestamp"))
        if session:
            self.sessions.add(session)
            if at < self._last.get(session, ""):
                yield TraceProblem(
                    _NOTE, number, "timestamp",
                    "is earlier than that of a line before it in the same session",
                    "Write events in the order in which they happen.",
                )  # fmt: skip
            self._last[session] = max(at, self._last.get(session, ""))
        match value.get("event"):
            case "context.built":
                yield from self._prompt(number, session, value)
            case "request.completed":
                request = text_of(value.get("requestId"))
                if (session, request) not in self._asked:
                    yield TraceProblem(
                        _NOTE, number, "requestId",
                        f"no `context.built` before names `{request}`",
                        "Write the prompt before it is sent; without it only the usage is known.",
                    )  # fmt: skip

    def _prompt(self, number: int, session: str, value: dict[str, Any]) -> Iterator[TraceProblem]:
        request = text_of(value.get("requestId"))
        name = session, request, int_of(value.get("attempt")) or 1
        if name in self.requests:
            yield TraceProblem(
                _ERROR, number, "requestId", f"`{request}` was used by an earlier prompt",
                "Give each request an id of its own; another attempt of the same prompt is only a "
                "`request.completed` with its number.",
            )  # fmt: skip
        self.requests.add(name)
        self._asked.add((session, request))
        here: set[str] = set()
        for where, message in _messages(value):
            ref, own = text_of(message.get("ref")), text_of(message.get("id"))
            if ref and (session, ref) not in self._ids:
                yield TraceProblem(
                    _ERROR, number, f"{where}.ref",
                    f"refers to `{ref}`, which no `context.built` before has written in full",
                    "Write the message in full where it is first sent.",
                )  # fmt: skip
            if (ref or own) in here:
                yield TraceProblem(
                    _NOTE, number, where, f"`{ref or own}` stands twice in this prompt",
                    "Give two messages two ids, even if their text is the same.",
                )  # fmt: skip
            if ref or own:
                here.add(ref or own)
            if own and not ref:
                self._ids.add((session, own))
        yield from _order(number, value)


def misfits(value: dict[str, Any]) -> Iterator[Misfit]:
    """What of a line is not as the format says: exactly where the JSON Schema refuses the line, it
    is not empty."""
    yield from ENVELOPE.misfits(value, "")
    shape = EVENTS.get(text_of(value.get("event")))
    if shape is not None:
        yield from shape.misfits(value, "")


def _messages(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, segment in enumerate(_list(value.get("segments"))):
        if isinstance(segment, dict):
            for index, message in enumerate(_list(segment.get("messages"))):
                if isinstance(message, dict):
                    yield f"segments[{at}].messages[{index}]", message
    if "segments" not in value:
        for index, message in enumerate(_list(value.get("messages"))):
            if isinstance(message, dict):
                yield f"messages[{index}]", message


def _tools(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    tools = value.get("tools")
    for group in ("stable", "dynamic"):
        for index, tool in enumerate(_list(tools.get(group)) if isinstance(tools, dict) else []):
            if isinstance(tool, dict):
                yield f"tools.{group}[{index}]", tool


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _order(number: int, value: dict[str, Any]) -> Iterator[TraceProblem]:
    tools = value.get("tools")
    order = _list(tools.get("order")) if isinstance(tools, dict) else []
    names = [text_of(tool.get("name")) for _, tool in _tools(value)]
    for index, name in enumerate(order):
        if isinstance(name, str) and name not in names:
            yield TraceProblem(
                _ERROR, number, f"tools.order[{index}]", f"`{name}` is no tool of this request",
                "Name the tools of `stable` and `dynamic`, each once.",
            )  # fmt: skip
    if "segments" in value and "messages" in value:
        yield TraceProblem(
            _ERROR, number, "messages", "stands beside `segments`, and is not read",
            "Write the prompt once: `segments`, or `messages` where there are none.",
        )  # fmt: skip


def _unknown(value: dict[str, Any]) -> Iterator[tuple[str, Misfit]]:
    """What the format does not know, each with a name under which it is told once."""
    event = text_of(value.get("event"))
    shape = EVENTS.get(event)
    if shape is None:
        if event:
            yield f"event {event}", Misfit("event", f"`{event}` is no event of the format", _KEPT)
        return
    known = ENVELOPE.keys() | shape.keys()
    for key in value:
        if key not in known:
            yield f"{event} {key}", Misfit(key, f"is no key of `{event}`", _KEPT)
    if event != "context.built":
        return
    layout = text_of(value.get("layout"))
    if layout and layout not in LAYOUTS:
        yield f"layout {layout}", Misfit("layout", f"`{layout}` is no known layout", _KEPT)
    if "segments" in value and not layout:
        fix = "Name it `segments-14` if it is that one: its rules are then checked."
        yield "no layout", Misfit("layout", "is not named", fix)
    for at, segment in enumerate(_list(value.get("segments"))):
        n = int_of(segment.get("n")) if isinstance(segment, dict) else None
        if layout in LAYOUTS and n is not None and n not in SEGMENTS:
            yield f"n {n}", Misfit(f"segments[{at}].n", f"{n} is no segment of `{layout}`", _KEPT)
    for where, message in _messages(value):
        kind = text_of(message.get("kind"))
        if kind and kind not in KINDS:
            yield f"kind {kind}", Misfit(f"{where}.kind", f"`{kind}` is no known kind", _KEPT)
        for key in message.keys() - MESSAGE_KEYS - {"ref"}:
            yield f"message {key}", Misfit(f"{where}.{key}", "is no key of a message", _KEPT)
    for where, tool in _tools(value):
        for key in tool.keys() - TOOL_KEYS:
            yield f"tool {key}", Misfit(f"{where}.{key}", "is no key of a tool", _KEPT)
