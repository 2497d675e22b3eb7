"""The page of a comparison and its fragments, on stand-ins and on the sample logs."""

from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.comparisons import HEAD, TALK, a_comparison, edited
from tests.factories import SESSION, FakeService, a_detail, a_request, a_timeline
from tests.helpers import SAMPLES, ingest
from tests.integration.test_web_pages import HOSTILE, Elements, client
from tests.unit.test_compare_builders import a_gap, a_prompt, a_system, a_text
from tracer.model.prompt import Prompt
from tracer.service import Service
from web.compare_rows import AUTO_LINES, PAGE_ROWS, STRETCH_SHOWN

LONG = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"
MCS_ON = "sess_7b14f91b-248a-4692-8550-18975f2e8294"
MCS_OFF = "sess_7ed5f5de-6b72-412b-af03-0d158c0b73b4"


def served(a: Prompt, b: Prompt, **changes: object) -> TestClient:
    """A browser on a service that knows one comparison, of r2 and r3."""
    pair = (a_request(2), a), (a_request(3, **changes), b)
    made = a_comparison(*pair, others=[a_request(n) for n in range(1, 5)], title="Retry")
    return client(FakeService(a_timeline(4), comparisons={("r2", "r3"): made}))


def shown(browser: TestClient, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200, unescape(response.text)[-400:]
    return unescape(response.text)


def links(html: str) -> dict[str, str]:
    """Address by accessible name or text-bearing attribute, of links that have one."""
    found = {}
    for tag, attributes in Elements(html).found:
        if tag == "a" and attributes.get("href"):
            name = attributes.get("aria-label") or attributes.get("id") or attributes.get("title")
            if name:
                found[name] = str(attributes["href"])
    return found


def test_the_answer_the_place_and_the_changes_are_on_the_page() -> None:
    text = shown(served(*edited()), "/compare/r2/r3")
    pieces = [
        "They part at message 1 · reminder “# Rules",
        "1 changed, 0 moved, 1 added, 0 removed · prefix",
        "First difference",
        "message 1, character 30; token 40 of 81",
        "2 equal blocks",
        'Run <span class="mark">only </span>the <span class="mark">tests</span>',
        "message 5 · assistant text",
    ]
    assert [piece for piece in pieces if piece not in text] == []
    assert '<td class="code gone"' in text and '<td class="code came"' in text


def test_the_outline_opens_only_what_changed() -> None:
    page = served(*edited()).get("/compare/r2/r3").text
    folded = [a for tag, a in Elements(page).found if tag == "details"]
    assert ["open" in a for a in folded] == [False, False, True]


def test_both_sides_can_be_chosen_and_the_other_way_round() -> None:
    browser = served(*edited())
    page = browser.get("/compare/r2/r3?view=split").text
    selects = [a for tag, a in Elements(page).found if tag == "select"]
    assert [a["name"] for a in selects] == ["a", "b"]
    ways = links(page)
    assert ways["A: the request before it"] == "/compare/r1/r3?view=split"
    assert ways["B: the request after it"] == "/compare/r2/r4?view=split"
    assert ways["the other way round"] == "/compare/r3/r2?view=split"
    assert ways["move-forward"] == "/compare/r3/r4?view=split"
    assert browser.get(ways["the other way round"]).status_code == 200


def test_the_form_leads_to_the_page() -> None:
    browser = served(*edited())
    for query, target in (
        ("a=r2&b=r3", "/compare/r2/r3"),
        ("a=r2&b=r3&view=split&context=12", "/compare/r2/r3?view=split&context=12"),
        (f"a={SESSION}:1&b=r3", "/compare/r1/r3"),
    ):
        response = browser.get(f"/compare?{query}", follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, target)


def test_one_request_is_compared_with_its_baseline() -> None:
    detail = a_detail(request=a_request(3), baseline_key="r2")
    browser = client(FakeService(a_timeline(4), details={"r3": detail}))
    response = browser.get("/compare?b=r3", follow_redirects=False)
    assert response.headers["location"] == "/compare/r2/r3"
    for page in ("/requests/r3", f"/sessions/{SESSION}?request=r3"):
        assert 'href="/compare/r2/r3"' in browser.get(page).text
    assert "baseline of B" not in browser.get("/compare/r2/r3").text
    assert 'href="/compare/r2/r3"' in browser.get("/compare/r1/r3").text


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/compare", 422, "Name the request to compare"),
        ("/compare?b=r3", 422, "Request r3 has no baseline"),
        (f"/compare?a={SESSION}:9&b=r3", 404, "has no request 9"),
        ("/compare/r2/nope", 404, "There is no request nope."),
        ("/compare/r2/r3?view=sideways", 422, "must be one of unified, split"),
        ("/compare/r2/r3?context=x", 422, "must be a whole number"),
        ("/fragments/compare/r2/r3/hunks/99", 404, "has 5 changes, not 99"),
    ],
)
def test_an_error_is_one_sentence(path: str, status: int, sentence: str) -> None:
    response = served(*edited()).get(path)
    assert (response.status_code, sentence in unescape(response.text)) == (status, True)


@pytest.mark.parametrize(
    "query",
    ["open=999", "shut=x", "at=1-2-3", "at=1-500", "from=999", "list=7", "pick=z", "block=9"],
)
def test_a_strange_state_still_shows_the_page(query: str) -> None:
    assert "They part at" in shown(served(*edited()), f"/compare/r2/r3?{query}")


def test_a_change_folds_and_unfolds_with_its_state_in_the_address() -> None:
    browser = served(*edited())
    page = browser.get("/compare/r2/r3").text
    own = [
        a for tag, a in Elements(page).found if tag == "a" and a.get("class") == "fold"
    ]  # fmt: skip
    assert [a["aria-expanded"] for a in own] == ["false", "false", "true", "false", "true"]
    assert own[2]["href"] == "/compare/r2/r3?shut=2#c2"
    assert page.count('<table class="diff">') == 3
    closed = browser.get("/compare/r2/r3?shut=2").text
    assert closed.count('<table class="diff">') == 2, "the first difference, and what was added"
    opened = browser.get("/compare/r2/r3?open=0").text
    assert "tool Read" in opened and 'href="/requests/r3?block=0#b0"' in opened


def test_a_fragment_is_a_piece_of_the_page_in_its_state() -> None:
    browser = served(*edited())
    page = browser.get("/compare/r2/r3?open=0").text
    response = browser.get("/fragments/compare/r2/r3/hunks/0")
    assert response.headers["hx-replace-url"] == "/compare/r2/r3?open=0"
    assert response.text.strip() in page
    folded = browser.get("/fragments/compare/r2/r3/hunks/2?fold=1")
    assert folded.headers["hx-replace-url"] == "/compare/r2/r3?shut=2"
    assert 'aria-expanded="false"' in folded.text


def test_what_was_opened_before_stays_in_the_address() -> None:
    """htmx says where the page is by now; links on it were made before."""
    browser = served(*edited())
    now = {"HX-Current-URL": "http://127.0.0.1:8321/compare/r2/r3?open=0&view=split"}
    response = browser.get("/fragments/compare/r2/r3/hunks/1", headers=now)
    assert response.headers["hx-replace-url"] == "/compare/r2/r3?view=split&open=0&open=1"
    elsewhere = {"HX-Current-URL": "http://evil/compare/r8/r9?open=0"}
    response = browser.get("/fragments/compare/r2/r3/hunks/1", headers=elsewhere)
    assert response.headers["hx-replace-url"] == "/compare/r2/r3?open=1"


def test_side_by_side_has_both_texts_in_one_row() -> None:
    browser = served(*edited())
    text = shown(browser, "/compare/r2/r3?view=split")
    row = next(r for r in text.split("<tr>") if '<span class="mark">suite</span>' in r)
    assert '<span class="mark">of the module</span>' in row
    assert 'aria-current="true">side by side' in text


def test_a_block_of_b_can_be_asked_for() -> None:
    browser = served(*edited())
    text = shown(browser, "/compare/r2/r3?block=1")
    assert 'id="b1"' in text and "tool Bash" in text
    assert 'id="b3"' in shown(browser, "/compare/r2/r3?block=3")


def many(count: int) -> tuple[Prompt, Prompt]:
    """Two prompts that share every third message."""
    a = [a_text("user", f"question {n}") for n in range(count)]
    b = [m if n % 3 == 0 else a_text("user", f"words {n}") for n, m in enumerate(a)]
    return a_prompt(*HEAD, *a), a_prompt(*HEAD, *b)


def test_a_long_list_is_paged() -> None:
    browser = served(*many(200))
    first = browser.get("/compare/r2/r3").text
    later = links(first)["later"]
    assert first.count('<section id="c') == PAGE_ROWS and f"?from={PAGE_ROWS}" in later
    second = browser.get(later).text
    assert links(second)["earlier"] == "/compare/r2/r3"
    assert f'id="c{PAGE_ROWS}"' in second and 'id="c0"' not in second
    assert "Entries 60 to 119 of" in second


def test_a_long_stretch_is_folded_and_can_be_listed() -> None:
    a = a_prompt(*HEAD, *TALK)
    b = a_prompt(*HEAD, *TALK, *(a_text("assistant", f"answer {n}") for n in range(40)))
    browser = served(a, b)
    text = shown(browser, "/compare/r2/r3")
    assert f"{40 - STRETCH_SHOWN} more added" in text and "40 added" in text
    href = next(
        str(a["href"]) for tag, a in Elements(text).found
        if tag == "a" and "list=" in str(a.get("href"))
    )  # fmt: skip
    whole = shown(browser, href)
    assert "more added" not in whole and "answer 39" in whole


def test_huge_texts_are_paged_and_cut() -> None:
    lines = [f"line {n}" for n in range(9_000)]
    a = a_prompt(a_text("user", "\n".join(lines)))
    b = a_prompt(
        a_text("user", "\n".join(t + "!" if n % 90 == 0 else t for n, t in enumerate(lines)))
    )
    browser = served(a, b)
    page = browser.get("/compare/r2/r3").text
    assert len(page) < 120_000 and "94 more hunks" in page
    tag = next(a for t, a in Elements(page).found if "offset=" in str(a.get("hx-get")))
    more = browser.get(str(tag["hx-get"])).text
    assert "line 540" in more and more.lstrip().startswith("<tbody")
    assert "line 540" in browser.get(str(tag["href"]).partition("#")[0]).text
    added = served(a_prompt(*HEAD), a_prompt(*HEAD, a_text("user", "\n".join(lines))))
    text = shown(added, "/compare/r2/r3")
    assert f"{9_000 - AUTO_LINES:,} more lines" in text and f"line {AUTO_LINES}" not in text
    assert "line 3,999" in shown(added, "/compare/r2/r3?open=2").replace("line 3999", "line 3,999")


def test_hidden_characters_can_be_seen() -> None:
    a = a_prompt(*HEAD, a_text("user", "pass word\nsame"))
    b = a_prompt(*HEAD, a_text("user", "pass\u200bword\nsame"))
    text = shown(served(a, b), "/compare/r2/r3")
    assert 'title="U+200B ZERO WIDTH SPACE">U+200B</span>' in text


def test_what_the_logs_hide_is_unknown_in_words() -> None:
    a = a_prompt(*HEAD, *TALK, a_gap(4), a_text("user", "Go on."))
    b = a_prompt(*HEAD, *TALK, a_gap(5), a_text("user", "Go on."))
    text = shown(served(a, b), "/compare/r2/r3")
    assert "4 messages that the log did not show" in text and "4 of A, 5 of B" in text
    assert "the other log does not show this place" in text


def test_without_a_prompt_there_is_nothing_to_compare() -> None:
    text = shown(served(Prompt(()), edited()[1]), "/compare/r2/r3")
    assert "Nothing can be compared: the log holds no prompt of A." in text
    assert "First difference" not in text and 'class="changes"' not in text


def test_the_same_request_twice_is_equal() -> None:
    text = shown(served(edited()[0], edited()[0]), "/compare/r2/r3")
    assert "The two are the same, byte for byte." in text


def test_hostile_texts_are_shown_and_never_run() -> None:
    bad = HOSTILE.removesuffix("\ud83d")  # no stored text has half a pair
    a = a_prompt(a_system(bad + " one"), a_text("user", f"a\n{bad} b\nc"))
    b = a_prompt(a_system(bad + " two"), a_text("user", f"a\n{bad} d\nc", shape="array"))
    browser = served(a, b, model_id=HOSTILE, query_source=HOSTILE)
    for path in (
        "/compare/r2/r3",
        "/compare/r2/r3?view=split&open=0",
        "/fragments/compare/r2/r3/hunks/1",
    ):
        text = browser.get(path).text
        assert "<script>alert" not in text and "<img" not in text
        assert "&lt;script&gt;alert(1)" in text
        assert "\u202e" not in text and "\x1b" not in text


PAGES = ("", "?view=split", "?open=0", "?pick=a", "?context=200", "?from=2")


@pytest.mark.parametrize("query", PAGES)
def test_everything_works_without_javascript(query: str) -> None:
    browser = served(*edited())
    page = browser.get(f"/compare/r2/r3{query}").text
    for tag, attributes in Elements(page).found:
        href = attributes.get("href") or ""
        if "hx-get" in attributes and tag == "a":
            assert href.startswith("/compare/"), attributes
            assert browser.get(href.partition("#")[0]).status_code == 200
            assert browser.get(str(attributes["hx-get"])).status_code == 200
        if tag == "a":
            assert href.startswith(("/", "#", "?")), attributes
            target = href.partition("#")[2]
            if href.startswith("#c"):
                assert f'id="{target}"' in page


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    path: Path = tmp_path_factory.mktemp("compare") / "x.db"
    ingest(path, *(SAMPLES / name for name in ("windowed-long", "mcs-on", "mcs-off")))
    return client(Service(path))


@pytest.mark.parametrize(
    ("a", "b", "pieces"),
    [
        (
            f"{LONG}:29",
            f"{LONG}:30",
            ["They ask different models", '<span class="mark">4.7</span>'],
        ),
        (f"{LONG}:41", f"{LONG}:42", ["22 equal blocks not proven", "o-equal-not-proven"]),
        (f"{LONG}:62", f"{LONG}:64", ["132 more removed", "New functions get a type", "o-removed"]),
        (f"{MCS_OFF}:5", f"{MCS_ON}:5", ["They part at message 3: A has reminder", "role"]),
    ],
)
def test_the_samples_are_compared(samples: TestClient, a: str, b: str, pieces: list[str]) -> None:
    text = shown(samples, f"/compare?a={a}&b={b}")
    assert [piece for piece in pieces if piece not in text] == []


def test_another_session_can_be_chosen(samples: TestClient) -> None:
    first = samples.get(f"/compare?a={LONG}:29&b={LONG}:30")
    page = samples.get(f"{first.url.path}?pick=a").text
    href = next(
        str(a["href"]) for tag, a in Elements(page).found
        if tag == "a" and str(a.get("href")).startswith(f"/compare?a={MCS_ON}")
    )  # fmt: skip
    assert href.startswith(f"/compare?a={MCS_ON}%3A17&b="), "the last request: there is no 29th"
    text = shown(samples, href)
    assert "Compare 17 → 30" in text
