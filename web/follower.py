"""Following files in the background while the pages are served."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

from tracer import service
from tracer.errors import TracerError

_PATIENCE_S = 5.0
_INTERVAL_S = 0.3
"""With the 0.7 s at which pages ask, a new line is on the screen well within 1.5 s."""


@dataclass(frozen=True, slots=True)
class FollowState:
    """What the pages say about following: on or off, what, and why it stopped."""

    following: bool = False
    what: str = ""
    error: str = ""


class Following(Protocol):
    """What the application needs of a follower."""

    @property
    def state(self) -> FollowState:
        """The state right now."""

    def start(self) -> None:
        """Begin to follow."""

    def stop(self) -> None:
        """Stop, and wait until nothing is being written."""


class Follower:
    """Runs `tracer.service.follow` in a thread from `start` to `stop`."""

    def __init__(self, db_path: Path, paths: Sequence[str], root: Path | None = None) -> None:
        self._db_path = db_path
        self._paths = tuple(paths)
        self._root = root
        self._stop = Event()
        self._error = ""
        self._thread: Thread | None = None

    @property
    def state(self) -> FollowState:
        """Whether the thread is alive, and the message it ended with."""
        alive = self._thread is not None and self._thread.is_alive()
        what = ", ".join(self._paths) or "the default locations"
        return FollowState(following=alive and not self._error, what=what, error=self._error)

    def start(self) -> None:
        """Begin to follow in a daemon thread."""
        self._thread = Thread(target=self._run, name="follow", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end, and wait a few seconds for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        try:
            service.follow(
                self._db_path,
                self._paths,
                root=self._root,
                interval_s=_INTERVAL_S,
                stop=self._stop,
            )
        except TracerError as error:
            self._error = str(error)
        except Exception as error:  # a thread must not die in silence: the pages show it
            self._error = f"Following stopped: {type(error).__name__}: {error}"
            raise
