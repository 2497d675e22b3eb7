"""Values that are kept as long as what they were made from is the same."""

from collections.abc import Callable

from tracer.service.kept import Kept


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
