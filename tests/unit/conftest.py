"""Unit tests do no I/O: an audit hook refuses it while a test runs.

So a unit test that passes shows that what it called is pure. Importing is allowed (which modules
the pure core may import is the import contracts' matter), and so is everything before and after the
call of the test itself. Two modules are about files, and are exempt.
"""

import sys
import threading
from collections.abc import Generator
from types import FrameType

import pytest

EXEMPT = frozenset({"test_tokens_bpe.py", "test_sample_generator.py"})
FORBIDDEN = frozenset(
    {
        "open",
        "os.listdir",
        "os.mkdir",
        "os.posix_spawn",
        "os.remove",
        "os.rename",
        "os.scandir",
        "os.system",
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "sqlite3.connect",
        "subprocess.Popen",
    }
)

_armed_threads: set[int] = set()


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if event not in FORBIDDEN or threading.get_ident() not in _armed_threads:
        return
    if not _is_importing(sys._getframe(1)):
        # An outcome of pytest is no Exception, so the code under test does not swallow it.
        pytest.fail(f"a unit test does I/O: {event}{args!r}")


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap_external>":
            return True
        frame = frame.f_back
    return False


sys.addaudithook(_refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Arm the hook for the call of a test, and for nothing else."""
    if item.path.name in EXEMPT:
        return (yield)
    _armed_threads.add(threading.get_ident())
    try:
        return (yield)
    finally:
        _armed_threads.discard(threading.get_ident())
