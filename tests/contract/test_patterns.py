"""The page of patterns is drawn by the builders of the pages, and shows every sign there is."""

import re

import pytest
from starlette.testclient import TestClient

from tests.factories import FakeService
from web.app import create_app


@pytest.fixture(scope="module")
def text() -> str:
    browser = TestClient(create_app(FakeService()), base_url="http://127.0.0.1:8321")
    response = browser.get("/patterns")
    assert response.status_code == 200
    return response.text


def test_every_sign_and_pattern_that_is_defined_is_shown(text: str) -> None:
    defined = set(re.findall(r'<(?:g|pattern) id="([\w-]+)"', text))
    named = {name.removesuffix("-thin") for name in defined}
    shown = set(re.findall(r'(?:href="|url\()#([\w-]+)', text))
    assert len(named) > 30 and named <= shown | {"g-error", "g-side", "g-stop"}, named - shown


def test_every_state_of_the_header_and_every_verdict_is_shown(text: str) -> None:
    for state in ("live on", "live paused", "live off", "live bad"):
        assert f'class="{state}"' in text
    for result in ("hit", "first", "miss", "partial", "expected_rebuild", "no_usage"):
        assert f'class="verdict v-{result}' in text


def test_what_is_drawn_as_an_example_cannot_be_operated(text: str) -> None:
    """Its links lead nowhere, so they stand in boxes that take no focus and no click."""
    before, _, inside = text.partition("<div inert")
    assert "/sessions/example" in inside and "/sessions/example" not in before
    for piece in re.split(r"<section id=", inside)[1:]:
        live, _, _ = piece.partition("<div inert")
        assert "/sessions/example" not in live and "/requests/e" not in live
