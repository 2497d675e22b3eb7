"""What a search is asked for and what it gives, to the command line and to the web alike.

A *text* is stored once, however often it was sent; a *use* is a session that has it. Offsets are
Unicode code points, times UTC epoch milliseconds. None is unknown.
"""

from dataclasses import dataclass

from tracer.model.source import SourceRef

BLOCK_KINDS = (
    "user", "assistant", "reasoning", "tool-call", "tool-result", "reminder", "context", "mcs",
    "system", "section", "tool", "other",
)  # fmt: skip
"""Kinds of texts that stand in prompts and answers; `section` is a section's text as the log of
the agent tells it, `tool` a tool's schema."""

ROW_KINDS = ("message", "tool-row", "record", "event", "agent", "todo", "title", "error")
"""Kinds of texts beside the prompts: messages, tool rows and other records of a session database,
lines of logs, runs of subagents, steps, titles, and errors of requests."""

KINDS = (*BLOCK_KINDS, *ROW_KINDS)


@dataclass(frozen=True, slots=True)
class SearchAsked:
    """A query with its filters; an empty filter lets everything pass. `exact` tells upper from
    lower case. `offset` and `limit` count texts."""

    query: str
    session_id: str = ""
    kind: str = ""
    section: str = ""
    source: str = ""
    exact: bool = False
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """The text around the first match; `matches` are (start, end) in `text`. `cut_before` and
    `cut_after` characters of the whole text are left out. Secrets are masked."""

    text: str
    matches: tuple[tuple[int, int], ...]
    cut_before: int
    cut_after: int


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where a text stands: in the first prompt that carried it, or in which row.

    `index` counts over the whole prompt. `section` and `reminder` are those around the first match,
    empty where there is none. `name` is a tool's name, the name of an event or of a file.
    """

    kind: str
    tier: str = ""
    role: str = ""
    message_index: int | None = None
    block_index: int | None = None
    index: int | None = None
    section: str = ""
    reminder: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class TextUse:
    """A session that has a text. `times_sent` counts its requests whose prompt contains it; None
    for texts that are no part of a prompt. `first_*` and `last_*` are those requests by start,
    with the text's place in their prompts; the keys are empty where no request is known.
    `answered_key` is the request whose answer it was."""

    session_id: str
    session_title: str
    first_key: str = ""
    first_seq: int | None = None
    first_index: int | None = None
    last_key: str = ""
    last_seq: int | None = None
    last_index: int | None = None
    times_sent: int | None = None
    answered_key: str = ""
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class FoundText:
    """One text with its matches. `matches` counts them, `more_uses` are sessions left out."""

    place: FoundPlace
    piece: FoundPiece
    matches: int
    chars: int
    uses: tuple[TextUse, ...]
    more_uses: int
    wire_hash: str
    source: SourceRef | None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of what was found, the texts that were stored last first.

    `total` counts texts; `at_least` says that there are more. `unsearched` counts texts that were
    not looked at: the search stopped before the oldest ones of a very large database.
    """

    asked: SearchAsked
    texts: tuple[FoundText, ...]
    total: int
    at_least: bool
    unsearched: int


@dataclass(frozen=True, slots=True)
class SearchChoices:
    """What a search can be narrowed to: sections of prompts, sources of reminders."""

    sections: tuple[str, ...]
    sources: tuple[str, ...]
