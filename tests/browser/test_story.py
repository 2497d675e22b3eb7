"""From the list of sessions to a session's turns to its replay, by keys alone, and back."""

import re

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Served, press, profile

LONG = "Leases are lost when a worker restarts"


def tab_to(page: Page, link: Locator) -> None:
    """Tab on until a link has the focus."""
    expect(link).to_be_visible()
    for _ in range(200):
        if link.and_(page.locator(":focus")).count():
            return
        page.keyboard.press("Tab")
    raise AssertionError("the link cannot be reached by the keyboard")


def test_a_walk_by_keys_from_the_filtered_list_to_a_replay_and_back(page: Page) -> None:
    tab_to(page, page.get_by_label("Words in title"))
    page.keyboard.type("leases")
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/\?q=leases$"))
    tab_to(page, page.get_by_role("link", name=LONG))
    press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG)
    tab_to(page, page.get_by_role("link", name="Turns", exact=True))
    press(page, "Enter")
    expect(page.locator("article.turn")).to_have_count(6)
    tab_to(page, page.locator("#turn-2").get_by_role("link", name="replay", exact=True))
    press(page, "Enter")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(re.compile(r"Step 17 of 7\d"))
    press(page, "j")
    expect(heading).to_contain_text("Step 18")
    press(page, "k")
    expect(heading).to_contain_text("Step 17")
    press(page, "g")
    expect(heading).to_contain_text("Step 1 of")
    press(page, "G")
    expect(heading).to_contain_text(re.compile(r"Step 7\d of 7\d"))
    page.go_back()
    expect(heading).to_contain_text("Step 1 of")
    press(page, "Escape")
    expect(page.locator("#panel")).to_contain_text("Request 1 of")
    for _ in range(5):
        page.go_back()
    expect(page.locator("article.turn")).to_have_count(6)
    page.go_back()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/\?q=leases$"))
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page.locator("#filter")).to_have_value("leases")


def test_a_message_of_the_prompt_unfolds_in_place_and_survives_a_reload(page: Page) -> None:
    page.get_by_role("link", name=LONG).click()
    page.get_by_role("link", name="Replay", exact=True).click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("Step 1 of")
    press(page, "j")
    expect(heading).to_contain_text("Step 2 of")
    page.get_by_role("link", name="The prompt as of this step").click()
    page.locator("#replay").get_by_role("link", name=re.compile("Communicating with")).click()
    text = page.locator("pre", has_text="# Communicating with the user").first
    expect(text).to_be_visible()
    expect(page).to_have_url(re.compile(r"prompt=1&message=\d+#m\d+$"))
    page.reload()
    expect(text).to_be_visible()


def test_filter_turns_and_replay_work_without_javascript(
    context: BrowserContext, served: Served, page: Page
) -> None:
    assert context.browser is not None
    with profile(context.browser, java_script_enabled=False) as plain:
        quiet = plain.new_page()
        quiet.goto(served.url)
        quiet.get_by_label("Words in title").fill("leases")
        quiet.get_by_role("checkbox", name="with misses").check()
        quiet.get_by_role("button", name="Filter").click()
        expect(quiet.locator("#sessions tbody tr")).to_have_count(1)
        quiet.get_by_role("link", name=LONG).click()
        quiet.get_by_role("link", name="Turns", exact=True).click()
        quiet.locator("#turn-3").get_by_role("link", name="replay", exact=True).click()
        step = quiet.get_by_role("heading", level=1)
        expect(step).to_contain_text("Step 30 of")
        quiet.get_by_role("link", name="j next").click()
        expect(step).to_contain_text("Step 31 of")
        quiet.get_by_role("link", name="The prompt as of this step").click()
        expect(quiet.locator("tbody.block").first).to_be_visible()


def test_turns_and_replay_fit_a_narrow_window(page: Page) -> None:
    page.set_viewport_size({"width": 500, "height": 900})
    page.get_by_role("link", name=LONG).click()
    for name in ("Turns", "Replay"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator(f"#{'story' if name == 'Turns' else 'replay'}")).to_be_visible()
        page.wait_for_load_state()
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), name
