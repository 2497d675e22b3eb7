"""What the use cases of `tracer.service` return, to the command line and to the web alike.

Times are UTC epoch milliseconds, sizes have their unit in their names. None means unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracer.model.anatomy_views import AnatomyView, McsStateView, McsView, ReminderView, SectionView
from tracer.model.events import Status, WindowKind
from tracer.model.prompt import Kind, Marker, Part, Tier
from tracer.model.segment_views import RequestSegments
from tracer.model.source import SourceRef
from tracer.model.usage import Usage
from tracer.model.verdict import Result, VerdictBrief


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Sums over the requests that reported usage. `reported_requests` says how many did.

    `read_reported_input_tokens` is the input of the requests that also reported a cache read: the
    denominator of the hit rate (cache-rules.md 4).
    """

    input_tokens: int = 0
    fresh_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int | None = None
    output_tokens: int = 0
    reported_requests: int = 0
    read_reported_input_tokens: int = 0

    @property
    def hit_rate(self) -> float | None:
        """Sum of cache reads over the input of the requests that reported one; None if none."""
        if not self.read_reported_input_tokens:
            return None
        return self.cache_read_tokens / self.read_reported_input_tokens


@dataclass(frozen=True, slots=True)
class SparkPoint:
    """One bar of the sessions list: sums over a run of requests."""

    read_tokens: int
    write_tokens: int
    fresh_tokens: int


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of the sessions list.

    `missed_tokens` were identical and not read, `avoidable_tokens` were put out of reach by the
    requests themselves, `rebilled_tokens` are both; they and `misses` are None until the session is
    judged. `findings` counts what the agent's rules found, None until the session is checked.
    `corrected_rate` is the hit rate without what was new (cache-rules.md 4).
    `child_sessions` are those that it started; `parent_stored` tells that its parent can be shown;
    `removed_at_ms` is when it was found to be gone from the agent's database.
    """

    session_id: str
    agent: str
    title: str
    project: str
    started_at_ms: int | None
    ended_at_ms: int | None
    requests: int
    turns: int
    side_calls: int
    failed_requests: int
    models: tuple[str, ...]
    lanes: tuple[str, ...]
    usage: UsageTotals
    observed_full: int
    observed_windowed: int
    observed_metadata: int
    parent_session_id: str = ""
    spark: tuple[SparkPoint, ...] = ()
    misses: int | None = None
    missed_tokens: int | None = None
    avoidable_tokens: int | None = None
    rebilled_tokens: int | None = None
    corrected_rate: float | None = None
    child_sessions: int = 0
    parent_stored: bool = False
    task_type: str = ""
    removed_at_ms: int | None = None
    archived_at_ms: int | None = None
    findings: int | None = None


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """One request, without its texts: R of the JSON contract (design.md 9).

    `seq` counts from 1 in the session by start time. `observed` is `full`, `windowed` or
    `metadata`; `verified_from` is the first message index that this request's own record proves,
    None where it proves none. `carry` says where the messages before it come from. `lane` is
    `<purpose>@<provider>/<model>`; `side_call` is true for lanes other than the conversation.
    `call_key` is the key of the first attempt of the same logical call. `variant` is the kind of
    prefix (`main`, `custom`, `workflow_actor`, `subagent`, `none`, `unknown`); it and `mcs_state`
    are unknown where the log shows no prompt. `verdict` is None until the request is judged.
    `segments` is set where the log says how the prompt was laid out.
    """

    key: str
    seq: int
    session_id: str
    request_id: str
    attempt: int
    attempts: int
    call_key: str
    trace_id: str
    turn_id: str
    turn_number: int | None
    step: int | None
    query_source: str
    lane: str
    side_call: bool
    provider_id: str
    model_id: str
    started_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    status: Status
    error: str
    finish_reason: str
    observed: str
    verified_from: int | None
    carry: str
    window_kind: WindowKind
    message_count: int | None
    roles: dict[str, int]
    usage: Usage | None
    markers: tuple[Marker, ...]
    tools: tuple[str, ...]
    sections: tuple[SectionView, ...]
    reminders: tuple[ReminderView, ...]
    mcs: tuple[McsView, ...]
    source: SourceRef
    variant: str = ""
    mcs_state: McsStateView | None = None
    verdict: VerdictBrief | None = None
    segments: RequestSegments | None = None


@dataclass(frozen=True, slots=True)
class PartSize:
    """The size of one part of a prompt. `new_*` is the share that the request before it in the
    same lane did not have. Tokens are BPE counts where `counted`, else the agent's estimate."""

    part: Part
    blocks: int
    chars: int
    tokens: int
    new_tokens: int
    counted: bool


@dataclass(frozen=True, slots=True)
class TimelineColumn:
    """One request on the timeline, with the sizes of its parts in stacking order.

    `prompt_tokens` is their sum; `parts` is empty where the log proves no prompt.
    """

    request: RequestSummary
    parts: tuple[PartSize, ...]
    prompt_tokens: int


class RequestOutline(NamedTuple):
    """What the whole of a session shows of one request; names as in RequestSummary. `markers` is
    how many cache breakpoints it has; `result` and `baseline_key` are those of its verdict (None,
    empty); `prompt_tokens` is 0 where the log proves no prompt."""

    seq: int
    key: str
    lane: str
    side_call: bool
    turn_id: str
    turn_number: int | None
    attempt: int
    status: str
    started_at_ms: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    prompt_tokens: int
    markers: int
    result: Result | None
    baseline_key: str
    step: int | None = None
    query_source: str = ""
    fresh_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def is_miss(self) -> bool:
        """True for a miss, whole or in part."""
        return self.result in (Result.PARTIAL, Result.MISS)


@dataclass(frozen=True, slots=True)
class TurnSpan:
    """A turn: requests `first_seq` to `last_seq` (both included)."""

    turn_id: str
    number: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A log event or file event worth a mark: `kind` is `retry`, `error`, `compaction`, `model`,
    `reset`, `subagent` or `log`. `after_seq` is the last request that had started by then."""

    kind: str
    after_seq: int
    at_ms: int | None
    title: str
    detail: str
    source: SourceRef | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A whole session, a column a request, by start time. Columns are made when they are asked for:
    what is to be shown of all requests is in the `outline`."""

    session: SessionSummary
    columns: Sequence[TimelineColumn]
    turns: tuple[TurnSpan, ...]
    events: tuple[TimelineEvent, ...]
    children: tuple[SessionSummary, ...] = ()
    uncounted_blocks: int = 0
    outline: Sequence[RequestOutline] = ()


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block of a prompt in order.

    `index` counts over the whole prompt; `message_index` over the message list, system messages
    included (None for tools); `verified` is false where the request's own record does not prove
    the block. `tokens_calibrated` is the BPE count scaled to the billed input. `first_seen` is
    the line in which this content was first read. `text` is None unless asked for. `sections` and
    `reminders` are the sources of what stands in it; `section` is the only section, if it is one.
    """

    index: int
    tier: Tier
    tier_index: int
    message_index: int | None
    block_index: int
    role: str
    kind: Kind
    part: Part
    name: str
    call_id: str
    chars: int
    bytes: int
    tokens_bpe: int | None
    tokens_bpe_exact: bool
    tokens_estimate: int
    tokens_calibrated: int | None
    wire_hash: str
    marker: Marker | None
    verified: bool
    new: bool
    preview: str
    first_seen: SourceRef | None
    extra_json: str = ""
    span_messages: int = 1
    text: str | None = None
    section: str = ""
    sections: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinedLogLine:
    """A structured-log line that belongs to a request. `strength` is `exact`, `heuristic` or
    `turn` (same session and turn only); `join` names the key (formats/zcode.md 11)."""

    at_ms: int | None
    level: str
    event: str
    message: str
    duration_ms: int | None
    status: str
    strength: str
    join: str
    context_json: str
    error_json: str
    source: SourceRef


@dataclass(frozen=True, slots=True)
class ContextCategory:
    """One category of the agent's own context-usage report."""

    name: str
    source: str
    chars: int | None
    tokens: int | None
    tokens_redacted: bool
    tokens_low: int | None = None
    tokens_high: int | None = None


@dataclass(frozen=True, slots=True)
class ContextUsageView:
    """The context-usage report nearest before a request, with the strength of the join. The output
    reserve is budget that the agent keeps free in the context window, not text."""

    model: str
    total_chars: int | None
    total_tokens: int | None
    categories: tuple[ContextCategory, ...]
    strength: str
    source: SourceRef
    context_window: int | None = None
    output_reserve: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the log did not tell, in words: `title` names it, `detail` says what that blocks. `key`
    is a request whose verdict tells more, if there is one."""

    code: str
    title: str
    detail: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class MapRun:
    """A run of neighbouring blocks that look alike on the prompt map: same part, same role in the
    comparison with the baseline, same proof. `first_index` counts over the whole prompt."""

    part: Part
    first_index: int
    blocks: int
    tokens: int
    new: bool
    verified: bool


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """One request in full.

    `blocks` is one page of the prompt (`block_total` in all, from `block_from`); `part_sizes` and
    `tokens_*` sum over the whole prompt. `calibration` is billed input over the BPE sum, None where
    either is unknown or the prompt is not whole. `response` holds what the model answered; it is
    `response_provisional` until a later request carries it as history (formats/zcode.md 14, 28).
    `anatomy` is None where the log shows no prompt, or where it was not asked for.
    `masked_secrets` counts the different secrets that are masked in all of this.
    """

    request: RequestSummary
    session: SessionSummary
    blocks: tuple[BlockView, ...]
    block_from: int
    block_total: int
    part_sizes: tuple[PartSize, ...]
    tokens_bpe: int | None
    tokens_estimate: int
    uncounted_blocks: int
    calibration: float | None
    response: tuple[BlockView, ...]
    response_provisional: bool
    log: tuple[JoinedLogLine, ...]
    context_usage: ContextUsageView | None
    evidence: tuple[Evidence, ...]
    params_json: str
    headers_json: str
    sources: tuple[SourceRef, ...]
    attempts: tuple[tuple[str, int, Status], ...]
    previous_key: str = ""
    next_key: str = ""
    baseline_key: str = ""
    common_blocks: int | None = None
    map_runs: tuple[MapRun, ...] = ()
    anatomy: AnatomyView | None = None
    masked_secrets: int = 0


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of the sessions list; `total` counts all sessions that match."""

    sessions: tuple[SessionSummary, ...]
    total: int
