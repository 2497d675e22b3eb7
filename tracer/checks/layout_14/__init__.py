"""The rules of the 14-segment layout (docs/formats/context-trace.md): one rule a file."""

from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import LAYOUT


def applies(session: CheckedSession) -> bool:
    """Whether a request of the session says that its prompt has this layout."""
    return any(request.layout.layout == LAYOUT for request in session.requests)
