"""Answers that overlap, as on a slow machine: held back here until the next thing has happened."""

import re

from playwright.sync_api import APIResponse, Page, Route, expect

from tests.browser.conftest import Served, append_request, press, wait_until
from tests.browser.test_timeline import selected
from tests.browser.test_walk import LONG, open_long_session

PANEL = re.compile(r"/fragments/sessions/[^/]+/panel")
BOARD = re.compile(r"/fragments/sessions/[^/]+/timeline")
LIST = re.compile(r"/fragments/sessions\?")


class Held:
    """Answers that the server has given, and that have not arrived yet."""

    def __init__(self, page: Page, pattern: "re.Pattern[str]") -> None:
        self._page = page
        self._answers: list[tuple[Route, APIResponse]] = []
        self._arriving = False
        page.route(pattern, self._hold)

    def _hold(self, route: Route) -> None:
        answer = route.fetch()
        if self._arriving:
            route.fulfill(response=answer)
        else:
            self._answers.append((route, answer))

    def wait(self) -> None:
        """Until one has been given."""
        wait_until(self._page, lambda: bool(self._answers))

    def let_go(self) -> None:
        """Let them arrive, and whatever is asked from now on."""
        self._arriving = True
        for route, answer in self._answers:
            route.fulfill(response=answer)


def wait_until_told(page: Page) -> None:
    """Until the page has heard of the last news; it hears of no others."""

    def told() -> bool:
        asks = str(page.locator("#live").get_attribute("hx-get"))
        now = page.request.get(page.url.partition("/sessions/")[0] + asks)
        return now.status == 204

    wait_until(page, told)
    page.route(re.compile("/fragments/revision"), lambda route: route.fulfill(status=204))


def shown_again_after_a_reload(page: Page, number: int) -> None:
    """Whether the address tells the selection."""
    page.reload()
    expect(page.locator("#panel .ph")).to_contain_text(f"Request {number} of")


def test_each_of_several_quick_keys_goes_one_on(page: Page) -> None:
    open_long_session(page)
    answers = Held(page, PANEL)
    for _ in range(4):
        press(page, "j")
    answers.wait()
    answers.let_go()
    expect(page.locator("#panel .ph")).to_contain_text("Request 4 of")
    shown_again_after_a_reload(page, 4)
    page.go_back()
    expect(page.locator("#panel .ph")).to_contain_text("Request 3 of")


def test_a_key_that_opens_opens_what_the_keys_before_it_selected(page: Page) -> None:
    open_long_session(page)
    answers = Held(page, PANEL)
    press(page, "j")
    press(page, "j")
    press(page, "o")
    answers.wait()
    answers.let_go()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Request 2 of")


def test_the_address_holds_the_selection_and_the_axis_in_whatever_order(page: Page) -> None:
    open_long_session(page)
    answers = Held(page, PANEL)
    page.locator("#c41").click()
    press(page, "x")
    answers.wait()
    answers.let_go()
    expect(page.locator(".paxis").first).to_have_text("Time, UTC")
    expect(page).to_have_url(re.compile(r"request=\w+&x=time$"))
    expect(page.locator("#panel .ph")).to_contain_text("Request 41 of")
    answers = Held(page, BOARD)
    press(page, "x")
    page.locator("#c42").click()
    answers.wait()
    answers.let_go()
    expect(page.locator("#panel .ph")).to_contain_text("Request 42 of")
    expect(page).to_have_url(re.compile(r"\?request=\w+$"))
    expect(page.locator(".paxis").first).not_to_have_text("Time, UTC")


def test_a_key_after_a_move_of_the_timeline_knows_of_the_move(page: Page) -> None:
    """The panel follows the timeline with an answer of its own: until then its links are old."""
    open_long_session(page)
    answers = Held(page, PANEL)
    press(page, "x")
    expect(page.locator(".paxis").first).to_have_text("Time, UTC")
    answers.wait()
    press(page, "j")
    answers.let_go()
    expect(page.locator("#panel .ph")).to_contain_text("Request 1 of")
    assert page.url.endswith("&x=time")


def test_two_lanes_that_are_clicked_one_after_the_other_are_both_drawn(page: Page) -> None:
    open_long_session(page)
    press(page, "l")
    answers = Held(page, BOARD)
    markers, prompt = (page.get_by_role("switch", name=name) for name in ("Markers", "Prompt"))
    markers.click()
    prompt.click()
    answers.wait()
    answers.let_go()
    expect(prompt).to_have_attribute("aria-checked", "false")
    expect(markers).to_have_attribute("aria-checked", "true")
    expect(page).to_have_url(re.compile("off=prompt&on=markers$"))
    expect(page.locator("#lane-menu")).to_have_attribute("open", "")


def test_pausing_while_a_request_is_selected_keeps_both_in_the_address(page: Page) -> None:
    open_long_session(page)
    answers = Held(page, PANEL)
    press(page, "j")
    press(page, "Space")
    answers.wait()
    answers.let_go()
    expect(page.locator("#live")).to_contain_text("paused")
    expect(page).to_have_url(re.compile(r"\?request=\w+&paused=1$"))
    expect(page.locator("#panel .ph")).to_contain_text("Request 1 of")


def test_going_back_while_an_answer_is_on_its_way_stays_back(page: Page) -> None:
    open_long_session(page)
    press(page, "j")
    expect(page.locator("#panel .ph")).to_contain_text("Request 1 of")
    answers = Held(page, PANEL)
    press(page, "j")
    answers.wait()
    page.go_back()
    answers.let_go()
    expect(page.locator("#panel .ph")).to_contain_text("Session")
    assert "request=" not in page.url


def test_news_that_come_while_a_timeline_is_on_its_way_are_shown(
    growing_page: Page, growing: Served
) -> None:
    page = growing_page
    open_long_session(page)
    total = page.locator(".hits a").count()
    answers = Held(page, BOARD)
    append_request(growing)
    answers.wait()
    append_request(growing)
    wait_until_told(page)
    answers.let_go()
    expect(page.locator(".hits a")).to_have_count(total + 2)


def test_a_click_whose_answer_is_older_than_the_news_is_made_up_for(
    growing_page: Page, growing: Served
) -> None:
    page = growing_page
    open_long_session(page)
    total = page.locator(".hits a").count()
    answers = Held(page, PANEL)
    page.locator("#c20").click()
    answers.wait()
    append_request(growing)
    wait_until_told(page)
    answers.let_go()
    selected(page, 20, total + 1)


def test_news_do_not_take_a_column_from_under_the_pointer(
    growing_page: Page, growing: Served
) -> None:
    page = growing_page
    open_long_session(page)
    total = page.locator(".hits a").count()
    page.locator("#c20").hover()
    page.mouse.down()
    page.evaluate(
        """arrived = 0;
        document.addEventListener("htmx:beforeSwap", (e) => arrived += e.target.id === "board");"""
    )
    append_request(growing)
    wait_until(page, lambda: bool(page.evaluate("arrived")))
    page.mouse.up()
    selected(page, 20, total + 1)
    expect(page.locator(".hits a")).to_have_count(total + 1)


def test_news_leave_selected_text_selected_and_come_when_it_is_let_go(
    growing_page: Page, growing: Served
) -> None:
    page = growing_page
    open_long_session(page)
    page.locator("#c20").click()
    total = page.locator(".hits a").count()
    selected(page, 20, total)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#panel .ph b'))")
    with page.expect_response(PANEL):
        append_request(growing)
    expect(page.locator(".hits a")).to_have_count(total + 1)
    assert page.evaluate("getSelection().toString()") == "Request 20"
    page.evaluate("getSelection().removeAllRanges()")
    selected(page, 20, total + 1)


def test_news_leave_the_focus_on_a_link(growing_page: Page, growing: Served) -> None:
    page = growing_page
    link = page.get_by_role("link", name=LONG)
    link.focus()
    page.evaluate("document.querySelector('#sessions').classList.add('old')")
    append_request(growing)
    expect(page.locator("#sessions")).not_to_have_class(re.compile("old"))
    expect(link).to_be_focused()


def test_what_is_typed_last_is_what_is_found_though_its_answer_has_to_wait(page: Page) -> None:
    answers = Held(page, LIST)
    page.locator("#filter").press_sequentially("lea")
    answers.wait()
    page.locator("#filter").fill("no session is called this")
    page.locator("#filter").dispatch_event("change")
    answers.let_go()
    expect(page.locator("#sessions tbody tr")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"q=no\+session\+is\+called\+this$"))
