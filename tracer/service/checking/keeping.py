"""Keeping what rules found: by whoever writes, at the end of a round of reading."""

import os
import sqlite3
import time
from collections.abc import Callable
from functools import cache

import msgspec

from tracer.checks import RULES_VERSION, all_rules
from tracer.checks.run import Checked, run_rules
from tracer.errors import StoreError
from tracer.hashing import digest
from tracer.model.findings import Finding
from tracer.service.cached import uncollected
from tracer.service.checking.cases import session_case
from tracer.service.stored_contents import contents_rules, made_contents
from tracer.store.checks import (
    FindingRow,
    RuleRow,
    checked_by,
    request_row_ids,
    save_checks,
    set_checked,
    unchecked_sessions,
)
from tracer.store.contents import save_contents
from tracer.store.layout_reading import has_layouts
from tracer.store.tokens import uncounted_total
from tracer.store.transactions import begin_writing, commit_news, commit_quietly, roll_back
from tracer.tokens import DEFAULT_ENCODING

FOLLOW_SECONDS = 5.0
"""While files are followed, sessions are checked again this often at most."""

_encode = msgspec.json.Encoder().encode


@cache
def rules_version() -> str:
    """Names the rules: by their version, by which rules there are, and by those that read what
    prompts contain."""
    names = "\n".join([*(f"{rule.name} {rule.level}" for rule in all_rules()), contents_rules()])
    return f"{RULES_VERSION}:{digest(names.encode()).hex()[:8]}"


def check_session(connection: sqlite3.Connection, row_id: int) -> Checked:
    """What all rules say of a session as it is stored now."""
    with uncollected():
        return run_rules(session_case(connection, row_id).checked, all_rules())


def check_all(
    connection: sqlite3.Connection,
    *,
    until: float | None = None,
    report: Callable[[int], None] | None = None,
    failed: Callable[[int, Exception], None] | None = None,
) -> bool:
    """Check every session in which something was stored, each in a transaction of its own.

    Stops at `until` (by `time.monotonic`), False then. `report` is told how many sessions are left.
    A session that cannot be checked is left out until something new is stored of it, and `failed`
    is told why: it must not keep the others waiting.
    """
    counted = uncounted_total(connection, DEFAULT_ENCODING) == 0
    waiting = unchecked_sessions(connection, rules_version(), counted=counted)
    for at, row_id in enumerate(waiting, 1):
        try:
            _check_and_keep(connection, row_id)
        except (StoreError, sqlite3.Error):
            raise
        except Exception as error:  # a fault of ours: what was read is stored all the same
            _give_up(connection, row_id)
            if failed:
                failed(row_id, error)
        if report:
            report(len(waiting) - at)
        if until is not None and time.monotonic() > until:
            return at == len(waiting)
    return True


def _give_up(connection: sqlite3.Connection, row_id: int) -> None:
    roll_back(connection)
    begin_writing(connection)
    set_checked(connection, row_id, rules_version())
    commit_news(connection)


def _check_and_keep(connection: sqlite3.Connection, row_id: int) -> None:
    """Check a session and store it, unless somebody stores something of it meanwhile: whoever does
    takes the mark away, and it waits to be checked again."""
    mark = f"by {os.getpid()}"
    begin_writing(connection)
    set_checked(connection, row_id, mark)
    commit_quietly(connection)
    with uncollected():
        case = session_case(connection, row_id)
        checked = run_rules(case.checked, all_rules())
        made = None if has_layouts(connection, row_id) else made_contents(case.contents())
    begin_writing(connection)
    if set_checked(connection, row_id, rules_version(), mark):
        ids = request_row_ids(connection, row_id)
        save_checks(connection, row_id, _finding_rows(row_id, checked, ids), [
            *(RuleRow(row_id, name, 0, "", None, 0) for name in checked.rules_run),
            *(
                RuleRow(row_id, u.rule, place, u.needs, ids.get(u.key), u.requests)
                for place, u in enumerate(checked.undecided, 1)
            ),
        ])  # fmt: skip
        if made is not None:
            save_contents(connection, row_id, *made)
    commit_news(connection)


def _finding_rows(row_id: int, checked: Checked, ids: dict[str, int]) -> list[FindingRow]:
    return [
        FindingRow(
            row_id,
            place,
            ids[found.key],
            found.rule,
            found.level.value,
            found.message_index,
            checked.places[place],
            found.message,
            evidence_json(found),
        )
        for place, found in enumerate(checked.findings)
    ]


def evidence_json(found: Finding) -> str:
    """The evidence of a finding as it is stored: a JSON list of pairs."""
    return _encode(found.evidence).decode()


def is_checked(connection: sqlite3.Connection, row_id: int) -> bool:
    """True where the stored findings of a session are those of its present state and these
    rules."""
    return checked_by(connection, row_id) == rules_version()


class FollowedChecks:
    """Checks while files are followed: not after every line, and not for long at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next = time.monotonic()
        self._waiting = True

    def round(self, seconds: float, *, news: bool) -> None:
        """Check for some seconds, if anything waits and the last time is long enough ago."""
        self._waiting = self._waiting or news
        if not self._waiting or time.monotonic() < self._next:
            return
        done = check_all(self._connection, until=time.monotonic() + seconds)
        self._waiting = not done
        self._next = time.monotonic() + (FOLLOW_SECONDS if done else 0.0)
