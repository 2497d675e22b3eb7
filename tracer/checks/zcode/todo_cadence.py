"""The model is reminded of its list of tasks when ten of its messages went by since it last wrote
the list, and ten since the last such reminder; only where the tool is offered.

Each reminder stays in the history: too early or too often it costs tokens and turns the model away
from its work, too late it is of no use.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import before, conversation, reminder_texts, undecided
from tracer.model.findings import Level
from tracer.model.prompt import Kind

LEVEL = Level.WARNING
TITLE = "Reminder of the task list: ten messages after the list, ten after the last"
SOURCE = "formats/zcode.md 8.3"

REPORT = Reporter(__name__, LEVEL)
MESSAGES = 10
TOOL = "TodoWrite"


@dataclass(slots=True)
class _Count:
    """The assistant's messages since it wrote the list, and since the last reminder."""

    since_write: int = 0
    since_reminder: int = MESSAGES
    known: bool = True
    missed: bool = False


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each reminder that comes early, late or without the tool."""
    counts: dict[str, _Count] = {}
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        count = counts.setdefault(request.lane, _Count())
        start = _start(session, request)
        if start == 0:
            count = counts[request.lane] = _Count()
        offered = any(tool.name == TOOL for tool in request.tools)
        reminded = {
            n.at for n in reminder_texts(request, start) if n.reminder.source == "todo_reminder"
        }
        # A rewritten history shows old reminders in a new place: they were judged when they came.
        judged = len(request.messages) if start == 0 and request.previous is not None else start
        for index in range(start, len(request.messages)):
            message = request.messages[index]
            if message.gap:
                count.known = False
            if index in reminded:
                if index >= judged and count.known:
                    yield from _reminded(request, index, count, offered=offered)
                count.since_reminder, count.missed = 0, False
            _take(count, message)
        yield from _missing(request, count, offered=offered)


def _start(session: CheckedSession, request: CheckedRequest) -> int:
    """From where on to count: all over again where the history was rewritten."""
    earlier = before(session, request)
    if earlier is None:
        return 0
    gone = earlier.messages[request.common :]
    return 0 if any(m.role == "assistant" for m in gone) else request.common


def _take(count: _Count, message: CheckedMessage) -> None:
    if message.sort is not Sort.ASSISTANT:
        return
    if any(b.kind is Kind.TOOL_CALL and b.name == TOOL for b in message.blocks):
        count.since_write = 0
        count.known, count.missed = True, False
    else:
        count.since_write += 1
    count.since_reminder += 1


def _reminded(
    request: CheckedRequest, index: int, count: _Count, *, offered: bool
) -> Iterator[Found]:
    if not offered and request.tools_known:
        yield REPORT.found(
            request,
            f"Message {index} reminds of the task list, and the tool {TOOL} is not offered.",
            index,
            tools=len(request.tools),
        )
    elif count.since_write < MESSAGES or count.since_reminder < MESSAGES:
        yield REPORT.found(
            request,
            f"Message {index} reminds of the task list {count.since_write} messages of the model "
            f"after it wrote it and {count.since_reminder} after the last reminder.",
            index,
            since_the_list=count.since_write,
            since_the_last_reminder=count.since_reminder,
            expected=f"{MESSAGES} and {MESSAGES}",
        )


def _missing(request: CheckedRequest, count: _Count, *, offered: bool) -> Iterator[Found]:
    due = min(count.since_write, count.since_reminder) >= MESSAGES
    if due and offered and count.known and not count.missed and request.whole:
        count.missed = True
        yield REPORT.found(
            request,
            f"{count.since_write} messages of the model have passed since it wrote its task list, "
            "and no reminder comes.",
            len(request.messages) - 1,
            since_the_list=count.since_write,
            since_the_last_reminder=count.since_reminder,
        )
