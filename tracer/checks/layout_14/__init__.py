"""The rules of the layout with 14 segments (docs/formats/context-trace.md): one rule a file."""

from tracer.checks.case import CheckedSession

LAYOUT = "layout-14"


def applies(session: CheckedSession) -> bool:
    """Whether a request of the session says that its prompt has this layout."""
    return any(request.layout.layout == LAYOUT for request in session.requests)
