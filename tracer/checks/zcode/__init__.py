"""The rules of ZCode (docs/formats/zcode.md 7 to 9): one rule a file."""

from tracer.checks.case import CheckedSession

AGENT = "ZCode"


def applies(session: CheckedSession) -> bool:
    """Whether the session's files are those of ZCode, or of a fork of it."""
    return session.agent == AGENT
