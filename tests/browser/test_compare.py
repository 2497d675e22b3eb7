"""A comparison in a real browser: reached from a request, unfolded in place, walked by keys."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import press
from tests.browser.test_walk import open_long_session


def open_comparison(page: Page) -> None:
    """Request 64, the first after the compaction, and its baseline."""
    open_long_session(page)
    page.locator(".hits a").nth(63).click()
    page.get_by_role("link", name="Compare with baseline").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Compare 62 → 64")


def test_a_comparison_is_one_click_from_a_request_and_walked_by_keys(page: Page) -> None:
    open_comparison(page)
    expect(page.locator(".answer")).to_contain_text("They part at message 3")
    press(page, "n")
    expect(page.locator("#c2 a.fold")).to_be_focused()
    press(page, "n")
    expect(page.locator("#c3 a.fold")).to_be_focused()
    press(page, "p")
    expect(page.locator("#c2 a.fold")).to_be_focused()


def test_changes_unfold_in_place_and_the_address_keeps_all_of_them(page: Page) -> None:
    open_comparison(page)
    page.locator("#c0 a.fold").click()
    expect(page.locator("#c0")).to_contain_text("tool Bash")
    page.locator("#c3 a.fold").click()
    expect(page.locator("#c3 td.code")).to_contain_text("Leases are lost")
    assert re.search(r"\?open=0&open=3$", page.url)
    page.reload()
    expect(page.locator("#c0")).to_contain_text("tool Bash")
    expect(page.locator("#c3 td.code")).to_contain_text("Leases are lost")


def test_two_other_requests_are_chosen_from_the_lists(page: Page) -> None:
    open_comparison(page)
    page.get_by_role("combobox", name="Request A").select_option(index=28)
    page.get_by_role("button", name="compare").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(r"Compare \d+ → 64"))
    page.get_by_role("link", name="swap").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(r"Compare 64 → \d+"))
    page.get_by_role("link", name="side by side").click()
    expect(page.locator("table.diff.split").first).to_be_visible()
