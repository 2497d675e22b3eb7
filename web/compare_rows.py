"""The changes of a comparison as rows, some of them opened, a page at a time."""

from dataclasses import dataclass

from tracer.model.compare_views import ChangeView, ComparisonView, HunksAsked, HunksView
from tracer.model.comparison import FieldChange, Op
from tracer.model.prompt import Part
from tracer.service import Service
from tracer.service.comparing_words import differs_words, size_words, stretch_words, stretches
from tracer.words import plural
from web.blocks import PAGE_BLOCKS
from web.compare_state import CompareState
from web.filters import num
from web.hunks import HunkBox, hunk_boxes
from web.urls import request_url

PAGE_ROWS = 60
"""Rows on a page."""

PAGE_LINES = 1_200
"""Lines of hunks on a page, of changes that nobody asked to open: the others stay closed."""

AUTO_HUNKS = 6
"""Hunks of a change that is open without being asked for."""

AUTO_LINES = 14
"""Lines of a block that came or went, likewise."""

STRETCH_WHOLE, STRETCH_SHOWN = 3, 8
"""Blocks that came, went or moved together are open up to so many; of longer stretches the first
few are listed."""

_BATCH = 20
_ONE_SIDED = (Op.ADDED, Op.REMOVED, Op.UNKNOWN)


@dataclass(frozen=True, slots=True)
class BlockLink:
    """A block of a run of equal ones; `index` is its place in B."""

    index: int
    label: str
    part: Part
    tokens: int
    preview: str
    href: str


@dataclass(frozen=True, slots=True)
class More:
    """A link to what follows."""

    id: str
    words: str
    href: str
    fragment: str
    target: str


@dataclass(frozen=True, slots=True)
class Inside:
    """What stands inside an opened change."""

    split: bool
    fields: tuple[FieldChange, ...]
    hunks: tuple[HunkBox, ...]
    blocks: tuple[BlockLink, ...]
    notes: tuple[str, ...]
    folded_after: str
    more: More | None


@dataclass(frozen=True, slots=True)
class Row:
    """A change or a run of equal blocks; with `rest`, what is left out of a long stretch."""

    made: ChangeView
    kind: str
    label: str
    words: tuple[str, ...]
    size: str
    toggle_href: str
    toggle_fragment: str
    a_href: str
    b_href: str
    inside: Inside | None
    own_href: str
    copy_href: str = ""

    @property
    def index(self) -> int:
        """The number of the change."""
        return self.made.index


@dataclass(frozen=True, slots=True)
class RowPage:
    """The rows of one page, and the addresses of those before and after; empty where none."""

    rows: tuple[Row, ...]
    first: int
    last: int
    total: int
    earlier: str
    later: str


def row_page(service: Service, view: ComparisonView, state: CompareState) -> RowPage:
    """The page on which the change `state.first` stands."""
    together = stretches(view.changes)
    plan = _plan(together, state)
    at = next((n for n, made in enumerate(plan) if made[-1].index >= state.first), 0)
    start = at // PAGE_ROWS * PAGE_ROWS
    shown = plan[start : start + PAGE_ROWS]
    own = {made.index: opens_itself(made, len(found)) for found in together for made in found}
    insides = _insides(service, state, shown, own)
    earlier = plan[max(0, start - PAGE_ROWS)][0].index if start else -1
    later = plan[start + PAGE_ROWS][0].index if start + PAGE_ROWS < len(plan) else -1
    return RowPage(
        rows=tuple(
            _row(state, row[0], insides.get(row[0].index), own[row[0].index])
            if len(row) == 1
            else _rest(state, row)
            for row in shown
        ),
        first=shown[0][0].index if shown else 0,
        last=shown[-1][-1].index if shown else 0,
        total=len(view.changes),
        earlier=_from(state, earlier) if earlier >= 0 else "",
        later=_from(state, later) if later >= 0 else "",
    )


def one_row(
    service: Service, view: ComparisonView, state: CompareState, index: int, *, opened: bool
) -> Row:
    """One change, opened in full or closed, and the state after that. Raises NotFoundError where
    there is none."""
    asked = HunksAsked(offset=state.offset_of(index), context=state.context)
    found = service.many_hunks(state.a, state.b, {index: asked})[0]
    made = view.changes[index]
    by_default = opens_itself(made, _stretch_size(view, index))
    after = state.opening(index) if opened else state.shutting(index, by_default)
    inside = _inside(after, found, auto=False) if opened else None
    return _row(after, made, inside, by_default)


def more_inside(service: Service, state: CompareState, index: int, offset: int) -> Inside:
    """A later page of the hunks of a change. Raises NotFoundError where there is no change."""
    asked = HunksAsked(offset=offset, context=state.context)
    return _inside(state, service.many_hunks(state.a, state.b, {index: asked})[0], auto=False)


def opens_itself(made: ChangeView, stretch: int) -> bool:
    """Whether a change is open without being asked for: changed blocks, and short additions."""
    if made.change.op in _ONE_SIDED:
        return stretch <= STRETCH_WHOLE and _has_text(made)
    return made.change.op is not Op.EQUAL and bool(made.change.differs)


def _has_text(made: ChangeView) -> bool:
    return bool(made.a_chars or made.b_chars)


def _from(state: CompareState, index: int) -> str:
    return CompareState(
        state.a, state.b, state.view, state.context, first=index, listed=state.listed
    ).page


def _plan(together: list[list[ChangeView]], state: CompareState) -> list[list[ChangeView]]:
    """The rows of all pages: changes one by one, but the rest of a long stretch as one."""
    rows: list[list[ChangeView]] = []
    for stretch in together:
        whole = len(stretch) <= STRETCH_SHOWN + 1 or stretch[0].index in state.listed
        shown = len(stretch) if whole else STRETCH_SHOWN
        rows += [[made] for made in stretch[:shown]]
        if shown < len(stretch):
            rows.append(stretch[shown:])
    return rows


def _insides(
    service: Service, state: CompareState, shown: list[list[ChangeView]], own: dict[int, bool]
) -> dict[int, Inside]:
    """The insides of the rows of a page that are open. `own` says which are without being asked
    for: of those, only as many as fit."""
    asked: dict[int, HunksAsked] = {}
    for index in [row[0].index for row in shown if len(row) == 1]:
        if index in state.opened:
            asked[index] = HunksAsked(offset=state.offset_of(index), context=state.context)
        elif own[index] and index not in state.shut:
            asked[index] = HunksAsked(limit=AUTO_HUNKS, context=state.context)
    found: dict[int, Inside] = {}
    lines = 0
    queue = list(asked)
    for start in range(0, len(queue), _BATCH):
        batch = [
            i for i in queue[start : start + _BATCH] if lines < PAGE_LINES or i in state.opened
        ]
        for got in service.many_hunks(state.a, state.b, {i: asked[i] for i in batch}):
            inside = _inside(state, got, auto=got.change.index not in state.opened)
            found[got.change.index] = inside
            lines += sum(len(hunk.rows) for hunk in inside.hunks)
    return found


def _inside(state: CompareState, got: HunksView, *, auto: bool) -> Inside:
    change, page = got.change.change, got.page
    short = auto and change.op in _ONE_SIDED
    hunks = page.hunks[:1] if page and short else page.hunks if page else ()
    notes = []
    if page and page.pretty:
        notes.append("JSON, laid out for reading: the lines are not those of the log.")
    if page and page.fallback:
        notes.append(page.fallback)
    if page and not page.total and not got.fields:
        notes.append("The text is the same.")
    return Inside(
        split=state.view == "split" and change.op not in _ONE_SIDED,
        fields=got.fields,
        hunks=hunk_boxes(
            hunks,
            "unified" if change.op in _ONE_SIDED else state.view,
            AUTO_LINES if short else None,
        ),
        blocks=tuple(
            BlockLink(
                b.b_index, b.label, b.part, b.tokens, b.preview, block_url(state.b, b.b_index)
            )
            for b in got.blocks
        ),
        notes=tuple(notes),
        folded_after=plural(page.folded_after, "equal line") if page and page.folded_after else "",
        more=_cut_lines(state, got) if short else _more(state, got),
    )


def _cut_lines(state: CompareState, got: HunksView) -> More | None:
    """The lines of a block that came or went which are left out while nobody asked for it."""
    if got.page is None:
        return None
    left_out = got.page.added_lines + got.page.removed_lines - AUTO_LINES
    if left_out <= 0:
        return None
    index = got.change.index
    opened = state.opening(index)
    return More(
        id=f"m{index}",
        words=plural(left_out, "more line"),
        href=f"{opened.page}#c{index}",
        fragment=state.fragment(index),
        target=f"#c{index}",
    )


def _more(state: CompareState, got: HunksView) -> More | None:
    if got.next_offset is None:
        return None
    index, offset = got.change.index, got.next_offset
    noun = "equal block" if got.page is None else "hunk"
    return More(
        id=f"m{index}",
        words=plural(got.total - offset, f"more {noun}"),
        href=f"{state.at(index, offset).page}#c{index}",
        fragment=state.fragment(index, ("offset", offset)),
        target=f"#m{index}",
    )


def _row(state: CompareState, made: ChangeView, inside: Inside | None, by_default: bool) -> Row:
    index, change = made.index, made.change
    toggled = state.shutting(index, by_default) if inside else state.opening(index)
    openable = change.op is Op.EQUAL or _has_text(made)
    return Row(
        made=made,
        kind="equal" if change.op is Op.EQUAL else "change",
        label=change.label,
        words=_words(made),
        size=size_words(made),
        toggle_href=f"{toggled.page}#c{index}" if openable else "",
        toggle_fragment=(
            state.fragment(index, ("fold", 1)) if inside else state.fragment(index)
        ) if openable else "",
        a_href="" if change.a_index is None else block_url(state.a, change.a_index),
        b_href="" if change.b_index is None else block_url(state.b, change.b_index),
        inside=inside,
        own_href=state.page,
        copy_href=f"/data{state.path}/{index}.diff" if openable else "",
    )  # fmt: skip


def _stretch_size(view: ComparisonView, index: int) -> int:
    """How many changes stand together with this one, itself included."""
    op = view.changes[index].change.op
    if op in (Op.EQUAL, Op.CHANGED):
        return 1
    start = end = index
    while start and view.changes[start - 1].change.op is op:
        start -= 1
    while end + 1 < len(view.changes) and view.changes[end + 1].change.op is op:
        end += 1
    return end + 1 - start


def _rest(state: CompareState, stretch: list[ChangeView]) -> Row:
    """The blocks of a long stretch that are not listed."""
    made = stretch[0]
    op = made.change.op
    tokens = sum((m.b_tokens if m.b_tokens is not None else m.a_tokens) or 0 for m in stretch)
    first = made.index - STRETCH_SHOWN
    return Row(
        made=made,
        kind="rest",
        label=f"{num(len(stretch))} more {op.value}",
        words=(stretch_words(stretch),),
        size=plural(tokens, "token"),
        toggle_href=f"{state.listing(first).page}#c{made.index}",
        toggle_fragment="",
        a_href="",
        b_href="",
        inside=None,
        own_href=state.page,
    )


def _words(made: ChangeView) -> tuple[str, ...]:
    """What is to be said of a change beside its label."""
    change = made.change
    words = []
    if change.op in (Op.MOVED, Op.REORDERED) or change.out_of_place:
        words.append(f"from {made.a_place} to {made.b_place}")
    if change.differs and change.differs != ("text",):
        words.append(differs_words(change.differs))
    if change.same_meaning:
        words.append("same meaning")
    if change.op is Op.UNKNOWN:
        words.append("the other log does not show this place")
    if not change.verified:
        words.append("not proven")
    return tuple(words)


def block_url(key: str, index: int) -> str:
    """A block on its request's page, unfolded."""
    return request_url(key, index // PAGE_BLOCKS * PAGE_BLOCKS, index)
