"""The search as it is used: a key, a Chinese text, results as one types, a hit in its place."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Served, press

CHINESE = "购物车"


def test_a_key_leads_from_any_page_to_a_chinese_text_in_its_place(page: Page) -> None:
    page.get_by_role("link", name="Leases are lost").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Leases are lost")
    press(page, "/")
    field = page.get_by_role("searchbox", name="Search all texts")
    expect(field).to_be_focused()
    page.keyboard.type(CHINESE)
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/search\?q="))
    expect(page.locator("#found mark").first).to_have_text(CHINESE)
    page.locator("#found .uses a", has_text="#").first.click()
    mark = page.locator("mark#mark")
    expect(mark).to_have_text(CHINESE)
    expect(mark).to_be_in_viewport()
    page.go_back()
    expect(page.locator("#found mark").first).to_have_text(CHINESE)


def test_results_follow_what_is_typed_and_the_address_follows_them(page: Page) -> None:
    page.goto(page.url.rstrip("/") + "/search")
    expect(page.locator("#found")).to_contain_text("Type a text to look for")
    press(page, "/")
    page.keyboard.type("worker res")
    expect(page.locator("#found mark").first).to_have_text("worker res")
    expect(page).to_have_url(re.compile(r"q=worker\+res"))
    page.get_by_label("Kind").select_option("user")
    expect(page).to_have_url(re.compile(r"kind=user"))
    expect(page.locator("#found .where b").first).to_have_text("user text")
    page.reload()
    expect(page.locator("#found mark").first).to_have_text("worker res")
    expect(page.get_by_label("Kind")).to_have_value("user")
    page.locator("#filter").fill("nothing has these words")
    expect(page.locator("#found")).to_contain_text("Nothing holds")


def test_a_narrow_screen_shows_the_results(context: BrowserContext, served: Served) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto(f"{served.url}/search?q=worker")
    expect(page.locator("#found mark").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
