"""In plan mode the model is reminded at once and then after every fifth turn of the user; the first
reminder, the sixth, the eleventh and so on have the full text, the others the short one.

Reminders stay in the history, so one too many costs tokens in every later request, and one too few
lets the model forget that it may not change anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import (
    EventTimes,
    ReminderText,
    before,
    conversation,
    is_tag_like,
    reminder_texts,
    undecided,
)
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "Plan mode: at once, then every fifth turn; full on the 1st, 6th, 11th"
SOURCE = "formats/zcode.md 8.3"

REPORT = Reporter(__name__, LEVEL)
TURNS = 5
_FULL = ("Plan mode is active.", "<mode>Plan</mode>")
_STARTS = frozenset({"session.resumed", "session_resumed"})


@dataclass(slots=True)
class _Plan:
    """Where plan mode stands in one lane: turns so far, the turn of the last reminder, how many
    there were. `active` is None where the log does not tell."""

    turn_id: str = ""
    turns: int = 0
    last_turn: int | None = None
    reminders: int = 0
    active: bool = False
    missed: bool = False


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each reminder that comes early, late, not at all, or in the other
    form."""
    plans: dict[str, _Plan] = {}
    starts = EventTimes(session, _STARTS)
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        plan = plans.setdefault(request.query_source, _Plan())
        if _is_cut(session, request, starts):
            plans[request.query_source] = _Plan(request.turn_id, 1)
            continue
        if request.turn_id != plan.turn_id and _has_user_text(request):
            plan.turn_id = request.turn_id
            plan.turns += 1
        for note in reminder_texts(request):
            if note.reminder.source == "plan_mode_exit":
                plan.active, plan.last_turn = False, None
            elif note.reminder.source == "runtime_mode":
                yield from _reminded(request, note, plan)
        yield from _missing(request, plan)


def _is_cut(session: CheckedSession, request: CheckedRequest, starts: EventTimes) -> bool:
    """Whether what went before is not known: a program that was started anew does not know either,
    and a history that was rewritten shows old reminders again."""
    earlier = before(session, request)
    if earlier is None:
        return not request.whole
    rewritten = any(m.role == "assistant" for m in earlier.messages[request.common :])
    return rewritten or starts.between(earlier, request)


def _has_user_text(request: CheckedRequest) -> bool:
    """Whether a person wrote something since the request before: other turns do not count."""
    return any(m.sort is Sort.USER and not is_tag_like(m) for _, m in request.fresh())


def _reminded(request: CheckedRequest, note: ReminderText, plan: _Plan) -> Iterator[Found]:
    since = None if plan.last_turn is None else plan.turns - plan.last_turn
    full = note.body.startswith(_FULL)
    again = not plan.active
    plan.active, plan.last_turn, plan.missed = True, plan.turns, False
    plan.reminders += 1
    if since is not None and since < TURNS:
        yield REPORT.found(
            request,
            f"The reminder of plan mode in message {note.at} comes {since} turns after the last "
            f"one, not {TURNS}.",
            note.at,
            turns_since_the_last=since,
        )
    expected = plan.reminders % TURNS == 1
    if full != expected and not (again and full):
        yield REPORT.found(
            request,
            f"Reminder {plan.reminders} of plan mode, in message {note.at}, has the "
            f"{'full' if full else 'short'} text.",
            note.at,
            number=plan.reminders,
            expected="full" if expected else "short",
            begins_with=excerpt(note.body),
        )
    if again and full:
        plan.reminders = 1


def _missing(request: CheckedRequest, plan: _Plan) -> Iterator[Found]:
    if not plan.active or plan.missed or plan.last_turn is None:
        return
    since = plan.turns - plan.last_turn
    if since >= TURNS and request.whole:
        plan.missed = True
        yield REPORT.found(
            request,
            f"{since} turns have passed since the last reminder of plan mode, and none comes.",
            len(request.messages) - 1,
            turns_since_the_last=since,
        )
