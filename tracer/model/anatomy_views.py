"""What the use cases say of a prompt's anatomy, and of how it lived over a session.

Offsets are Unicode code points inside the block's text, `chars` are UTF-16 units. None is unknown.
A view with a `message_index` has a `block_index` that counts in that message, and a `prompt_index`
over the whole prompt.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SectionView:
    """One section of a request's prefix. `message_index` is None where it was not located.

    `block_index` counts in the message, `prompt_index` over the whole prompt; the offsets are code
    points of that block's text. `how` tells how it was found: `logged` (its logged text stands
    there), `heading`, `place`, or `not observed` (the log names it and shows no such message).
    `since_seq` is the request since which its text is the same, `changed` tells that the request
    before had another text of it: the one before that was made for the same purpose, whatever the
    model. `verified` is false where the request's own record does not show it: its text is carried
    over from other records, and `proven_seq` is the last request before that showed the section at
    all (None where none did; `since_seq` is unknown where that one had another text).
    """

    source: str
    name: str
    target: str
    cache_hint: str
    chars: int | None
    tokens_logged: int | None
    tokens_estimate: int | None
    message_index: int | None
    text: str | None = None
    block_index: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    how: str = ""
    content_hash: str = ""
    since_seq: int | None = None
    changed: bool = False
    prompt_index: int | None = None
    verified: bool = True
    proven_seq: int | None = None


@dataclass(frozen=True, slots=True)
class ReminderView:
    """One reminder. `via` is `reminder`, `mcs` or `inline`.

    `block_index` counts in the message, `prompt_index` over the whole prompt; the offsets are code
    points of that block's text, without the tag. `presentation` is that of an incoming message.
    `trust` is `tagged`, `system` or `place`; one that only its place speaks for is not `counted`,
    since a tool may have printed it. `merged` tells that it shares a tag or a message with others.
    `verified` is false where the request's own record does not show it.
    """

    source: str
    via: str
    message_index: int
    ambiguous_with: tuple[str, ...] = ()
    block_index: int = 0
    start_char: int = 0
    end_char: int = 0
    presentation: str = ""
    trust: str = ""
    counted: bool = True
    merged: bool = False
    chars: int | None = None
    tokens_estimate: int | None = None
    content_hash: str = ""
    prompt_index: int | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True)
class McsView:
    """One mid-conversation system message and the sources merged in it. `verified` is false where
    the request's own record does not show it."""

    message_index: int
    sources: tuple[str, ...]
    chars: int | None = None
    content_hash: str = ""
    prompt_index: int | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True)
class McsStateView:
    """Did the request run with mid-conversation system messages? `state` is `on`, `off` or
    `undecidable`; `evidence` is a sentence about the message `message_index`, if there is one."""

    state: str
    evidence: str
    message_index: int | None = None


@dataclass(frozen=True, slots=True)
class InstructionFileView:
    """One instruction file inside `request_user_context`; `scope` is `user`, `workspace` or
    `memory`."""

    path: str
    scope: str
    message_index: int
    block_index: int
    start_char: int
    end_char: int
    chars: int
    truncated: bool
    truncation_note: str
    prompt_index: int | None = None


@dataclass(frozen=True, slots=True)
class DemotedView:
    """A mid-conversation message that could not stand where it was and became a tagged one."""

    message_index: int
    sources: tuple[str, ...]
    reason: str
    prompt_index: int | None = None


@dataclass(frozen=True, slots=True)
class UnverifiedTagView:
    """A text that looks like a reminder and is not counted as one; `why` says so in words."""

    message_index: int
    block_index: int
    start_char: int
    end_char: int
    why: str
    prompt_index: int | None = None


@dataclass(frozen=True, slots=True)
class ContributorView:
    """One thing that fills a category of the context usage."""

    kind: str
    label: str
    source: str
    chars: int | None
    tokens: int | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class UsageCategoryView:
    """One category. `chars` and `tokens` are those of `method`: `logged`, or `recomputed` from the
    prompt where the log has none or redacted them; the other number stands beside it."""

    name: str
    source: str
    chars: int | None
    tokens: int | None
    method: str
    logged_chars: int | None
    logged_tokens: int | None
    recomputed_chars: int | None
    recomputed_tokens: int | None
    redacted: bool
    complete: bool
    contributors: tuple[ContributorView, ...] = ()
    contributor_count: int = 0


@dataclass(frozen=True, slots=True)
class LeftoverView:
    """What the agent counts in no category: runtime reminders, mid-conversation messages."""

    kind: str
    count: int
    chars: int
    tokens: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextBreakdown:
    """The seven categories, what is in none of them, and three totals side by side: the agent's
    estimate, the BPE count, what the provider billed. `complete` is false for windowed prompts."""

    categories: tuple[UsageCategoryView, ...]
    leftovers: tuple[LeftoverView, ...]
    estimate_tokens: int
    bpe_tokens: int | None
    billed_tokens: int | None
    complete: bool
    logged_strength: str = ""


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """Billed input over BPE in a lane: the median with its spread, over `samples` whole requests.
    `remainder_tokens` is what the parts of this request do not explain of the billed input."""

    lane: str
    factor: float
    low: float
    high: float
    deviation: float
    samples: int
    method: str
    remainder_tokens: int | None


@dataclass(frozen=True, slots=True)
class WireView:
    """The message list of the logged request body beside the canonical one, in counts.

    `form` is `wire`, or `sdk` where the true body was not to be had. `messages` is the length of
    the body's list; `logged` of them are in the record (`window`: `full`, `delta` or `tail`), and
    `roles`, `blocks` and `markers` are of those. `canonical_messages` and `canonical_markers` leave
    out the system tier for the wire form, which has that apart. `words` says all this.
    """

    form: str
    window: str
    messages: int
    logged: int
    roles: dict[str, int]
    blocks: int
    markers: int
    canonical_messages: int | None
    canonical_markers: int
    digest: str
    words: str


@dataclass(frozen=True, slots=True)
class AnatomyView:
    """The anatomy of one request beside its sections, reminders and MCS messages."""

    variant: str
    variant_evidence: str
    mcs_state: McsStateView
    instruction_files: tuple[InstructionFileView, ...]
    demoted: tuple[DemotedView, ...]
    unverified: tuple[UnverifiedTagView, ...]
    usage: ContextBreakdown | None
    calibration: CalibrationView | None
    wire: WireView | None = None


@dataclass(frozen=True, slots=True)
class PresenceRun:
    """The same cell in requests `first_seq` to `last_seq` (seq of the session, both included).

    `cell` is `appeared`, `same`, `changed`, `moved`, `gone` or `unseen`. `block_index` is where the
    item stands in the prompt of the first request of the run (None where gone or unseen);
    `baseline_key` is the request before it that was made for the same purpose (whatever the model)
    and whose record shows what it had there, to compare with; empty where there is none.
    `baseline_seq` is its number.
    """

    cell: str
    first_seq: int
    last_seq: int
    first_key: str
    block_index: int | None
    baseline_key: str
    baseline_seq: int | None = None


PRESENCE_GROUPS = {"sections": "section", "reminders": "reminder", "mcs": "mcs", "tools": "tool"}
"""What the rows of a group are called (`PresenceRowView.group`), by the name of the group."""


@dataclass(frozen=True, slots=True)
class PresenceRowView:
    """One section, reminder source, MCS message or tool over a session. `group` is `section`,
    `reminder`, `mcs` or `tool`; `note` is the target and cache hint, or the channel."""

    group: str
    name: str
    note: str
    runs: tuple[PresenceRun, ...]
    changes: int


@dataclass(frozen=True, slots=True)
class PresenceLane:
    """The matrix of one lane: only its requests have cells. `seqs` are its requests in order."""

    lane: str
    seqs: tuple[int, ...]
    rows: tuple[PresenceRowView, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """How everything lived over a session, a matrix a lane, the main conversation first."""

    session_id: str
    requests: int
    lanes: tuple[PresenceLane, ...]
