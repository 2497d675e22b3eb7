"""One step of a session as the agent lived it: what changed, the prompt, the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from tracer.errors import NotFoundError
from tracer.model.compare_views import ComparisonView
from tracer.model.prompt import Kind
from tracer.model.story import SessionStory, ToolCallView, TurnView, UsageRowView
from tracer.model.unfolded import Unfolded
from tracer.model.views import BlockView, RequestDetail, RequestOutline
from tracer.service import Service
from web.blocks import PAGE_BLOCKS, MapLink, load_detail, whole_map
from web.compare_rows import Row, row_page
from web.compare_state import CompareState
from web.conversation import MessageRow, conversation
from web.filters import pretty
from web.layout.read_marks import ReadMarks
from web.layout.ruler import Notch, ruler
from web.replay_state import ReplayState
from web.story import HEAD_CHARS
from web.urls import SessionState, compare_url, request_url, story_url
from web.verdict import Callout, NoCallout, make_callout, marks_of

ANSWER_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Moves:
    """Addresses of other steps; empty where there is none."""

    first: str
    turn_back: str
    previous: str
    next: str
    turn_on: str
    last: str
    miss_back: str
    miss_on: str


@dataclass(frozen=True, slots=True)
class StepChange:
    """A change, or, where `row` is None, blocks in a row that are the same: how many, where, and
    how large. `unproven` tells that some of them are not in this request's own record."""

    row: Row | None
    blocks: int = 0
    tokens: int = 0
    places: str = ""
    unproven: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different from the request before in the lane; `more_href` leads to all of it."""

    view: ComparisonView
    steps: tuple[StepChange, ...]
    more_href: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt as of this step. `messages` is empty while it is folded; `tools` are the names of
    the schemas before it."""

    opened: bool
    toggle_href: str
    toggle_fragment: str
    tools: tuple[str, ...]
    tool_tokens: int
    messages: tuple[MessageRow, ...]
    first: int
    last: int
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One block of the answer; `rest` stands behind the first characters. A tool call carries what
    became of it, as far as a file tells."""

    block: BlockView
    head: str
    rest: str
    call: ToolCallView | None
    child_href: str


@dataclass(frozen=True, slots=True)
class ReplayView:
    """Everything below the frame."""

    state: ReplayState
    detail: RequestDetail
    moves: Moves
    notches: tuple[tuple[Notch, str], ...]
    turn: TurnView | None
    turn_words: str
    turn_href: str
    changes: Changes | None
    whole: tuple[MapLink, ...]
    marks: ReadMarks | None
    prompt: Prompt
    answer: tuple[Answered, ...]
    calls: tuple[ToolCallView, ...]
    row: UsageRowView | None
    result_href: str
    callout: Callout | NoCallout
    request_href: str
    compare_href: str
    session_href: str


def find_request(requests: Sequence[RequestOutline], named: str, session_id: str) -> int:
    """The place in the list of the request of this key, or of this number in the session; the
    first where none is named. Raises NotFoundError."""
    if not requests:
        raise NotFoundError(f"Session {session_id} has no request to replay.")
    if not named:
        return 0
    for at, request in enumerate(requests):
        if request.key == named:
            return at
    if named.isascii() and named.isdigit() and len(named) < 10 and 0 < int(named) <= len(requests):
        return int(named) - 1
    raise NotFoundError(f"Session {session_id} has no request {named}.")


def make_replay(service: Service, state: ReplayState) -> ReplayView:
    """A step of a session. Raises NotFoundError."""
    requests, whole = service.outline(state.session_id), service.requests(state.session_id)
    at = find_request(requests, state.request, state.session_id)
    state = replace(state, request=requests[at].key)
    key = state.request
    detail = _detail(service, state, state.messages)
    story = service.story(state.session_id)
    turn = next((t for t in story.turns if t.turn_id == requests[at].turn_id), None)
    pieces, callout = _map(detail), make_callout(service, key)
    after = next((r for r in requests[at + 1 :] if r.lane == requests[at].lane), None)
    baseline = detail.baseline_key
    return ReplayView(
        state=state,
        detail=detail,
        moves=_moves(requests, at, state),
        notches=tuple((n, state.at(n.key).page) for n in ruler(requests, at + 1, whole)),
        turn=turn,
        turn_words=turn.words[:HEAD_CHARS] if turn else "",
        turn_href=_turn_href(state.session_id, turn),
        changes=_changes(service, baseline, key) if baseline else None,
        whole=pieces,
        marks=marks_of(callout, tuple(link.piece for link in pieces), detail.part_sizes),
        prompt=_prompt(detail, state),
        answer=_answer(detail, story),
        calls=_other_calls(detail, requests[at:], story),
        row=next((row for row in story.usage_rows if row.request_key == key), None),
        result_href=state.at(after.key).page if after else "",
        callout=callout,
        request_href=request_url(key),
        compare_href=compare_url(baseline, key) if baseline else "",
        session_href=SessionState(state.session_id, key).page,
    )


def _detail(service: Service, state: ReplayState, unfolded: frozenset[int]) -> RequestDetail:
    """The request with the blocks that are shown: none while the prompt is folded, the last page
    unless another one is asked for."""
    if not state.opened:
        return service.request(state.request, block_limit=0)
    start = state.blocks_from
    if start is None:
        total = service.request(state.request, block_limit=0).block_total
        start = max(0, total - 1) // PAGE_BLOCKS * PAGE_BLOCKS
    return load_detail(service, state.request, start, Unfolded(messages=unfolded))


def _map(detail: RequestDetail) -> tuple[MapLink, ...]:
    """The map of the prompt; its pieces lead to the request's page, which lists every block."""
    href = request_url(detail.request.key)
    return tuple(
        replace(link, href=href + link.href) if link.href.startswith("#") else link
        for link in whole_map(detail)
    )


def _turn_href(session_id: str, turn: TurnView | None) -> str:
    return f"{story_url(session_id, turn.number)}#turn-{turn.number}" if turn else ""


def _moves(requests: Sequence[RequestOutline], at: int, state: ReplayState) -> Moves:
    def address(found: RequestOutline | None) -> str:
        return state.at(found.key).page if found else ""

    def beyond(met: Callable[[RequestOutline], bool]) -> RequestOutline | None:
        return next((r for r in requests[at + 1 :] if met(r)), None)

    def before(met: Callable[[RequestOutline], bool]) -> RequestOutline | None:
        return next((r for r in reversed(requests[:at]) if met(r)), None)

    numbers = [r.turn_number for r in requests[: at + 1] if r.turn_number is not None]
    turn = numbers[-1] if numbers else 0
    starts = _turn_starts(requests)
    own = starts.get(turn)
    turn_back = own if own and own.seq <= at else starts.get(_next_below(starts, turn))
    return Moves(
        first=address(requests[0]) if at else "",
        turn_back=address(turn_back),
        previous=address(requests[at - 1] if at else None),
        next=address(requests[at + 1] if at + 1 < len(requests) else None),
        turn_on=address(beyond(lambda r: (r.turn_number or 0) > turn)),
        last=address(requests[-1]) if at + 1 < len(requests) else "",
        miss_back=address(before(lambda r: r.is_miss)),
        miss_on=address(beyond(lambda r: r.is_miss)),
    )


def _turn_starts(requests: Sequence[RequestOutline]) -> dict[int, RequestOutline]:
    """The first request of each turn."""
    starts: dict[int, RequestOutline] = {}
    for request in requests:
        if request.turn_number is not None:
            starts.setdefault(request.turn_number, request)
    return starts


def _next_below(starts: dict[int, RequestOutline], turn: int) -> int:
    return max((number for number in starts if number < turn), default=0)


def _changes(service: Service, baseline: str, key: str) -> Changes:
    view, state = service.compare(baseline, key), CompareState(baseline, key)
    page = row_page(service, view, state)
    steps: list[StepChange] = []
    for same, found in groupby(page.rows, key=lambda row: row.kind == "equal"):
        rows = list(found)
        steps += [_same(rows)] if same else map(StepChange, rows)
    return Changes(view, tuple(steps), page.later or state.page)


def _same(rows: Sequence[Row]) -> StepChange:
    made = [row.made for row in rows]
    return StepChange(
        None,
        blocks=sum(m.change.count for m in made),
        tokens=sum(m.b_tokens or 0 for m in made),
        places=", ".join(row.label for row in rows),
        unproven=not all(m.change.verified for m in made),
    )


def _prompt(detail: RequestDetail, state: ReplayState) -> Prompt:
    """The prompt, folded or with its messages; each of them leads back to this page."""
    opened = state.opened
    rows = conversation(detail, 0, state.messages) if opened else ()
    sizes = {size.part.value: size for size in detail.part_sizes}
    start, end = detail.block_from, detail.block_from + len(detail.blocks)
    size = max(1, len(detail.blocks))
    folding = state.folded if opened else state.unfolded
    return Prompt(
        opened=opened,
        toggle_href=folding.page + "#prompt",
        toggle_fragment=folding.fragment,
        tools=detail.request.tools,
        tool_tokens=sizes["tools"].tokens if "tools" in sizes else 0,
        messages=tuple(_here(row, state) for row in rows),
        first=start,
        last=end - 1,
        earlier=state.from_block(max(0, start - size)).page + "#prompt" if start else "",
        later=state.from_block(end).page + "#prompt" if end < detail.block_total else "",
    )


def _here(row: MessageRow, state: ReplayState) -> MessageRow:
    """A message that unfolds on this page."""
    return replace(
        row,
        toggle_href=state.toggling(row.index).page + f"#m{row.index}",
        toggle_fragment=state.message_fragment(row.index, folded=row.texts is not None),
    )


def message_here(service: Service, state: ReplayState, index: int, *, opened: bool) -> MessageRow:
    """One message of the prompt of a step. Raises NotFoundError where the page does not hold it."""
    unfolded = frozenset((index,)) if opened else frozenset[int]()
    detail = _detail(service, state, unfolded)
    rows = conversation(detail, 0, unfolded)
    for row in rows:
        if row.index == index:
            return _here(row, state)
    raise NotFoundError(f"Request {state.request} has no message {index} on this page.")


def _answer(detail: RequestDetail, story: SessionStory) -> tuple[Answered, ...]:
    calls = {call.call_id: call for call in story.tools}
    made = []
    for block in detail.response:
        text = block.text if block.text is not None else block.preview
        call = calls.get(block.call_id) if block.kind is Kind.TOOL_CALL else None
        text = pretty(text) if block.kind is Kind.TOOL_CALL else text
        child = call.child_session_id if call else ""
        made.append(
            Answered(
                block,
                text[:ANSWER_CHARS],
                text[ANSWER_CHARS:],
                call,
                SessionState(child).page if child else "",
            )
        )
    return tuple(made)


def _other_calls(
    detail: RequestDetail, requests: Sequence[RequestOutline], story: SessionStory
) -> tuple[ToolCallView, ...]:
    """Tool calls of the first of these requests that no answer of the log shows; of those of which
    no file says who asked, the ones that began before the next request."""
    shown = {block.call_id for block in detail.response}
    key, start = detail.request.key, detail.request.started_at_ms
    end = next((r.started_at_ms for r in requests[1:] if not r.side_call), None)

    def by_time(call: ToolCallView) -> bool:
        at = call.started_at_ms
        if call.request_key or at is None or start is None or detail.request.side_call:
            return False
        return start <= at and (end is None or at < end)

    return tuple(
        c for c in story.tools if (c.request_key == key and c.call_id not in shown) or by_time(c)
    )
