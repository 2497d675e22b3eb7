"""Every component of the pages, drawn from fixed views by the partials that the pages use."""

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.findings import Level
from tracer.model.verdict import Result
from web import examples
from web.board import Board, make_board
from web.follower import FollowState
from web.layout.spark import spark
from web.pages._error import ErrorPage
from web.pages.sessions import SessionList, SessionRow
from web.panel import Panel, make_panel
from web.rendering import Chrome, Crumb, chrome, render
from web.urls import SessionState
from web.verdict import Callout, NoCallout, make_callout

GLYPHS = (
    ("Verdicts", tuple((f"v-{result.value}", result.value.replace("_", " ")) for result in Result)),
    (
        "Requests and events",
        tuple((name, name) for name in ("failed", "cancelled", "retry", "unknown", "compaction",
                                        "reset", "model", "subagent", "log", "late", "child")),
    ),
    ("Rules", tuple((f"rule-{level.value}", level.value) for level in Level)),
    ("Presence", tuple((name, name) for name in ("appeared", "changed", "moved", "gone"))),
    (
        "Comparison",
        tuple((f"op-{name}", name) for name in ("equal", "added", "changed", "removed", "moved",
                                                "reordered", "unknown")),
    ),
)  # fmt: skip
HATCHED = ("gap", "side", "unlogged", "unsplit", "carried", "lost", "over", "pause")
VERDICTS = (3, 2, examples.MISS, examples.PARTIAL, examples.REBUILD, examples.FAILED)


@dataclass(frozen=True, slots=True)
class Frame:
    """One state of the dot in the header."""

    name: str
    chrome: Chrome


@dataclass(frozen=True, slots=True)
class Numbers:
    """One number of each sort."""

    tokens: int = 125_440
    fraction: float = 0.968
    duration_ms: int = 4_863_000
    size_bytes: int = 5_242_880


@dataclass(frozen=True)
class PatternsPage:
    """The whole page."""

    template: ClassVar[str] = "pages/patterns.html"
    chrome: Chrome
    numbers: Numbers
    lives: tuple[Frame, ...]
    glyphs: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    hatched: tuple[str, ...]
    board: Board
    panel: Panel
    callouts: tuple[Callout | NoCallout, ...]
    found: SessionList
    failure: ErrorPage


@cache
def _parts() -> tuple[Board, Panel, tuple[Callout | NoCallout, ...], SessionList]:
    """What does not depend on who asks."""
    service = examples.Examples()
    state = SessionState(examples.SESSION, f"e{examples.MISS}", row="reminder:todo_reminder")
    board = make_board(examples.timeline(), examples.presence(), examples.around(), state)
    panel = make_panel(service, state, examples.session())
    callouts = tuple(make_callout(service, f"e{seq}") for seq in VERDICTS)
    row = SessionRow(examples.session(), "#", spark(examples.session().spark), "#", "#", "", "#")
    return board, panel, callouts, SessionList((row,), 1, 1, (), "", "", "")


def patterns(request: Request) -> Response:
    """The page."""
    frame = chrome(request, "Patterns", Crumb("Patterns"))
    board, panel, callouts, found = _parts()
    page = PatternsPage(
        chrome=frame,
        numbers=Numbers(),
        lives=_lives(frame),
        glyphs=GLYPHS,
        hatched=HATCHED,
        board=board,
        panel=panel,
        callouts=callouts,
        found=found,
        failure=ErrorPage(frame, 404, "Not Found", "There is no request 4f2a in this database."),
    )
    return render(request, page)


def _lives(frame: Chrome) -> tuple[Frame, ...]:
    states = (
        ("following", FollowState(following=True, what="~/.zcode/cli"), False),
        ("paused", FollowState(following=True), True),
        ("not following", FollowState(), False),
        ("an error", FollowState(error="the folder is gone"), False),
    )
    return tuple(
        Frame(name, replace(frame, follow=follow, paused=paused, live_id=f"live-{i}"))
        for i, (name, follow, paused) in enumerate(states)
    )


ROUTES = (Route("/patterns", patterns, name="patterns"),)
