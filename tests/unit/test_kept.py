"""Values that are kept as long as what they were made from is the same."""

from collections import OrderedDict
from collections.abc import Callable

from tracer.service.kept import Kept, drop_oldest


def counting() -> tuple[list[int], Callable[[], int]]:
    """A maker that gives 1, 2, 3 ..., and what it has given."""
    made: list[int] = []

    def make() -> int:
        made.append(len(made) + 1)
        return made[-1]

    return made, make


def test_a_value_is_made_once_of_what_is_equal() -> None:
    kept: Kept[int] = Kept()
    made, make = counting()
    assert [kept.get("a", ([1, 2],), make), kept.get("a", ([1, 2],), make)] == [1, 1]
    assert made == [1]


def test_a_value_of_something_else_takes_the_place_of_the_one_before() -> None:
    kept: Kept[int] = Kept()
    _, make = counting()
    assert [kept.get("a", of, make) for of in ("x", "y", "y", "x")] == [1, 2, 2, 3]


def test_what_does_not_last_is_not_kept_and_takes_the_one_before_with_it() -> None:
    kept: Kept[int] = Kept()
    _, make = counting()
    assert kept.get("a", "x", make) == 1
    assert kept.get("a", "y", make, lambda value: False) == 2
    assert kept.get("a", "x", make) == 3


def test_the_value_used_longest_ago_goes_first() -> None:
    kept: Kept[int] = Kept(2)
    _, make = counting()
    for key in ("a", "b", "a", "c"):
        kept.get(key, "", make)
    assert [kept.get("a", "", make), kept.get("b", "", make)] == [1, 4]


def test_what_was_used_longest_ago_goes_until_the_rest_is_light_enough() -> None:
    values = OrderedDict[object, int](zip("abcd", (5, 3, 2, 4), strict=True))
    drop_oldest(values, 4, lambda weight: weight, 6)
    assert list(values) == ["c", "d"]
    drop_oldest(values, 1)
    assert list(values) == ["d"], "no more than so many, whatever they weigh"
    drop_oldest(values, 4, lambda weight: weight, 1)
    assert list(values) == ["d"], "the last one is kept although it weighs more"
    drop_oldest(values, 4, lambda weight: weight, 1, spare_last=False)
    assert not values


def test_a_heavy_value_gives_way_to_the_next_one() -> None:
    kept: Kept[int] = Kept(weigh=lambda value: value, limit=5)
    assert (kept.get("a", 0, lambda: 3), kept.get("b", 0, lambda: 2)) == (3, 2)
    assert kept.get("a", 0, lambda: 0) == 3, "both are light enough"
    assert kept.get("c", 0, lambda: 9) == 9
    assert kept.get("a", 0, lambda: 0) == 0, "it was dropped"
