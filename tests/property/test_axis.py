"""The x axis for any start times: slots in order, apart from each other, every request once."""

from hypothesis import given
from hypothesis import strategies as st

from tests.factories import START_MS, a_column
from web.layout.axis import make_axis


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 10**7)), max_size=60),
    st.sampled_from(["request", "time"]),
)
def test_slots_never_overlap_and_hold_every_request_once(
    seconds: list[int | None], by: str
) -> None:
    ordered = sorted(s for s in seconds if s is not None)
    columns = [
        a_column(seq, started_at_ms=None if s is None else START_MS + s * 1000, duration_ms=2000)
        for seq, s in enumerate([*ordered, *[None] * (len(seconds) - len(ordered))], 1)
    ]
    axis = make_axis(by, columns)
    held = [column.request.seq for slot in axis.slots for column in slot.columns]
    assert held == [column.request.seq for column in columns]
    for before, after in zip(axis.slots, axis.slots[1:], strict=False):
        assert before.left < before.right <= after.left + 1e-6
    for slot in axis.slots:
        assert slot.left >= 0 and slot.right <= axis.places + 1e-6
        assert all(axis.slots[axis.slot_of(c.request.seq)] is slot for c in slot.columns)
    assert all(0 <= tick.x <= 100 for tick in axis.ticks())
