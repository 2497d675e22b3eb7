"""What a request is compared with unless told otherwise, and the edits that its log hides."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from tracer.model.compare_views import HiddenEdit
from tracer.model.prompt import Tier
from tracer.model.verdict import Result
from tracer.service.judging.storing import verdict_of
from tracer.service.requests import SessionData, baseline_of
from tracer.store.reading import RequestLine
from tracer.store.verdicts import VerdictRow, stored_verdict, stored_verdicts

_MISSED = (Result.PARTIAL, Result.MISS)


class Baseline(NamedTuple):
    """The key of a request, empty where there is none, and why it was chosen."""

    key: str = ""
    reason: str = ""


NO_BASELINE = Baseline()


def baseline_for(connection: sqlite3.Connection, data: SessionData, seq: int) -> Baseline:
    """What request number `seq` (from 1) is compared with: the baseline of its verdict, so that the
    comparison shows what the verdict speaks of; without one the request before it in its lane."""
    stored = stored_verdict(connection, data.rows[seq - 1].id)
    if stored is not None and stored.baseline_key:
        rows = (row for row in data.rows if row.key == stored.baseline_key)
        other = next((row for row in rows if row.node_id is not None), None)
        if other is not None:
            return Baseline(other.key, verdict_of(stored).baseline_reason)
    other = baseline_of(data, seq)
    if other is None:
        return NO_BASELINE
    return Baseline(other.key, "the request before it in the same lane; no verdict chose another")


def hidden_edits(
    connection: sqlite3.Connection, row_id: int, data: SessionData, seq: int
) -> Iterator[HiddenEdit]:
    """The edits that verdicts found in messages which request number `seq` carries over: its text
    of them is from before the edit. Newest first."""
    last = data.rows[seq - 1]
    if last.verified_from == 0 or last.node_id is None:
        return
    verdicts = stored_verdicts(connection, row_id)
    for number in range(seq, 0, -1):
        row = data.rows[number - 1]
        if row.query_source != last.query_source:
            continue
        if row.verified_from == 0:
            return
        found = verdicts.get(row.id)
        if found is not None and _hidden(found, row) and _hidden(found, last):
            yield HiddenEdit(row.key, number, found.message_index or 0, found.one_line)


def _hidden(found: VerdictRow, row: RequestLine) -> bool:
    """Whether a verdict speaks of a message that a record does not show."""
    if found.result not in _MISSED or found.tier != Tier.MESSAGES or found.message_index is None:
        return False
    return row.verified_from is None or found.message_index < row.verified_from
