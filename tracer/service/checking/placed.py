"""Findings of a change that the cache verdict on an earlier request has placed.

A record that is a window does not show the first messages of a prompt. A rule sees a change of one
of them only at the next record that does; where the provider's read stopped in just that message
before, the verdict on that request infers that the change was there already.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tracer.store.checks import FoundRow
from tracer.store.verdicts import shown_later

_BEFORE = "before"
"""The label under which a finding of a change shows what stood there before."""

_labels = msgspec.json.Decoder(tuple[tuple[str, str], ...]).decode

Place = tuple[str, int]
"""A request's key, and a message."""


def placed_earlier(
    connection: sqlite3.Connection, found: Iterable[FoundRow], numbers: Mapping[int, int]
) -> dict[Place, tuple[str, int]]:
    """For the findings of a change, by their request and message: key and number of the earlier
    request on which the verdict places it. `numbers` are those of all requests, by row id."""
    asked: dict[tuple[int, int], list[str]] = {}
    for row in found:
        if row.message_index is not None and _is_change(row):
            asked.setdefault((row.session_row, row.message_index), []).append(row.key)
    placed: dict[Place, tuple[str, int]] = {}
    for (session, message), keys in asked.items():
        for shown_by, request_row, key in shown_later(connection, session, message):
            if shown_by in keys and request_row in numbers:
                placed[shown_by, message] = key, numbers[request_row]
    return placed


def _is_change(row: FoundRow) -> bool:
    labels: Sequence[tuple[str, str]] = _labels(row.evidence_json) if row.evidence_json else ()
    return any(label == _BEFORE for label, _ in labels)
