"""The timeline in a real browser: keys, lanes, window and zoom, growth, pause, a server gone."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import (
    SAMPLES,
    Served,
    append_request,
    clean_page,
    press,
    serving,
    wait_until,
)
from tests.browser.long_session import TITLE, write_long_session
from tests.browser.test_walk import LONG, open_long_session
from tests.helpers import HANG_S
from tracer.service import ingest

REQUESTS = 5_000


@pytest.fixture(scope="module")
def long_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A session of 5,000 requests, served."""
    folder = tmp_path_factory.mktemp("long")
    write_long_session(folder / "logs", REQUESTS)
    ingest(folder / "x.db", [str(folder / "logs")])
    with serving(folder, folder / "logs") as running:
        yield running


@pytest.fixture
def long_page(context: BrowserContext, long_served: Served) -> Iterator[Page]:
    """The session of 5,000 requests."""
    with clean_page(context) as made:
        made.goto(long_served.url)
        made.get_by_role("link", name=TITLE).click()
        expect(made.locator(".what b")).to_have_text("Requests 4,841 to 5,000")
        yield made


def selected(page: Page, number: int, total: int = 72) -> None:
    expect(page.locator("#panel .ph")).to_contain_text(f"Request {number:,} of {total:,}")


def test_the_keyboard_walks_requests_turns_misses_and_changes_of_a_row(page: Page) -> None:
    open_long_session(page)
    total = page.locator(".hits a").count()
    for keys, number in (("j", 1), ("j", 2), ("t", 17), ("t", 30), ("T", 17), ("k", 16),
                         ("m", 42), ("m", 53), ("M", 42)):  # fmt: skip
        press(page, keys)
        selected(page, number, total)
        expect(page.locator(".hits a[aria-current]")).to_have_count(1)
    page.get_by_role("link", name="env_info", exact=True).click()
    expect(page.locator(".prow.chosen")).to_have_text("env_info")
    expect(page.locator("#row-back")).to_be_visible()
    press(page, "p")
    selected(page, 30, total)
    press(page, "p")
    selected(page, 2, total)
    assert "row=section:env_info" in page.url
    page.go_back()
    selected(page, 30, total)
    press(page, "Escape")
    expect(page.locator("#panel .ph")).to_contain_text("Session")


def test_keys_switch_axis_lanes_and_open_the_comparison(page: Page) -> None:
    open_long_session(page)
    press(page, "x")
    expect(page.locator(".paxis").first).to_have_text("Time, UTC")
    page.locator("#c41").click()
    expect(page.locator("#panel .ph")).to_contain_text("Request 41 of")
    press(page, "l")
    switch = page.get_by_role("switch", name="Markers")
    expect(switch).to_have_attribute("aria-checked", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(page.locator("#lane-menu")).to_have_attribute("open", "")
    press(page, "Escape")
    expect(page.locator("#lane-menu")).not_to_have_attribute("open", "")
    assert re.search(r"request=\w+&x=time&on=markers$", page.url), page.url
    page.reload()
    expect(page.locator("#panel .ph")).to_contain_text("Request 41 of")
    press(page, "/")
    expect(page.get_by_role("searchbox").first).to_be_focused()
    press(page, "Escape")
    press(page, "c")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Compare")


def test_the_lane_menu_stays_open_when_the_panel_is_swapped_before_the_timeline_settles(
    page: Page,
) -> None:
    open_long_session(page)
    page.locator("#c41").click()
    expect(page.locator("#panel .ph")).to_contain_text("Request 41 of")
    page.evaluate("htmx.config.defaultSettleDelay = 500")
    page.evaluate("settled = 0; document.addEventListener('htmx:afterSettle', () => settled++)")
    press(page, "l")
    switch = page.get_by_role("switch", name="Markers")
    switch.click()
    wait_until(page, lambda: bool(page.evaluate("settled >= 2")))
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(page.locator("#lane-menu")).to_have_attribute("open", "")


def test_a_long_title_is_cut_in_the_breadcrumbs_and_not_the_number_of_the_request(
    long_page: Page,
) -> None:
    long_page.locator("#c4900").click()
    selected(long_page, 4900, REQUESTS)
    long_page.keyboard.press("o")
    last = long_page.locator(".crumbs b")
    expect(last).to_have_text("Request 4,900")
    long_page.evaluate(
        "document.querySelector('.crumbs a:not(:first-child) bdi').textContent = 'word '.repeat(99)"
    )
    assert last.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert last.evaluate("e => getComputedStyle(e).flexShrink") == "0"


def test_pointing_and_focusing_show_the_numbers_of_a_column(page: Page) -> None:
    open_long_session(page)
    page.locator("#c41").hover()
    expect(page.locator("#readout")).to_contain_text("Request 41, turn 3, step 12")
    page.locator("#c42").focus()
    expect(page.locator("#readout")).to_contain_text("Request 42")
    expect(page.locator("#c42")).to_have_attribute("aria-label", re.compile("Request 42"))


def test_the_window_over_five_thousand_requests_is_moved_and_zoomed(long_page: Page) -> None:
    what = long_page.locator(".what b")
    press(long_page, ",")
    expect(what).to_have_text("Requests 4,713 to 4,872")
    press(long_page, "+")
    expect(what).to_have_text("Requests 4,753 to 4,832")
    long_page.locator("#c4800").click()
    selected(long_page, 4800, REQUESTS)
    press(long_page, "f")
    expect(what).to_have_text("All 5,000 requests")
    selected(long_page, 4800, REQUESTS)
    assert long_page.locator(".hits a").count() <= 400
    long_page.locator(".hits a").nth(10).click()
    expect(what).not_to_have_text("All 5,000 requests")
    box = long_page.locator(".overview").bounding_box()
    assert box is not None
    long_page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(what).to_have_text(re.compile("Requests 2,[345]"))
    long_page.go_back()
    expect(what).to_have_text(re.compile("Requests [1-9][0-9] to 2"))
    long_page.go_back()
    expect(what).to_have_text("All 5,000 requests")


def test_walking_out_of_the_window_takes_it_along(long_page: Page) -> None:
    press(long_page, "M")
    selected(long_page, 5000, REQUESTS)
    press(long_page, "M")
    selected(long_page, 4000, REQUESTS)
    expect(long_page.locator("#c4000")).to_have_attribute("aria-current", "true")
    press(long_page, "j")
    selected(long_page, 4001, REQUESTS)


def test_a_new_column_comes_in_time_and_nothing_else_moves(
    growing_page: Page, growing: Served
) -> None:
    page = growing_page
    open_long_session(page)
    total = page.locator(".hits a").count()
    page.locator("#c20").click()
    selected(page, 20, total)
    # In one step: a located panel may have been swapped for another one when it is looked at.
    page.evaluate("document.querySelector('#panel').scrollTop = 150")
    press(page, "l")
    append_request(growing)
    expect(page.locator(".hits a")).to_have_count(total + 1)
    selected(page, 20, total + 1)
    expect(page.locator("#lane-menu")).to_have_attribute("open", "")
    assert page.evaluate("document.querySelector('#panel').scrollTop") == 150
    expect(page.locator("#c20")).to_have_attribute("aria-current", "true")


def test_a_paused_page_stays_as_it_is_until_it_goes_on(growing_page: Page, growing: Served) -> None:
    page = growing_page
    open_long_session(page)
    total = page.locator(".hits a").count()
    press(page, "Space")
    expect(page.locator("#live")).to_contain_text("paused")
    assert "paused=1" in page.url
    append_request(growing)
    assert page.locator('[hx-trigger^="every"]').count() == 0, "it asks for news"
    expect(page.locator(".hits a")).to_have_count(total)
    page.get_by_role("link", name="Go on following").click()
    expect(page.locator(".hits a")).to_have_count(total + 1)
    assert "paused=1" not in page.url


def test_a_server_that_is_gone_is_told_and_what_was_read_stays(
    context: BrowserContext, tmp_path: Path
) -> None:
    shutil.copytree(SAMPLES / "windowed-long", tmp_path / "logs")
    with serving(tmp_path, tmp_path / "logs") as running:
        page = context.new_page()
        page.goto(running.url)
        page.get_by_role("link", name=LONG).click()
        expect(page.locator("#lost")).not_to_be_visible()
        running.process.terminate()
        running.process.wait(timeout=HANG_S)
        expect(page.get_by_role("alert")).to_contain_text("Connection lost")
        expect(page.locator("#live")).to_contain_text("not connected")
        assert page.locator(".hits a").count() >= 70


def in_view(page: Page, selector: str) -> bool:
    """Whether an element stands in the window, below the header."""
    return bool(
        page.locator(selector).first.evaluate(
            "e => { const y = e.getBoundingClientRect().top; return y >= 40 && y < innerHeight }"
        )
    )


def test_deep_links_lead_to_the_place_and_mark_it(page: Page) -> None:
    open_long_session(page)
    press(page, "m")
    expect(page.locator("#panel .ph")).to_contain_text("Request 42 of")
    press(page, "o")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request 42 of")
    request = page.url.partition("?")[0].partition("#")[0]
    for query, place in (
        ("?block=70#b70", "#b70"),
        ("?section=3#s3", "#s3"),
        ("?message=60#m60", "#m60"),
    ):
        page.goto(request + query)
        expect(page.locator(f"{place}:target")).to_be_visible()
        wait_until(page, partial(in_view, page, place))
    page.goto(request)
    page.locator('a[href*="#mark"]').first.click()
    expect(page.locator("#mark:target")).to_be_visible()
    wait_until(page, lambda: in_view(page, "#mark"))
    page.goto(request)
    page.get_by_role("link", name="all differences").click()
    change = page.locator(".change:not(.equal)").last
    number = change.get_attribute("id")
    page.goto(f"{page.url.partition('#')[0]}#{number}")
    wait_until(page, lambda: in_view(page, f"#{number}"))


def test_a_deep_link_to_a_request_scrolls_to_its_column_in_a_narrow_window(
    context: BrowserContext, page: Page
) -> None:
    open_long_session(page)
    page.locator("#c60").click()
    expect(page.locator("#panel .ph")).to_contain_text("Request 60 of")
    address = page.url
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto(address)
    box = page.locator("#c60").bounding_box()
    assert box is not None and 126 <= box["x"] <= 500
