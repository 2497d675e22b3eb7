"""Behind the summary of a compaction at most five files are repeated, each of 5,000 tokens at most
and of 50,000 together.

They spare the model to read its latest files again. More of them would fill the window that the
compaction has just emptied.
"""

from collections.abc import Iterator, Sequence

from tracer.anatomy.messages import Sort
from tracer.anatomy.prompt import PlacedReminder
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import conversation, reminder_texts, undecided
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Five files at most are repeated after a compaction"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
FILES, FILE_TOKENS, ALL_TOKENS = 5, 5_000, 50_000
_NAME_TOKENS = 100
"""What the line that names the file may add to it."""
_SOURCE = "resume_referenced_session_context"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each run of such notes that is longer."""
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        run: list[PlacedReminder] = []
        for note in reminder_texts(request):
            reminder = note.reminder
            if reminder.source != _SOURCE or reminder.ambiguous_with:
                continue
            if run and not _adjacent(request, run[-1], reminder):
                yield from _measured(request, run)
                run = []
            run.append(reminder)
        yield from _measured(request, run)


def _adjacent(request: CheckedRequest, a: PlacedReminder, b: PlacedReminder) -> bool:
    between = request.messages[a.message_index + 1 : b.message_index]
    return all(message.sort is Sort.WRAPPED for message in between)


def _measured(request: CheckedRequest, run: Sequence[PlacedReminder]) -> Iterator[Found]:
    for reminder in run:
        if reminder.tokens_estimate > FILE_TOKENS + _NAME_TOKENS:
            yield REPORT.found(
                request,
                f"The file repeated in message {reminder.message_index} has about "
                f"{reminder.tokens_estimate:,} tokens.",
                reminder.message_index,
                tokens_by_the_agents_estimate=reminder.tokens_estimate,
                limit=FILE_TOKENS,
            )
    if len(run) > FILES:
        extra = run[FILES]
        yield REPORT.found(
            request,
            f"{len(run)} files are repeated; message {extra.message_index} is one too many.",
            extra.message_index,
            files=len(run),
            limit=FILES,
        )
    total = sum(r.tokens_estimate for r in run)
    if total > ALL_TOKENS + _NAME_TOKENS * FILES:
        yield REPORT.found(
            request,
            f"The files that are repeated have about {total:,} tokens together.",
            run[0].message_index,
            tokens_by_the_agents_estimate=total,
            limit=ALL_TOKENS,
        )
