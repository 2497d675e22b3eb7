"""What comparing two requests gives, to the command line and to the web alike.

A is the baseline, B the request in question. Indexes count from 0. Tokens are BPE counts where a
block is counted, else the agent's own estimate.
"""

from dataclasses import dataclass
from typing import NamedTuple

from tracer.model.comparison import (
    Change,
    Comparison,
    Divergence,
    FieldChange,
    HunkPage,
    Line,
    Op,
)
from tracer.model.prompt import Part
from tracer.model.views import Evidence, RequestSummary

PAGE_HUNKS = 20
CONTEXT_LINES = 3
MAX_LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class RequestChoice:
    """A request that could be compared instead."""

    key: str
    seq: int
    started_at_ms: int | None
    model_id: str
    query_source: str
    side_call: bool
    has_prompt: bool


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One of the two requests with the size of its prompt.

    `chars` are Unicode code points. `choices` are the requests around it in its session, itself
    included; `previous_key` and `next_key` are its neighbours, empty where there is none.
    """

    request: RequestSummary
    session_title: str
    blocks: int
    chars: int
    tokens: int
    uncounted_blocks: int
    choices: tuple[RequestChoice, ...] = ()
    previous_key: str = ""
    next_key: str = ""


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change, or a run of equal blocks, with its place and size on either side.

    `index` is its number in the comparison. A place is in words (`message 12`, `tool 3`); on a side
    without a block it is empty and the sizes are None. `preview` is the beginning of B's text, of
    A's where B has none.
    """

    index: int
    change: Change
    part: Part
    a_place: str
    b_place: str
    a_tokens: int | None
    b_tokens: int | None
    a_chars: int | None
    b_chars: int | None
    preview: str


@dataclass(frozen=True, slots=True)
class DivergenceView:
    """The first difference: the block on either side, and the changed lines around it.

    `change_index` is the change that it belongs to. `lines` is empty where the texts are equal or
    nothing of them was logged.
    """

    where: Divergence
    a_label: str
    b_label: str
    change_index: int | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class HiddenEdit:
    """An edit that the verdict on a request (`key`, number `seq`) found in a message of which the
    record shows nothing; `one_line` is the verdict's."""

    key: str
    seq: int
    message_index: int
    one_line: str


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Two requests compared. `comparison` is None where the log of either holds no prompt.

    `limits` says in words what the logs do not show and what that blocks. `baseline_key` is the
    request that B is compared with unless told otherwise, empty where there is none, and
    `baseline_reason` says why it was chosen. `hidden_edits` stand between A and B, and neither of
    their texts shows them.
    """

    a: ComparedSide
    b: ComparedSide
    comparison: Comparison | None
    divergence: DivergenceView | None
    changes: tuple[ChangeView, ...]
    limits: tuple[Evidence, ...]
    baseline_key: str = ""
    baseline_reason: str = ""
    hidden_edits: tuple[HiddenEdit, ...] = ()

    def blocks_by_op(self) -> dict[Op, int]:
        """How many blocks each operation met."""
        found = dict.fromkeys(Op, 0)
        for made in self.changes:
            found[made.change.op] += made.change.count
        return found


@dataclass(frozen=True, slots=True)
class BlockLabel:
    """One block of a run of equal blocks."""

    b_index: int
    label: str
    part: Part
    tokens: int
    preview: str


@dataclass(frozen=True, slots=True)
class HunksAsked:
    """How much of a change is asked for: hunks (or equal blocks) from `offset` on, `limit` at most,
    with `context` equal lines around changed ones. `max_line_chars` None gives whole lines,
    `reveal` shows secrets."""

    offset: int = 0
    limit: int = PAGE_HUNKS
    context: int = CONTEXT_LINES
    max_line_chars: int | None = MAX_LINE_CHARS
    reveal: bool = False


@dataclass(frozen=True, slots=True)
class HunksView:
    """The inside of one change: a page of its hunks, and what changed beside the text.

    For a run of equal blocks there are no hunks but `blocks`, a page of them from `offset` on.
    `next_offset` is None on the last page; `total` counts hunks or blocks.
    """

    change: ChangeView
    fields: tuple[FieldChange, ...]
    page: HunkPage | None
    blocks: tuple[BlockLabel, ...]
    total: int
    next_offset: int | None


class LinePiece(NamedTuple):
    """A piece of a line of a hunk. `changed` marks changed words; `hidden` is the name of a
    character that cannot be seen, where the piece is one."""

    text: str
    changed: bool
    hidden: str = ""
