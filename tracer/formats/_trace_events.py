"""The events of the open trace format, each with its keys (docs/formats/context-trace.md)."""

from collections.abc import Mapping

from tracer.formats._trace_shapes import Either, Flag, Items, Keyed, Shape, Text, Whole

VERSION = 1
ROLES = ("system", "user", "assistant", "tool")
KINDS = frozenset(
    {"rules", "tool_guidance", "transaction_rules", "user_instructions", "skill_catalog"}
    | {"collaboration", "capability_guide", "world_state", "summary", "user_input", "assistant"}
    | {"tool_result", "attachment_note", "skill_body", "answer", "guidance", "recovery"}
    | {"ignored_interaction", "todo_reminder", "repair_reminder", "transaction_snapshot"}
)
LAYOUTS = frozenset({"segments-14"})
SEGMENTS = range(1, 15)
LIFETIMES = ("5m", "1h")

_NAME = Text()
_ANY = Text(empty=True)
_OBJECT = Keyed()
_NAMES = Items(of=_NAME)
_TIME = Text(
    "When it happened: UTC, ISO 8601, milliseconds.",
    pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$",
    form="a time like `2026-01-05T09:00:00.000Z`",
)
_MARKER = Keyed(
    "A cache breakpoint.",
    required={"type": Text("`ephemeral`.")},
    optional={"ttl": Text("How long the entry lives: `5m` or `1h`."), "scope": _ANY},
)

_BLOCK = Keyed(
    "`text`, `image`, `file`, or another type.",
    required={"type": _NAME},
    when=(("type", "text", Keyed(required={"text": _ANY})),),
    known=("text", "cacheControl"),
)
_CALL = Keyed("A tool call.", required={"id": _NAME, "name": _NAME, "input": Shape("Any JSON.")})
_REFERENCE = Keyed(
    "A message that an earlier `context.built` of the session carried, byte for byte the same.",
    required={"ref": _NAME},
    optional={"cacheControl": _MARKER},
)
_FULL = Keyed(
    "A message in full.",
    required={"role": Text(choices=ROLES)},
    optional={
        "id": Text("Names the message in its session; without one it cannot be referred to."),
        "kind": Text("What the message is: an open list."),
        "content": Either(
            "The text as sent, or blocks.", other=Items(of=_BLOCK), usual=Text(empty=True)
        ),
        "toolCalls": Items("What an assistant message calls.", of=_CALL),
        "toolCallId": Text("The call that a tool message answers."),
        "toolName": _ANY,
        "isError": Flag(),
        "cacheControl": _MARKER,
        "scope": Text("Of a World State.", choices=("session", "run")),
        "mode": Text("Of a World State.", choices=("full", "diff")),
        "state": Keyed("A whole state."),
        "patch": Keyed("What changed: a merge patch (RFC 7396)."),
        "reason": Text("Why a state changed.", empty=True),
        "capability": Text("Of a guide."),
        "skill": Text("Of a skill's text."),
        "covers": Items("Ids that a summary stands for, all of them so far.", of=_NAME),
    },
    one_of=(("content", "toolCalls", "state", "patch"),),
    when=(
        ("role", "tool", Keyed(required={"toolCallId": _NAME})),
        (
            "kind",
            "world_state",
            Keyed(
                required={"scope": _NAME, "mode": _NAME},
                when=(
                    ("mode", "full", Keyed(required={"state": _OBJECT})),
                    ("mode", "diff", Keyed(required={"patch": _OBJECT})),
                ),
            ),
        ),
        ("kind", "summary", Keyed(required={"covers": _NAMES})),
        ("kind", "capability_guide", Keyed(required={"capability": _NAME})),
        ("kind", "skill_body", Keyed(required={"skill": _NAME})),
    ),
)
_MESSAGES = Items(of=Either(key="ref", other=_REFERENCE, usual=_FULL))
_SEGMENT = Keyed(required={"n": Whole(minimum=1), "messages": _MESSAGES})
_TOOL = Keyed(
    required={"name": _NAME},
    optional={
        "description": _ANY,
        "inputSchema": Shape("The schema as sent."),
        "capability": Text("The capability that the tool comes and goes with."),
        "cacheControl": _MARKER,
    },
)
_TOOLS = Keyed(
    "Not messages: schemas travel beside them.",
    optional={
        "stable": Items("Those that never change.", of=_TOOL),
        "dynamic": Items("Those that come and go.", of=_TOOL),
        "order": Items("Names in the order of the wire, where that is another one.", of=_NAME),
    },
)
_USAGE = Keyed(
    "What the provider billed. A count that it did not report is left out, never 0.",
    required={"inputTokens": Whole(), "outputTokens": Whole()},
    optional={
        "cacheReadTokens": Whole(),
        "cacheWriteTokens": Whole(),
        "reasoningTokens": Whole(),
        "totalTokens": Whole(),
        "inclusive": Flag("Does `inputTokens` contain the cache counts?"),
    },
)
_CATEGORY = Keyed(
    required={"name": _NAME}, optional={"source": _ANY, "chars": Whole(), "tokens": Whole()}
)
_COMPACTION = Keyed(
    optional={
        "covers": _NAMES,
        "summaryId": _NAME,
        "beforeTokens": Whole(),
        "afterTokens": Whole(),
        "reason": _ANY,
    },
)
_COMPACTED = Keyed(required={"covers": _NAMES}, optional=dict(_COMPACTION.optional))
_TRANSACTION = Keyed(
    required={"transactionId": _NAME, "status": _NAME},
    optional={
        "filePath": _ANY,
        "operation": _ANY,
        "strategy": _ANY,
        "expectedDraftRevision": Shape("As the agent counts drafts."),
        "nextIndex": Whole(),
        "allowedNextActions": Items(of=_NAME),
    },
)
_SUBAGENT = Keyed(required={"childSessionId": _NAME}, optional={"parentRequestId": _NAME})

ENVELOPE = Keyed(
    required={
        "event": Text("What the line tells of."),
        "v": Whole("The version of this format.", only=VERSION),
        "timestamp": _TIME,
        "sessionId": Text("Names the conversation."),
    },
    optional={
        "runId": Text("The task, from its acceptance to its end."),
        "requestId": Text("One model call."),
        "traceId": _ANY,
    },
)
EVENTS: Mapping[str, Keyed] = {
    "session.started": Keyed(required={"agent": _ANY}, optional={"title": _ANY, "project": _ANY}),
    "run.started": Keyed(required={"runId": _NAME}),
    "run.completed": Keyed(required={"runId": _NAME}, optional={"status": _ANY}),
    "context.built": Keyed(
        "The whole prompt of a request, in order, before it is sent.",
        required={
            "requestId": _NAME,
            "model": Keyed(
                required={"modelId": _NAME},
                optional={"providerId": _ANY},
                form='an object: {"modelId": "..."}',
            ),
        },
        optional={
            "attempt": Whole(minimum=1),
            "layout": Text("How the segments are numbered: `segments-14`, or another name."),
            "querySource": Text("The purpose of the call: `main_turn`, `subagent`, `compact`..."),
            "tools": _TOOLS,
            "segments": Items(of=_SEGMENT),
            "messages": _MESSAGES,
            "parameters": Keyed("What else was sent: temperature, tool choice, thinking..."),
        },
        one_of=(("segments", "messages"),),
    ),
    "context_usage_snapshot": Keyed(
        "The agent's own estimate. The output reserve is budget, not text.",
        required={"requestId": _NAME, "categories": Items(of=_CATEGORY)},
        optional={"contextWindow": Whole(), "outputReserve": Whole(), "totalTokens": Whole()},
    ),
    "request.completed": Keyed(
        "How an attempt ended.",
        required={
            "requestId": _NAME,
            "attempt": Whole(minimum=1),
            "status": Text(choices=("completed", "failed", "cancelled")),
        },
        optional={
            "durationMs": Whole(),
            "finishReason": _ANY,
            "error": Keyed(
                required={"name": _ANY, "message": _ANY}, optional={"statusCode": Whole()}
            ),
            "usage": _USAGE,
        },
    ),
    "capability.changed": Keyed(
        "From the next request on.",
        required={"name": _NAME, "enabled": Flag()},
        optional={"reason": _ANY},
    ),
    "compaction.started": _COMPACTION,
    "compaction.completed": _COMPACTED,
    "compaction.failed": _COMPACTION,
    "transaction.opened": _TRANSACTION,
    "transaction.step": _TRANSACTION,
    "transaction.closed": _TRANSACTION,
    "subagent.started": _SUBAGENT,
    "subagent.stopped": _SUBAGENT,
}
MESSAGE_KEYS = _FULL.keys()
REFERENCE_KEYS = _REFERENCE.keys()
TOOL_KEYS = _TOOL.keys()
USAGE_KEYS = _USAGE.keys()
NAMED: Mapping[str, Shape] = {
    "time": _TIME,
    "message": _MESSAGES.of,
    "fullMessage": _FULL,
    "reference": _REFERENCE,
    "block": _BLOCK,
    "toolCall": _CALL,
    "cacheControl": _MARKER,
    "segment": _SEGMENT,
    "tool": _TOOL,
    "tools": _TOOLS,
    "usage": _USAGE,
    "category": _CATEGORY,
    "compaction": _COMPACTION,
    "compacted": _COMPACTED,
    "transaction": _TRANSACTION,
    "subagent": _SUBAGENT,
}
"""The shapes that the schema gives a name."""
