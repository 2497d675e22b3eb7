"""Presence and calibration hold for any input."""

from hypothesis import given
from hypothesis import strategies as st

from tests.presences import presence_cells
from tracer.anatomy.calibration import Sample as Billed
from tracer.anatomy.calibration import apportion, calibrate, calibrated_parts
from tracer.anatomy.presence import Cell, Item, Request, presence_rows

KEYS = st.sampled_from("abcdef")
NOWHERE = st.just(0)
ITEMS = st.lists(
    st.builds(Item, KEYS, st.sampled_from("12"), st.sampled_from("xy"), NOWHERE, NOWHERE),
    max_size=6,
)
REQUESTS = st.lists(
    st.builds(
        Request,
        ITEMS.map(lambda items: [*{i.key: i for i in items}.values()]),
        st.booleans(),
        NOWHERE,
        st.just(True),
    ),
    max_size=8,
)


@given(REQUESTS)
def test_cells_tell_what_a_plain_comparison_tells(requests: list[Request]) -> None:
    known: dict[str, Item] = {}
    present: set[str] = set()
    for request, cells in zip(requests, presence_cells(requests), strict=True):
        found = dict(cells)
        assert len(found) == len(cells)
        now = {item.key: item for item in request.items}
        for key, item in now.items():
            if key not in present:
                assert found[key] is Cell.APPEARED
            elif known[key].content != item.content:
                assert found[key] is Cell.CHANGED
            elif known[key].place != item.place:
                assert found[key] is Cell.MOVED
            else:
                assert found[key] in (Cell.SAME, Cell.MOVED)
        gone = Cell.GONE if request.complete else Cell.UNSEEN
        assert {k: c for k, c in found.items() if k not in now} == dict.fromkeys(
            present - now.keys(), gone
        )
        known |= now
        present = now.keys() | (set() if request.complete else present)


@given(REQUESTS)
def test_a_request_that_is_sent_again_is_the_same(requests: list[Request]) -> None:
    again = [*requests, *requests[-1:], *requests[-1:]]
    for cells in [*presence_cells(again)][len(requests) + 1 :]:
        assert {cell for _, cell in cells} <= {Cell.SAME, Cell.UNSEEN}


@given(REQUESTS)
def test_rows_hold_every_cell_once(requests: list[Request]) -> None:
    cells = {(key, i): cell for i, row in enumerate(presence_cells(requests)) for key, cell in row}
    unrolled = {
        (row.key, i): run.cell
        for row in presence_rows(requests)
        for run in row.runs
        for i in range(run.first, run.last + 1)
    }
    assert unrolled == cells


COUNTS = st.integers(0, 10**7)


@given(st.lists(COUNTS, max_size=30), COUNTS)
def test_shares_add_up_and_are_off_by_less_than_one(weights: list[int], total: int) -> None:
    shares = apportion(weights, total)
    known = sum(weights)
    assert sum(shares) == (total if known else 0)
    assert all(
        abs(share * known - weight * total) < known
        for share, weight in zip(shares, weights, strict=True)
        if known
    )


@given(st.lists(COUNTS, max_size=10), st.none() | COUNTS, st.booleans(), st.lists(COUNTS))
def test_parts_and_remainder_are_the_total(
    parts: list[int], billed: int | None, whole: bool, lane: list[int]
) -> None:
    found = calibrated_parts(
        parts, billed, whole=whole, lane=calibrate([Billed(100, n) for n in lane])
    )
    assert len(found.parts) == len(parts)
    if billed is None:
        assert found.remainder == 0
    else:
        assert sum(found.parts) + found.remainder == billed


@given(st.lists(st.builds(Billed, COUNTS, COUNTS), max_size=20))
def test_the_spread_holds_the_factor(samples: list[Billed]) -> None:
    found = calibrate(samples)
    usable = [s for s in samples if s.bpe_tokens and s.billed_input_tokens]
    assert (found is None) == (not usable)
    if found is not None:
        assert found.low <= found.factor <= found.high
        assert 0 <= found.deviation <= found.high - found.low
        assert found.samples == len(usable)
