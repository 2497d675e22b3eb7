"""The turns of a session as boxes: the user's words, then every request and tool call in order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tracer.model.story import (
    CompactionView,
    FamilyLink,
    SessionStory,
    ToolCallView,
    TurnView,
    UsageRowView,
)
from tracer.model.views import RequestSummary
from web.filters import duration, num, one_line
from web.layout.turn_lane import LaneItem, TurnLane, turn_lane
from web.layout.words import place_words, usage_words
from web.urls import SessionState, replay_url, request_url, story_url

PAGE_TURNS = 20
MOST_STEPS = 120
"""Steps of a turn that are listed; a longer turn says how many more there are."""

HEAD_CHARS, MOST_CHARS = 700, 20_000
"""The user's words: how many stand there at once, and how many at all."""

_ERRORS = frozenset({"error", "failed", "cancelled", "denied"})


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened in a turn: a `request`, a `tool` call or a `compaction`.

    `offset_ms` is the time since the turn began. `gap_ms` is the time between the answer and the
    next request, where a call has no times of its own: it took no longer.
    """

    kind: str
    offset_ms: int | None
    href: str
    replay_href: str = ""
    request: RequestSummary | None = None
    row: UsageRowView | None = None
    call: ToolCallView | None = None
    compaction: CompactionView | None = None
    child_href: str = ""
    gap_ms: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class TurnBox:
    """A turn. `rest` are the words behind the first ones, `cut_chars` were left out of them."""

    turn: TurnView | None
    head: str
    rest: str
    cut_chars: int
    steps: tuple[Step, ...]
    more_steps: int
    lane: TurnLane | None
    replay_href: str
    tool_calls: int
    tool_errors: int
    permission_ms: int | None


@dataclass(frozen=True, slots=True)
class Branch:
    """Turns that follow each other; `abandoned` ones were taken back by a rewind."""

    abandoned: bool
    boxes: tuple[TurnBox, ...]


@dataclass(frozen=True, slots=True)
class Relative:
    """A parent or a child session with its address."""

    link: FamilyLink
    href: str


@dataclass(frozen=True, slots=True)
class TurnPages:
    """Which turns are shown, and the addresses of those before and after."""

    first: int
    last: int
    total: int
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class Turns:
    """A page of turns; `loose` holds what belongs to no turn, on the last page."""

    branches: tuple[Branch, ...]
    loose: TurnBox | None
    pages: TurnPages


def page_of(number: int) -> int:
    """The first turn of the page on which a turn stands, both counted from 1; 0 for the first."""
    first = (number - 1) // PAGE_TURNS * PAGE_TURNS + 1
    return 0 if first == 1 else first


def make_turns(story: SessionStory, requests: Sequence[RequestSummary], turns_from: int) -> Turns:
    """The page of turns that begins with number `turns_from`."""
    start = min(max(0, turns_from - 1), max(0, len(story.turns) - 1)) // PAGE_TURNS * PAGE_TURNS
    shown = story.turns[start : start + PAGE_TURNS]
    end = start + len(shown)
    made = _Maker(story, requests)
    boxes = [made.box(turn) for turn in shown]
    branches = groupby(boxes, key=lambda box: bool(box.turn and box.turn.abandoned))
    total = len(story.turns)
    return Turns(
        branches=tuple(Branch(abandoned, tuple(found)) for abandoned, found in branches),
        loose=made.loose() if end == total else None,
        pages=TurnPages(
            first=start + 1 if shown else 0,
            last=end,
            total=total,
            earlier=story_url(story.session_id, page_of(start)) if start else "",
            later=story_url(story.session_id, end + 1) if end < total else "",
        ),
    )


def relative(link: FamilyLink) -> Relative:
    """A session of the family."""
    return Relative(link, SessionState(link.session_id).page)


class _Maker:
    """Puts the steps of each turn together."""

    def __init__(self, story: SessionStory, requests: Sequence[RequestSummary]) -> None:
        self.session_id = story.session_id
        self.rows = {row.request_key: row for row in story.usage_rows if row.request_key}
        known = {turn.turn_id for turn in story.turns}
        self.turn_ids = known
        self.requests: dict[str, list[RequestSummary]] = {}
        for request in requests:
            turn_id = request.turn_id if request.turn_id in known else ""
            self.requests.setdefault(turn_id, []).append(request)
        turn_of = {request.key: request.turn_id for request in requests}
        self.tools: dict[str, list[ToolCallView]] = {}
        for call in story.tools:
            turn_id = call.turn_id or turn_of.get(call.request_key, "")
            self.tools.setdefault(turn_id if turn_id in known else "", []).append(call)
        starts = [t.started_at_ms for t in story.turns]
        self.compactions: dict[str, list[CompactionView]] = {}
        for compaction in story.compactions:
            at = compaction.at_ms
            before = [
                t.turn_id
                for t, start in zip(story.turns, starts, strict=True)
                if at is not None and start is not None and start <= at
            ]
            self.compactions.setdefault(before[-1] if before else "", []).append(compaction)

    def box(self, turn: TurnView) -> TurnBox:
        """One turn."""
        return self._made(turn, turn.turn_id, turn.started_at_ms)

    def loose(self) -> TurnBox | None:
        """What belongs to no turn."""
        if not (self.requests.get("") or self.tools.get("") or self.compactions.get("")):
            return None
        return self._made(None, "", None)

    def _made(self, turn: TurnView | None, turn_id: str, start_ms: int | None) -> TurnBox:
        requests = self.requests.get(turn_id, [])
        calls = self.tools.get(turn_id, [])
        if start_ms is None:
            starts = [r.started_at_ms for r in requests if r.started_at_ms is not None]
            start_ms = min(starts, default=None)
        steps = tuple(self._steps(requests, calls, self.compactions.get(turn_id, []), start_ms))
        words = turn.words if turn else ""
        waits = [c.permission_ms for c in calls if c.permission_ms is not None]
        return TurnBox(
            turn=turn,
            head=words[:HEAD_CHARS],
            rest=words[HEAD_CHARS:MOST_CHARS],
            cut_chars=max(0, len(words) - MOST_CHARS),
            steps=steps[:MOST_STEPS],
            more_steps=max(0, len(steps) - MOST_STEPS),
            lane=turn_lane(tuple(_items(steps))),
            replay_href=replay_url(self.session_id, requests[0].key) if requests else "",
            tool_calls=len(calls),
            tool_errors=sum(c.status in _ERRORS for c in calls),
            permission_ms=sum(waits) if waits else None,
        )

    def _steps(
        self,
        requests: Sequence[RequestSummary],
        calls: Iterable[ToolCallView],
        compactions: Iterable[CompactionView],
        start_ms: int | None,
    ) -> Iterator[Step]:
        """Requests by start, each followed by the calls that it asked for."""
        asked: dict[str, list[ToolCallView]] = {}
        keys = {request.key for request in requests}
        for call in calls:
            asked.setdefault(call.request_key if call.request_key in keys else "", []).append(call)
        waiting = sorted(compactions, key=lambda c: c.at_ms or 0)
        for number, request in enumerate(requests):
            at = request.started_at_ms
            while waiting and at is not None and (waiting[0].at_ms or 0) <= at:
                yield _compaction(waiting.pop(0), start_ms)
            yield Step(
                "request",
                _offset(at, start_ms),
                request_url(request.key),
                replay_url(self.session_id, request.key),
                request=request,
                row=self.rows.get(request.key),
                failed=request.status.value in _ERRORS,
            )
            gap_ms = _gap(request, requests[number + 1 :])
            for call in asked.get(request.key, ()):
                yield _tool(call, start_ms, gap_ms)
        for call in asked.get("", ()):
            yield _tool(call, start_ms, None)
        for compaction in waiting:
            yield _compaction(compaction, start_ms)


def _tool(call: ToolCallView, start_ms: int | None, gap_ms: int | None) -> Step:
    return Step(
        "tool",
        _offset(call.started_at_ms, start_ms),
        request_url(call.request_key) + "#response" if call.request_key else "",
        call=call,
        child_href=SessionState(call.child_session_id).page if call.child_session_id else "",
        gap_ms=gap_ms if call.started_at_ms is None else None,
        failed=call.status in _ERRORS,
    )


def _compaction(compaction: CompactionView, start_ms: int | None) -> Step:
    return Step("compaction", _offset(compaction.at_ms, start_ms), "", compaction=compaction)


def _offset(at_ms: int | None, start_ms: int | None) -> int | None:
    return None if at_ms is None or start_ms is None else max(0, at_ms - start_ms)


def _gap(request: RequestSummary, later: Sequence[RequestSummary]) -> int | None:
    """From the end of a request to the start of the next one of its lane."""
    after = next((r for r in later if r.lane == request.lane), None)
    if after is None or after.started_at_ms is None or request.completed_at_ms is None:
        return None
    return max(0, after.started_at_ms - request.completed_at_ms)


def _items(steps: Iterable[Step]) -> Iterator[LaneItem]:
    """The steps that have a time, for the lane."""
    answered_ms: int | None = None
    for step in steps:
        if step.request is not None:
            answered_ms = step.request.completed_at_ms
            if step.request.started_at_ms is not None:
                yield _request_item(step, step.request)
        elif step.call is not None:
            item = _tool_item(step, step.call, answered_ms)
            if item is not None:
                yield item


def _request_item(step: Step, request: RequestSummary) -> LaneItem:
    words = f"Request {request.seq}, {place_words(request)}, {request.status.value}"
    css = "failed" if step.failed else "side" if request.side_call else "request"
    start_ms = request.started_at_ms or 0
    end_ms = request.completed_at_ms
    if end_ms is None and request.duration_ms is not None:
        end_ms = start_ms + request.duration_ms
    wait = step.row.first_token_ms if step.row else None
    token = f"; first token after {duration(wait)}" if wait is not None else ""
    return LaneItem(
        0, start_ms, end_ms, wait or 0, num(request.seq),
        f"{words}, {duration(request.duration_ms)}{token}; {usage_words(request.usage)}",
        step.replay_href, css,
    )  # fmt: skip


def _tool_item(step: Step, call: ToolCallView, answered_ms: int | None) -> LaneItem | None:
    name = one_line(call.tool) or "tool"
    words = f"{name}: {call.status or 'outcome not logged'}"
    if call.started_at_ms is None:
        if answered_ms is None or step.gap_ms is None:
            return None
        words += f"; at most {duration(step.gap_ms)}, between the answer and the next request"
        return LaneItem(
            1, answered_ms, answered_ms + step.gap_ms, 0, name, words, step.href, "bound"
        )
    if call.permission_ms is not None:
        words += f"; waited {duration(call.permission_ms)} for permission"
    words += f"; {duration(call.duration_ms)}"
    if call.error:
        words += f"; {one_line(call.error)[:200]}"
    end_ms = call.ended_at_ms
    if end_ms is None and call.duration_ms is not None:
        end_ms = call.started_at_ms + call.duration_ms
    return LaneItem(
        1, call.started_at_ms, end_ms, call.permission_ms or 0, name, words,
        step.child_href or step.href, "failed" if step.failed else "tool",
    )  # fmt: skip
