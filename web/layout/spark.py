"""The spark line of the sessions list: read, written and fresh tokens over a session."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.views import SparkPoint
from web.layout.scale import rect

WIDTH = 120
HEIGHT = 20


@dataclass(frozen=True, slots=True)
class Spark:
    """Path data of the three areas; empty where there is nothing to draw."""

    read: str
    write: str
    fresh: str

    @property
    def empty(self) -> bool:
        """Whether no request reported any input."""
        return not (self.read or self.write or self.fresh)


def spark(points: Sequence[SparkPoint]) -> Spark:
    """Stacked bars in a box of 120 by 20: read below, then written, fresh on top."""
    top = max((p.read_tokens + p.write_tokens + p.fresh_tokens for p in points), default=0)
    if not top:
        return Spark("", "", "")
    step = min(WIDTH / len(points), 12)
    wide = step - (1 if step >= 4 else 0)
    paths: tuple[list[str], list[str], list[str]] = ([], [], [])
    for i, point in enumerate(points):
        y = float(HEIGHT)
        for path, tokens in zip(
            paths, (point.read_tokens, point.write_tokens, point.fresh_tokens), strict=True
        ):
            high = HEIGHT * tokens / top
            y -= high
            path.append(rect(i * step, y, wide, high))
    return Spark(*("".join(path) for path in paths))
