"""A time is read the same in the short way, which most times take, as in the long one."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.formats._time import _as_written, _from_iso

_CHARS = st.sampled_from("0123456789-:TWZ. +٣")
_TIMES = st.datetimes().map(lambda moment: moment.isoformat("T", "milliseconds") + "Z")


@given(_TIMES, st.lists(st.tuples(st.integers(0, 23), _CHARS), max_size=3))
def test_the_short_way_to_read_a_time_finds_the_same(
    text: str, edits: list[tuple[int, str]]
) -> None:
    for at, char in edits:
        text = text[:at] + char + text[at + 1 :]
    found = _as_written(text)
    assert found is None or found == _from_iso(text)
    assert edits or found is not None
