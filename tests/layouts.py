"""Sessions in 14 segments, as the rules see them, made of the sample generator's lines.

The lines are read here in a few words of their own, so that a rule is not tested through the
product's reading of the format.
"""

import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from tests.samples import SAMPLES
from tracer.anatomy.messages import Sort
from tracer.checks import CheckedMessage, CheckedRequest, CheckedSession, all_rules, event_log
from tracer.checks.run import Checked, run_rules
from tracer.model.events import ContextUsage, LogEvent
from tracer.model.prompt import Block, Kind, Tier
from tracer.model.segments import MessageNote, PromptLayout, Segment, ToolNote

Json = dict[str, Any]

# Found once, at import: a unit test may not look for modules.
RULES = tuple(rule for rule in all_rules() if rule.family == "layout-14")
ENVELOPE = ("event", "v", "timestamp", "sessionId", "runId", "requestId", "attempt", "status")
SORTS = {
    "system": Sort.SYSTEM,
    "user": Sort.USER,
    "assistant": Sort.ASSISTANT,
    "tool": Sort.TOOL,
}


def generator(name: str) -> Any:
    """A module of the sample generator."""
    if str(SAMPLES) not in sys.path:
        sys.path.insert(0, str(SAMPLES))
    return importlib.import_module(f"generate.segments.{name}")


def found_in(lines: Iterable[str | Json]) -> Checked:
    """What the rules of the layout find in a session."""
    return run_rules(session_of(lines), RULES)


def places(checked: Checked) -> list[tuple[str, str, int | None]]:
    """Rule, request and message of every finding."""
    short = "layout-14/"
    return [(f.rule.removeprefix(short), f.key, f.message_index) for f in checked.findings]


def session_of(lines: Iterable[str | Json]) -> CheckedSession:
    """The session that the lines tell of."""
    rows = [json.loads(line) if isinstance(line, str) else line for line in lines]
    reader = _Reader()
    for row in rows:
        reader.read(row)
    return reader.session()


class _Reader:
    def __init__(self) -> None:
        self._session = ""
        self._written: dict[str, Json] = {}
        self._objects: dict[str, CheckedMessage] = {}
        self._requests: list[CheckedRequest] = []
        self._events: list[LogEvent] = []
        self._ends: dict[str, list[tuple[int, str]]] = {}
        self._usage: dict[str, ContextUsage] = {}

    def session(self) -> CheckedSession:
        found: list[CheckedRequest] = []
        for request in self._requests:
            ends = self._ends.get(request.request_id) or [(1, "unknown")]
            for attempt, status in ends:
                previous = len(found) - 1 if found else None
                before = found[-1].messages if found else []
                found.append(
                    _with(
                        request,
                        len(found),
                        attempt,
                        status,
                        previous,
                        _common(before, request.messages),
                        self._usage.get(request.request_id),
                    )
                )
        return CheckedSession(self._session, "orchard", tuple(found), event_log(self._events))

    def read(self, row: Json) -> None:
        self._session = row["sessionId"]
        if row["event"] == "context.built":
            self._requests.append(self._request(row))
            return
        event = _event(row)
        self._events.append(event)
        if row["event"] == "request.completed":
            self._ends.setdefault(row["requestId"], []).append((row["attempt"], row["status"]))
        elif row["event"] == "context_usage_snapshot":
            counts = tuple((n, row[n]) for n in ("contextWindow", "outputReserve"))
            self._usage[row["requestId"]] = ContextUsage(
                "", None, row["totalTokens"], False, (), (), counts
            )

    def _request(self, row: Json) -> CheckedRequest:
        messages: list[CheckedMessage] = []
        segments: list[Segment] = []
        missing: list[str] = []
        parts = row["segments"] if "segments" in row else [{"n": 0, "messages": row["messages"]}]
        for part in parts:
            start = len(messages)
            for item in part["messages"]:
                found = self._message(item)
                if found is None:
                    missing.append(item["ref"])
                else:
                    messages.append(found)
            segments.append(Segment(part["n"], start, len(messages) - start))
        tools = row.get("tools", {})
        notes = [
            ToolNote(tool["name"], group, tool.get("capability", ""))
            for group in ("stable", "dynamic")
            for tool in tools.get(group, [])
        ]
        order = tools.get("order")
        if order:
            notes.sort(key=lambda note: order.index(note.name))
        layout = PromptLayout(
            row.get("layout", ""),
            tuple(segments) if "segments" in row else (),
            tuple(notes),
            tuple(missing),
        )
        return _bare_request(row, messages, layout)

    def _message(self, item: Json) -> CheckedMessage | None:
        if "ref" in item:
            if item["ref"] not in self._written:
                return None
            item = self._written[item["ref"]]
        elif item.get("id"):
            self._written[item["id"]] = item
        text = json.dumps(item, sort_keys=True)
        if text not in self._objects:
            self._objects[text] = message_of(item)
        return self._objects[text]


def message_of(item: Json) -> CheckedMessage:
    """A message written in full."""
    role, said = item["role"], item.get("content", item.get("state", item.get("patch")))
    call = item.get("toolCallId", "")
    extra = '{"isError":true}' if item.get("isError") else ""
    blocks = []
    for part in said if isinstance(said, list) else [said]:
        kind = Kind.TOOL_RESULT if role == "tool" else Kind.TEXT
        if isinstance(part, dict) and part.get("type") == "file":
            kind = Kind.FILE
        text = part if isinstance(part, str) else json.dumps(part)
        blocks.append(Block(Tier.MESSAGES, role, kind, text, call_id=call, message_json=extra))
    blocks += [
        Block(
            Tier.MESSAGES,
            role,
            Kind.TOOL_CALL,
            json.dumps(made["input"]),
            name=made["name"],
            call_id=made["id"],
        )
        for made in item.get("toolCalls", [])
    ]
    texts = ("id", "kind", "scope", "mode", "reason", "capability", "skill")
    note = MessageNote(
        **{name: item.get(name, "") for name in texts},
        state=item.get("state"),
        patch=item.get("patch"),
        covers=tuple(item.get("covers", ())),
    )
    said_bytes = repr(blocks).encode()
    return CheckedMessage(
        role, SORTS.get(role, Sort.OTHER), tuple(blocks), note, sha256(said_bytes).digest()
    )


def _bare_request(
    row: Json, messages: list[CheckedMessage], layout: PromptLayout
) -> CheckedRequest:
    source = row.get("querySource", "")
    return CheckedRequest(
        key=row["requestId"],
        seq=0,
        request_id=row["requestId"],
        attempt=1,
        turn_id=row.get("runId", ""),
        query_source=source,
        side_call=source not in ("main_turn", ""),
        lane="",
        provider_id="",
        model_id=row["model"]["modelId"],
        started_at_ms=_at(row),
        status="unknown",
        whole=True,
        verified_from=0,
        message_count=len(messages),
        tools=(),
        messages=messages,
        markers=(),
        previous=None,
        common=0,
        layout=layout,
        head_proven=True,
        tools_known=True,
    )


def _with(
    request: CheckedRequest,
    place: int,
    attempt: int,
    status: str,
    previous: int | None,
    common: int,
    usage: ContextUsage | None,
) -> CheckedRequest:
    key = request.request_id if attempt == 1 else f"{request.request_id}/{attempt}"
    return replace(
        request,
        key=key,
        seq=place + 1,
        attempt=attempt,
        status=status,
        previous=previous,
        common=common,
        usage=usage,
    )


def _common(a: Sequence[CheckedMessage], b: Sequence[CheckedMessage]) -> int:
    pairs = zip(a, b, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x is not y), min(len(a), len(b)))


def _event(row: Json) -> LogEvent:
    rest = {k: v for k, v in row.items() if k not in ENVELOPE}
    return LogEvent(
        at_ms=_at(row),
        level="info",
        event=row["event"],
        module="context trace",
        message="",
        session_id=row["sessionId"],
        turn_id=row.get("runId", ""),
        request_id=row.get("requestId", ""),
        status=row.get("status", ""),
        context_json=json.dumps(rest),
    )


def _at(row: Json) -> int:
    return round(datetime.fromisoformat(row["timestamp"]).timestamp() * 1000)
