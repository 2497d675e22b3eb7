"""Everything that the address of a comparison can say, and the addresses made of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request

from tracer.errors import UsageError
from tracer.model.compare_views import CONTEXT_LINES, PAGE_HUNKS, ComparisonView
from web.filters import segment

VIEWS = ("unified", "split")
CONTEXTS = (CONTEXT_LINES, 12, 200)
MOST_CONTEXT = 1_000
MOST_LISTED = 400
"""Opened and closed changes that an address may name; more are ignored."""

_LONGEST = 9


@dataclass(frozen=True, slots=True)
class CompareState:
    """`first` is the change with which the list begins. `opened` and `shut` are changes that are
    not as they are by default, `listed` are stretches of which every block is shown; `offsets`
    says with which hunk an opened change begins. `pick` is the side for which another session is
    being chosen."""

    a: str
    b: str
    view: str = VIEWS[0]
    context: int = CONTEXT_LINES
    first: int = 0
    opened: frozenset[int] = frozenset()
    shut: frozenset[int] = frozenset()
    listed: frozenset[int] = frozenset()
    offsets: tuple[tuple[int, int], ...] = ()
    pick: str = ""

    @property
    def look(self) -> list[tuple[str, str | int]]:
        """How hunks are shown: what all comparisons share."""
        pairs: list[tuple[str, str | int]] = []
        if self.view != VIEWS[0]:
            pairs.append(("view", self.view))
        if self.context != CONTEXT_LINES:
            pairs.append(("context", self.context))
        return pairs

    @property
    def query(self) -> str:
        """The query with its question mark; empty in the default state."""
        pairs = self.look
        if self.first:
            pairs.append(("from", self.first))
        pairs += [("open", index) for index in sorted(self.opened)]
        pairs += [("shut", index) for index in sorted(self.shut)]
        pairs += [("list", index) for index in sorted(self.listed)]
        pairs += [("at", f"{index}-{offset}") for index, offset in self.offsets]
        if self.pick:
            pairs.append(("pick", self.pick))
        return "?" + urlencode(pairs) if pairs else ""

    @property
    def path(self) -> str:
        """The page's path."""
        return f"/compare/{segment(self.a)}/{segment(self.b)}"

    @property
    def page(self) -> str:
        """The page in this state."""
        return self.path + self.query

    def fragment(self, index: int, *more: tuple[str, int]) -> str:
        """The fragment of one change in this state."""
        query = self.query
        if more:
            query += ("&" if query else "?") + urlencode(more)
        return f"/fragments{self.path}/hunks/{index}{query}"

    def other(self, a: str, b: str) -> str:
        """The page of two other requests, looking the same."""
        return replace(_bare(self), a=a, b=b).page

    def to(self, index: int, shown: range) -> str:
        """The address of a change in the list, on this page or on its own."""
        page = "" if index in shown else replace(_bare(self), first=index).page
        return f"{page}#c{index}"

    def looking(self, view: str = "", context: int | None = None) -> "CompareState":
        """The same changes opened, shown in another way."""
        return replace(
            self,
            view=view or self.view,
            context=self.context if context is None else context,
            offsets=(),
        )

    def picking(self, side: str) -> "CompareState":
        """With sessions to choose from for one side; none for an empty name."""
        return replace(self, pick=side)

    def choosing(self, given: str, first: bool) -> str:
        """The address that compares a request named in another way: SESSION:NUMBER."""
        pairs = [("a", given if first else self.a), ("b", self.b if first else given), *self.look]
        return "/compare?" + urlencode(pairs, errors="surrogatepass")

    def opening(self, index: int) -> "CompareState":
        """With a change opened in full."""
        return replace(self, opened=self.opened | {index}, shut=self.shut - {index})

    def shutting(self, index: int, by_default: bool) -> "CompareState":
        """With a change closed."""
        return replace(
            self,
            opened=self.opened - {index},
            shut=self.shut | {index} if by_default else self.shut - {index},
            offsets=tuple(pair for pair in self.offsets if pair[0] != index),
        )

    def listing(self, index: int) -> "CompareState":
        """With every block of the stretch that begins with a change."""
        return replace(self, listed=self.listed | {index})

    def at(self, index: int, offset: int) -> "CompareState":
        """With a change opened at a later hunk."""
        others = tuple(pair for pair in self.offsets if pair[0] != index)
        return replace(self, opened=self.opened | {index}, offsets=(*others, (index, offset)))

    def offset_of(self, index: int) -> int:
        """The hunk with which a change begins."""
        return dict(self.offsets).get(index, 0)


def _bare(state: CompareState) -> CompareState:
    return CompareState(state.a, state.b, state.view, state.context)


def state_of(a: str, b: str, params: QueryParams) -> CompareState:
    """The state that a query says. Raises UsageError with a sentence."""
    view = params.get("view") or VIEWS[0]
    if view not in VIEWS:
        raise UsageError(f"“view” must be one of {', '.join(VIEWS)}, not “{view[:40]}”.")
    return CompareState(
        a=a,
        b=b,
        view=view,
        context=min(_number(params, "context", CONTEXT_LINES), MOST_CONTEXT),
        first=_number(params, "from", 0),
        opened=_numbers(params.getlist("open")),
        shut=_numbers(params.getlist("shut")),
        listed=_numbers(params.getlist("list")),
        offsets=_offsets(params.getlist("at")),
        pick=params.get("pick", "") if params.get("pick") in ("a", "b") else "",
    )


def at_block(state: CompareState, view: ComparisonView, block: int | None) -> CompareState:
    """The state in which a block of B is in view: its change or its run of equal blocks opened."""
    for made in view.changes if block is not None else ():
        start = made.change.b_index
        if start is not None and block is not None and start <= block < start + made.change.count:
            offset = (block - start) // PAGE_HUNKS * PAGE_HUNKS
            opened = state.at(made.index, offset) if offset else state.opening(made.index)
            return replace(opened, first=made.index)
    return state


def fragment_state(request: Request) -> CompareState:
    """The state of the page that a fragment is for: htmx names the page's address as it is now,
    with whatever was opened since; without it the fragment's own query counts."""
    a, b = request.path_params["a"], request.path_params["b"]
    own = CompareState(a, b)
    current = urlsplit(request.headers.get("hx-current-url", ""))
    if current.path == own.path:
        parsed = parse_qs(current.query)
        pairs = [(name, value) for name, values in parsed.items() for value in values]
        return state_of(a, b, QueryParams(pairs))
    return state_of(a, b, request.query_params)


def _number(params: QueryParams, name: str, default: int) -> int:
    text = params.get(name, "").strip()
    if not text:
        return default
    if not _is_number(text):
        raise UsageError(f"“{name}” must be a whole number of 0 or more, not “{text[:40]}”.")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST


def _numbers(texts: Iterable[str]) -> frozenset[int]:
    return frozenset([int(text) for text in texts if _is_number(text)][:MOST_LISTED])


def _offsets(texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    found = {}
    for text in texts[:MOST_LISTED]:
        index, _, offset = text.partition("-")
        if _is_number(index) and _is_number(offset):
            found[int(index)] = int(offset)
    return tuple(sorted(found.items()))
