"""A session as this layout's rules walk it: prompt by prompt, segment by segment.

An attempt of a request that was looked at is left out: it sends the same prompt again. So are
prompts that the log does not show as a whole, and calls beside the conversation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tracer.checks import base
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession
from tracer.compare.texts import first_difference
from tracer.model.prompt import Kind
from tracer.model.segments import Segment

T = TypeVar("T")

LAYOUT = "segments-14"
PREFIX = range(1, 7)
HISTORY = range(7, 12)
TAIL = range(12, 15)
SYSTEM, CATALOGUE, COLLABORATION, GUIDES, SESSION_STATE, SUMMARY = PREFIX
OLD, INPUTS, SKILLS, RUN_STATE, TIMELINE = HISTORY
PLAN, REPAIR, SNAPSHOT = TAIL
TAIL_KINDS = frozenset({"todo_reminder", "repair_reminder", "transaction_snapshot"})

WHOLE = "the whole prompt of the request"
REFERENCES = "the messages that the request refers to and no line defines"
RUN = "the run of the request (runId)"


@dataclass(frozen=True, slots=True)
class Step:
    """One prompt. `shared` leading messages are those of the step before; `opens_run` tells that
    it is the first one of its run."""

    request: CheckedRequest
    before: "Step | None"
    shared: int
    opens_run: bool

    @property
    def messages(self) -> Sequence[CheckedMessage]:
        """All messages, in the order of the wire."""
        return self.request.messages

    @property
    def run(self) -> str:
        """The id of its run."""
        return self.request.turn_id

    @property
    def spans(self) -> tuple[Segment, ...]:
        """Its segments in the order of the wire."""
        return self.request.layout.segments

    def ranges(self, *numbers: int) -> list[range]:
        """The places of the messages of these segments, in the order asked for; neighbours that
        also follow each other on the wire are one range."""
        found: list[range] = []
        for number in numbers:
            for span in self.spans:
                if span.n == number and span.messages:
                    end = span.first_message + span.messages
                    if found and found[-1].stop == span.first_message:
                        found[-1] = range(found[-1].start, end)
                    else:
                        found.append(range(span.first_message, end))
        return found

    def indexes(self, *numbers: int) -> list[int]:
        """The places of the messages of these segments, in the order asked for."""
        return [i for places in self.ranges(*numbers) for i in places]

    def of(self, *numbers: int) -> list[CheckedMessage]:
        """The messages of these segments, in the order asked for."""
        ranges = self.ranges(*numbers)
        if len(ranges) == 1:
            return list(self.messages[ranges[0].start : ranges[0].stop])
        return [m for r in ranges for m in self.messages[r.start : r.stop]]

    def size(self, number: int) -> int:
        """How many messages a segment has."""
        return sum(s.messages for s in self.spans if s.n == number)

    def segment_of(self, index: int) -> int:
        """The segment of a message; 0 where it stands in none."""
        return next(
            (s.n for s in self.spans if s.first_message <= index < s.first_message + s.messages), 0
        )

    def same(self, number: int) -> bool:
        """Whether a segment has the very messages that it had at the step before."""
        return self.before is not None and self.of(number) == self.before.of(number)

    def place_of(self, *numbers: int) -> int | None:
        """Where the first of these segments that is there begins."""
        firsts = [s.first_message for s in self.spans if s.n in numbers and s.messages]
        return min(firsts) if firsts else None


def walk(session: CheckedSession) -> Sequence[Step]:
    """The prompts that can be checked, in order."""
    return once(session, "steps", _steps)


def once(
    session: CheckedSession, name: str, make: Callable[[CheckedSession], Iterator[T]]
) -> list[T]:
    """What `make` yields for a session, made by the first rule that asks for it."""
    key = f"{LAYOUT} {name}"
    if key not in session.memo:
        session.memo[key] = list(make(session))
    found: list[T] = session.memo[key]
    return found


def _steps(session: CheckedSession) -> Iterator[Step]:
    before: Step | None = None
    seen: set[str] = set()
    runs: set[str] = set()
    for request in laid_out(session):
        if not _readable(request) or request.request_id in seen:
            continue
        if request.request_id:
            seen.add(request.request_id)
        shared = first_difference(before.messages, request.messages) if before else 0
        step = Step(request, before, shared, request.turn_id not in runs)
        runs.add(request.turn_id)
        yield step
        before = step


def undecided(session: CheckedSession, report: Reporter, *, runs: bool = False) -> Iterator[Found]:
    """What keeps a rule from being decided at some request; `runs`: it has to know runs apart."""
    for request in laid_out(session):
        if request.layout.unresolved:
            yield report.needs(REFERENCES, request)
        elif not request.whole:
            yield report.needs(WHOLE, request)
        elif runs and not request.turn_id:
            yield report.needs(RUN, request)


def laid_out(session: CheckedSession) -> list[CheckedRequest]:
    """The requests of the conversation that have this layout. Where the trace names no source that
    is known as a conversation, all that are laid out are taken."""
    found = [r for r in session.requests if r.layout.layout == LAYOUT]
    return [r for r in found if not r.side_call] or found


def _readable(request: CheckedRequest) -> bool:
    return request.whole and not request.layout.unresolved


def behind(ranges: Sequence[range], count: int) -> list[int]:
    """The places in these ranges behind the first `count`."""
    found: list[int] = []
    for places in ranges:
        found += places[count:]
        count = max(count - len(places), 0)
    return found


class Scan:
    """The messages of some sort in each prompt: only what is new is looked at."""

    def __init__(self, wanted: Callable[[CheckedMessage], bool]) -> None:
        self._wanted = wanted
        self._found: list[tuple[int, CheckedMessage]] = []

    def at(self, step: Step) -> list[tuple[int, CheckedMessage]]:
        """Those of a step, with their places. To be asked at every step, in order."""
        found = self._found
        while found and found[-1][0] >= step.shared:
            found.pop()
        messages = step.messages
        found += [
            (i, messages[i]) for i in range(step.shared, len(messages)) if self._wanted(messages[i])
        ]
        return found


def key_of(message: CheckedMessage) -> str | bytes:
    """What tells a message from others: its id, else its bytes."""
    return message.note.id or message.wire_hash


def named(message: CheckedMessage) -> str:
    """A message in words."""
    kind = message.note.kind or f"{message.role} message"
    return f"{kind} {message.note.id}" if message.note.id else kind


def text_of(message: CheckedMessage) -> str:
    """All that a message says."""
    return "\n".join(block.text for block in message.blocks)


def excerpt(message: CheckedMessage, chars: int = 80) -> str:
    """The beginning of what a message says, on one line."""
    return base.excerpt(text_of(message), chars)


def calls_of(message: CheckedMessage) -> list[str]:
    """The ids of the tool calls that a message makes, in order."""
    return [b.call_id for b in message.blocks if b.kind is Kind.TOOL_CALL and b.call_id]


def answered(message: CheckedMessage) -> str:
    """The id of the call that a message is the result of; empty where it is none."""
    if message.role != "tool":
        return ""
    return next((b.call_id for b in message.blocks if b.call_id), "")


def is_diff(message: CheckedMessage) -> bool:
    """Whether a message is a change of a World State."""
    note = message.note
    return note.kind == "world_state" and (note.mode == "diff" or note.patch is not None)


def is_full(message: CheckedMessage, scope: str = "") -> bool:
    """Whether a message is a whole World State (of a scope)."""
    note = message.note
    if note.kind != "world_state" or is_diff(message):
        return False
    return not scope or note.scope == scope
