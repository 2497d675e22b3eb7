"""An instruction file is cut at 100 KiB, and a line behind it says so.

Whoever keeps a longer file should see that the model has read a part of it only; and a file without
an end would push everything else out of the window.
"""

from collections.abc import Iterator

from tracer.anatomy.instructions import FILE_LIMIT_BYTES, instruction_files
from tracer.anatomy.prompt import PlacedSection
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import conversation, section_text, undecided
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "An instruction file is cut at 100 KiB"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
_SPLIT_CHARACTER_BYTES = 3
"""A cut in the middle of a character leaves U+FFFD, which is longer than what it stands for."""


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each longer file, and each that was cut without a word."""
    seen: set[str] = set()
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for section in request.sections:
            if section.source != "request_user_context" or section.content_hash in seen:
                continue
            if request.proves(section.message_index):
                seen.add(section.content_hash)
                yield from _measured(request, section)


def _measured(request: CheckedRequest, section: PlacedSection) -> Iterator[Found]:
    text = section_text(request, section)
    for file in instruction_files(text, 0, len(text)):
        content = text[file.start_char : file.end_char].partition("\n")[2].strip("\n")
        size = len(content.encode("utf-8", "replace"))
        shown, _, note = content.rpartition("\n")
        shown_bytes = len(shown.encode("utf-8", "replace"))
        if size <= FILE_LIMIT_BYTES or shown_bytes <= FILE_LIMIT_BYTES + _SPLIT_CHARACTER_BYTES:
            if not content.endswith("\ufffd") or size < FILE_LIMIT_BYTES - _SPLIT_CHARACTER_BYTES:
                continue
            message = f"{file.path} was cut at {size:,} bytes, and nothing says so."
        else:
            message = f"{file.path} stands in message {section.message_index} with {size:,} bytes."
        yield REPORT.found(
            request,
            message,
            section.message_index,
            file=file.path,
            bytes=size,
            limit=FILE_LIMIT_BYTES,
        )
