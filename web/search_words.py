"""Kinds of texts, in words."""

_KINDS = {
    "user": "user text",
    "assistant": "assistant text",
    "reasoning": "reasoning",
    "tool-call": "tool call",
    "tool-result": "tool result",
    "reminder": "reminder message",
    "context": "attached context",
    "mcs": "mid-conversation system message",
    "system": "system message",
    "section": "section as logged",
    "tool": "tool schema",
    "other": "other content",
    "message": "message of a session database",
    "tool-row": "tool row of a session database",
    "record": "input or note of a session database",
    "event": "log line",
    "agent": "subagent run",
    "todo": "step of a session",
    "title": "session title",
    "error": "error of a request",
}


def text_kind(kind: str) -> str:
    """A kind of text in words."""
    return _KINDS[kind]


SEARCH_WORDS = {"text_kind": text_kind}
"""The filters of this module, by name."""
