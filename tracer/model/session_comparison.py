"""Two sessions side by side: what their prompts were made of, and what they cost."""

from dataclasses import dataclass
from enum import StrEnum

from tracer.model.views import SessionSummary


class Group(StrEnum):
    """What a row of the comparison is about, in the order they are shown."""

    SECTION = "section"
    TOOL = "tool"
    REMINDER = "reminder"
    MCS = "mcs"
    MODEL = "model"


class State(StrEnum):
    """How the two sides of a row stand to each other. CHANGED: the same thing with another text;
    MIXED: some of its texts are the same. Of reminders and models texts are not looked at, since a
    note says something else each time: SAME then means as often, BOTH that it is in both and not as
    often."""

    SAME = "same"
    MIXED = "mixed"
    CHANGED = "changed"
    ONLY_A = "only_a"
    ONLY_B = "only_b"
    BOTH = "both"


STATE_WORDS = {
    State.SAME: "the same",
    State.MIXED: "partly the same",
    State.CHANGED: "other text",
    State.ONLY_A: "only in A",
    State.ONLY_B: "only in B",
    State.BOTH: "in both",
}
"""A state in words."""


@dataclass(frozen=True, slots=True)
class Version:
    """One text that a section or tool had in a session: in how many requests, first in which, at
    which block of its prompt (None: unknown). `tokens` is the BPE count of a tool, the agent's
    estimate of a section; None where unknown."""

    content_hash: str
    requests: int
    first_seq: int
    first_key: str
    block_index: int | None
    chars: int | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """A section, tool, reminder source or model of one session. `requests` have it, `count` is how
    often it stands in them all (a reminder may stand in a prompt several times). `versions` are in
    order of appearance, empty where texts are not looked at."""

    requests: int
    count: int
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One thing in both sessions, or in one of them."""

    group: Group
    name: str
    state: State
    a: Member | None
    b: Member | None


@dataclass(frozen=True, slots=True)
class SessionSide:
    """One of the two. `prompts` is how many of its requests the log shows a prompt of: a row can
    only be missing from what was seen."""

    session: SessionSummary
    prompts: int
    members: dict[tuple[Group, str], Member]


@dataclass(frozen=True, slots=True)
class SessionComparison:
    """The two sides, and every row: by group, in the order of A, then what only B has."""

    a: SessionSide
    b: SessionSide
    rows: tuple[SessionRow, ...]
