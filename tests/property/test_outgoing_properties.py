"""What leaves a service as it is, is what a walk through all of it would not have changed."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from tests.planted import SECRETS
from tracer.service.lazy import Lazy
from tracer.service.outgoing import Outgoing

TEXTS = st.sampled_from(
    [SECRETS["github"].text, "use ghp_4kQz7", "use ghp_4kQz7…", "a calm text", "short"]
)


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    preview: Any
    text: Any
    number: int = 0


class Pair(NamedTuple):
    session_id: str
    title: Any


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["words", "text", "a"]), inner, max_size=3),
        st.builds(Row, TEXTS, inner, inner),
        st.builds(Pair, TEXTS, inner),
        inner.map(lambda item: (item, item, Row("k", item, item))),
    )


VALUES = st.recursive(st.one_of(TEXTS, st.none(), st.integers()), larger, max_leaves=12)


@given(VALUES)
def test_a_result_is_masked_as_by_a_walk_through_all_of_it(value: Any) -> None:
    made = Outgoing().result(value)
    with patch.object(Outgoing, "stays", lambda *_: False):
        walked = Outgoing().result(value)
    assert made == walked
    assert (made is value) == (walked is value)


@given(st.lists(VALUES, max_size=4))
def test_items_that_are_made_later_are_masked_the_same(values: list[Any]) -> None:
    made = Outgoing().result(Lazy(len(values), values.__getitem__))
    with patch.object(Outgoing, "stays", lambda *_: False):
        walked = list(Outgoing().result(Lazy(len(values), values.__getitem__)))
    assert list(made) == walked
