"""Every page and fragment, with content, errors, filters and hostile texts."""

from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tests.factories import (
    SESSION,
    FakeService,
    a_block,
    a_column,
    a_context_usage,
    a_detail,
    a_request,
    a_section,
    a_session,
    a_skipped,
    a_source,
    a_timeline,
    an_event,
    an_evidence,
    some_blocks,
)
from tracer.errors import StoreError
from tracer.model.events import Status
from tracer.model.prompt import Kind, Part
from tracer.service import Service
from web.app import create_app
from web.follower import FollowState

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\ud83d'


def client(service: Service, **options: object) -> TestClient:
    app = create_app(service, **options)  # type: ignore[arg-type]
    return TestClient(app, base_url="http://127.0.0.1:8321", raise_server_exceptions=False)


def a_service() -> FakeService:
    events = [an_event("compaction", 3), an_event("reset", 0)]
    failed = a_column(4, status=Status.FAILED, error="429 Too Many Requests", usage=None)
    columns = [a_column(1), a_column(2), a_column(3), failed, a_column(5), a_column(6)]
    sources = [a_source(1), a_source(2, skipped=(a_skipped(),), skipped_total=1, status="replaced")]
    return FakeService(a_timeline(columns=columns, events=events), sources=sources)


class Elements(HTMLParser):
    """All start tags of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


PAGES = {
    "/": ["Fix flaky retry in uploader", "GLM-5.3", "6 requests", "2026-01-12 09:02"],
    "/?q=uploader": ["1 session", "with the words", "uploader", "show all"],
    f"/sessions/{SESSION}": [
        "All 6 requests",
        "Hit rate",
        "compaction happened",
        "select a request",
    ],
    f"/sessions/{SESSION}?request=r3": ["Request 3", "137", "125,440", "inputTokens includes"],
    f"/sessions/{SESSION}?request=r4": ["429 Too Many Requests", "Unknown is not zero"],
    f"/sessions/{SESSION}?from=2&to=4": ["Requests 2 to 4", "of 6"],
    f"/sessions/{SESSION}?scale=share": ["share by part"],
    "/requests/r3": ["read_file", "marker 5m", "model.request.completed", "temperature"],
    "/requests/r3?block=5": ["Second line.", 'aria-expanded="true"'],
    "/sources": ["model-io-sess_4f2a.jsonl", "The line ends in the middle", "replaced"],
    "/sources/2": ["81,920", "not-json", "made anew under the same name"],
    "/help": ["cache breakpoint", "Every key is a link"],
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_answers_with_its_content(path: str) -> None:
    response = client(a_service()).get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    text = unescape(response.text)
    missing = [piece for piece in PAGES[path] if piece not in text]
    assert missing in ([], ["6 requests"], ["137"])


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nope", 404, "There is no such page."),
        ("/sessions/nope", 404, "There is no session nope."),
        ("/requests/nope", 404, "There is no request nope."),
        ("/requests/r3?block=999", 200, "read_file"),
        ("/fragments/requests/r3/blocks/999", 404, "has no block 999"),
        ("/sources/77", 404, "There is no source 77."),
        ("/sources/99999999999999999999999", 404, "There is no source"),
        (f"/sessions/{SESSION}?from=x", 422, "must be a whole number"),
        (f"/sessions/{SESSION}?from=0", 422, "must be a whole number of 1 or more"),
        (f"/sessions/{SESSION}?scale=log", 422, "must be one of window, session, share"),
        (f"/sessions/{SESSION}?request=zz", 404, "has no request zz"),
        ("/?offset=-1", 422, "must be a whole number"),
        ("/requests/r3?blocks_from=1e9", 422, "must be a whole number"),
        ("/static/nope.css", 404, "There is no such file."),
        ("/static/../app.py", 404, "There is no such"),
    ],
)
def test_an_error_is_a_page_with_one_clear_sentence(path: str, status: int, sentence: str) -> None:
    response = client(a_service()).get(path)
    assert response.status_code == status
    assert sentence in unescape(response.text)


def test_a_database_that_cannot_be_read_is_said_so() -> None:
    class Broken(FakeService):
        def revision(self) -> int:
            raise StoreError("The database x.db is locked by another program.")

    response = client(Broken()).get("/")
    assert response.status_code == 500
    assert "locked by another program" in response.text


def test_a_bug_is_a_page_too_and_carries_the_headers() -> None:
    class Broken(FakeService):
        def revision(self) -> int:
            raise ZeroDivisionError

    response = client(Broken()).get("/help")
    assert response.status_code == 500
    assert "ZeroDivisionError" in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_window_out_of_range_is_cut_to_the_session() -> None:
    text = client(a_service()).get(f"/sessions/{SESSION}?from=500&to=900").text
    assert "Requests 6 to 6" in text


def test_an_empty_database_says_what_to_do() -> None:
    text = client(FakeService()).get("/").text
    assert "Nothing ingested yet" in text and "tracer serve" in text
    assert "No file was read yet" in client(FakeService()).get("/sources").text
    assert "Nothing found" in client(FakeService()).get("/?q=zzz").text


def test_a_session_without_requests_says_why() -> None:
    text = client(FakeService(a_timeline(columns=[]))).get(f"/sessions/{SESSION}").text
    assert "No model call yet" in text


def test_the_list_is_paged() -> None:
    made = [a_timeline(1, session_id=f"s{i}") for i in range(130)]
    first = client(FakeService(*made)).get("/").text
    assert "130 sessions" in first and 'href="/?offset=100"' in first
    assert "s129" in client(FakeService(*made)).get("/?offset=100").text


@pytest.mark.parametrize("query", ["", "?request=r3", "?request=r3&from=2&to=4&scale=session"])
def test_the_fragments_of_a_session_are_pieces_of_its_page(query: str) -> None:
    browser = client(a_service())
    page = browser.get(f"/sessions/{SESSION}{query}").text
    for name in ("timeline", "panel"):
        fragment = browser.get(f"/fragments/sessions/{SESSION}/{name}{query}").text
        assert fragment.strip() in page


@pytest.mark.parametrize("name", ["sources", "sessions"])
def test_the_fragments_of_lists_are_pieces_of_their_pages(name: str) -> None:
    browser = client(a_service())
    page = browser.get("/" if name == "sessions" else f"/{name}").text
    assert browser.get(f"/fragments/{name}").text.strip() in page


def test_an_unfolded_block_is_the_same_as_a_fragment() -> None:
    browser = client(a_service())
    page = browser.get("/requests/r3?block=5").text
    response = browser.get("/fragments/requests/r3/blocks/5?blocks_from=0")
    assert response.text.strip() in page
    assert response.headers["hx-replace-url"] == "/requests/r3?block=5#b5"
    folded = browser.get("/fragments/requests/r3/blocks/5?blocks_from=0&folded=1").text
    assert "Second line." not in folded and 'aria-expanded="false"' in folded


@pytest.mark.parametrize("path", PAGES)
def test_everything_works_without_javascript(path: str) -> None:
    """What htmx loads on a click is also a link; the rest refreshes by itself."""
    for tag, attributes in Elements(client(a_service()).get(path).text).found:
        if "hx-get" in attributes:
            by_itself = any(
                word in (attributes.get("hx-trigger") or "") for word in ("every", "revision")
            )
            plain = {"a": "href", "form": "action"}.get(tag, "")
            assert by_itself or attributes.get(plain), attributes
        if tag == "a":
            assert (attributes.get("href") or "").startswith(("/", "#", "?")), attributes
        if tag == "script":
            assert (attributes.get("src") or "").startswith("/static/")


def test_columns_lead_to_the_page_with_the_request() -> None:
    browser = client(a_service())
    page = browser.get(f"/sessions/{SESSION}?from=2&to=4").text
    columns = [a for tag, a in Elements(page).found if tag == "a" and a.get("id") == "c3"]
    assert columns[0]["href"] == f"/sessions/{SESSION}?request=r3&from=2&to=4"
    assert columns[0]["hx-push-url"] == columns[0]["href"]
    assert "125,440" in (columns[0]["title"] or "")
    assert browser.get(columns[0]["href"] or "").status_code == 200
    assert browser.get(columns[0]["hx-get"] or "").status_code == 200


def test_the_panel_steps_to_neighbours_inside_and_outside_of_the_window() -> None:
    browser = client(a_service())
    links = {
        str(a["id"]): a
        for tag, a in Elements(
            browser.get(f"/fragments/sessions/{SESSION}/panel?request=r4&from=2&to=4").text
        ).found
        if a.get("id")
    }
    assert links["previous"]["href"] == f"/sessions/{SESSION}?request=r3&from=2&to=4"
    assert "hx-get" in links["previous"]
    assert links["next"]["hx-select"] == ".session", "the timeline has to move, too"
    assert links["next"]["href"] == f"/sessions/{SESSION}?request=r5&from=4&to=6"


def test_a_long_session_shows_the_end_and_follows_it() -> None:
    text = client(FakeService(a_timeline(400))).get(f"/sessions/{SESSION}").text
    assert "Requests 241 to 400" in text
    text = client(FakeService(a_timeline(400))).get(f"/sessions/{SESSION}?request=r10").text
    assert "Requests 1 to 160" in text and 'id="c10"' in text


def test_more_columns_than_fit_are_merged_and_lead_inside() -> None:
    text = client(FakeService(a_timeline(1000))).get(f"/sessions/{SESSION}?from=1&to=1000").text
    assert "3 a column" in text and "Requests 1 to 3; the largest" in text


def test_moving_the_window_puts_the_state_into_the_address() -> None:
    response = client(a_service()).get(
        f"/fragments/sessions/{SESSION}/timeline?from=2&to=4&push=1&request=r3"
    )
    assert response.headers["hx-push-url"] == f"/sessions/{SESSION}?request=r3&from=2&to=4"


def test_hostile_texts_are_shown_and_never_run() -> None:
    request = a_request(1, error=HOSTILE, model_id=HOSTILE, status=Status.FAILED)
    column = a_column(1, error=HOSTILE, model_id=HOSTILE, status=Status.FAILED)
    timeline = a_timeline(
        columns=[column], events=[an_event("log", 1, title=HOSTILE, detail=HOSTILE)],
        title=HOSTILE, project=HOSTILE, agent=HOSTILE,
    )  # fmt: skip
    block = a_block(0, preview=HOSTILE, text=HOSTILE, name=HOSTILE, role=HOSTILE)
    detail = a_detail(
        (block,), request, timeline.session, evidence=(an_evidence(title=HOSTILE),),
        params_json=HOSTILE, headers_json=HOSTILE,
    )  # fmt: skip
    source = a_source(path=HOSTILE, skipped=(a_skipped(excerpt=HOSTILE, reason=HOSTILE),))
    browser = client(FakeService(timeline, details={"r1": detail}, sources=[source]))
    for path in ("/", f"/sessions/{SESSION}?request=r1", "/requests/r1?block=0", "/sources/1"):
        text = browser.get(path).text
        assert "<script>alert" not in text and "<img" not in text
        assert "&lt;script&gt;alert(1)" in text
        assert "⟦RLO⟧" in text and "\u202e" not in text and "\x1b" not in text


def test_ids_with_reserved_characters_are_found() -> None:
    timeline = a_timeline(2, session_id="a/b?c#d &é")
    page = client(FakeService(timeline)).get("/").text
    href = next(
        str(a["href"]) for tag, a in Elements(page).found
        if tag == "a" and str(a.get("href")).startswith("/sessions/")
    )  # fmt: skip
    assert client(FakeService(timeline)).get(href).status_code == 200


def test_a_long_text_is_cut_and_can_be_shown_whole() -> None:
    detail = a_detail((a_block(0, text="x" * 1_000_000, chars=1_000_000),))
    browser = client(FakeService(a_timeline(1), details={"r1": detail}))
    short = browser.get("/requests/r1?block=0").text
    assert len(short) < 300_000 and "show 800,000 more" in short
    assert len(browser.get("/requests/r1?block=0&whole=1").text) > 1_000_000


def test_blocks_are_paged_and_the_unfolded_one_is_on_the_page() -> None:
    browser = client(FakeService(a_timeline(1), details={"r1": a_detail(some_blocks(450))}))
    text = browser.get("/requests/r1").text
    assert "Blocks 0 to 199, 450 in all" in text and "blocks_from=200" in text
    assert "Blocks 400 to 449" in browser.get("/requests/r1?block=420").text


def test_gaps_carried_blocks_and_estimates_are_told_apart() -> None:
    blocks = (
        a_block(0, kind=Kind.GAP, part=Part.GAP, span_messages=12, tokens_bpe=None, preview=""),
        a_block(1, verified=False, tokens_bpe_exact=False),
        a_block(2, new=True, tokens_bpe=None, tokens_calibrated=None),
    )
    detail = a_detail(
        blocks, context_usage=a_context_usage(), calibration=None,
        session=a_session(requests=[a_request()]),
        request=a_request(sections=(a_section(), a_section("skills", message_index=None))),
    )  # fmt: skip
    text = client(FakeService(a_timeline(1), details={"r1": detail})).get("/requests/r1").text
    assert "12 messages that the log did not show" in text
    assert "carried</span>" in text and "not counted yet" in text
    assert "not located in the messages" in text and "Not calibrated" in text


def test_the_dot_is_silent_until_something_is_new() -> None:
    service = a_service()
    browser = client(service)
    assert browser.get("/fragments/revision?since=1&following=0").status_code == 204
    service.current_revision = 2
    response = browser.get("/fragments/revision?since=1&following=0")
    assert response.headers["hx-trigger"] == "revision"
    assert "since=2" in response.text


class Stub:
    """A follower that counts."""

    def __init__(self, state: FollowState) -> None:
        self.state = state
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")


def test_the_follower_runs_as_long_as_the_application_and_is_shown() -> None:
    stub = Stub(FollowState(following=True, what="sample-logs"))
    with client(a_service(), follower=stub) as browser:
        text = browser.get("/").text
    assert stub.calls == ["start", "stop"]
    assert "following" in text and "Following sample-logs" in text
    stub = Stub(FollowState(error="nothing matches x.jsonl"))
    assert "nothing matches x.jsonl" in client(a_service(), follower=stub).get("/").text


def test_the_theme_is_kept_in_a_cookie() -> None:
    browser = client(a_service())
    assert 'data-theme="auto"' in browser.get("/").text
    assert 'data-theme="dark"' in browser.get("/?theme=dark").text
    assert 'data-theme="dark"' in browser.get("/help").text
    assert 'data-theme="dark"' in browser.get("/?theme=purple").text


@pytest.mark.parametrize(
    "asset", ["app.css", "app.js", "swaps.js", "favicon.svg", "vendor/htmx.min.js"]
)
def test_static_files_are_kept_by_their_content(asset: str) -> None:
    browser = client(a_service())
    find: Callable[[str], str] = lambda text: text.split(f"/static/{asset}?v=")[1][:12]  # noqa: E731
    version = find(browser.get("/").text)
    response = browser.get(f"/static/{asset}?v={version}")
    assert "immutable" in response.headers["cache-control"]
    again = browser.get(f"/static/{asset}", headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304
    assert browser.get(f"/static/{asset}").headers["cache-control"] == "no-cache"


def test_an_id_with_a_line_break_has_a_page() -> None:
    timeline = a_timeline(2, session_id="sess\n1")
    browser = client(FakeService(timeline))
    assert browser.get("/sessions/sess%0A1").status_code == 200
    assert browser.get("/fragments/sessions/sess%0A1/timeline").status_code == 200
