"""Where a request stands in its session: told by all of its requests where they are loaded, else by
what the database says of this one. Both say the same."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tracer.assemble.attempts import AttemptFacts, Grouped, group_attempts
from tracer.model.events import Status
from tracer.service.baselines import baseline_for
from tracer.service.requests import SessionData, is_side_call
from tracer.store.reading import RequestLine, RequestRow
from tracer.store.standing import (
    EarlierRow,
    PromptTip,
    TurnRow,
    first_starts,
    has_prompt_behind,
    key_before,
    key_behind,
    number_at,
    position_of,
    prompt_before,
    prompt_of,
    rows_before,
    turn_rows,
    turns_before,
)
from tracer.store.verdicts import stored_verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """A request among the others of its session. `attempts` are all attempts of its logical call,
    `baseline` what it is compared with, None where there is nothing; `carried` tells that a later
    request of its lane has a prompt."""

    seq: int
    grouped: Grouped
    attempts: tuple[tuple[str, int, Status], ...]
    previous_key: str
    next_key: str
    baseline: PromptTip | None
    carried: bool


class Numbered(NamedTuple):
    """A request with its number in its session."""

    seq: int
    row: RequestLine | EarlierRow


class Order(Protocol):
    """The requests of a session in order."""

    def number(self, key: str) -> int | None:
        """The number of a request, from 1; None where it is none of the session."""

    def standing(self, row: RequestRow) -> Standing:
        """Where a request stands."""

    def before(self, key: str) -> Iterator[Numbered]:
        """The requests before one, the latest first."""

    def first_starts(self, row: RequestRow) -> Sequence[int]:
        """When the other first attempts of a request's lane started."""


class LoadedOrder:
    """Told by the session's requests."""

    def __init__(self, connection: sqlite3.Connection, data: SessionData) -> None:
        self._connection = connection
        self._data = data

    def number(self, key: str) -> int | None:
        """As `Order.number`."""
        return self._data.seqs.get(key)

    def standing(self, row: RequestRow) -> Standing:
        """As `Order.standing`."""
        rows, seq = self._data.rows, self._data.seqs[row.key]
        grouped = self._data.grouped[row.key]
        key = baseline_for(self._connection, self._data, seq).key
        other = rows[self._data.seqs[key] - 1] if key else None
        return Standing(
            seq=seq,
            grouped=grouped,
            attempts=tuple(
                (r.key, r.attempt, Status(r.status))
                for r in rows
                if self._data.grouped[r.key].call_key == grouped.call_key
            ),
            previous_key=rows[seq - 2].key if seq > 1 else "",
            next_key=rows[seq].key if seq < len(rows) else "",
            baseline=None
            if other is None or other.node_id is None
            else PromptTip(other.key, other.node_id),
            carried=any(r.lane == row.lane and r.node_id is not None for r in rows[seq:]),
        )

    def before(self, key: str) -> Iterator[Numbered]:
        """As `Order.before`."""
        seq = self._data.seqs[key]
        return (Numbered(n, self._data.rows[n - 1]) for n in range(seq - 1, 0, -1))

    def first_starts(self, row: RequestRow) -> Sequence[int]:
        """As `Order.first_starts`."""
        return [
            other.started_at_ms
            for other in self._data.rows
            if other.lane == row.lane and other.attempt == 1 and other.key != row.key
            if other.started_at_ms is not None
        ]


class StoredOrder:
    """Told by the database."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._connection = connection
        self._row_id = row_id
        self._numbers: dict[str, int] = {}

    def number(self, key: str) -> int | None:
        """As `Order.number`."""
        known = self._numbers.get(key)
        if known is None:
            at = position_of(self._connection, self._row_id, key)
            if at is None:
                return None
            known = self._numbers[key] = number_at(self._connection, at)
        return known

    def standing(self, row: RequestRow) -> Standing:
        """As `Order.standing`."""
        connection = self._connection
        at = position_of(connection, self._row_id, row.key)
        assert at is not None
        turn = turn_rows(connection, self._row_id, row.turn_id)
        # Attempts and steps are told inside a turn; the number of the turn is not.
        inside = group_attempts([_facts(other) for other in turn])
        grouped = inside[row.key]._replace(turn_number=self._turn_number(turn))
        return Standing(
            seq=number_at(connection, at),
            grouped=grouped,
            attempts=tuple(
                (other.key, other.attempt, Status(other.status))
                for other in turn
                if inside[other.key].call_key == grouped.call_key
            ),
            previous_key=key_before(connection, at),
            next_key=key_behind(connection, at),
            baseline=self._of_verdict(row) or prompt_before(connection, at, row.lane),
            carried=has_prompt_behind(connection, at, row.lane),
        )

    def _turn_number(self, turn: Sequence[TurnRow]) -> int | None:
        first = turn[0]
        if not first.turn_id:
            return None
        at = position_of(self._connection, self._row_id, first.key)
        return turns_before(self._connection, at) + 1 if at else None

    def _of_verdict(self, row: RequestRow) -> PromptTip | None:
        """What its verdict compares a request with."""
        stored = stored_verdict(self._connection, row.id)
        if stored is None or not stored.baseline_key:
            return None
        return prompt_of(self._connection, self._row_id, stored.baseline_key)

    def before(self, key: str) -> Iterator[Numbered]:
        """As `Order.before`."""
        at, seq = position_of(self._connection, self._row_id, key), self.number(key)
        if at is None or seq is None:
            return iter(())
        rows = rows_before(self._connection, at)
        return (Numbered(seq - n, row) for n, row in enumerate(rows, 1))

    def first_starts(self, row: RequestRow) -> Sequence[int]:
        """As `Order.first_starts`."""
        return first_starts(self._connection, self._row_id, row.lane, row.key)


def _facts(row: TurnRow) -> AttemptFacts:
    return AttemptFacts(row.key, row.attempt, row.turn_id, row.query_source, is_side_call(row))
