"""What leaves a service is masked, whatever it is made of; what holds no secret is not touched."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import pytest

from tests.planted import SECRETS
from tracer.masking import MASK
from tracer.service import Service
from tracer.service.lazy import Lazy
from tracer.service.outgoing import Outgoing, masked, masked_result

SECRET = SECRETS["github"]
HIDDEN = f"ghp_{MASK * len(SECRET.secret)}"


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    session_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Inner:
    text: str
    colour: Colour = Colour.RED
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    key: str
    inner: Inner
    many: tuple[Inner, ...]
    by_name: dict[str, str]
    pair: Pair
    lazy: Lazy[Inner]
    masked_secrets: int = 0


def an_outer(text: str) -> Outer:
    inner = Inner(text, numbers=(1, 2))
    lazy = Lazy(3, lambda index: Inner(f"{index} {text}"))
    return Outer(text, inner, (inner, Inner("calm")), {"a": text}, Pair(text, text), lazy)


def test_texts_are_masked_wherever_they_stand_and_names_are_left_alone() -> None:
    made = Outgoing().result(an_outer(SECRET.text))
    assert made.key == SECRET.text
    assert made.inner == Inner(HIDDEN, numbers=(1, 2))
    assert made.many == (Inner(HIDDEN, numbers=(1, 2)), Inner("calm"))
    assert made.by_name == {"a": HIDDEN}
    assert made.pair == Pair(SECRET.text, HIDDEN)
    assert [item.text for item in made.lazy] == [f"{n} {HIDDEN}" for n in range(3)]
    assert made.masked_secrets == 1


def test_a_result_without_a_secret_is_the_same_object() -> None:
    for value in (("a calm text", 7), ["x"], {"a": "b"}, Inner("a calm text"), None, 3, "text"):
        assert Outgoing().result(value) is value


def test_what_is_kept_comes_back_as_the_same_object() -> None:
    outgoing, value = Outgoing(), (Inner(SECRET.text),)
    first = outgoing.result(value, keep=True)
    assert first is not value and outgoing.result(value, keep=True) is first


def test_a_cut_preview_hides_a_secret_that_goes_on() -> None:
    @dataclass(frozen=True, slots=True)
    class Row:
        preview: str

    assert Outgoing().result(Row("use ghp_4kQz7")).preview == f"use ghp_{MASK * 5}"
    assert Outgoing().result(("use ghp_4kQz7…",))[0] == f"use ghp_{MASK * 5}…"


def test_what_is_not_known_cannot_leave() -> None:
    with pytest.raises(TypeError, match="cannot leave"):
        Outgoing().result((object(),))


class Base:
    def inherited(self) -> str:
        return SECRET.text


@masked
class Cases(Base):
    def __init__(self, *, reveal: bool) -> None:
        self.reveals_secrets = reveal
        self.outgoing = Outgoing()

    def own(self) -> list[str]:
        return [SECRET.text]

    def _private(self) -> str:
        return SECRET.text


def test_every_public_use_case_is_masked_unless_revealed() -> None:
    hides, shows = Cases(reveal=False), Cases(reveal=True)
    assert (hides.own(), hides.inherited(), hides._private()) == ([HIDDEN], HIDDEN, SECRET.text)
    assert (shows.own(), shows.inherited()) == ([SECRET.text], SECRET.text)
    assert Base().inherited() == SECRET.text


def test_a_function_can_be_masked() -> None:
    function: Callable[[], str] = masked_result(lambda: SECRET.text)
    assert function() == HIDDEN


@pytest.mark.parametrize("name", [n for n in dir(Service) if not n.startswith("_")])
def test_no_use_case_of_the_service_was_forgotten(name: str) -> None:
    assert hasattr(getattr(Service, name), "__wrapped__")


def test_what_stands_in_a_cut_field_and_elsewhere_is_looked_at_as_both() -> None:
    @dataclass(frozen=True, slots=True)
    class Row:
        whole: list[str]
        preview: list[str]

    begun = ["use ghp_4kQz7"]
    assert Outgoing().result(Row(begun, begun)) == Row(begun, [f"use ghp_{MASK * 5}"])
