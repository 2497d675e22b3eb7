"""What comparing two prompts, or two texts, gives. A is the baseline, B the prompt in question.

Indexes count from 0: over the whole prompt unless said otherwise. `chars` and character offsets
are Unicode code points of a block's text; line numbers count from 1.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tracer.model.prompt import Marker, Tier


class Op(StrEnum):
    """What happened to a block from A to B.

    MOVED: the same content stands elsewhere. REORDERED: moved, and nothing in its tier came or
    went. UNKNOWN: the other log did not show the place where the block would have to be.
    """

    EQUAL = "equal"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    REORDERED = "reordered"
    UNKNOWN = "unknown"


class Relation(StrEnum):
    """How B as a whole relates to A.

    APPENDED: B is A and more. TRUNCATED: B is the beginning of A. UNKNOWN: what the logs hide
    decides. Where something is hidden (`Comparison.hidden`), the others say what the rest shows.
    """

    IDENTICAL = "identical"
    APPENDED = "appended"
    TRUNCATED = "truncated"
    DIVERGED = "diverged"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Common:
    """A common prefix, in whole blocks. Tokens are those of B's blocks.

    `verified_blocks` counts the leading blocks that the records of both requests prove; the others
    were carried over from earlier records.
    """

    blocks: int
    chars: int
    tokens: int
    verified_blocks: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference of two prompts, on the way of a cache that reads them from the front.

    `index` is B's block, `a_index` A's. `tier`, `tier_index`, `message_index` and `block_index`
    place it: in B, or in A where A's block belongs to an earlier tier (the last tool was removed).
    `char_offset` counts inside the block's text, `message_char_offset` inside the texts of its
    whole message; both are 0 or the block's start where the blocks differ before their texts, or
    in something else than their texts (`differs`). `token_offset` counts from the start of B:
    exact at a block's boundary, proportional inside a block.

    `before` and `after` are A's and B's text around the place, both from `snippet_start` on.
    `after_gap`: the logs hide messages before this place, which could differ as well.
    `verified`: both records prove their block.
    """

    tier: Tier
    index: int
    a_index: int
    tier_index: int
    message_index: int | None
    block_index: int
    char_offset: int
    message_char_offset: int
    token_offset: int
    before: str
    after: str
    snippet_start: int
    differs: tuple[str, ...]
    label: str
    after_gap: bool = False
    verified: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """One block's way from A to B, or a run of `count` equal blocks.

    `differs` names what is not the same: `text`, `serialisation` (the same JSON, written
    differently), `kind`, `role`, `shape` (a string or an array), `name`, `call_id`, `extra` (other
    keys of the block), `message_notes` (other keys of the message), `message_start` (the message
    is cut elsewhere), `notes_place` (the message's other keys are kept with another block, because
    the block before came or went), `tier`. `same_meaning`: the bytes differ, the meaning does not.
    `out_of_place`: a changed block that also stands elsewhere. Hashes are wire hashes, empty for
    an equal run and for a side on which there is no block.
    """

    op: Op
    tier: Tier
    a_index: int | None
    b_index: int | None
    label: str
    count: int = 1
    a_hash: bytes = b""
    b_hash: bytes = b""
    differs: tuple[str, ...] = ()
    same_meaning: bool = False
    out_of_place: bool = False
    verified: bool = True


@dataclass(frozen=True, slots=True)
class MarkerChange:
    """Two aligned blocks of which one carries another cache marker than the other."""

    a_index: int
    b_index: int
    before: Marker | None
    after: Marker | None


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the logs did not show. `shift_messages` is how many messages more B has before the
    first block after the gap that both show; None where there is no such block. Other than 0 it
    proves that B is not A and more, though not where they part."""

    a_messages: int
    b_messages: int
    tools: bool
    shift_messages: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two prompts compared. `changes` follow B, a removed block stands where it was in A.

    `common` is what the logs show to be the same; `common_at_most` what it could be if everything
    hidden were the same (the two are equal where nothing is hidden).
    """

    a_blocks: int
    b_blocks: int
    relation: Relation
    common: Common
    common_at_most: Common
    first_divergence: Divergence | None
    changes: tuple[Change, ...]
    marker_changes: tuple[MarkerChange, ...] = ()
    hidden: Hidden | None = None

    @property
    def same_content(self) -> bool:
        """Whether every block of both was seen and is the same."""
        return all(change.op is Op.EQUAL for change in self.changes)

    @property
    def marker_only(self) -> bool:
        """Whether cache markers are all that differs: no change."""
        return bool(self.marker_changes) and self.same_content

    @property
    def same_meaning(self) -> bool:
        """Whether bytes differ and the meaning does not."""
        return not self.same_content and all(
            change.op is Op.EQUAL or (change.op is Op.CHANGED and change.same_meaning)
            for change in self.changes
        )


class FieldChange(NamedTuple):
    """A field of a block other than its text, before and after."""

    field: str
    before: str
    after: str


class Invisible(NamedTuple):
    """A character that a reader cannot see, at an offset in its line."""

    offset: int
    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk. `op` is ` `, `-` or `+`; `a_line` or `b_line` is None on the side where
    it does not exist. `spans` are the changed pieces inside it (start, end), empty where the whole
    line is new. Of a long line only a part is given: `cut_before` and `cut_after` characters are
    left out, and offsets count in what is left."""

    op: str
    a_line: int | None
    b_line: int | None
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    invisible: tuple[Invisible, ...] = ()
    cut_before: int = 0
    cut_after: int = 0


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with the equal lines around them.

    `folded_before` equal lines are left out before it. `continued`: it is the rest of the hunk
    before it, which was too long. Starts are line numbers, of the next line where a side has none.
    """

    a_start: int
    a_count: int
    b_start: int
    b_count: int
    lines: tuple[Line, ...]
    folded_before: int = 0
    continued: bool = False


@dataclass(frozen=True, slots=True)
class HunkPage:
    """Some of the hunks of two texts, from `offset` on; `total` in all. `next_offset` is None on
    the last page, and only there `folded_after` counts the equal lines that follow the last hunk.

    `pretty`: the texts are JSON and were laid out for reading. `fallback` says, in a sentence, why
    the hunks may be longer than needed; empty if they are not.
    """

    hunks: tuple[Hunk, ...]
    offset: int
    total: int
    next_offset: int | None
    added_lines: int
    removed_lines: int
    folded_after: int
    pretty: bool
    fallback: str


class TextKind(StrEnum):
    """What kind of text changed, where the text itself proves it."""

    DATE = "date"
    TIME = "time"
    ISO_TIMESTAMP = "iso_timestamp"
    NONCE = "nonce"
    GIT_STATUS = "git_status"
    CWD = "cwd"
    MODEL = "model"
    USAGE = "usage"
    SKILLS = "skills"
    INSTRUCTIONS = "instructions"
    MEMORY = "memory"
    MCP_INSTRUCTIONS = "mcp_instructions"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, [start, end), and the text around it from `window_start` on."""

    start: int
    end: int
    text: str
    window: str
    window_start: int


@dataclass(frozen=True, slots=True)
class TextChange:
    """One change inside a text. `kind` is None where the text does not prove what it is. `detail`
    names what changed where that is known: a file's path, the skills that came and went."""

    kind: TextKind | None
    before: Span
    after: Span
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TextChanges:
    """The changes inside a text in order. `more` counts those that were not looked at."""

    changes: tuple[TextChange, ...]
    more: int = 0

    @property
    def kinds(self) -> tuple[TextKind, ...]:
        """The kinds that were established, each once, in order."""
        found = (change.kind for change in self.changes)
        return tuple(dict.fromkeys(kind for kind in found if kind is not None))
