"""What several of the rules ask of a session."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tracer.anatomy.mcs import STOPS
from tracer.anatomy.messages import Sort
from tracer.anatomy.prompt import PlacedReminder, PlacedSection
from tracer.anatomy.reminder_sources import INCOMING_SOURCE
from tracer.anatomy.reminders import CLOSE_TAG, OPEN_TAG, Via
from tracer.anatomy.section_spans import unescape_nested
from tracer.checks.base import Reporter
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession
from tracer.model.findings import NotApplicable
from tracer.model.prompt import Kind

WHOLE_LIST = "the whole message list: the log holds a window of it"
HEAD = "the head of the message list: the log does not show it"
LOG = "the structured log of the session: the files that were read hold none"
ORIGIN = "the origin of user messages: a coordinator's input looks like a person's"
SNAPSHOT = "a context usage snapshot: the log holds none, which is written at debug level only"
MCS_STATE = "a note that tells whether mid-conversation system text is on"
_PREFIX_NOTES = frozenset({"context_prefix", "skills_listing"})


class ReminderText(NamedTuple):
    """A reminder of a prompt, with its body."""

    reminder: PlacedReminder
    body: str

    @property
    def at(self) -> int:
        """The message that it is in."""
        return self.reminder.message_index


def with_messages(session: CheckedSession) -> list[CheckedRequest]:
    """The requests of which the log shows any message."""
    return [request for request in session.requests if request.messages]


def conversation(session: CheckedSession) -> list[CheckedRequest]:
    """The requests of the conversation itself of which the log shows any message."""
    return [r for r in session.requests if r.messages and not r.side_call]


def undecided(report: Reporter, requests: Iterable[CheckedRequest]) -> Iterator[NotApplicable]:
    """Tells at which requests a rule about all messages cannot be decided, where there are any."""
    windows = [request for request in requests if not request.whole]
    if windows:
        yield report.needs(WHOLE_LIST, *windows)


def before(session: CheckedSession, request: CheckedRequest) -> CheckedRequest | None:
    """The request before one in its lane that has a prompt."""
    return None if request.previous is None else session.requests[request.previous]


def same_head(session: CheckedSession, request: CheckedRequest) -> bool:
    """Whether all leading system messages are those of the request before it in its lane."""
    earlier = before(session, request)
    return earlier is not None and request.common >= max(request.leading, earlier.leading)


def reminder_texts(request: CheckedRequest, start: int | None = None) -> list[ReminderText]:
    """The notes in the messages from `start` on (those that are new at the request unless given),
    as far as its own record shows them, without those that a tool may have printed."""
    first = request.common if start is None else start
    found = []
    for reminder in reversed(request.reminders):
        if reminder.message_index < first:
            break
        if reminder.via is not Via.INLINE and request.proves(reminder.message_index):
            found.append(ReminderText(reminder, body_of(request, reminder)))
    found.reverse()
    return found


def body_of(request: CheckedRequest, reminder: PlacedReminder) -> str:
    """The body of a reminder."""
    block = request.messages[reminder.message_index].blocks[reminder.block_index]
    return block.text[reminder.start_char : reminder.end_char]


def runtime_reminders(request: CheckedRequest) -> Iterator[PlacedReminder]:
    """The notes of a whole prompt that the prefix does not bring."""
    return (
        r for r in request.reminders if r.source not in _PREFIX_NOTES and r.via is not Via.INLINE
    )


def section_text(request: CheckedRequest, section: PlacedSection) -> str:
    """A section as it was written: tags in it unescaped."""
    message = request.messages[section.message_index]
    text = message.blocks[section.block_index].text[section.start_char : section.end_char]
    return unescape_nested(text) if message.role == "user" else text


def text_of(message: CheckedMessage) -> str:
    """The text of a message: its text blocks, joined."""
    if len(message.blocks) == 1:
        return message.blocks[0].text
    return "".join(block.text for block in message.blocks if block.kind is Kind.TEXT)


def is_tag_like(message: CheckedMessage) -> bool:
    """Whether a user's message is one that begins and ends with a reminder's tag."""
    text = text_of(message)
    return text.startswith(f"{OPEN_TAG}\n") and text.rstrip("\n").endswith(f"\n{CLOSE_TAG}")


def is_stop(message: CheckedMessage, own: list[PlacedReminder]) -> bool:
    """Whether notes do not move up past a message (P2); `own` are its reminders."""
    return message.sort in STOPS or any(r.source == INCOMING_SOURCE for r in own)


class EventTimes:
    """When the session's log tells of some events."""

    def __init__(self, session: CheckedSession, names: frozenset[str]) -> None:
        self._at_ms = sorted(e.at_ms for e in session.events.named(names) if e.at_ms is not None)

    def between(self, after: CheckedRequest, until: CheckedRequest) -> bool:
        """Whether one of them lies between the starts of two requests."""
        low, high = after.started_at_ms, until.started_at_ms
        first = 0 if low is None else bisect_left(self._at_ms, low)
        last = len(self._at_ms) if high is None else bisect_right(self._at_ms, high)
        return first < last


def around(text: str, at: int) -> str:
    """What stands around a place in a text, on one line."""
    start, end = max(0, at - 30), at + 60
    piece = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{piece}{'…' if end < len(text) else ''}"


def called(message: CheckedMessage) -> str:
    """What a message is, in words."""
    return {
        Sort.SYSTEM: "a leading system message",
        Sort.MCS: "a mid-conversation system message",
        Sort.WRAPPED: "a note in a tag",
        Sort.USER: "a user's message",
        Sort.REPLY: "a message from another session",
        Sort.ASSISTANT: "a message of the assistant",
        Sort.TOOL: "a tool's result",
        Sort.GAP: "a message that the log does not show",
        Sort.OTHER: f"a message of the role {message.role!r}",
    }[message.sort]
