"""What stands around the requests of a session: the age of their cache, tool calls, subagents.

Times are UTC epoch milliseconds. None means unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracer.model.events import Status
from tracer.model.findings import Level
from tracer.model.verdict import Result
from tracer.model.views import SessionSummary


@dataclass(frozen=True, slots=True)
class CacheClock:
    """How old the prefix was when a request asked for it.

    `idle_ms` runs from the start of the baseline, which wrote or read the prefix, to the start of
    the request (cache-rules.md 0, finding 8). An entry lives for `sure_ms` and is gone after
    `gone_ms`; between the two it may live. `source` says where those come from.
    """

    idle_ms: int
    baseline_seq: int
    sure_ms: int | None
    gone_ms: int | None
    source: str


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """One request of a subagent's session; `result` is None until it is judged."""

    key: str
    seq: int
    started_at_ms: int | None
    status: Status
    result: Result | None


@dataclass(frozen=True, slots=True)
class ChildSession:
    """A session that a request of this one started, with its requests by start time."""

    session: SessionSummary
    requests: tuple[ChildRequest, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of some requests of a session, by key: the clock of the cache, and the tools that the
    response calls, by name with how often. `has_calls` tells of the whole session. `children` are
    the sessions of subagents, by start time. `findings` counts what the agent's rules found, by the
    key of the request and by level, over the whole session."""

    clocks: Mapping[str, CacheClock] = field(default_factory=dict)
    calls: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    children: tuple[ChildSession, ...] = ()
    has_calls: bool = False
    findings: Mapping[str, Mapping[Level, int]] = field(default_factory=dict)
