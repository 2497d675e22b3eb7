"""Segment 14 shows an unfinished file transaction, its eight fields and nothing else.

It stands in every request while a transaction is unfinished and in none after, and says what the
last event of the transaction said: the model goes on from it. A draft or a history in it would be
sent again with every request.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._steps import SNAPSHOT, Step, excerpt, named, text_of, undecided, walk
from tracer.checks.layout_14._transactions import Told, Transactions
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "The snapshot of an unfinished file transaction is there, minimal and current"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
FIELDS = (
    "transactionId",
    "filePath",
    "operation",
    "strategy",
    "status",
    "expectedDraftRevision",
    "nextIndex",
    "allowedNextActions",
)
NEEDS_FIELDS = "the fields of the snapshot: a `state` object, or a JSON object as its text"
NEEDS_EVENTS = "the transaction.* events of the transaction that segment 14 shows"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a snapshot is missing, stale or more than it may be, once each."""
    yield from undecided(session, REPORT)
    transactions = Transactions(session)
    told: set[str] = set()
    for step in walk(session):
        known = transactions.at(step)
        wrong: set[str] = set()
        for problem, found in _problems(step, known):
            wrong.add(problem)
            if problem not in told:
                yield found
        told = wrong


def _problems(step: Step, known: Mapping[str, Told]) -> Iterator[tuple[str, Found]]:
    shown: set[str] = set()
    for index in step.indexes(SNAPSHOT):
        message = step.messages[index]
        state = _state(message)
        if state is None:
            yield "unreadable", REPORT.needs(NEEDS_FIELDS, step.request)
            shown |= known.keys()
            continue
        name = state.get("transactionId")
        told = known.get(name) if isinstance(name, str) else None
        shown.add(str(name) if told or len(_open(known)) != 1 else _open(known)[0].id)
        yield from _fields(step, index, state)
        if told is None:
            yield "events", REPORT.needs(NEEDS_EVENTS, step.request)
        elif not told.open:
            yield (
                f"closed {name}",
                REPORT.found(
                    step.request,
                    f"Transaction {name} is finished and still shown.",
                    index,
                    last_event=told.last_event,
                    status=told.fields.get("status", "not told"),
                ),
            )
        else:
            yield from _stale(step, index, state, told)
    for missing in _open(known):
        if missing.id not in shown:
            yield (
                f"missing {missing.id}",
                REPORT.found(
                    step.request,
                    f"Transaction {missing.id} is unfinished, and segment 14 does not say so.",
                    None,
                    last_event=missing.last_event,
                    file=missing.fields.get("filePath", "not told"),
                    status=missing.fields.get("status", "not told"),
                ),
            )


def _open(known: Mapping[str, Told]) -> list[Told]:
    return [told for told in known.values() if told.open]


def _fields(step: Step, index: int, state: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    more = [name for name in state if name not in FIELDS]
    fewer = [name for name in FIELDS if name not in state]
    if not more and not fewer:
        return
    parts = [f"has {', '.join(more)} beside its eight fields"] if more else []
    parts += [f"lacks {', '.join(fewer)}"] if fewer else []
    yield (
        f"fields {more} {fewer}",
        REPORT.found(
            step.request,
            f"The {named(step.messages[index])} {' and '.join(parts)}.",
            index,
            fields=", ".join(state),
            snapshot=excerpt(step.messages[index], 160),
        ),
    )


def _stale(
    step: Step, index: int, state: Mapping[str, Any], told: Told
) -> Iterator[tuple[str, Found]]:
    differs = [
        name
        for name in FIELDS
        if name in state and name in told.fields and state[name] != told.fields[name]
    ]
    if differs:
        shown = {name: state[name] for name in differs}
        said = {name: told.fields[name] for name in differs}
        yield (
            f"stale {told.id} {shown}",
            REPORT.found(
                step.request,
                f"The snapshot of transaction {told.id} is not what its last event said: "
                f"{', '.join(differs)} differs.",
                index,
                snapshot=_json(shown),
                last_event=f"{told.last_event} {_json(said)}",
            ),
        )


def _state(message: CheckedMessage) -> Mapping[str, Any] | None:
    if message.note.state is not None:
        return message.note.state
    try:
        value = msgspec.json.decode(text_of(message))
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, dict) else None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
