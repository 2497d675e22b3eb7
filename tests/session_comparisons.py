"""Two sessions compared, with a row in every state."""

from tests.integration import test_cli_fakes as fakes
from tracer.compare.sessions import compare_sessions
from tracer.model.session_comparison import (
    Group,
    Member,
    SessionComparison,
    SessionSide,
    Version,
)


def a_version(content_hash: str, *, block: int | None = 3, tokens: int | None = 90) -> Version:
    """A text that two requests hold, first request 2."""
    return Version(content_hash, 2, 2, "sess_demo-2", block, tokens and 4 * tokens, tokens)


def a_member(*hashes: str) -> Member:
    """Something with these texts."""
    return Member(2 * len(hashes) or 3, 2 * len(hashes) or 5, tuple(map(a_version, hashes)))


def a_session_comparison() -> SessionComparison:
    """One section the same, one changed, one partly the same, one on each side alone, a note."""
    env, memory, skills = ((Group.SECTION, n) for n in ("env_info", "memory", "skills"))
    note, read, grep = (Group.REMINDER, "todo_reminder"), (Group.TOOL, "Read"), (Group.TOOL, "Grep")
    a = {env: a_member("1"), memory: a_member("1"), skills: a_member("1", "2"), note: a_member(),
         read: a_member("r")}  # fmt: skip
    unknown = Member(1, 1, (a_version("g", block=None, tokens=None),))
    b = {env: a_member("1"), memory: a_member("2"), skills: a_member("2"), note: a_member(),
         grep: unknown}  # fmt: skip
    return compare_sessions(
        SessionSide(fakes.a_session(), 3, a), SessionSide(fakes.a_bare_session(), 0, b)
    )
