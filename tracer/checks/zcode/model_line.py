"""The section about the environment names the model that the request is sent to.

The model reads there which one it is. After a switch, a line that still names the old one misleads
it, and tells that the prefix was not built again.
"""

import re
from collections.abc import Iterator

from tracer.anatomy.prompt import PlacedSection
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import HEAD, conversation, section_text
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "The environment names the model in use"
SOURCE = "formats/zcode.md 7.1"

REPORT = Reporter(__name__, LEVEL)
_NEEDS_LINE = "a line with the model in the section about the environment"
_SECTIONS = frozenset({"env_info", "subagent_environment"})
_NAME = re.compile(r"(?<![\w/~.\\])\w[\w.:@-]*/[\w.:@/-]*\w")


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each request whose environment names other models only."""
    seen: dict[tuple[str, str, str], bool] = {}
    for request in conversation(session):
        for section in request.sections:
            if section.source not in _SECTIONS:
                continue
            if not request.proves(section.message_index):
                yield REPORT.needs(HEAD, request)
                continue
            key = section.content_hash, request.provider_id, request.model_id
            if key not in seen:
                seen[key] = True
                yield from _compared(request, section)


def _compared(request: CheckedRequest, section: PlacedSection) -> Iterator[Found]:
    text = section_text(request, section)
    used = f"{request.provider_id}/{request.model_id}"
    if used in text or not request.model_id:
        return
    names = [
        name
        for line in text.splitlines()
        if "model" in line.casefold()
        for name in _NAME.findall(line)
    ]
    if not names:
        yield REPORT.needs(_NEEDS_LINE, request)
        return
    yield REPORT.found(
        request,
        f"The request was sent to {used}, and message {section.message_index} names "
        f"{', '.join(names)}.",
        section.message_index,
        sent_to=used,
        named=", ".join(names),
    )
