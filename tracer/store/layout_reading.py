"""Reading how the prompts of a session are laid out."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tracer.model.segments import MessageNote, PromptLayout, Segment, ToolNote
from tracer.store.layouts import note_of
from tracer.store.ordering import in_order

_REQUESTS = (
    "SELECT r.id, l.layout, l.segments_json, l.tools_id, l.note_node_id, l.unresolved_json, "
    "l.extra_json FROM requests r JOIN request_layouts l ON l.request_id = r.id "
    f"WHERE r.session_id = ? ORDER BY {in_order('r')}"
)
_NODES = """WITH RECURSIVE up(id) AS (
  SELECT l.note_node_id FROM requests r JOIN request_layouts l ON l.request_id = r.id
  WHERE r.session_id = ?1 AND l.note_node_id IS NOT NULL
  UNION
  SELECT n.parent_id FROM up JOIN note_nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT n.id, n.parent_id, n.note_id FROM up JOIN note_nodes n ON n.id = up.id ORDER BY n.id"""
_CHUNK = 500
_decode_pairs = msgspec.json.Decoder(list[tuple[int, int]]).decode
_decode_tools = msgspec.json.Decoder(list[tuple[str, str, str]]).decode
_decode_texts = msgspec.json.Decoder(tuple[str, ...]).decode


class StoredLayout(NamedTuple):
    """A request's layout, and the notes of its messages: their row ids, in the order of the
    messages. `extra_json` are the keys of its record that are not known."""

    layout: PromptLayout
    note_ids: tuple[int, ...]
    extra_json: str


class SessionLayouts(NamedTuple):
    """The layouts of a session's requests by the requests' row ids, and its notes by theirs.
    Requests that carry the same message share its note."""

    layouts: dict[int, StoredLayout]
    notes: dict[int, MessageNote]

    def notes_of(self, request: int) -> tuple[MessageNote, ...]:
        """The notes of a request's messages; empty where it has no layout."""
        stored = self.layouts.get(request)
        return tuple(self.notes[i] for i in stored.note_ids) if stored else ()


def has_layouts(connection: sqlite3.Connection, row_id: int) -> bool:
    """Whether a trace tells the layout of any prompt of a session."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM requests r JOIN request_layouts l ON l.request_id = r.id "
        "WHERE r.session_id = ?)",
        (row_id,),
    ).fetchone()
    return bool(row[0])


NO_LAYOUTS = SessionLayouts({}, {})


def session_layouts(connection: sqlite3.Connection, row_id: int) -> SessionLayouts:
    """The layouts of a session; nothing for a session of another format."""
    rows = connection.execute(_REQUESTS, (row_id,)).fetchall()
    if not rows:
        return NO_LAYOUTS
    nodes = {node: (parent, note) for node, parent, note in connection.execute(_NODES, (row_id,))}
    paths = _paths(nodes, [row[4] for row in rows])
    tools = {row[3] for row in rows if row[3] is not None}
    texts = _texts(connection, sorted(tools))
    notes_of_tools = {
        i: tuple(ToolNote(*tool) for tool in _decode_tools(text)) for i, text in texts.items()
    }
    layouts = {
        row[0]: StoredLayout(
            PromptLayout(
                row[1],
                _segments(row[2]),
                notes_of_tools.get(row[3], ()),
                _decode_texts(row[5]) if row[5] else (),
            ),
            paths[row[4]],
            row[6],
        )
        for row in rows
    }
    used = sorted({note for _, note in nodes.values()})
    return SessionLayouts(
        layouts, {i: note_of(text) for i, text in _texts(connection, used).items()}
    )


def _paths(
    nodes: dict[int, tuple[int | None, int]], tips: Sequence[int | None]
) -> dict[int | None, tuple[int, ...]]:
    """The notes on the path to each tip. What a tip shares with the one before it is not walked
    again."""
    found: dict[int | None, tuple[int, ...]] = {None: ()}
    path: list[int] = []
    notes: list[int] = []
    depth_of: dict[int, int] = {}
    for tip in tips:
        fresh: list[int] = []
        node = tip
        while node is not None and node not in depth_of:
            fresh.append(node)
            node = nodes[node][0]
        keep = depth_of[node] + 1 if node is not None else 0
        for gone in path[keep:]:
            del depth_of[gone]
        del path[keep:], notes[keep:]
        for node in reversed(fresh):
            depth_of[node] = len(path)
            path.append(node)
            notes.append(nodes[node][1])
        found[tip] = tuple(notes)
    return found


def _segments(text: str) -> tuple[Segment, ...]:
    found: list[Segment] = []
    first = 0
    for n, messages in _decode_pairs(text) if text else ():
        found.append(Segment(n, first, messages))
        first += messages
    return tuple(found)


def _texts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(ids), _CHUNK):
        part = ids[start : start + _CHUNK]
        marks = ",".join("?" * len(part))
        found.update(
            connection.execute(
                f"SELECT id, json FROM layout_texts WHERE id IN ({marks})", part
            ).fetchall()
        )
    return found
