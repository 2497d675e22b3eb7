"""Two sessions side by side: what they cost, and what their prompts were made of."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.session_comparison import (
    STATE_WORDS,
    Group,
    Member,
    SessionComparison,
    SessionRow,
    State,
    Version,
)
from tracer.model.views import SessionSummary
from web.layout.spark import Spark, spark
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, compare_url

MOST_SESSIONS = 100
_GROUPS = {
    Group.SECTION: "Sections",
    Group.TOOL: "Tools",
    Group.REMINDER: "Reminders",
    Group.MCS: "Mid-conversation system messages",
    Group.MODEL: "Models",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sessions. `prompts` of its requests have a prompt in the log."""

    letter: str
    session: SessionSummary
    prompts: int
    href: str
    spark: Spark


@dataclass(frozen=True, slots=True)
class Line:
    """A row: the words of its state, its glyph, and the address of the difference of two texts."""

    row: SessionRow
    words: str
    glyph: str
    href: str


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one kind; those that are the same in both are folded."""

    name: str
    lines: tuple[Line, ...]
    same: tuple[Line, ...]


@dataclass(frozen=True)
class SessionsComparedPage:
    """The whole page. Without two sessions only the form is shown."""

    template: ClassVar[str] = "pages/compare_sessions.html"
    chrome: Chrome
    choices: tuple[SessionSummary, ...]
    a_id: str
    b_id: str
    sides: tuple[Side, ...]
    parts: tuple[Part, ...]
    swap: str


def _line(row: SessionRow) -> Line:
    glyph = {
        State.ONLY_A: "op-removed",
        State.ONLY_B: "op-added",
        State.SAME: "op-equal",
        State.BOTH: "op-moved",
    }
    return Line(row, STATE_WORDS[row.state], glyph.get(row.state, "op-changed"), _difference(row))


def _difference(row: SessionRow) -> str:
    """The comparison of the first requests that hold the two texts, at the block."""
    if row.a is None or row.b is None or row.state not in (State.CHANGED, State.MIXED):
        return ""
    first, second = _own(row.a, row.b), _own(row.b, row.a)
    return compare_url(first.first_key, second.first_key, second.block_index)


def _own(member: Member, other: Member) -> Version:
    """The first text that the other side does not have, else the first."""
    known = {version.content_hash for version in other.versions}
    fresh = (v for v in member.versions if v.content_hash not in known)
    return next(fresh, member.versions[0])


def _parts(compared: SessionComparison) -> tuple[Part, ...]:
    parts = []
    for group, name in _GROUPS.items():
        lines = [_line(row) for row in compared.rows if row.group is group]
        if lines:
            shown = tuple(line for line in lines if line.row.state is not State.SAME)
            same = tuple(line for line in lines if line.row.state is State.SAME)
            parts.append(Part(name, shown, same))
    return tuple(parts)


def _sides(compared: SessionComparison) -> tuple[Side, ...]:
    return tuple(
        Side(letter, side.session, side.prompts, SessionState(side.session.session_id).page,
             spark(side.session.spark))
        for letter, side in (("A", compared.a), ("B", compared.b))
    )  # fmt: skip


def sessions_compared(request: Request) -> Response:
    """The page: two sessions, or the form to choose them."""
    service = service_of(request)
    revision = service.revision()
    a, b = (request.query_params.get(name, "") for name in ("a", "b"))
    compared = service.compare_sessions(a, b) if a and b else None
    crumbs = Crumb("Sessions", "/"), Crumb("Compare sessions")
    return render(request, SessionsComparedPage(
        chrome=chrome(request, "Compare sessions", *crumbs, revision=revision),
        choices=service.sessions(limit=MOST_SESSIONS).sessions,
        a_id=a,
        b_id=b,
        sides=_sides(compared) if compared else (),
        parts=_parts(compared) if compared else (),
        swap="?" + urlencode({"a": b, "b": a}, errors="surrogatepass") if compared else "",
    ))  # fmt: skip


ROUTES = (Route("/compare/sessions", sessions_compared, name="compare.sessions"),)
