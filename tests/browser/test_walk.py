"""What only a browser shows: clicking, keys, history, live growth, a clean console."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Served, append_request, press, profile

LONG = "Leases are lost when a worker restarts"
CHINESE = "购物车总价有时会差一分钱"


def open_long_session(page: Page) -> None:
    page.get_by_role("link", name=LONG).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG)
    page.wait_for_load_state()


def test_clicking_leads_from_sessions_to_a_session_to_a_request(page: Page) -> None:
    open_long_session(page)
    page.locator(".hits a").nth(40).click()
    expect(page.locator("#panel")).to_contain_text("Request 41 of 72")
    assert "request=" in page.url, "the selection is in the address"
    expect(page.locator(".hits a[aria-current]")).to_have_count(1)
    page.get_by_role("link", name="Open request").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request 41 of 72")
    expect(page.locator("body")).to_contain_text("carried over from an earlier record")


def test_the_keyboard_alone_leads_from_sessions_to_a_request(page: Page) -> None:
    link = page.get_by_role("link", name=LONG)
    for _ in range(120):
        page.keyboard.press("Tab")
        if link.and_(page.locator(":focus")).count():
            break
    press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG)
    press(page, "j")
    expect(page.locator("#panel")).to_contain_text("Request 1 of 72")
    press(page, "j")
    expect(page.locator("#panel")).to_contain_text("Request 2 of 72")
    press(page, "k")
    expect(page.locator("#panel")).to_contain_text("Request 1 of 72")
    press(page, "j")
    expect(page.locator("#panel")).to_contain_text("Request 2 of 72")
    press(page, "o")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request 2 of 72")
    press(page, "Escape")
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG)
    press(page, "?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("next and previous turn")
    press(page, "Escape")
    expect(keys).not_to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG)


def test_a_deep_link_survives_a_reload_and_the_back_button(page: Page) -> None:
    open_long_session(page)
    page.locator(".hits a").nth(9).click()
    expect(page.locator("#panel")).to_contain_text("Request 10 of 72")
    address = page.url
    page.reload()
    expect(page.locator("#panel")).to_contain_text("Request 10 of 72")
    page.locator(".hits a").nth(19).click()
    expect(page.locator("#panel")).to_contain_text("Request 20 of 72")
    page.go_back()
    expect(page.locator("#panel")).to_contain_text("Request 10 of 72")
    assert page.url == address


def test_a_block_unfolds_in_place(page: Page) -> None:
    open_long_session(page)
    page.locator(".hits a").nth(5).click()
    page.get_by_role("link", name="Open request").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request 6 of 72")
    page.get_by_role("link", name=re.compile("Communicating with the user")).first.click()
    expect(page.locator("pre", has_text="# Communicating with the user").first).to_be_visible()


def test_everything_works_without_javascript(
    context: BrowserContext, served: Served, page: Page
) -> None:
    assert context.browser is not None
    with profile(context.browser, java_script_enabled=False) as plain:
        quiet = plain.new_page()
        quiet.goto(served.url)
        quiet.get_by_role("link", name=LONG).click()
        quiet.locator(".hits a").nth(40).click()
        expect(quiet.locator("#panel")).to_contain_text("Request 41 of 72")
        quiet.get_by_role("link", name="Open request").click()
        quiet.get_by_role("link", name=re.compile("Communicating with the user")).first.click()
        expect(quiet.locator("pre", has_text="# Communicating with the user").first).to_be_visible()


def test_chinese_text_is_drawn_with_a_font_that_has_it(page: Page) -> None:
    link = page.get_by_role("link", name=re.compile(CHINESE))
    expect(link).to_be_visible()
    # Without a font every character is the same empty box: the two texts are then equally drawn.
    drawn = page.evaluate(
        """() => [..."购物"].map((c) => {
          const canvas = document.createElement("canvas");
          const brush = canvas.getContext("2d");
          brush.font = "40px " + getComputedStyle(document.body).fontFamily;
          brush.fillText(c, 0, 60);
          return canvas.toDataURL();
        })"""
    )
    assert drawn[0] != drawn[1]
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(CHINESE)


def test_a_new_line_shows_without_a_reload_and_keeps_the_selection(
    page: Page, served: Served
) -> None:
    open_long_session(page)
    page.locator(".hits a").nth(3).click()
    expect(page.locator("#panel")).to_contain_text("Request 4 of 72")
    append_request(served)
    expect(page.locator("#panel")).to_contain_text("Request 4 of 73")
    expect(page.locator(".hits a")).to_have_count(73)


def test_an_edited_file_shows_on_reload(page: Page, served: Served) -> None:
    log = next(served.logs.glob("production-info/rollout/*.jsonl"))
    text = log.read_text(encoding="utf-8")
    assert "low_waters()" in text
    log.write_text(text.replace("low_waters()", "ebb_table()"), encoding="utf-8")
    for _ in range(1_000):  # how soon it shows, benchmarks/live.py measures
        page.reload()
        if page.get_by_role("link", name=re.compile("ebb_table")).count():
            return
    raise AssertionError("the edit does not show")


def test_a_narrow_window_does_not_scroll_sideways(context: BrowserContext, page: Page) -> None:
    page.set_viewport_size({"width": 500, "height": 900})
    for _ in range(2):
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, page.url
        if LONG not in page.locator("h1").first.inner_text():
            open_long_session(page)
