"""What a lane is, and what it draws. A lane is a thin strip below the bars, on the same axis."""

from collections.abc import Callable
from dataclasses import dataclass

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.axis import Axis

ROW_HEIGHT = 21
MIDDLE = 10


@dataclass(frozen=True, slots=True)
class Scene:
    """What a lane draws from: the whole session, and the axis of the window. `child_href` gives the
    address of a subagent's session, at a request where a key is given."""

    timeline: Timeline
    around: Surroundings
    axis: Axis
    child_href: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class LaneMark:
    """A glyph at x percent, y pixels. `title` is empty where the column's name says it all; one
    with an `href` is a link."""

    glyph: str
    x: float
    y: int = MIDDLE
    text: str = ""
    title: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class LaneSpan:
    """A stretch of a lane in percent, with its label where there is room for it."""

    css: str
    x: float
    width: float
    label: str
    y: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class LaneBars:
    """Bars of one colour, as path data in the stretched box of all lanes."""

    css: str
    path: str
    hatched: bool = False


@dataclass(frozen=True, slots=True)
class RowName:
    """The name of a row at the left; `note` in small letters behind it, `hint` on demand."""

    name: str
    note: str = ""
    hint: str = ""
    href: str = ""
    y: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """What a lane draws, from its own top downwards. `ruled` draws a base line in each row."""

    rows: tuple[RowName, ...]
    spans: tuple[LaneSpan, ...] = ()
    marks: tuple[LaneMark, ...] = ()
    bars: Callable[[int], tuple[LaneBars, ...]] | None = None
    """Called with the lane's top, for what cannot be moved afterwards."""
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane that can be switched on and off. `order` decides where it stands, `shown` whether it
    is drawn unless somebody switches it off, `has` whether a session has anything for it."""

    name: str
    order: int
    label: str
    hint: str
    draw: Callable[[Scene], Piece]
    has: Callable[[Timeline, Surroundings], bool]
    shown: bool = True


def label(text: str, width_percent: float) -> str:
    """The text cut to what fits in a stretch of a usual screen; empty where nothing would."""
    room = int(width_percent * 8.6 / 6.2) - 1
    if len(text) <= room:
        return text
    return text[: room - 1] + "…" if room >= 5 else ""
