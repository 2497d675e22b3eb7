"""A skills listing of more than 20,000 characters falls back to names and paths, without
descriptions; that short form is not cut further.

The listing is sent with every request. Descriptions of hundreds of skills would cost more than they
are worth: the model can read a skill's file.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import conversation, undecided
from tracer.checks.zcode._skills import listings
from tracer.model.findings import Level
from tracer.tokens import utf16_length

LEVEL = Level.ERROR
TITLE = "A long skills listing has names and paths only"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
LIMIT_CHARS = 20_000


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each long listing with descriptions."""
    seen: set[str] = set()
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for listing in listings(request):
            length = utf16_length(listing.text)
            if listing.content_hash in seen or length <= LIMIT_CHARS:
                continue
            seen.add(listing.content_hash)
            described = [entry for entry in listing.entries if not entry.is_path]
            if described:
                yield REPORT.found(
                    request,
                    f"The skills listing in message {listing.message_index} has {length:,} "
                    f"characters, and {len(described):,} of its skills are described.",
                    listing.message_index,
                    characters=length,
                    limit=LIMIT_CHARS,
                    first_described=excerpt(f"{described[0].name}: {described[0].text}"),
                )
