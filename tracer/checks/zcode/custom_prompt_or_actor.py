"""A prompt of a person's own and the identity of a workflow actor never stand in one prefix.

Each of them replaces the agent's own identity. With both, the model has two masters and no agent's
rules.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import HEAD, conversation, same_head
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "A custom prompt or a workflow actor, never both"
SOURCE = "formats/zcode.md 7.2"

REPORT = Reporter(__name__, LEVEL)
_BOTH = frozenset({"custom_system_prompt", "workflow_actor_identity"})
_NEEDS = "the log's line `context.built`: the prompt has a layout that is not known"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for the first request with both, by its log or by its prompt."""
    told: set[int] = set()
    for request in conversation(session):
        logged = {s.source for s in request.built.sections} if request.built else set()
        placed = {s.source: s.message_index for s in request.sections}
        if logged >= _BOTH and id(request.built) not in told:
            told.add(id(request.built))
            yield REPORT.found(
                request,
                "The log names a custom prompt and a workflow actor among the sections.",
                placed.get("custom_system_prompt"),
                sections=", ".join(s.source for s in request.built.sections if s.source in _BOTH)
                if request.built
                else "",
            )
        elif placed.keys() >= _BOTH and not same_head(session, request):
            yield REPORT.found(
                request,
                "The prompt holds a custom prompt and a workflow actor.",
                placed["custom_system_prompt"],
                workflow_actor_in_message=placed["workflow_actor_identity"],
            )
        elif not request.head_proven:
            yield REPORT.needs(HEAD, request)
        elif request.variant == Variant.UNKNOWN and not logged:
            yield REPORT.needs(_NEEDS, request)
