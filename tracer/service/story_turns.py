"""The turns of a session, each fact from the file that knows it best.

The session database counts turns; messages, log lines and requests name them, too. Where no
database was read, the user's words are taken from the prompt of the turn's first request.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from tracer.anatomy.segments import RUN_INPUTS, SEGMENTS_14, USER_INPUT
from tracer.model.conversation import ActiveBranch
from tracer.model.story import TurnView
from tracer.store.layout_reading import NO_LAYOUTS, SessionLayouts, session_layouts
from tracer.store.reading import CONVERSATIONS
from tracer.store.session_reading import MessageStored, stored_turns, user_texts
from tracer.store.story_reading import (
    TurnLine,
    TurnRequest,
    last_user_words,
    message_texts,
    turn_lines,
    turn_requests,
)

RUN_STARTED, RUN_COMPLETED = "run.started", "run.completed"
_ENDS = {
    "turn.completed": "completed", "turn.failed": "failed", "turn.cancelled": "cancelled",
    "turn_complete": "completed", "turn_failed": "failed",
}  # fmt: skip
_STARTS = ("turn.started", "turn_started", RUN_STARTED)


def build_turns(
    connection: sqlite3.Connection,
    row_id: int,
    messages: Sequence[MessageStored],
    branch: ActiveBranch,
) -> tuple[TurnView, ...]:
    """The turns in the order of their start. Their numbers are those that the requests carry:
    from 1, by first request; turns without a request are numbered behind all others."""
    words = user_texts(connection, row_id)
    turns = _counted(connection, row_id)
    for message in messages:
        if message.turn_id and message.message_id in words:
            made = turns.setdefault(message.turn_id, _turn(message.turn_id, "messages"))
            if not made.message_id or made.message_id not in words:
                turns[message.turn_id] = replace(
                    made,
                    message_id=message.message_id,
                    started_at_ms=_first(made.started_at_ms, message.created_at_ms),
                )
    by_turn: dict[str, list[TurnRequest]] = {}
    for request in turn_requests(connection, row_id):
        by_turn.setdefault(request.turn_id, []).append(request)
    for turn_id, found in by_turn.items():
        turns[turn_id] = _with_requests(turns.get(turn_id) or _turn(turn_id, "requests"), found)
    for line in turn_lines(connection, row_id):
        if line.turn_id in turns:
            turns[line.turn_id] = _with_line(turns[line.turn_id], line)
    abandoned = frozenset(branch.abandoned)
    layouts = session_layouts(connection, row_id) if by_turn else NO_LAYOUTS
    ordered = sorted(turns.values(), key=lambda t: (t.started_at_ms is None, t.started_at_ms or 0))
    bare = [turn.turn_id for turn in ordered if turn.turn_id not in by_turn]
    numbers = {turn_id: number for number, turn_id in enumerate([*by_turn, *bare], 1)}
    ordered.sort(key=lambda t: (t.started_at_ms is None, t.started_at_ms or 0, numbers[t.turn_id]))
    return tuple(
        _with_words(
            replace(turn, number=numbers[turn.turn_id], abandoned=turn.message_id in abandoned),
            words,
            _conversation(by_turn.get(turn.turn_id, ())),
            lambda request: _words_of_prompt(connection, request, layouts),
        )
        for turn in ordered
    )


def _turn(turn_id: str, known_from: str) -> TurnView:
    """A turn of which nothing is known but its id."""
    nothing = (None,) * 10
    return TurnView(turn_id, 0, "", "", *nothing, abandoned=False, known_from=known_from)


def _counted(connection: sqlite3.Connection, row_id: int) -> dict[str, TurnView]:
    """The turns that the session database counts."""
    return {
        turn.turn_id: TurnView(
            turn_id=turn.turn_id,
            number=0,
            words="",
            status=turn.status,
            started_at_ms=turn.started_at_ms,
            duration_ms=turn.duration_ms,
            first_token_ms=turn.first_token_ms,
            model_requests=turn.model_requests,
            retries=turn.model_retries,
            tool_calls=turn.tool_calls,
            tool_errors=turn.tool_errors,
            input_tokens=turn.input_tokens,
            cache_read_tokens=turn.cache_read_tokens,
            output_tokens=turn.output_tokens,
            abandoned=False,
            message_id=turn.user_message_id,
            known_from="turn_usage",
        )
        for turn in stored_turns(connection, row_id)
    }


def _with_requests(turn: TurnView, requests: Sequence[TurnRequest]) -> TurnView:
    """What the requests add to a turn that no database counts: when it began, how many they are."""
    if turn.known_from == "turn_usage":
        return turn
    starts = [r.started_at_ms for r in requests if r.started_at_ms is not None]
    requests = _conversation(requests)
    return replace(
        turn,
        started_at_ms=_first(turn.started_at_ms, min(starts, default=None)),
        model_requests=len(requests),
        retries=sum(r.attempt > 1 for r in requests),
        input_tokens=_sum(r.input_tokens for r in requests),
        cache_read_tokens=_sum(r.cache_read_tokens for r in requests),
        output_tokens=_sum(r.output_tokens for r in requests),
    )


def _conversation(requests: Sequence[TurnRequest]) -> Sequence[TurnRequest]:
    """Those that are the conversation itself, not a title, a compaction or the like."""
    return [request for request in requests if request.query_source in CONVERSATIONS]


def _with_line(turn: TurnView, line: TurnLine) -> TurnView:
    """What a log line adds to a turn that no database counts."""
    if turn.known_from == "turn_usage":
        return turn
    if line.event in _STARTS:
        starts = [at for at in (turn.started_at_ms, line.at_ms) if at is not None]
        return replace(turn, started_at_ms=min(starts, default=None), known_from="log")
    if line.event != RUN_COMPLETED and line.event not in _ENDS:
        return turn
    duration_ms = line.duration_ms
    if duration_ms is None and line.at_ms is not None and turn.started_at_ms is not None:
        duration_ms = line.at_ms - turn.started_at_ms
    return replace(turn, status=_end(line), duration_ms=duration_ms, known_from="log")


def _end(line: TurnLine) -> str:
    """How a turn ended; the line that ends a run may say it itself."""
    return _ENDS.get(line.event) or line.status or "completed"


def _with_words(
    turn: TurnView,
    words: Mapping[str, str],
    requests: Sequence[TurnRequest],
    of_prompt: Callable[[TurnRequest], str],
) -> TurnView:
    """The turn with the user's words: of its message, else of the first prompt that was logged."""
    if turn.message_id in words:
        return replace(turn, words=words[turn.message_id], words_from="message")
    first = next((r for r in requests if r.node_id is not None), None)
    found = of_prompt(first) if first is not None else ""
    return replace(turn, words=found, words_from="prompt") if found else turn


def _words_of_prompt(
    connection: sqlite3.Connection, request: TurnRequest, layouts: SessionLayouts
) -> str:
    """The user's words in a prompt: where messages say their kind, the inputs of the run, or the
    last one; the last message of the user otherwise."""
    if request.node_id is None:
        return ""
    inputs = [
        index for index, note in enumerate(layouts.notes_of(request.id)) if note.kind == USER_INPUT
    ]
    if not inputs:
        return last_user_words(connection, request.node_id)
    layout = layouts.layouts[request.id].layout
    held = layout.segments if layout.layout == SEGMENTS_14 else ()
    places = {s.first_message + i for s in held if s.n == RUN_INPUTS for i in range(s.messages)}
    own = [index for index in inputs if index in places]
    return message_texts(connection, request.node_id, own or inputs[-1:])


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    found = [value for value in values if value is not None]
    return sum(found) if found else None


def _first(known: int | None, other: int | None) -> int | None:
    return other if known is None else known
