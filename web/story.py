"""The turns of a session as boxes: the user's words, then every request and tool call in order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tracer.model.events import Status
from tracer.model.story import (
    CompactionView,
    FamilyLink,
    SessionStory,
    ToolCallView,
    TurnView,
    UsageRowView,
)
from tracer.model.views import RequestOutline, RequestSummary
from web.filters import duration, num, one_line
from web.layout.turn_lane import LaneItem, TurnLane, turn_lane
from web.layout.words import place_words, usage_words
from web.urls import SessionState, replay_url, request_url, story_url

PAGE_TURNS, PAGE_ITEMS = 20, 300
"""How many turns, and how many of their items, a page holds; it holds one turn at least."""

MOST_ITEMS = 300
"""Steps of a turn that are drawn and listed; a longer turn says how many more there are."""

HEAD_CHARS, MOST_CHARS = 700, 20_000
"""The user's words: how many stand there at once, and how many at all."""


@dataclass(frozen=True, slots=True)
class TurnItem:
    """One thing that happened in a turn: a `request`, a `tool` call, a `compaction`, or calls that
    an answer `asked` for and of which nothing else is known: `names` and how many.

    `offset_ms` is the time since the turn began. `gap_ms` is the time between the answer and the
    next request, where calls have no times of their own: they took no longer. `result_seq` is the
    request in whose prompt the result of a call first stands, where prompts alone tell of it.
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
    names: str = ""
    count: int = 1
    result_href: str = ""
    result_seq: int | None = None


@dataclass(frozen=True, slots=True)
class TurnBox:
    """A turn. `rest` are the words behind the first ones, `cut_chars` were left out of them."""

    turn: TurnView | None
    head: str
    rest: str
    cut_chars: int
    items: tuple[TurnItem, ...]
    more_items: int
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


def make_turns(
    story: SessionStory,
    outline: Sequence[RequestOutline],
    requests: Sequence[RequestSummary],
    turns_from: int,
) -> Turns:
    """The page on which turn number `turns_from` stands: `outline` are all of the session's
    requests in short, `requests` the same, of which only those of the page are looked at."""
    made = _Maker(story, outline, requests)
    starts = _page_starts([made.size(turn) for turn in story.turns])
    wanted = next((i for i, t in enumerate(story.turns) if t.number == turns_from), None)
    if wanted is None:  # no such turn: the first page, or the last one beyond it
        wanted = len(story.turns) - 1 if turns_from > len(story.turns) else 0
    page = max((n for n, start in enumerate(starts) if start <= wanted), default=0)
    start = starts[page]
    end = starts[page + 1] if page + 1 < len(starts) else len(story.turns)
    boxes = [made.box(turn) for turn in story.turns[start:end]]
    branches = groupby(boxes, key=lambda box: bool(box.turn and box.turn.abandoned))
    total = len(story.turns)
    return Turns(
        branches=tuple(Branch(abandoned, tuple(found)) for abandoned, found in branches),
        loose=made.loose() if end == total else None,
        pages=TurnPages(
            first=start + 1 if boxes else 0,
            last=end,
            total=total,
            earlier=story_url(story.session_id, story.turns[starts[page - 1]].number)
            if page
            else "",
            later=story_url(story.session_id, story.turns[end].number) if end < total else "",
        ),
    )


def _page_starts(sizes: Sequence[int]) -> list[int]:
    """The index of the first turn of each page."""
    starts, items = [0], 0
    for index, size in enumerate(sizes):
        full = index - starts[-1] >= PAGE_TURNS or items + size > PAGE_ITEMS
        if full and index > starts[-1]:
            starts.append(index)
            items = 0
        items += size
    return starts


def relative(link: FamilyLink) -> Relative:
    """A session of the family."""
    return Relative(link, SessionState(link.session_id).page)


class _Maker:
    """Puts the items of each turn together."""

    def __init__(
        self,
        story: SessionStory,
        outline: Sequence[RequestOutline],
        requests: Sequence[RequestSummary],
    ) -> None:
        self.whole = requests
        self.session_id = story.session_id
        self.rows = {row.request_key: row for row in story.usage_rows if row.request_key}
        known = {turn.turn_id for turn in story.turns}
        self.turn_ids = known
        self.requests: dict[str, list[RequestOutline]] = {}
        for request in outline:
            turn_id = request.turn_id if request.turn_id in known else ""
            self.requests.setdefault(turn_id, []).append(request)
        self.seqs = {request.key: request.seq for request in outline}
        turn_of = {request.key: request.turn_id for request in outline}
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

    def size(self, turn: TurnView) -> int:
        """How many items a turn has."""
        turn_id = turn.turn_id
        return sum(len(of.get(turn_id, ())) for of in (self.requests, self.tools, self.compactions))

    def box(self, turn: TurnView) -> TurnBox:
        """One turn."""
        return self._made(turn, turn.turn_id, turn.started_at_ms)

    def loose(self) -> TurnBox | None:
        """What belongs to no turn."""
        if not (self.requests.get("") or self.tools.get("") or self.compactions.get("")):
            return None
        return self._made(None, "", None)

    def _made(self, turn: TurnView | None, turn_id: str, start_ms: int | None) -> TurnBox:
        requests = [self.whole[short.seq - 1] for short in self.requests.get(turn_id, [])]
        calls = self.tools.get(turn_id, [])
        if start_ms is None:
            starts = [r.started_at_ms for r in requests if r.started_at_ms is not None]
            start_ms = min(starts, default=None)
        items = tuple(self._items(requests, calls, self.compactions.get(turn_id, []), start_ms))
        words = turn.words if turn else ""
        waits = [c.permission_ms for c in calls if c.permission_ms is not None]
        return TurnBox(
            turn=turn,
            head=words[:HEAD_CHARS],
            rest=words[HEAD_CHARS:MOST_CHARS],
            cut_chars=max(0, len(words) - MOST_CHARS),
            items=items[:MOST_ITEMS],
            more_items=max(0, len(items) - MOST_ITEMS),
            lane=turn_lane(tuple(_drawn(items[:MOST_ITEMS]))),
            replay_href=replay_url(self.session_id, requests[0].key) if requests else "",
            tool_calls=len(calls),
            tool_errors=sum(c.failed for c in calls),
            permission_ms=sum(waits) if waits else None,
        )

    def _items(
        self,
        requests: Sequence[RequestSummary],
        calls: Iterable[ToolCallView],
        compactions: Iterable[CompactionView],
        start_ms: int | None,
    ) -> Iterator[TurnItem]:
        """Requests by start, each followed by the calls that it asked for; those of which it is
        not known who asked stand where their time puts them."""
        asked = _by_request(requests, calls)
        waiting = sorted(compactions, key=lambda c: c.at_ms or 0)
        for number, request in enumerate(requests):
            at = request.started_at_ms
            while waiting and at is not None and (waiting[0].at_ms or 0) <= at:
                yield _compaction(waiting.pop(0), start_ms)
            yield TurnItem(
                "request",
                _offset(at, start_ms),
                request_url(request.key),
                replay_url(self.session_id, request.key),
                request=request,
                row=self.rows.get(request.key),
                failed=request.status in (Status.FAILED, Status.CANCELLED),
            )
            gap_ms = _gap(request, requests[number + 1 :])
            yield from self._tools(asked.get(request.key, ()), start_ms, gap_ms)
        yield from self._tools(asked.get("", ()), start_ms, None)
        for compaction in waiting:
            yield _compaction(compaction, start_ms)

    def _tools(
        self, calls: Sequence[ToolCallView], start_ms: int | None, gap_ms: int | None
    ) -> Iterator[TurnItem]:
        """Calls that a file tells of, one by one; then those only asked for, together."""
        bare = [call for call in calls if call.known_from == ("answer",)]
        for call in calls:
            if call.known_from != ("answer",):
                yield self._tool(call, start_ms, gap_ms)
        if bare:
            names = Counter(one_line(call.tool) or "tool" for call in bare)
            yield TurnItem(
                "asked",
                None,
                request_url(bare[0].request_key) + "#response",
                gap_ms=gap_ms,
                names=", ".join(f"{name} × {n}" if n > 1 else name for name, n in names.items()),
                count=len(bare),
            )

    def _tool(self, call: ToolCallView, start_ms: int | None, gap_ms: int | None) -> TurnItem:
        return TurnItem(
            "tool",
            _offset(call.started_at_ms, start_ms),
            request_url(call.request_key) + "#response" if call.request_key else "",
            call=call,
            child_href=SessionState(call.child_session_id).page if call.child_session_id else "",
            gap_ms=gap_ms if call.started_at_ms is None else None,
            failed=call.failed,
            result_href=request_url(call.result_key) if call.result_key in self.seqs else "",
            result_seq=self.seqs.get(call.result_key),
        )


def _by_request(
    requests: Sequence[RequestSummary], calls: Iterable[ToolCallView]
) -> dict[str, list[ToolCallView]]:
    """The calls behind each request: those that it asked for, and those that began after it and
    before the next one, of which no file says who asked."""
    keys = {request.key for request in requests}
    found: dict[str, list[ToolCallView]] = {}
    for call in calls:
        key = call.request_key if call.request_key in keys else ""
        if not key and call.started_at_ms is not None:
            at = call.started_at_ms
            key = next((r.key for r in reversed(requests) if (r.started_at_ms or at + 1) <= at), "")
        found.setdefault(key, []).append(call)
    return found


def _compaction(compaction: CompactionView, start_ms: int | None) -> TurnItem:
    return TurnItem("compaction", _offset(compaction.at_ms, start_ms), "", compaction=compaction)


def _offset(at_ms: int | None, start_ms: int | None) -> int | None:
    return None if at_ms is None or start_ms is None else max(0, at_ms - start_ms)


def _gap(request: RequestSummary, later: Sequence[RequestSummary]) -> int | None:
    """From the end of a request to the start of the next one of its lane."""
    after = next((r for r in later if r.lane == request.lane), None)
    if after is None or after.started_at_ms is None or request.completed_at_ms is None:
        return None
    return max(0, after.started_at_ms - request.completed_at_ms)


def _drawn(items: Iterable[TurnItem]) -> Iterator[LaneItem]:
    """The items that have a time, for the lane."""
    answered_ms: int | None = None
    for item in items:
        if item.request is not None:
            answered_ms = item.request.completed_at_ms
            if item.request.started_at_ms is not None:
                yield _request_item(item, item.request)
        elif item.call is not None:
            drawn = _tool_item(item, item.call)
            if drawn is not None:
                yield drawn
        elif item.kind == "asked" and answered_ms is not None and item.gap_ms is not None:
            yield _asked_item(item, answered_ms, item.gap_ms)


def _request_item(item: TurnItem, request: RequestSummary) -> LaneItem:
    words = f"Request {request.seq}, {place_words(request)}, {request.status.value}"
    css = "failed" if item.failed else "side" if request.side_call else "request"
    start_ms = request.started_at_ms or 0
    end_ms = request.completed_at_ms
    if end_ms is None and request.duration_ms is not None:
        end_ms = start_ms + request.duration_ms
    wait = item.row.first_token_ms if item.row else None
    token = f"; first token after {duration(wait)}" if wait is not None else ""
    return LaneItem(
        0, start_ms, end_ms, wait or 0, num(request.seq),
        f"{words}, {duration(request.duration_ms)}{token}; {usage_words(request.usage)}",
        item.replay_href, css,
    )  # fmt: skip


def _asked_item(item: TurnItem, answered_ms: int, gap_ms: int) -> LaneItem:
    """Calls without times of their own, in the gap that they must have filled."""
    words = f"{item.names}: outcome not logged; at most {duration(gap_ms)}, between the answer "
    words += "and the next request"
    end_ms = answered_ms + gap_ms
    return LaneItem(1, answered_ms, end_ms, 0, item.names, words, item.href, "bound")


def _tool_item(item: TurnItem, call: ToolCallView) -> LaneItem | None:
    if call.started_at_ms is None:
        return None
    name = one_line(call.tool) or "tool"
    words = f"{name}: {call.status or 'outcome not logged'}"
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
        item.child_href or item.href, "failed" if item.failed else "tool",
    )  # fmt: skip
