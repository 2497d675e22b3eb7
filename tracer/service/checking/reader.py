"""Reading what rules found: what is stored, or, where that is out of date, what they find now."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import msgspec

from tracer.checks import all_rules
from tracer.model.check_views import CheckReport, FindingView, RuleView, UndecidedView
from tracer.model.findings import Finding, Level
from tracer.service.cached import RevisionCache
from tracer.service.checking.keeping import check_session, evidence_json, is_checked, rules_version
from tracer.service.checking.placed import placed_earlier
from tracer.service.existing import session_of, session_row
from tracer.store.checks import (
    AskedRow,
    FoundRow,
    all_session_rows,
    asked_rows,
    finding_totals,
    found_rows,
    newest_findings,
    reason_rows,
    request_count,
    request_row_ids,
    session_facts,
    session_title,
    unchecked_count,
)
from tracer.store.verdicts import request_numbers

KEPT_SESSIONS = 6
CHECK_AT_ONCE = 200
"""A session with more requests that was never checked is not checked while a page waits for it."""

_decode = msgspec.json.Decoder(tuple[tuple[str, str], ...]).decode


def rule_views(off: Iterable[str] = ()) -> tuple[RuleView, ...]:
    """Every rule, by name."""
    return tuple(
        RuleView(r.name, r.level, r.title, r.text, r.source, r.name in off) for r in all_rules()
    )


class _Rows:
    """What is known of one session's checks, as rows."""

    def __init__(self, found: Sequence[FoundRow], asked: Sequence[AskedRow]) -> None:
        self.found = found
        self.asked = asked

    def at(self, key: str) -> "_Rows":
        """The same with what was found at one request only; empty means at all."""
        return _Rows([row for row in self.found if row.key == key], self.asked) if key else self


class CheckReader:
    """Reads the checks of one database. Safe in threads."""

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self.off = off
        self._rows: RevisionCache[_Rows] = RevisionCache(KEPT_SESSIONS)
        self._everything: RevisionCache[CheckReport] = RevisionCache(1)
        self._overviews: RevisionCache[CheckReport] = RevisionCache(KEPT_SESSIONS)
        self._reports: RevisionCache[CheckReport] = RevisionCache(KEPT_SESSIONS)

    def session(
        self, connection: sqlite3.Connection, row_id: int, *, now: bool = True
    ) -> CheckReport:
        """What the rules say of one session; `now` False is content with what is stored."""
        return self._reports.get(
            connection, (row_id, now), lambda: self._of_one(connection, row_id, now=now)
        )

    def request(
        self, connection: sqlite3.Connection, row_id: int, key: str, *, now: bool = True
    ) -> CheckReport:
        """The same with the findings of one of its requests only."""
        return self._reports.get(
            connection, (row_id, now, key), lambda: self._of_one(connection, row_id, key, now=now)
        )

    def undecided_at(
        self, connection: sqlite3.Connection, row_id: int, session_id: str, key: str
    ) -> tuple[UndecidedView, ...]:
        """What the log cannot decide at one request of a session. Stored is only where that is so
        first, so the rules are run again."""
        return tuple(
            UndecidedView(u.rule, u.needs, session_id, key if u.key else "", int(bool(u.key)))
            for u in check_session(connection, row_id).undecided
            if u.rule not in self.off and (key in u.keys or not u.key)
        )

    def everything(self, connection: sqlite3.Connection) -> CheckReport:
        """What the rules say of all sessions, the one last active first."""
        return self._everything.get(connection, "all", lambda: self._of_all(connection))

    def overview(
        self, connection: sqlite3.Connection, rule: str, limit: int, offset: int
    ) -> CheckReport:
        """What is stored of all sessions, in sums, with some findings of one rule or of each."""
        return self._overviews.get(
            connection,
            (rule, limit, offset),
            lambda: self._overview(connection, rule, limit, offset),
        )

    def _overview(
        self, connection: sqlite3.Connection, rule: str, limit: int, offset: int
    ) -> CheckReport:
        asked = [row for row in reason_rows(connection) if row.rule not in self.off]
        totals = {r: n for r, n in finding_totals(connection).items() if r not in self.off}
        found = [
            row
            for name in ([rule] if rule else totals)
            if name in totals
            for row in newest_findings(connection, name, limit, offset)
        ]
        numbers = request_numbers(connection, {row.session_row for row in found}) if found else {}
        return CheckReport(
            findings=_findings(connection, found, numbers),
            rules_run=tuple(sorted({row.rule for row in asked})),
            undecided=tuple(
                UndecidedView(r.rule, r.needs, r.session_id, r.key, r.requests, r.sessions)
                for r in asked
                if r.needs
            ),
            rules=rule_views(self.off),
            sessions=len(all_session_rows(connection)),
            rules_version=rules_version(),
            outdated=unchecked_count(connection, rules_version()),
            totals=totals,
        )

    def _of_one(
        self, connection: sqlite3.Connection, row_id: int, key: str = "", *, now: bool
    ) -> CheckReport:
        if not now and not is_checked(connection, row_id):
            stored = _Rows(found_rows(connection, row_id), asked_rows(connection, row_id))
            if stored.asked or request_count(connection, row_id) > CHECK_AT_ONCE:
                return replace(self._report(connection, [stored.at(key)]), outdated=1)
        return self._report(connection, [self._of(connection, row_id).at(key)])

    def _of_all(self, connection: sqlite3.Connection) -> CheckReport:
        """Most sessions are stored as they are; the others are checked one by one."""
        ids = all_session_rows(connection)
        stale = [row_id for row_id in ids if not is_checked(connection, row_id)]
        found: dict[int, list[FoundRow]] = {}
        asked: dict[int, list[AskedRow]] = {}
        for row in found_rows(connection):
            found.setdefault(row.session_row, []).append(row)
        for other in asked_rows(connection):
            asked.setdefault(other.session_row, []).append(other)
        for row_id in stale:
            rows = self._of(connection, row_id)
            found[row_id], asked[row_id] = list(rows.found), list(rows.asked)
        return self._report(
            connection, [_Rows(found.get(i, []), asked.get(i, [])) for i in ids], len(ids)
        )

    def _of(self, connection: sqlite3.Connection, row_id: int) -> _Rows:
        if is_checked(connection, row_id):
            return _Rows(found_rows(connection, row_id), asked_rows(connection, row_id))
        return self._rows.get(connection, row_id, lambda: _fresh(connection, row_id))

    def _report(
        self, connection: sqlite3.Connection, sessions: Sequence[_Rows], count: int = 1
    ) -> CheckReport:
        found = [row for rows in sessions for row in rows.found if row.rule not in self.off]
        asked = [row for rows in sessions for row in rows.asked if row.rule not in self.off]
        numbers = request_numbers(connection, {row.session_row for row in found}) if found else {}
        return CheckReport(
            findings=_findings(connection, found, numbers),
            rules_run=tuple(sorted({row.rule for row in asked})),
            undecided=tuple(
                UndecidedView(row.rule, row.needs, row.session_id, row.key, row.requests)
                for row in asked
                if row.needs
            ),
            rules=rule_views(self.off),
            sessions=count,
            rules_version=rules_version(),
        )


def _findings(
    connection: sqlite3.Connection, found: Sequence[FoundRow], numbers: Mapping[int, int]
) -> tuple[FindingView, ...]:
    placed = placed_earlier(connection, found, numbers)
    return tuple(
        _finding(row, numbers, placed.get((row.key, row.message_index or 0), ("", None)))
        for row in found
    )


def _finding(
    row: FoundRow, numbers: Mapping[int, int], placed: tuple[str, int | None]
) -> FindingView:
    found = Finding(
        row.rule,
        Level(row.level),
        row.key,
        row.message,
        row.message_index,
        _decode(row.evidence_json),
    )
    number = numbers[row.request_row]
    return FindingView(found, row.session_id, row.session_title, number, row.prompt_index, *placed)


def _fresh(connection: sqlite3.Connection, row_id: int) -> _Rows:
    """What the rules find now, in the form of what is stored. Nothing is written."""
    session = session_facts(connection, row_id).session_id
    title, ids = session_title(connection, row_id), request_row_ids(connection, row_id)
    checked = check_session(connection, row_id)
    found = [
        FoundRow(
            f.rule, f.level.value, f.key, f.message, f.message_index, place, evidence_json(f),
            row_id, session, title, ids[f.key],
        )
        for f, place in zip(checked.findings, checked.places, strict=True)
    ]  # fmt: skip
    asked = [AskedRow(name, "", "", 0, row_id, session) for name in checked.rules_run]
    asked += [
        AskedRow(u.rule, u.needs, u.key, u.requests, row_id, session) for u in checked.undecided
    ]
    return _Rows(found, asked)


class ChecksOfService:
    """The use cases about rules, for a service that can read."""

    _checks: CheckReader
    _read: Callable[[], AbstractContextManager[sqlite3.Connection]]

    def check(self, session_id: str = "", *, now: bool = True) -> CheckReport:
        """What the rules say of a session, or of all of them. `now` False is content with what is
        stored of a session. Raises NotFoundError."""
        with self._read() as connection:
            if not session_id:
                return self._checks.everything(connection)
            return self._checks.session(connection, session_row(connection, session_id), now=now)

    def check_overview(self, rule: str = "", *, limit: int = 5, offset: int = 0) -> CheckReport:
        """What is stored of all sessions, in sums: of each rule, or of one, some findings."""
        with self._read() as connection:
            return self._checks.overview(connection, rule, limit, offset)

    def check_request(self, key: str, *, now: bool = True) -> CheckReport:
        """What the rules found at one request, and which the log cannot decide there. `now` False
        is content with what is stored, and that tells only which are undecided somewhere in the
        session. Raises NotFoundError."""
        with self._read() as connection:
            row_id, session_id = session_of(connection, key)
            report = self._checks.request(connection, row_id, key, now=now)
            if not now:
                return report
            undecided = self._checks.undecided_at(connection, row_id, session_id, key)
        return replace(report, undecided=undecided)

    def rules(self) -> tuple[RuleView, ...]:
        """Every rule, by name; those that the settings switch off are marked."""
        return rule_views(self._checks.off)
