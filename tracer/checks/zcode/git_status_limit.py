"""The status in the section about the repository is cut at 2,000 characters, and a line says so;
at most five commits follow.

A tree full of untracked files would otherwise be a part of every request.
"""

import re
from collections.abc import Iterator

from tracer.anatomy.prompt import PlacedSection
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import HEAD, conversation, section_text
from tracer.model.findings import Level
from tracer.tokens import utf16_length

LEVEL = Level.ERROR
TITLE = "Git status is cut at 2,000 characters"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
LIMIT_CHARS = 2_000
COMMITS = 5
_STATUS = re.compile(r"^Status:[ \t]*\n(?P<status>.*?)(?=\n+Recent commits:|\Z)", re.M | re.S)
_COMMITS = re.compile(r"^Recent commits:[ \t]*\n(?P<commits>.*)", re.M | re.S)
_COMMIT = re.compile(r"^[0-9a-f]{7,40} ", re.M)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each longer status, and for more commits."""
    seen: set[str] = set()
    for request in conversation(session):
        for section in request.sections:
            if section.source != "system_context" or section.content_hash in seen:
                continue
            if not request.proves(section.message_index):
                yield REPORT.needs(HEAD, request)
                continue
            seen.add(section.content_hash)
            yield from _measured(request, section)


def _measured(request: CheckedRequest, section: PlacedSection) -> Iterator[Found]:
    text, at = section_text(request, section), section.message_index
    status = _STATUS.search(text)
    if status is None:
        yield REPORT.needs("a line `Status:` in the section about the repository", request)
        return
    length = utf16_length(status["status"])
    shown = utf16_length(status["status"].rpartition("\n")[0])  # the last line is the note
    if length > LIMIT_CHARS and shown > LIMIT_CHARS:
        yield REPORT.found(
            request,
            f"The git status in message {at} has {length:,} characters.",
            at,
            characters=length,
            limit=LIMIT_CHARS,
        )
    commits = _COMMITS.search(text)
    count = len(_COMMIT.findall(commits["commits"])) if commits else 0
    if count > COMMITS:
        yield REPORT.found(
            request, f"Message {at} lists {count} commits.", at, commits=count, limit=COMMITS
        )
