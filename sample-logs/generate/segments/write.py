"""A trace as lines: messages given by reference once they were sent, usage as a cache bills it."""

from collections.abc import Iterable
from typing import Any

from generate.cache import ProviderCache
from generate.cache import Usage as Billed
from generate.clock import iso
from generate.segments.trace import Built, Done, Item, Message, Trace, Usage
from generate.text import Json, compact_json, estimate_tokens

VERSION = 1

_GROUPS = {"Prefix": range(1, 7), "History": range(7, 12), "Tail": range(12, 15)}
_RENDERED = ("content", "state", "patch", "toolCalls", "toolCallId", "isError")


class Writer:
    """Writes the traces of one account: its sessions share a provider's cache."""

    def __init__(self, inclusive: bool = True) -> None:
        self._inclusive = inclusive
        self._cache = ProviderCache()
        self.rows: list[tuple[str, Json]] = []

    def lines(self, trace: Trace) -> list[str]:
        """The lines of a session, in order."""
        return _Session(self, trace).lines()

    def bill(self, built: Built, done: Done) -> Billed | None:
        """What a completed request is charged; None for one that failed."""
        if done.status != "completed":
            return None
        blocks = [compact_json(tool) for tool in built.tools()]
        blocks += [_rendered(message) for message in built.messages()]
        return self._cache.charge(built.model["modelId"], blocks, done.output, built.at)

    def usage_row(self, billed: Billed) -> Json:
        """The usage as the line has it."""
        taken = 0 if self._inclusive else billed.cache_read
        return {
            "inputTokens": billed.input - taken,
            "outputTokens": billed.output,
            "cacheReadTokens": billed.cache_read,
            "inclusive": self._inclusive,
        }


class _Session:
    def __init__(self, writer: Writer, trace: Trace) -> None:
        self._writer = writer
        self._trace = trace
        self._sent: dict[str, Json] = {}
        self._built: dict[str, Built] = {}

    def lines(self) -> list[str]:
        return [compact_json(self._row(item)) for item in self._trace.items]

    def _row(self, item: Item) -> Json:
        if isinstance(item, Built):
            self._built[item.request] = item
            return self._built_row(item)
        if isinstance(item, Usage):
            return self._usage_row(item)
        if isinstance(item, Done):
            return self._done_row(item)
        return self._envelope(item.event, item, item.run) | item.keys

    def _envelope(self, event: str, item: Item, run: str = "", request: str = "") -> Json:
        row: Json = {"event": event, "v": VERSION, "timestamp": iso(item.at)}
        row["sessionId"] = self._trace.session
        if run:
            row["runId"] = run
        if request:
            row["requestId"] = request
        return row

    def _built_row(self, built: Built) -> Json:
        row = self._envelope("context.built", built, built.run, built.request)
        if built.layout:
            row["layout"] = built.layout
        row |= {"model": built.model, "querySource": built.source}
        tools: Json = {"stable": built.stable, "dynamic": built.dynamic}
        if built.order is not None:
            tools["order"] = built.order
        row["tools"] = tools
        if not built.layout:
            return row | {"messages": self._messages(built.messages())}
        row["segments"] = [
            {"n": number, "messages": self._messages(messages)}
            for number, messages in built.segments
            if messages
        ]
        return row

    def _messages(self, messages: Iterable[Message]) -> list[Json]:
        out = []
        for message in messages:
            row = message.row()
            if message.id and self._sent.get(message.id) == row:
                row = {"ref": message.id}
            elif message.id:
                self._sent[message.id] = row
            out.append(row)
        return out

    def _usage_row(self, usage: Usage) -> Json:
        built = self._built[usage.request]
        categories = categories_of(built)
        row = self._envelope("context_usage_snapshot", usage, built.run, built.request)
        return row | {
            "contextWindow": usage.window,
            "outputReserve": usage.reserve,
            "totalTokens": sum(c["tokens"] for c in categories),
            "categories": categories,
        }

    def _done_row(self, done: Done) -> Json:
        built = self._built[done.request]
        row = self._envelope("request.completed", done, done.run, done.request)
        row |= {"attempt": done.attempt, "status": done.status, "durationMs": done.duration_ms}
        billed = self._writer.bill(built, done)
        if billed is None:
            row["error"] = done.error
        else:
            row |= {"finishReason": done.finish, "usage": self._writer.usage_row(billed)}
        self._writer.rows.append((self._trace.session, _truth(built, done, billed)))
        return row


def categories_of(built: Built) -> list[Json]:
    """The agent's estimate of a prompt: its tools, and the three groups of segments."""
    texts: dict[str, list[str]] = {"Tools": [compact_json(tool) for tool in built.tools()]}
    for name, numbers in _GROUPS.items():
        texts[name] = [m.sent() for n, messages in built.segments if n in numbers for m in messages]
    return [
        {
            "name": name,
            "source": name.lower(),
            "tokens": sum(map(estimate_tokens, found)),
        }
        for name, found in texts.items()
    ]


def _rendered(message: Message) -> str:
    row = message.row()
    said: dict[str, Any] = {key: row[key] for key in _RENDERED if key in row}
    return f"<|{message.role}|>{compact_json(said)}"


def _truth(built: Built, done: Done, billed: Billed | None) -> Json:
    segments = {str(n): len(found) for n, found in built.segments if found}
    usage = None
    if billed:
        usage = [billed.input, billed.cache_read, billed.output]
    return {
        "request_id": built.request,
        "attempt": done.attempt,
        "run_id": built.run,
        "status": done.status,
        "message_count": len(built.messages()),
        "segments": segments if built.layout else None,
        "tools": [tool["name"] for tool in built.tools()],
        "usage": usage,
        "known": built.known or None,
    }
