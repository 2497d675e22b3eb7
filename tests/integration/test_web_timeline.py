"""The timeline as an instrument: lanes on and off, x by time, walks, subagents, pausing."""

import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from tests.anatomy_factories import a_presence_row
from tests.factories import SESSION, START_MS, FakeService, a_column, a_session, a_timeline
from tests.integration.test_web_pages import Elements, client
from tests.judging_fakes import a_brief, a_verdict
from tracer.model.anatomy_views import Presence, PresenceLane
from tracer.model.events import Status
from tracer.model.surroundings import ChildRequest, ChildSession, Surroundings
from tracer.model.verdict import Result
from web.follower import FollowState

PAGE = f"/sessions/{SESSION}"


def links(browser: TestClient, path: str) -> dict[str, dict[str, str | None]]:
    """The links of a page by their ids."""
    found = Elements(browser.get(path).text).found
    return {str(a["id"]): a for tag, a in found if tag == "a" and a.get("id")}


def three_turns() -> FakeService:
    """Nine requests in three turns; 4 and 8 are misses, a section changes in 3 and 7."""
    briefs = {seq: a_brief(a_verdict(Result.MISS)) for seq in (4, 8)}
    columns = [
        a_column(seq, turn_id=f"turn_{(seq + 2) // 3}", turn_number=(seq + 2) // 3,
                 verdict=briefs.get(seq))
        for seq in range(1, 10)
    ]  # fmt: skip
    row = a_presence_row("skills", "ascsssc..", tuple(range(1, 10)))
    presence = Presence(SESSION, 9, (PresenceLane("main", tuple(range(1, 10)), (row,)),))
    return FakeService(a_timeline(columns=columns), presences={SESSION: presence})


def led(found: dict[str, dict[str, str | None]], link: str) -> str:
    """The request that a link leads to; empty where there is no such link."""
    match = re.search(r"request=(\w+)", found.get(link, {}).get("href") or "")
    return match[1] if match else ""


@pytest.mark.parametrize(
    ("request_key", "expected"),
    [
        ("", ("", "r1", "", "r1", "r8", "r4")),
        ("r1", ("", "r2", "", "r4", "r8", "r4")),
        ("r5", ("r4", "r6", "r4", "r7", "r4", "r8")),
        ("r9", ("r8", "", "r7", "", "r8", "r4")),
    ],
)
def test_the_walks_lead_to_requests_turns_and_misses(
    request_key: str, expected: tuple[str, ...]
) -> None:
    query = f"?request={request_key}" if request_key else ""
    found = links(client(three_turns()), f"/fragments{PAGE}/panel{query}")
    names = ("previous", "next", "turn-back", "turn-on", "miss-back", "miss-on")
    assert tuple(led(found, name) for name in names) == expected


def test_a_row_is_picked_out_and_its_changes_are_walked() -> None:
    browser = client(three_turns())
    text = unescape(browser.get(PAGE).text)
    (href,) = re.findall(r'class="prow"><a href="([^"]+)"', text)
    assert href == f"{PAGE}?row=section:skills"
    found = links(browser, f"/fragments{PAGE}/panel?request=r5&row=section:skills")
    assert (led(found, "row-back"), led(found, "row-on")) == ("r3", "r7")
    assert "row=section:skills" in (found["row-on"]["href"] or ""), "the row stays picked out"
    assert 'class="prow chosen"' in browser.get(f"{PAGE}?row=section:skills").text
    assert "row-on" not in links(browser, f"/fragments{PAGE}/panel?request=r5&row=section:none")


def test_a_lane_is_switched_off_and_on_by_a_link() -> None:
    browser = client(three_turns())
    shown = links(browser, PAGE)
    assert shown["lane-turn"]["aria-checked"] == "true"
    assert shown["lane-turn"]["href"] == f"{PAGE}?off=turn"
    hidden = browser.get(f"{PAGE}?off=turn,prompt,sections").text
    assert 'class="turn' not in hidden and "Sections" not in re.findall(r"<h2[^>]*>(\w+)", hidden)
    assert 'class="a-tools"' not in hidden and 'class="a-read"' in hidden
    again = links(browser, f"{PAGE}?off=turn,prompt")
    assert again["lane-turn"]["href"] == f"{PAGE}?off=prompt"
    assert "lane-subagents" not in shown, "what a session does not have cannot be switched"


def test_a_lane_that_does_not_exist_is_a_mistake_that_is_told() -> None:
    response = client(three_turns()).get(f"{PAGE}?off=nonsense")
    assert response.status_code == 422 and "There is no lane" in unescape(response.text)


def test_moving_keeps_every_other_state_in_the_address_and_tells_the_panel() -> None:
    browser = client(three_turns())
    query = "?from=2&to=4&scale=share&x=time&off=turn&on=markers&row=section:skills"
    response = browser.get(f"/fragments{PAGE}/timeline{query}&push=1&request=r3")
    asked = response.headers["hx-push-url"]
    for pair in (*query[1:].split("&"), "request=r3"):
        assert pair in asked
    assert response.headers["hx-trigger-after-settle"] == "board"
    assert browser.get(asked).status_code == 200


@pytest.mark.parametrize("query", ["?x=time", "?x=time&request=r3&row=section:skills"])
def test_by_time_every_column_is_a_link_and_the_axis_shows_times(query: str) -> None:
    browser = client(three_turns())
    text = browser.get(PAGE + query).text
    assert len(re.findall(r'<foreignObject[^>]*>\s*<a id="c\d"', text)) == 9
    assert "09:03:11" in text and "Time, UTC" in text
    fragment = browser.get(f"/fragments{PAGE}/timeline{query}").text
    assert fragment.strip() in text


def test_subagents_are_nested_under_the_request_that_was_running() -> None:
    child = a_session("sess_child", [a_column(1).request], title="Look around",
                      started_at_ms=START_MS + 3 * 60_000 + 1000)  # fmt: skip
    asked = ChildRequest("k1", 1, START_MS + 3 * 60_000 + 2000, Status.COMPLETED, Result.MISS)
    around = Surroundings(children=(ChildSession(child, (asked,)),))
    service = FakeService(a_timeline(6), around={SESSION: around})
    text = unescape(client(service).get(PAGE).text)
    assert "↳ Look around" in text and 'href="/sessions/sess_child"' in text
    (x,) = re.findall(
        r'href="/sessions/sess_child\?request=k1"[^>]*><use href="#g-v-miss" x="([\d.]+)%', text
    )
    assert 10 <= float(x) <= 15, "inside the third of twenty places"
    assert "↳ Look around" not in client(service).get(f"{PAGE}?from=4&to=6").text


def test_what_a_column_shows_is_told_in_numbers() -> None:
    around = Surroundings(calls={"r2": (("Read", 3), ("Bash", 1))}, has_calls=True)
    text = unescape(client(FakeService(a_timeline(3), around={SESSION: around})).get(PAGE).text)
    assert "4 tool calls: Read × 3, Bash" in text


class Running:
    """A follower that is always there."""

    state = FollowState(following=True, what="logs")

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""


def test_a_page_is_paused_and_goes_on_by_links_that_change_the_address() -> None:
    service = three_turns()
    browser = client(service, follower=Running())
    here = {"HX-Current-URL": f"http://127.0.0.1:8321{PAGE}?request=r3"}
    page = browser.get(PAGE).text
    assert 'hx-trigger="every 700ms"' in page and 'href="?paused=1"' in page
    paused = browser.get("/fragments/revision?since=1&paused=1", headers=here)
    assert "every 700ms" not in paused.text and ">paused<" in paused.text
    assert paused.headers["hx-replace-url"] == f"{PAGE}?request=r3&paused=1"
    assert "every 700ms" not in browser.get(f"{PAGE}?paused=1").text
    service.current_revision = 5
    still = browser.get("/fragments/revision?since=1&paused=1", headers=here)
    assert "hx-trigger" not in still.headers and "since=1" in still.text
    news = browser.get("/fragments/revision?since=1&following=1", headers=here).text
    assert f'href="{PAGE}?request=r3&amp;paused=1"' in news, "the dot's link is one of the page"
    there = {"HX-Current-URL": f"http://127.0.0.1:8321{PAGE}?request=r3&paused=1"}
    on = browser.get("/fragments/revision?since=1&paused=0", headers=there)
    assert on.headers["hx-trigger"] == "revision", "what came meanwhile is shown at once"
    assert on.headers["hx-replace-url"] == f"{PAGE}?request=r3"


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "http://127.0.0.1:8321//evil/x", "x"])
def test_only_a_page_of_ours_gets_an_address(url: str) -> None:
    response = client(three_turns()).get(
        "/fragments/revision?since=1&paused=1", headers={"HX-Current-URL": url}
    )
    assert response.status_code == 200 and "hx-replace-url" not in response.headers
