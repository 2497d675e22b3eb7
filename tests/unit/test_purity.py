"""The guard of the unit tests refuses I/O, and only I/O."""

import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def _connect() -> None:
    with socket.socket() as unused:
        unused.connect(("127.0.0.1", 9))


@pytest.mark.parametrize(
    ("event", "act"),
    [
        ("open", lambda: open(__file__)),  # noqa: SIM115
        ("open", lambda: Path(__file__).read_text()),
        ("open", lambda: os.open(__file__, os.O_RDONLY)),
        ("sqlite3.connect", lambda: sqlite3.connect(":memory:")),
        ("socket.connect", _connect),
        ("subprocess.Popen", lambda: subprocess.Popen([sys.executable, "-c", ""])),
        ("os.listdir", lambda: os.listdir(".")),
    ],
)
def test_io_is_refused(event: str, act: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match=event):
        act()


def test_io_cannot_be_hidden_by_catching_exceptions() -> None:
    def hides() -> None:
        try:
            open(__file__)  # noqa: SIM115
        except Exception:
            return

    with pytest.raises(pytest.fail.Exception, match="does I/O"):
        hides()


def test_a_first_import_is_allowed() -> None:
    sys.modules.pop("colorsys", None)
    import colorsys

    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
