"""The colours of both themes: readable, and apart for eyes that see fewer of them.

Simulated by the matrices of Machado, Oliveira and Fernandes (2009) for a full deficiency, in linear
RGB. Distances are those of OKLab, times 100: about 2 is just to be seen side by side.
"""

import re
from itertools import combinations, pairwise
from math import sqrt
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[2] / "web" / "static" / "app.css").read_text("utf-8")
THEMES = ("light", "dark")
Colour = tuple[float, float, float]

EYES: dict[str, tuple[Colour, Colour, Colour]] = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
STACK = ("tools", "system", "context", "history", "reminder", "mcs", "new")
"""The parts of a prompt from the bottom to the top: neighbours must be told apart."""
BILLED = ("read", "write", "fresh", "bad")
TEXT = ("ink", "dim", "link", "good", "bad", "warn")
SIGNS = ("good", "bad", "warn", "partial", "dim")


def palette(theme: str) -> dict[str, str]:
    """The hex colours of a theme by name."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", CSS)
    return {name: (light, dark)[THEMES.index(theme)] for name, light, dark in found}


def linear(colour: str) -> Colour:
    values = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """The contrast of WCAG 2."""
    weights = (0.2126, 0.7152, 0.0722)
    high, low = sorted(
        (sum(w * v for w, v in zip(weights, colour, strict=True)) for colour in (one, other)),
        reverse=True,
    )
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, eye: str) -> Colour:
    """A colour as an eye sees it, in OKLab."""
    rgb = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(k * v for k, v in zip(row, rgb, strict=True)))) for row in EYES[eye]
    )
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    small = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * small,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * small,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * small,
    )


def apart(one: str, other: str, eye: str) -> float:
    pairs = zip(seen(one, eye), seen(other, eye), strict=True)
    return 100 * sqrt(sum((a - b) ** 2 for a, b in pairs))


@pytest.mark.parametrize("theme", THEMES)
def test_texts_and_signs_are_readable(theme: str) -> None:
    colours = palette(theme)
    assert {*TEXT, *SIGNS, *STACK, *BILLED} <= set(colours)
    for ground in ("bg", "panel"):
        behind = linear(colours[ground])
        pale = {name: contrast(linear(colours[name]), behind) for name in (*TEXT, *SIGNS)}
        assert {name for name in TEXT if pale[name] < 4.5} == set(), pale
        assert {name for name in SIGNS if pale[name] < 3} == set(), pale


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
def test_neighbours_in_a_stack_are_told_apart_by_every_eye(theme: str, eye: str) -> None:
    colours = palette(theme)
    near = {
        pair: apart(colours[pair[0]], colours[pair[1]], eye)
        for pair in (*pairwise(STACK), ("history", "new"), ("reminder", "new"))
    }
    assert {pair: round(d, 1) for pair, d in near.items() if d < 8} == {}


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
def test_what_was_billed_is_told_apart_by_every_eye(theme: str, eye: str) -> None:
    colours = palette(theme)
    near = {
        pair: apart(colours[pair[0]], colours[pair[1]], eye) for pair in combinations(BILLED, 2)
    }
    assert {pair: round(d, 1) for pair, d in near.items() if d < 8} == {}


def test_the_simulation_sees_that_red_and_green_fall_together() -> None:
    assert apart("#c08000", "#80a000", "deutan") < 8 < apart("#c08000", "#80a000", "usual")
