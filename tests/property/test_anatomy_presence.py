"""The rows of the presence matrix say what its cells say, however little is looked at again."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.anatomy.presence import (
    Item,
    PresenceRow,
    Request,
    Run,
    presence_cells,
    presence_rows,
)

ITEMS = st.builds(
    Item, st.sampled_from("abcd"), st.sampled_from(["1", "2"]), st.sampled_from(["", "x"])
)
FRESH = st.builds(Request, st.lists(ITEMS, max_size=5).map(tuple), st.booleans())


@st.composite
def sessions(draw: st.DrawFn) -> list[Request]:
    """Requests that mostly repeat the one before, or add something behind it."""
    requests: list[Request] = []
    for kind in draw(st.lists(st.sampled_from(["same", "equal", "more", "fresh"]), max_size=12)):
        if not requests or kind == "fresh":
            requests.append(draw(FRESH))
        elif kind == "same":
            requests.append(requests[-1])
        elif kind == "equal":
            requests.append(Request(tuple(Item(*i) for i in requests[-1].items)))
        else:
            added = draw(st.lists(ITEMS, max_size=3))
            requests.append(Request((*requests[-1].items, *added), requests[-1].complete))
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
    left = [a._replace(complete=True) for a, _ in pairs]
    right = [Request(tuple(i._replace(key=i.key.upper()) for i in b.items)) for _, b in pairs]
    both = [Request((*a.items, *b.items)) for a, b in zip(left, right, strict=True)]
    assert set(presence_rows(both)) == {*presence_rows(left), *presence_rows(right)}
