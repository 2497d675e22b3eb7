"""What a rule sees: a session's requests with their prompts read, and its events, in order."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracer.anatomy.mcs import McsState
from tracer.anatomy.messages import Sort
from tracer.anatomy.prompt import PlacedReminder, PlacedSection
from tracer.model.events import ContextBuilt, ContextUsage, LogEvent
from tracer.model.prompt import Block, Marker
from tracer.model.segments import MessageNote, PromptLayout


@dataclass(frozen=True, slots=True)
class CheckedMessage:
    """A message. Requests that carry the same one share the object, so that a rule may remember by
    identity what it found in it. `gap` counts messages that the log does not show (else 0)."""

    role: str
    sort: Sort
    blocks: tuple[Block, ...]
    note: MessageNote
    wire_hash: bytes
    gap: int = 0


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """One attempt with its prompt.

    `messages` has an entry for every message of the list (a gap fills as many as it spans), so that
    a position is a `message_index`; empty with `whole` false where the log shows no prompt.
    `whole` tells that this request's own record proves all of it; `head_proven` that it proves the
    leading system messages, `tools_known` that no tool is missing in `tools`.

    `leading` is how many system messages the list begins with, as far as the log shows its
    beginning. `proven` are the messages behind the common ones that the request's own record
    shows, with their indexes.

    `previous` is the place in the session's requests of the one before it in its lane that has a
    prompt, `common` how many leading messages the two share, byte for byte and markers aside: what
    lies before was looked at then. `place` is where it was read: file (a number) and line.
    """

    key: str
    seq: int
    request_id: str
    attempt: int
    turn_id: str
    query_source: str
    side_call: bool
    lane: str
    provider_id: str
    model_id: str
    started_at_ms: int | None
    status: str
    whole: bool
    verified_from: int | None
    message_count: int | None
    tools: tuple[Block, ...]
    messages: Sequence[CheckedMessage]
    markers: tuple[Marker, ...]
    previous: int | None
    common: int
    variant: str = ""
    mcs: McsState = McsState.UNDECIDABLE
    sections: tuple[PlacedSection, ...] = ()
    reminders: tuple[PlacedReminder, ...] = ()
    layout: PromptLayout = field(default_factory=PromptLayout)
    built: ContextBuilt | None = None
    usage: ContextUsage | None = None
    head_proven: bool = False
    tools_known: bool = False
    place: tuple[int, int] | None = None
    leading: int = field(init=False, compare=False)
    proven: tuple[tuple[int, CheckedMessage], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Every rule asks for these at every request.
        leading = 0
        for message in self.messages:
            if message.sort is not Sort.SYSTEM:
                break
            leading += 1
        object.__setattr__(self, "leading", leading)
        fresh = self.fresh()
        if self.verified_from is None or self.verified_from > self.common:
            fresh = (found for found in fresh if self.proves(found[0]))
        object.__setattr__(self, "proven", tuple(fresh))

    def proves(self, message_index: int) -> bool:
        """Whether the request's own record shows a message."""
        if self.verified_from is not None and message_index >= self.verified_from:
            return True
        return self.head_proven and message_index < self.leading

    def fresh(self) -> Iterator[tuple[int, "CheckedMessage"]]:
        """The messages behind those that the request before it in its lane carried as well, with
        their indexes; gaps are left out."""
        for index in range(self.common, len(self.messages)):
            if not self.messages[index].gap:
                yield index, self.messages[index]


@dataclass(frozen=True, slots=True)
class EventLog:
    """The log events that have a name, in their order, each made when a rule asks for it: hardly
    any is. True where the log holds any event at all, named or not."""

    names: Sequence[str]
    at: Callable[[int], LogEvent]
    holds_any: bool

    def __bool__(self) -> bool:
        return self.holds_any

    def named(self, names: Collection[str]) -> list[LogEvent]:
        """The events that have one of some names, in their order."""
        return [self.at(place) for place, name in enumerate(self.names) if name in names]


def event_log(events: Sequence[LogEvent] = ()) -> EventLog:
    """A log of events that are there already."""
    return EventLog([event.event for event in events], events.__getitem__, bool(events))


@dataclass(frozen=True, slots=True)
class CheckedSession:
    """A session's requests by start time and its log events, without those about one attempt and
    the reports of the context. `agent` is that of the files which told of it. `memo` holds what one
    rule of a family has worked out and others can use."""

    session_id: str
    agent: str
    requests: tuple[CheckedRequest, ...]
    events: EventLog = field(default_factory=event_log)
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
