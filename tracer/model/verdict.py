"""Verdicts: did a request get what the cache could give, and if not, why (cache-rules.md 2).

The first half is what a verdict says, the second what it is made from. Tokens are the provider's
(billed, or a count scaled to what was billed), times UTC epoch milliseconds, offsets of characters
Unicode code points. None means unknown, never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tracer.model.comparison import Op
from tracer.model.events import Status
from tracer.model.prompt import Kind, Marker, Tier
from tracer.model.usage import Usage


class Result(StrEnum):
    """What became of a request's cache. FIRST, EXPECTED_REBUILD, NO_USAGE and NOT_REPORTED are not
    misses."""

    FIRST = "first"
    HIT = "hit"
    PARTIAL = "partial"
    MISS = "miss"
    EXPECTED_REBUILD = "expected_rebuild"
    NO_USAGE = "no_usage"
    NOT_REPORTED = "not_reported"


class Certainty(StrEnum):
    """How sure a cause is. ELIMINATION: everything else that the log can show was ruled out."""

    CERTAIN = "certain"
    HIGH = "high"
    MEDIUM = "medium"
    ELIMINATION = "elimination"
    UNKNOWN = "unknown"


class Share(StrEnum):
    """Which tokens a cause can explain: those BEFORE the first difference (identical, yet not
    read), those AFTER it (thrown away by the client), ALL of them, or none (NOTE)."""

    BEFORE = "before"
    AFTER = "after"
    ALL = "all"
    NOTE = "note"


class Fault(StrEnum):
    """On whose side a cause lies."""

    CLIENT = "client"
    PROVIDER = "provider"
    USER = "user"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class FoundCause:
    """One cause of a low read. `code` and `subtype` are those of cache-rules.md 2.3.

    `block_index` counts inside the tier, `message_index` over the whole message list;
    `token_offset` is where in the prompt the cause begins to cost. `tokens` is the share of the
    lost tokens put down to it. `expected` marks what somebody meant to happen. `shown_by` is the
    key of the later request whose record shows the change, where this request's own does not.
    """

    code: str
    certainty: Certainty
    summary: str
    fix: str
    subtype: str = ""
    tier: Tier | None = None
    block_index: int | None = None
    message_index: int | None = None
    section: str = ""
    reminder: str = ""
    char_offset: int | None = None
    token_offset: int | None = None
    before: str = ""
    after: str = ""
    evidence: tuple[str, ...] = ()
    tokens: int | None = None
    share: Share = Share.ALL
    fault: Fault = Fault.CLIENT
    expected: bool = False
    shown_by: str = ""

    @property
    def signal(self) -> str:
        """`CODE/subtype`: what history counts."""
        return f"{self.code}/{self.subtype}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Money, with the formula it comes from and the source and date of the price."""

    amount: float
    currency: str
    formula: str
    source: str


@dataclass(frozen=True, slots=True)
class ReadStop:
    """Where the provider's read ended on the prompt (cache-rules.md 2.5).

    `index` is the block (over the whole prompt) in which it ended, `boundary` names the nearest end
    of a block, `distance_tokens` is read minus that boundary. `agrees` is None where there is no
    comparison to agree with. The block has `block_tokens`, of which `into_tokens` were read; None
    where its beginning is not known. `section` or `reminder` is the one in which it ended, where
    that was looked up and there is one.
    """

    read_tokens: int
    index: int | None
    tier: Tier | None
    message_index: int | None
    boundary: str
    boundary_tokens: int | None
    distance_tokens: int | None
    agrees: bool | None
    sentence: str
    block_tokens: int | None = None
    into_tokens: int | None = None
    section: str = ""
    reminder: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for one request.

    `expected_read_tokens` is what an ideal cache could return for this prompt as it was sent;
    `missed_tokens` = expected - read: identical, and yet not read. `avoidable_tokens` is identical
    content that this request's own changes put out of the cache's reach. `rebilled_tokens` is both,
    as far as they were not read. `causes` holds the primary cause first; `also` what else is true.
    `signals` are all conditions that were seen, whether or not they cost anything. `method` tells
    how the expectation was reached.
    """

    result: Result
    one_line: str
    baseline_key: str = ""
    baseline_reason: str = ""
    expected_read_tokens: int | None = None
    actual_read_tokens: int | None = None
    missed_tokens: int = 0
    avoidable_tokens: int = 0
    rebilled_tokens: int = 0
    noise_tokens: int = 0
    cost: Cost | None = None
    causes: tuple[FoundCause, ...] = ()
    also: tuple[FoundCause, ...] = ()
    checked_equal: tuple[str, ...] = ()
    not_verifiable: tuple[str, ...] = ()
    convention: str = ""
    method: str = ""
    read_stop: ReadStop | None = None
    signals: tuple[str, ...] = ()

    @property
    def is_miss(self) -> bool:
        """True where something was lost that nobody meant to lose."""
        return self.result in (Result.PARTIAL, Result.MISS)


@dataclass(frozen=True, slots=True)
class VerdictBrief:
    """A verdict in short: what a list or a lane of a timeline shows.

    `code`, `subtype` and `certainty` are those of the primary cause, empty where there is none.
    `expected_read_tokens` is the line above the bars of the reads. `rebilled_tokens` is what was
    cached once and was billed again: missed (not given) + avoidable (thrown away).
    """

    result: Result
    code: str
    subtype: str
    certainty: str
    one_line: str
    baseline_key: str
    expected_read_tokens: int | None
    actual_read_tokens: int | None
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int

    @property
    def is_miss(self) -> bool:
        """True where something was lost that nobody meant to lose."""
        return self.result in (Result.PARTIAL, Result.MISS)


class Purpose(StrEnum):
    """What a call is for. Only CONVERSATION and SUBAGENT calls continue a conversation."""

    CONVERSATION = "conversation"
    SUBAGENT = "subagent"
    TITLE = "title"
    COMPACTION = "compaction"
    SIDE = "side"


@dataclass(frozen=True, slots=True)
class HashLadder:
    """Hashes that settle "did the client change it?" (cache-rules.md 4). Empty means unknown.

    `prompt` covers the whole prompt.
    """

    tools: str = ""
    system: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of one request, without its texts.

    `endpoint` is the base URL, region or workspace where the log tells it. `markers` is None where
    the log cannot show them. `write_5m_tokens` and `write_1h_tokens` are the lifetimes of a write.
    `params` is the request's parameters as parsed JSON, `headers` has lower-case names.
    `step` counts the calls of a user's turn from 1.
    """

    key: str
    provider_id: str = ""
    model_id: str = ""
    returned_model_id: str = ""
    lane: str = ""
    endpoint: str = ""
    session_id: str = ""
    query_source: str = ""
    purpose: Purpose = Purpose.CONVERSATION
    attempt: int = 1
    step: int | None = None
    started_at_ms: int | None = None
    first_token_at_ms: int | None = None
    completed_at_ms: int | None = None
    status: Status = Status.COMPLETED
    http_status: int | None = None
    error: str = ""
    response_id: str = ""
    usage: Usage | None = None
    write_5m_tokens: int | None = None
    write_1h_tokens: int | None = None
    markers: tuple[Marker, ...] | None = None
    message_count: int | None = None
    observed: str = "full"
    verified_from: int | None = 0
    params: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    hashes: HashLadder = HashLadder()
    prompt_tokens_estimate: int | None = None
    client_version: str = ""
    line: int = 0

    @property
    def model(self) -> str:
        """The model that answered, else the one that was asked for."""
        return self.returned_model_id or self.model_id

    @property
    def prompt_tokens(self) -> int | None:
        """The billed prompt, else an estimate."""
        billed = self.usage.input_tokens if self.usage else None
        return billed if billed is not None else self.prompt_tokens_estimate

    @property
    def read_tokens(self) -> int | None:
        """The cache read, None where it was not reported."""
        return self.usage.cache_read_tokens if self.usage else None

    @property
    def write_tokens(self) -> int | None:
        """The cache write, None where it was not reported."""
        return self.usage.cache_write_tokens if self.usage else None

    @property
    def order(self) -> tuple[int, int, str]:
        """By start time; a tie is decided by the line of the file, then by the key."""
        return (self.started_at_ms if self.started_at_ms is not None else -1, self.line, self.key)


@dataclass(frozen=True, slots=True)
class Boundary:
    """The end of one block of the explained prompt. `end_tokens` is calibrated and cumulative."""

    index: int
    tier: Tier
    tier_index: int
    message_index: int | None
    block_index: int
    role: str
    kind: Kind
    end_tokens: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference inside what the two prompts have in common by position. Never the new tail.

    `a_index` and `b_index` count inside the tier, in the baseline and in this request. `before` and
    `after` are excerpts of both sides (about 60 characters around the first difference), `path` the
    JSON path of a change inside a tool's schema. `canonical_equal`: same meaning, other bytes.
    `hints` are subtypes that the comparison itself can tell, `detail` what came or went by name.
    `note_kind` is the kind that an open trace gives the message, `note` its name in words;
    `capability` is the one that the message or the tool belongs to.
    """

    op: Op
    tier: Tier
    a_index: int | None
    b_index: int | None
    label: str = ""
    kind: Kind = Kind.TEXT
    role: str = ""
    message_index: int | None = None
    section: str = ""
    reminder: str = ""
    call_id: str = ""
    path: str = ""
    char_offset: int | None = None
    token_offset: int | None = None
    before: str = ""
    after: str = ""
    before_tokens: int = 0
    after_tokens: int = 0
    canonical_equal: bool = False
    detail: str = ""
    hints: tuple[str, ...] = ()
    note_kind: str = ""
    note: str = ""
    capability: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a comparison found between the baseline and this request.

    `common_*` measure the common prefix. `kept_after_tokens` is content behind the first difference
    that both prompts hold; None where that was not worked out. `unverified_from_tokens` is where
    the prefix stops being proven by this request's own record. `shift` > 0: this request's visible
    messages begin as the baseline's do from message `shift` on.
    """

    common_blocks: int
    common_tokens: int
    baseline_blocks: int
    current_blocks: int
    changes: tuple[Change, ...] = ()
    kept_after_tokens: int | None = None
    boundaries: tuple[Boundary, ...] = ()
    unverified_from_tokens: int | None = None
    unverified_note: str = ""
    shift: int = 0
    error_fraction: float = 0.02

    @property
    def append_only(self) -> bool:
        """True where the whole baseline is a prefix of this request."""
        return self.common_blocks >= self.baseline_blocks

    @property
    def identical(self) -> bool:
        """True where both prompts are the same."""
        return self.append_only and self.current_blocks == self.baseline_blocks

    @property
    def cut(self) -> bool:
        """True where this request is the baseline's beginning and nothing else."""
        return not self.append_only and self.common_blocks >= self.current_blocks


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier call on the same cache, as seen from the explained one: how much of the prefix the
    two share (None: unknown), and whether its whole prompt is a prefix of this one's."""

    facts: CallFacts
    common_tokens: int | None = None
    common_blocks: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """An earlier verdict in short: what counts for and against a cause."""

    key: str
    signals: tuple[str, ...]
    missed: bool


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """Something that the log tells and that can explain a change: `kind` is `compaction`, `mcp`,
    `model`, `resume`, `clear`, `effort`, `capability_on`, `capability_off` or free; `subject` is
    what it is about, such as the name of the capability."""

    at_ms: int | None
    kind: str
    text: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What surrounds a request. The order of the tuples does not matter.

    `earlier`: calls on the same cache that started before. `others`: calls of other lanes of the
    same account or server near in time. `elsewhere`: earlier calls of the same model through
    another endpoint. `later` is the next call of the lane, `later_extends` says that it carries
    this request's prompt unchanged. `lane_reads` are all reads of the lane.
    """

    earlier: tuple[Earlier, ...] = ()
    others: tuple[CallFacts, ...] = ()
    elsewhere: tuple[CallFacts, ...] = ()
    later: CallFacts | None = None
    later_extends: bool = False
    past: tuple[PastVerdict, ...] = ()
    lane_reads: tuple[int, ...] = ()
    events: tuple[LoggedEvent, ...] = ()
