"""The rows of the presence matrix say what its cells say, however little is looked at again."""

from hypothesis import given
from hypothesis import strategies as st

from tests.presences import presence_cells
from tracer.anatomy.presence import (
    IN_SYSTEM,
    Cell,
    Item,
    PresenceRow,
    Request,
    Run,
    numbered,
    presence_rows,
)

KEYS, CONTENTS, PLACES = st.sampled_from("abcd"), st.sampled_from("12"), st.sampled_from(["", "x"])
FROM, BOOLS = st.integers(0, 9), st.booleans()


@st.composite
def placed(draw: st.DrawFn, after: int = IN_SYSTEM) -> tuple[Item, ...]:
    """Items in the order of where they begin; none stands before message `after`."""
    items = []
    for begins in sorted(draw(st.lists(st.integers(after, 9), max_size=5))):
        ends = begins if begins == IN_SYSTEM else draw(st.integers(begins, 9))
        items.append(Item(draw(KEYS), draw(CONTENTS), draw(PLACES), begins, ends))
    return tuple(items)


@st.composite
def sessions(draw: st.DrawFn) -> list[Request]:
    """Requests that mostly repeat the one before, or add something behind it, and prove ever less
    of it."""
    requests: list[Request] = []
    kinds = st.sampled_from(["same", "equal", "more", "slid", "fresh"])
    for kind in draw(st.lists(kinds, max_size=12)):
        if not requests or kind == "fresh":
            requests.append(Request(draw(placed()), draw(st.booleans()), draw(FROM), draw(BOOLS)))
        elif kind == "same":
            requests.append(requests[-1])
        elif kind == "equal":
            again = tuple(Item(*i) for i in requests[-1].items)
            requests.append(requests[-1]._replace(items=again))
        else:
            before = requests[-1]
            slid = before.shown_from + (draw(st.integers(0, 3)) if kind == "slid" else 0)
            at = before.items[-1].first if before.items else IN_SYSTEM
            items = (*before.items, *draw(placed(at)))
            requests.append(before._replace(items=items, shown_from=slid))
    return requests


def from_cells(requests: list[Request]) -> tuple[PresenceRow, ...]:
    """The rows, put together from every cell."""
    runs: dict[str, list[Run]] = {}
    for index, cells in enumerate(presence_cells(requests)):
        for key, cell in cells:
            own = runs.setdefault(key, [])
            if own and own[-1].cell is cell and own[-1].last == index - 1:
                own[-1] = Run(cell, own[-1].first, index)
            else:
                own.append(Run(cell, index, index))
    return tuple(PresenceRow(key, tuple(own)) for key, own in runs.items())


@given(sessions())
def test_rows_are_the_runs_of_the_cells(requests: list[Request]) -> None:
    assert presence_rows(requests) == from_cells(requests)


@given(sessions(), sessions())
def test_groups_do_not_mix(first: list[Request], second: list[Request]) -> None:
    """The rows of two kinds of items are the same, made together or apart."""
    pairs = list(zip(first, second, strict=False))
    left = [Request(a.items) for a, _ in pairs]
    right = [Request(tuple(i._replace(key=i.key.upper()) for i in b.items)) for _, b in pairs]
    both = [Request((*a.items, *b.items)) for a, b in zip(left, right, strict=True)]
    assert set(presence_rows(both)) == {*presence_rows(left), *presence_rows(right)}


@given(sessions())
def test_what_a_record_does_not_prove_is_never_the_same_nor_gone(requests: list[Request]) -> None:
    for request, row in zip(requests, presence_cells(requests), strict=True):
        cells = dict(row)
        carried = {}
        for key, item in zip(numbered(request.items), request.items, strict=True):
            if not request.shows(item):
                carried[key] = item
        for key, item in carried.items():
            assert cells[key] not in (Cell.SAME, Cell.MOVED, Cell.GONE)
            assert cells[key] is Cell.UNSEEN or request.shows_news(item)
