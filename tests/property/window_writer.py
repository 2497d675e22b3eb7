"""An independent re-implementation of ZCode's model-I/O window writer, for property tests.

It follows formats/zcode.md section 3 and shares no code with the reader it is used against. Times,
ids and texts are invented; what matters is which part of the message list a line holds.

* `WindowWriter` (the memory of ONE process about ONE file) turns a `Call` into a `Written` line;
* `FileModel` is that file: it grows, is overwritten by a size reset, or deleted and created again;
* `histories()` draws whole files, with the true full message list of every line kept beside it.

Where the format text leaves a detail open, the choice made here is marked "assumed".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

Message = Mapping[str, Any]
"""One canonical message (section 3.5). Never changed in place."""

MARKER = {"type": "ephemeral"}

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("Read", "Bash")]
_ODD_TEXTS = ("", "\n", "\0", "\u2028", "\u4e2d\u6587", '"\\', "<system-reminder>", '"messages":[')
_EDGE_UNITS, _EDGE_KEYS, _MAX_DEPTH = 512, 12, 3


@dataclass(frozen=True)
class Call:
    """One finished attempt of one model call: what was sent, and after writing, what was logged."""

    messages: tuple[Message, ...]
    """The TRUE full list that was sent, markers included."""
    request_id: str
    session_id: str = "sess_0001"
    query_source: str = "main_turn"
    attempt: int = 1
    turn_id: str = "turn_0001"
    started_ms: int = 0
    completed_ms: int = 1000
    reply: Message | None = None
    """The assistant message of the response; None for a failed attempt."""
    kind: str | None = None
    """`full`, `delta` or `tail` as logged; None before writing and in full-retention mode."""
    offset: int = 0
    """Index in `messages` of the first logged message."""
    segment: int = 0
    """Which life of the file the line is in: plus one at each size reset or re-creation."""
    process: int = 0
    """Which writer wrote it."""


@dataclass(frozen=True)
class Written:
    """The outcome of one write: the line (no newline) and what the file layer must do with it."""

    line: bytes
    kind: str | None
    offset: int
    overwrites: bool
    """True for a size reset: the line replaces everything the file held."""


def fingerprint(value: object, depth: int = 0) -> tuple[object, ...]:
    """Return what the writer remembers of a value (section 3.6).

    The message itself is depth 0 (assumed), so a block's text (depth 3) is still looked at while a
    field of a tool call's input (depth 4) leaves only its type and size.
    """
    deep = depth > _MAX_DEPTH
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        edge = 2 * _EDGE_UNITS
        shape = ("string", len(units) // 2)
        return shape if deep else (*shape, units[:edge], units[-edge:])
    if isinstance(value, Mapping):
        keys = () if deep else sorted(value)[:_EDGE_KEYS]
        return ("object", len(value), *((key, fingerprint(value[key], depth + 1)) for key in keys))
    if isinstance(value, Sequence):
        ends = () if deep or not value else (value[0], value[-1])
        return ("array", len(value), *(fingerprint(end, depth + 1) for end in ends))
    return (type(value).__name__, None if deep else value)


def sampled_indexes(count: int) -> list[int]:
    """Return the indexes whose fingerprints are kept for a list: 0, 25, 50, 75, 100 % (3.6)."""
    return sorted({(count - 1) * quarter // 4 for quarter in range(5)}) if count else []


class WindowWriter:
    """The writer's memory in one process about one file (sections 3.2, 3.3, 3.6)."""

    def __init__(
        self, window: int = 64, max_file_bytes: int = 64 << 20, full_retention: bool = False
    ) -> None:
        self.window = window
        self.max_file_bytes = max_file_bytes
        self.full_retention = full_retention
        self._count = 0
        self._prints: dict[int, tuple[object, ...]] = {}

    def write(self, call: Call, file_bytes: int | None) -> Written:
        """Return the line for a call, given the file's size now (None: there is no file).

        A missing file and a size reset start a fresh baseline. Full-retention mode keeps out of the
        baseline altogether (assumed), so after it is switched off a delta can be relative to a line
        from before it was switched on.
        """
        if self.full_retention:
            return Written(_encode(_record(call, None, 0)), None, 0, overwrites=False)
        reset = file_bytes is not None and file_bytes >= self.max_file_bytes
        if reset or file_bytes is None:
            self._remember(())
        kind, offset = self._choose(call.messages)
        self._remember(call.messages)
        record = _record(call, kind, offset)
        if reset:
            sizes = {"maxFileBytes": self.max_file_bytes, "previousFileBytes": file_bytes}
            record["modelIOReset"] = {**sizes, "reason": "session_file_size_limit"}
        return Written(_encode(record), kind, offset, overwrites=reset)

    def _choose(self, messages: Sequence[Message]) -> tuple[str, int]:
        """Return (kind, offset) by the three rules of section 3.6."""
        count = len(messages)
        if 0 < self._count <= count and all(
            fingerprint(messages[index]) == known for index, known in self._prints.items()
        ):
            return "delta", self._count
        if count > self.window:
            return "tail", count - self.window
        return "full", 0

    def _remember(self, messages: Sequence[Message]) -> None:
        self._count = len(messages)
        self._prints = {i: fingerprint(messages[i]) for i in sampled_indexes(self._count)}


@dataclass
class FileModel:
    """A log file that several processes append to (sections 3.1, 3.2)."""

    data: bytes | None = None
    generation: int = 0
    """Stands for the inode: 0 before the first write, plus one each time the file is created."""
    resets: int = 0

    @property
    def size(self) -> int | None:
        """Return the size in bytes, or None if there is no file."""
        return None if self.data is None else len(self.data)

    @property
    def segment(self) -> int:
        """Return which life of the file this is: from 0, plus one at each reset or re-creation."""
        return max(0, self.generation - 1) + self.resets

    def apply(self, written: Written) -> None:
        """Append the line, create the file for it, or let it replace the content."""
        self.generation += self.data is None
        self.resets += written.overwrites
        self.data = (b"" if written.overwrites else self.data or b"") + written.line + b"\n"

    def delete(self) -> None:
        """Remove the file, as the rotation of a production folder does."""
        self.data = None


def log_call(writer: WindowWriter, file: FileModel, call: Call) -> tuple[bytes, Call]:
    """Write one call; return its line and the call with `kind`, `offset`, `segment` filled in."""
    written = writer.write(call, file.size)
    file.apply(written)
    logged = replace(call, kind=written.kind, offset=written.offset, segment=file.segment)
    return written.line, logged


def _encode(record: Mapping[str, Any]) -> bytes:
    """Return JSON as JavaScript writes it: raw UTF-8, lone surrogates as backslash escapes."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _record(call: Call, kind: str | None, offset: int) -> dict[str, Any]:
    """Return the record in the key order of section 3.4; `kind` None means full retention."""
    record: dict[str, Any] = {"completedAt": _iso(call.completed_ms)}
    record["durationMs"] = call.completed_ms - call.started_ms
    if call.reply is None:
        record["error"] = {"name": "ModelProtocolError", "message": "rate limited"}
    record |= {
        "requestId": call.request_id,
        "attempt": call.attempt,
        "model": {"modelId": "model-y", "providerId": "provider-x"},
        "request": _request(call, kind, offset),
        "response": _response(call.reply, full_retention=kind is None),
        "sessionId": call.session_id,
        "querySource": call.query_source,
        "startedAt": _iso(call.started_ms),
        "traceId": f"trace_{call.session_id}",
        "turnId": call.turn_id,
        "type": "model_io",
    }
    return record


def _request(call: Call, kind: str | None, offset: int) -> dict[str, Any]:
    """Return `request` (3.5): the body keeps its messages on failure and in full retention."""
    failed, count = call.reply is None, len(call.messages)
    # Not the canonical shape, so that a reader that mixes the two lists up is noticed.
    wire = [{"role": m["role"], "parts": ["wire:" + _plain_text(m)]} for m in call.messages]
    body: dict[str, Any] = {"bodySource": "ai_sdk_options"} if failed else {}
    body |= {"model": "model-y", "tools": _TOOLS}
    if failed or kind is None:
        body["messages"] = wire
    request: dict[str, Any] = {"body": body, "headers": {"authorization": "[redacted]"}}
    request["messages"] = call.messages[offset:]
    if kind is None:
        request["sdkMessages"] = wire
    request["toolNames"] = [tool["name"] for tool in _TOOLS]
    if kind is not None:
        request |= {"messageCount": count, "messagesKind": kind, "messageOffset": offset}
    if kind is not None and failed:
        whole = {"bodyMessagesKind": "full", "bodyMessageOffset": 0}
        request |= {"bodyMessageCount": count, **whole}
    return request


def _plain_text(message: Message) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")


def _response(reply: Message | None, full_retention: bool) -> dict[str, Any]:
    """Return `response` (3.7), hollow for a failed attempt."""
    if reply is None:
        return {"headers": {}, "toolCalls": [], "usage": {}}
    response: dict[str, Any] = {
        "finishReason": "tool-calls" if reply.get("toolCalls") else "stop",
        "headers": {},
        "text": _plain_text(reply),
        "toolCalls": reply.get("toolCalls", []),
        "usage": {"inputTokens": 640, "outputTokens": 8, "totalTokens": 648},
    }
    if not isinstance(reply["content"], str):
        response["reasoningText"] = reply["content"][0]["text"]
    return response | ({"body": {"id": "wire"}} if full_retention else {})


def _iso(milliseconds: int) -> str:
    moment = _START + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class History:
    """The life of one model-I/O file; `lines[i]` is what `calls[i]` wrote."""

    lines: list[bytes]
    """Every line ever written, in order and without newlines, also those overwritten later."""
    calls: list[Call]
    window: int

    def segments(self) -> list[bytes]:
        """Return the content of each life of the file, in order, as a tailing reader sees it."""
        contents: dict[int, bytes] = {}
        for line, call in zip(self.lines, self.calls, strict=True):
            contents[call.segment] = contents.get(call.segment, b"") + line + b"\n"
        return [contents[segment] for segment in sorted(contents)]


@dataclass
class _Session:
    """One conversation: its true history (no markers) and the reply not yet taken into it."""

    session_id: str
    system: list[Message]
    marked: bool
    history: list[Message] = field(default_factory=list)
    reply: Message | None = None

    def prompt(self, extra: Sequence[Message] = (), from_end: int = 1) -> tuple[Message, ...]:
        """Return the list to send, with the marker placed by rule P7 (section 9)."""
        messages = [*self.system, *self.history, *extra]
        others = [i for i, message in enumerate(messages) if message["role"] != "system"]
        if self.marked and len(others) >= from_end:
            index = others[-from_end]
            messages[index] = {**messages[index], "cacheControl": MARKER}
        return tuple(messages)


class _Scenario:
    """The state of one draw. Each public method is one step of the story."""

    def __init__(self, draw: st.DrawFn, window: int) -> None:
        self.draw = draw
        self.log = History([], [], window)
        self._serial = self._clock = 0
        self._file = FileModel()
        limit = draw(st.sampled_from((64 << 20, 30_000, 9_000)))
        processes, sessions = draw(st.sampled_from(((1, 1), (1, 1), (2, 1), (1, 2), (2, 2))))
        self._writers = [WindowWriter(window, limit) for _ in range(processes)]
        self._sessions = [self._new_session(number) for number in range(sessions)]

    def turn(self) -> None:
        """The normal step: take the reply in, add tool results or a prompt, call again."""
        self._call(self._session(), grow=True)

    def retry(self) -> None:
        """A failed attempt, then the same list again under another request id."""
        session = self._session()
        self._call(session, grow=self.draw(st.booleans()), failed=True)
        self._call(session, attempt=2)

    def edit(self) -> None:
        """Change an old message in place; in a long text only its middle, which no sample sees."""
        session = self._session()
        index = self.draw(st.integers(0, len(session.history) - 1))
        message = session.history[index]
        content = message["content"]
        if isinstance(content, str) and len(content) > 600:
            middle = len(content) // 2
            content = content[:middle] + "#" + content[middle + 1 :]
        else:
            content = self._text()
        session.history[index] = {**message, "content": content}
        self._call(session, grow=self.draw(st.booleans()))

    def clear_tool_results(self) -> None:
        """Microcompact: empty the old tool results at unchanged indexes (section 10)."""
        session = self._session()
        session.history = [
            {**message, "content": "[cleared]"} if message["role"] == "tool" else message
            for message in session.history
        ]
        self._call(session, grow=self.draw(st.booleans()))

    def compact(self) -> None:
        """A summary request, then a shorter list with another head (section 10)."""
        session = self._session()
        request: Message = {"role": "user", "content": "Summarise the conversation."}
        self._call(session, "compact", session.prompt([request], from_end=2))
        keep = self.draw(st.integers(0, min(3, len(session.history))))
        kept = session.history[len(session.history) - keep :]
        summary: Message = {"role": "user", "content": f"Summary {self._text()}"}
        session.history, session.reply = [summary, *kept], None
        self._call(session, grow=self.draw(st.booleans()))

    def rewind(self) -> None:
        """Cut the end of the list off, then go on."""
        session = self._session()
        del session.history[self.draw(st.integers(1, len(session.history))) :]
        session.reply = None
        self._call(session, grow=self.draw(st.booleans()))

    def title(self) -> None:
        """A two-message side query in the same file (section 3.8)."""
        session = self._session()
        prompt: Message = {"role": "user", "content": self._text(), "cacheControl": MARKER}
        self._call(session, "session_title", ({"role": "system", "content": "Title."}, prompt))

    def toggle_full_retention(self) -> None:
        """Switch full retention on or off in one process, then go on (section 14, case 31)."""
        writer = self._writers[self._pick(len(self._writers))]
        writer.full_retention = not writer.full_retention
        self.turn()

    def recreate(self) -> None:
        """The file is evicted, and the next call creates it again (section 14, case 17)."""
        self._file.delete()
        self.turn()

    def _session(self) -> _Session:
        return self._sessions[self._pick(len(self._sessions))]

    def _pick(self, count: int) -> int:
        return self.draw(st.integers(0, count - 1)) if count > 1 else 0

    def _new_session(self, number: int) -> _Session:
        system: list[Message] = [
            {"role": "system", "content": f"system {part}", "cacheControl": MARKER}
            for part in range(self.draw(st.integers(1, 3)))
        ]
        session = _Session(f"sess_{number:04}", system, marked=self.draw(st.booleans()))
        session.history.append({"role": "user", "content": self._text()})
        for step in range(self.draw(st.sampled_from((0, 3, self.log.window, self.log.window + 3)))):
            role = "user" if step % 2 else "assistant"
            session.history.append({"role": role, "content": f"earlier {number}.{step}"})
        return session

    def _grow(self, session: _Session) -> None:
        """Append what stands between two calls: reply, tool results or prompt, a system note."""
        if session.reply is not None:
            session.history.append(session.reply)
        called = (session.reply or {}).get("toolCalls", ())
        for call in called:
            ids = {"toolCallId": call["id"], "toolName": call["name"]}
            session.history.append({"role": "tool", "content": self._text(), **ids})
        if not called:
            session.history.append(self._prompt())
        session.reply = None
        if self.draw(st.integers(0, 3)) == 3:
            session.history.append({"role": "system", "content": f"note {self._text()}"})

    def _call(
        self,
        session: _Session,
        source: str = "main_turn",
        messages: tuple[Message, ...] | None = None,
        attempt: int = 1,
        grow: bool = False,
        failed: bool = False,
    ) -> None:
        """Write one call from a drawn process; a main turn's reply waits for the next growth."""
        if grow:
            self._grow(session)
        main = source == "main_turn"
        self._clock += 5000
        call = Call(
            messages=session.prompt() if messages is None else messages,
            request_id=f"req_{self._next():04}",
            session_id=session.session_id,
            query_source=source,
            attempt=attempt,
            turn_id=f"turn_{session.session_id}",
            started_ms=self._clock if main else self._clock - 4000,
            completed_ms=self._clock + 1500,
            reply=None if failed else self._reply("tools" if main else "text"),
            process=self._pick(len(self._writers)),
        )
        if main and not failed:
            session.reply = call.reply
        line, logged = log_call(self._writers[call.process], self._file, call)
        self.log.lines.append(line)
        self.log.calls.append(logged)

    def _reply(self, most: str) -> Message:
        """Return an assistant message: text, blocks with reasoning, or tool calls (3.5)."""
        shape = self.draw(st.sampled_from(("text", "blocks", most, most)))
        if shape == "text":
            return {"role": "assistant", "content": self._text()}
        if shape == "blocks":
            blocks = [{"type": kind, "text": self._text()} for kind in ("reasoning", "text")]
            return {"role": "assistant", "content": blocks}
        inputs: tuple[Any, ...] = ({"path": "a.py", "lines": [1, 2]}, "not an object", None)
        calls = [
            {"id": f"call_{self._next()}", "name": "Read", "input": value}
            for value in inputs[: self.draw(st.integers(1, 3))]
        ]
        return {"role": "assistant", "content": "", "toolCalls": calls}

    def _prompt(self) -> Message:
        text = self._text()
        blocks = [{"type": "text", "text": text}, {"type": "image", "dataUrl": "[omitted]"}]
        return {"role": "user", "content": blocks if self.draw(st.booleans()) else text}

    def _text(self) -> str:
        """Return a text: mostly told apart by a serial number, sometimes equal or hiding it."""
        number = self._next()
        shape = self.draw(st.sampled_from(("short", "odd", "long", "astral", "same")))
        if shape == "odd":
            return f"{number} " + self.draw(st.sampled_from(_ODD_TEXTS))
        if shape == "long":
            return f"text {number:04} " + "lorem ipsum " * 110 + f" end {number:04}"
        if shape == "astral":
            return "\U0001f600" * 300 + f"{number:04}" + "\U0001f600" * 300
        return "ok" if shape == "same" else f"text {number}"

    def _next(self) -> int:
        self._serial += 1
        return self._serial


_STEPS: tuple[Callable[[_Scenario], None], ...] = (
    *(_Scenario.turn,) * 4,
    _Scenario.retry,
    _Scenario.edit,
    _Scenario.clear_tool_results,
    _Scenario.compact,
    _Scenario.rewind,
    _Scenario.title,
    _Scenario.toggle_full_retention,
    _Scenario.recreate,
)


@st.composite
def histories(
    draw: st.DrawFn, windows: Sequence[int] = (4, 6, 8, 64), max_steps: int = 12
) -> History:
    """Draw the life of one file: one or two processes, one or two sessions, any of the steps."""
    scenario = _Scenario(draw, draw(st.sampled_from(windows)))
    scenario.turn()
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=max_steps)):
        step(scenario)
    return scenario.log
