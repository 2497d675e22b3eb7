"""What fits on a smaller screen: the list of sessions, and the name of the page one is on."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Served

WIDE = "document.querySelector('.page').scrollWidth - document.querySelector('.page').clientWidth"


@pytest.mark.parametrize("width", [1280, 1400, 1500])
def test_the_list_of_sessions_fits(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    expect(page.get_by_role("columnheader", name="Prompts logged")).to_be_in_viewport(ratio=1)
    assert page.evaluate(WIDE) == 0


@pytest.mark.parametrize("width", [1100, 1280, 1400])
def test_the_last_crumb_is_never_the_first_to_be_cut(
    page: Page, served: Served, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.get_by_role("link", name="Leases are lost").click()
    page.locator("#c42").click()
    page.wait_for_url(re.compile(r"request=\w+"))
    page.goto(f"{served.url}/requests/{page.url.rpartition('request=')[2]}")
    crumb = page.locator(".crumbs b")
    expect(crumb).to_have_text("Request 42")
    assert crumb.evaluate("e => e.scrollWidth <= e.clientWidth && "
                          "e.getBoundingClientRect().right <= "
                          "e.parentElement.getBoundingClientRect().right + 1")  # fmt: skip
