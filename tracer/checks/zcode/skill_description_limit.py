"""The description of a skill has at most 250 characters: a longer one is cut at 249 and ends in
`...`.

One skill with a long description would take the room of all others in the listing.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import conversation, undecided
from tracer.checks.zcode._skills import listings
from tracer.model.findings import Level
from tracer.tokens import utf16_length

LEVEL = Level.ERROR
TITLE = "A skill's description has at most 250 characters"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
LIMIT_CHARS = 250
_CUT = "..."


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for the first longer one of a listing."""
    seen: set[str] = set()
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for listing in listings(request):
            if listing.content_hash in seen:
                continue
            seen.add(listing.content_hash)
            long = [e for e in listing.entries if not e.is_path and _is_long(e.text)]
            if long:
                yield REPORT.found(
                    request,
                    f"The skill {long[0].name} in message {listing.message_index} is described in "
                    f"{utf16_length(long[0].text):,} characters.",
                    listing.message_index,
                    skills=", ".join(e.name for e in long[:5]),
                    limit=LIMIT_CHARS,
                    begins_with=excerpt(long[0].text),
                )


def _is_long(text: str) -> bool:
    length = utf16_length(text)
    return length > LIMIT_CHARS - 1 + len(_CUT) or (
        length > LIMIT_CHARS and not text.endswith(_CUT)
    )
