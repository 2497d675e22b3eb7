"""Where a request stands is told by one statement as by listing all requests in order."""

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from tracer.store.ordering import in_order
from tracer.store.schema import current_schema
from tracer.store.standing import (
    Position,
    key_before,
    key_behind,
    number_at,
    position_of,
    rows_before,
    turn_rows,
    turns_before,
)

SMALL = st.integers(-1, 2)
TIMES = st.none() | SMALL
REQUESTS = st.lists(
    st.tuples(TIMES, SMALL, TIMES, SMALL, st.sampled_from(("", "turn-1", "turn-2"))), max_size=12
)
SCHEMA = current_schema()


def stored(connection: sqlite3.Connection, found: list[tuple[object, ...]]) -> None:
    """Requests of session 1, and one of session 2 beside each."""
    connection.executescript(SCHEMA)
    connection.execute("PRAGMA foreign_keys = OFF")
    columns = connection.execute("SELECT name, type FROM pragma_table_info('requests')").fetchall()
    for number, (started, attempt, completed, line, turn) in enumerate(found):
        for session in (1, 2):
            values: dict[str, object] = {
                name: {"TEXT": "", "BLOB": b"", "INTEGER": 0}[kind] for name, kind in columns
            }
            values |= {
                "id": 2 * number + session,
                "key": f"{session}-{number * 7 % 13:02}",
                "session_id": session,
                "started_at_ms": started,
                "attempt": attempt,
                "completed_at_ms": completed,
                "line": line,
                "turn_id": turn,
            }
            marks = ",".join("?" * len(values))
            connection.execute(f"INSERT INTO requests VALUES ({marks})", tuple(values.values()))


@given(REQUESTS)
def test_a_request_stands_where_a_list_has_it(found: list[tuple[object, ...]]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        stored(connection, found)
        listed = connection.execute(
            f"SELECT key, turn_id FROM requests WHERE session_id = 1 ORDER BY {in_order()}"
        ).fetchall()
        keys = [key for key, _ in listed]
        turns: list[str] = []
        for at, (key, turn) in enumerate(listed):
            position = position_of(connection, 1, key)
            assert position is not None
            assert number_at(connection, position) == at + 1
            assert key_before(connection, position) == (keys[at - 1] if at else "")
            assert key_behind(connection, position) == "".join(keys[at + 1 : at + 2])
            assert [row.key for row in rows_before(connection, position)] == keys[:at][::-1]
            assert turns_before(connection, position) == len(set(turns))
            assert key in [row.key for row in turn_rows(connection, 1, turn)]
            turns += [turn] if turn else []
        for turn in {turn for _, turn in listed}:
            own = [row.key for row in turn_rows(connection, 1, turn)]
            assert own == [key for key, other in listed if other == turn]


def test_a_request_of_another_session_stands_nowhere() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        stored(connection, [(1, 1, 1, 1, "")])
        assert isinstance(position_of(connection, 1, "1-00"), Position)
        assert position_of(connection, 1, "2-00") is None
