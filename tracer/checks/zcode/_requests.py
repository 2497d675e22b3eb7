"""What several of the rules ask of a session."""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.anatomy.messages import Sort
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession

AGENT_VARIANTS = frozenset({Variant.MAIN, Variant.CUSTOM, Variant.WORKFLOW_ACTOR, Variant.SUBAGENT})
WHOLE_LIST = "the whole message list: the log holds a window of it"
HEAD = "the head of the message list: the log does not show it"
MESSAGES = "the messages of the request: the log holds its numbers only"


def with_messages(session: CheckedSession) -> Iterator[CheckedRequest]:
    """The requests of which the log shows any message."""
    return (request for request in session.requests if request.messages)


def conversation(session: CheckedSession) -> Iterator[CheckedRequest]:
    """The requests of the conversation itself of which the log shows any message."""
    return (request for request in with_messages(session) if not request.side_call)


def same_head(session: CheckedSession, request: CheckedRequest) -> bool:
    """Whether all leading system messages are those of the request before it in its lane."""
    if request.previous is None:
        return False
    before = session.requests[request.previous]
    return request.common >= max(request.leading, before.leading)


def text_of(message: CheckedMessage) -> str:
    """The text of a message, its blocks joined."""
    return (
        message.blocks[0].text
        if len(message.blocks) == 1
        else "".join(block.text for block in message.blocks)
    )


def excerpt(text: str, limit: int = 80) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: limit * 2].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def ordinal(message: CheckedMessage) -> str:
    """What a message is, in a word for people."""
    return {
        Sort.SYSTEM: "a leading system message",
        Sort.MCS: "a mid-conversation system message",
        Sort.WRAPPED: "a note in a tag",
        Sort.USER: "a user message",
        Sort.REPLY: "a message from another session",
        Sort.ASSISTANT: "a message of the assistant",
        Sort.TOOL: "a tool's result",
        Sort.GAP: "messages that the log does not show",
        Sort.OTHER: f"a message of the role {message.role!r}",
    }[message.sort]
