"""Small model I/O logs with a prompt cache: an agent's requests, billed as a provider bills them.

A token is three characters here, so the agent's own estimates add up to the bill. The provider
reads the prefix that a request shares with the one before it in its lane, rounded down to 64; a
test says otherwise where its case is about that.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.helpers import call, event, iso, write
from tracer.model.verdict_views import VerdictView
from tracer.service import Service

SESSION = "sess_0001"
ZAI = ("builtin:zai-coding-plan", "glm-5")
CLAUDE = ("anthropic", "claude-opus-5")
CHARS = 3
BLOCK = 64
_WORDS = ("retry", "queue", "lease", "worker", "parser", "token", "shard", "index", "merge")


def prose(tokens: int, start: int = 0) -> str:
    """Words of so many tokens; another `start` gives other words."""
    text, at = [], start
    size = 0
    while size < tokens * CHARS:
        word = f"{_WORDS[at % len(_WORDS)]}{at * 7919 % 1000}"
        text.append(word)
        size += len(word) + 1
        at += 1
    return " ".join(text)[: tokens * CHARS]


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """A tool's schema."""
    schema = {"type": "object", "properties": properties or {"path": {"type": "string"}}}
    return {"name": name, "description": f"{name} does its work. " * 12, "input_schema": schema}


def tool_exchange(call_id: str, result: str) -> list[dict[str, Any]]:
    """A call and its result."""
    wanted = {"id": call_id, "name": "Read", "input": {"path": f"{call_id}.py"}}
    return [
        {"role": "assistant", "content": "", "toolCalls": [wanted]},
        {"role": "tool", "content": result, "toolCallId": call_id, "toolName": "Read"},
    ]


def reminder(text: str) -> dict[str, Any]:
    """A wrapped note."""
    return {"role": "user", "content": f"<system-reminder>\n{text}\n</system-reminder>"}


class CacheLog:
    """Collects the requests of one session, then writes them as a file."""

    def __init__(self, of: tuple[str, str] = ZAI, session: str = SESSION) -> None:
        self.of = of
        self.session = session
        self.records: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self._last: dict[tuple[str, str], list[str]] = {}

    def ask(
        self,
        name: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        at_s: float,
        tools: Sequence[Mapping[str, Any]] = (),
        total: int | None = None,
        read: int | None = None,
        write_tokens: int = 0,
        of: tuple[str, str] | None = None,
        source: str = "main_turn",
        params: Mapping[str, Any] | None = None,
        usage: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Add a request; `read` None is what the provider would read."""
        provider, model = of or self.of
        pieces = [json.dumps(t) for t in tools] + [json.dumps(_bare(m)) for m in messages]
        billed = total if total is not None else _tokens(pieces)
        if read is None:
            read = self._read(pieces, (source, model))
        self._last[source, model] = pieces
        counts = {
            "inputTokens": billed,
            "outputTokens": 40,
            "totalTokens": billed + 40,
            "cacheReadTokens": read,
            "cacheWriteTokens": write_tokens,
        }
        response: dict[str, Any] = {
            "finishReason": "stop",
            "headers": {},
            "text": f"answer to {name}",
            "toolCalls": [],
            "modelId": model,
            "responseId": f"msg_{name}",
            "usage": counts if usage is None else dict(usage),
        }
        if metadata is not None:
            response["providerMetadata"] = dict(metadata)
        body: dict[str, Any] = {"model": model, "max_tokens": 32_000, "stream": True}
        body |= {"tools": list(tools)} if tools else {}
        self.records.append(
            call(
                name,
                messages,
                at=round(at_s * 1000),
                session=self.session,
                source=source,
                body=body | dict(params or {}),
                response=more.pop("response", response),
                model={"modelId": model, "providerId": provider},
                **more,
            )
        )

    def _read(self, pieces: Sequence[str], lane: tuple[str, str]) -> int:
        common = []
        for old, new in zip(self._last.get(lane, ()), pieces, strict=False):
            if old != new:
                break
            common.append(new)
        return _tokens(common) // BLOCK * BLOCK

    def log(self, name: str, at_s: float, message: str = "") -> None:
        """Add a line of the structured log."""
        line = event(name, at=round(at_s * 1000), sessionId=self.session)
        self.events.append(line | ({"message": message} if message else {}))

    def first_token(self, name: str, at_s: float) -> None:
        """Add the line that tells when the answer to a request began."""
        line = event("model_first_content", at=round(at_s * 1000))
        ids = {"requestId": name, "attempt": 1}
        self.events.append(line | {"sessionId": self.session, "context": ids})

    def through(self, endpoint: str, name: str, at_s: float) -> None:
        """Add the line of the structured log that tells through which endpoint a request went."""
        line = event("model.request.completed", at=round(at_s * 1000) + 500)
        ids = {"requestId": name, "attempt": 1, "baseURL": endpoint}
        self.events.append(line | {"sessionId": self.session, "context": ids})

    def files(self, folder: Path) -> list[Path]:
        """Write the files; their paths."""
        made = [write(folder / "rollout" / f"model-io-{self.session}.jsonl", *self.records)]
        if self.events:
            made.append(write(folder / "log" / "zcode-2026-01-05.jsonl", *self.events))
        return made


def _bare(message: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in message.items() if k != "cacheControl"}


def _tokens(pieces: Sequence[str]) -> int:
    return sum(-(-len(piece) // CHARS) for piece in pieces)


def marked(messages: Sequence[Mapping[str, Any]], *at: int) -> list[dict[str, Any]]:
    """The messages with cache breakpoints on some of them (from the end, if negative)."""
    made = [dict(m) for m in messages]
    for index in at:
        made[index]["cacheControl"] = {"type": "ephemeral"}
    return made


def verdict_on(db: Path, name: str, session: str = SESSION, against: str = "") -> VerdictView:
    """The verdict on the request with this request id."""
    service = Service(db)
    keys = {r.request_id: r.key for r in service.requests(session)}
    return service.explain(keys[name], keys.get(against, ""))


__all__ = [
    "CLAUDE",
    "SESSION",
    "ZAI",
    "CacheLog",
    "iso",
    "marked",
    "prose",
    "reminder",
    "tool",
    "tool_exchange",
    "verdict_on",
]
