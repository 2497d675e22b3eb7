"""How the laid-out prompts of a session lived: capabilities, skills, states, compactions, files."""

from dataclasses import dataclass

from tracer.model.segment_views import CapabilityView, GroupSize, StateChangeView


@dataclass(frozen=True, slots=True)
class CapabilityRun:
    """Requests in a row at which a capability stood alike. The last one is `last_seq`."""

    first_seq: int
    last_seq: int
    view: CapabilityView


@dataclass(frozen=True, slots=True)
class CapabilityLife:
    """A capability over the session, the switches that the agent logged, and requests at which its
    tools, its guide and the World State did not agree."""

    name: str
    runs: tuple[CapabilityRun, ...]
    switches: tuple["Switch", ...]
    disagreed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """A capability switched on or off, after request `after_seq`."""

    at_ms: int | None
    after_seq: int
    enabled: bool
    reason: str


@dataclass(frozen=True, slots=True)
class SkillLife:
    """A skill whose text was in prompts: since when, until when, and how it came: active at a run's
    start, or activated on the way."""

    name: str
    first_seq: int
    last_seq: int
    how: str


@dataclass(frozen=True, slots=True)
class CompactionEvent:
    """An event of a compaction. `covers` counts the message ids that it names, from `first` to
    `last`; tokens are the agent's, None where it says nothing."""

    at_ms: int | None
    after_seq: int
    what: str
    covers: int
    first: str
    last: str
    before_tokens: int | None
    after_tokens: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class TransactionLife:
    """A file transaction: its events in order as (what, status, after request), and the requests
    whose tail carries its snapshot. `closed` is false while no event has closed it."""

    transaction_id: str
    path: str
    operation: str
    steps: tuple[tuple[str, str, int], ...]
    snapshot_seqs: tuple[int, ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class LaidOutRequest:
    """One request: its groups, the segments of its prefix that have other bytes than in the request
    before, and what changed of the world."""

    seq: int
    key: str
    run: int | None
    layout: str
    groups: tuple[GroupSize, ...]
    changed_prefix: tuple[str, ...]
    changes: tuple[StateChangeView, ...]
    unresolved: int


@dataclass(frozen=True, slots=True)
class SegmentStory:
    """The session. `requests` are those whose trace says how they were laid out."""

    session_id: str
    requests: tuple[LaidOutRequest, ...]
    capabilities: tuple[CapabilityLife, ...]
    skills: tuple[SkillLife, ...]
    compactions: tuple[CompactionEvent, ...]
    transactions: tuple[TransactionLife, ...]
