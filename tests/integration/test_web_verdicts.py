"""Verdicts on the pages: the callout, the marks on the map, the lane, the misses, the cache box."""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.factories import SESSION, FakeService, a_column, a_detail, a_request, a_timeline
from tests.helpers import SAMPLES, ingest
from tests.integration.test_web_pages import HOSTILE, client
from tests.judging_fakes import (
    a_brief,
    a_cause,
    a_change,
    a_session_cache,
    a_verdict,
    a_verdict_view,
    some_misses,
)
from tracer.cache.patterns import Pattern
from tracer.errors import InputError
from tracer.model.compare_views import RequestChoice
from tracer.model.prompt import Part
from tracer.model.verdict import Certainty, Cost, Result, Verdict
from tracer.model.verdict_views import CauseTotal, DiagnosticView, Misses, VerdictView
from tracer.model.views import PartSize
from tracer.service import Service
from tracer.service.verdicts import SessionCache
from web.layout.cause_bars import cause_bars
from web.layout.prompt_map import MapPiece
from web.layout.read_marks import Billed, read_marks
from web.verdict import _excerpt
from web.verdict_words import cause_words, heading

LONG = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"


class Judging(FakeService):
    """A service that gives one view for every request, or fails."""

    view: VerdictView | None = None
    error = ""
    cache: SessionCache | None = None
    ranking: Misses | None = None

    def explain(self, key: str, against: str = "") -> VerdictView:
        if self.error:
            raise InputError(self.error)
        return self.view or super().explain(key, against)

    def session_cache(self, session_id: str) -> SessionCache:
        return self.cache or super().session_cache(session_id)

    def misses(
        self, session_id: str = "", *, code: str = "", limit: int = 100, offset: int = 0
    ) -> Misses:
        made = self.ranking or super().misses(session_id, code=code, limit=10_000)
        return replace(made, misses=made.misses[offset : offset + limit])


def judged(verdicts: Mapping[int, Verdict], requests: int = 4) -> Judging:
    """A session in which the requests of these numbers have these verdicts, the others hits."""
    columns = [
        a_column(n, verdict=a_brief(verdicts.get(n) or a_verdict())) for n in range(1, requests + 1)
    ]
    lost = [v for v in verdicts.values() if v.is_miss]
    timeline = a_timeline(
        columns=columns,
        misses=len(lost),
        missed_tokens=sum(v.missed_tokens for v in lost),
        avoidable_tokens=sum(v.avoidable_tokens for v in lost),
        rebilled_tokens=sum(v.rebilled_tokens for v in lost),
        corrected_rate=0.968,
    )
    return Judging(timeline, verdicts={f"r{n}": v for n, v in verdicts.items()})


def shown(browser: TestClient, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200, unescape(response.text)[-400:]
    return unescape(response.text)


def missing(text: str, *pieces: str) -> list[str]:
    return [piece for piece in pieces if piece not in text]


@pytest.mark.parametrize(
    ("result", "words", "quiet"),
    [
        (Result.HIT, "Hit", True),
        (Result.PARTIAL, "Partial hit: 87,296 tokens billed again", False),
        (Result.MISS, "Miss: 87,296 tokens billed again", False),
        (Result.EXPECTED_REBUILD, "Expected rebuild", False),
        (Result.FIRST, "First request", True),
        (Result.NO_USAGE, "No usage", True),
        (Result.NOT_REPORTED, "Cache not reported", True),
    ],
)
def test_a_result_has_a_glyph_a_colour_and_a_word(result: Result, words: str, quiet: bool) -> None:
    browser = client(judged({3: a_verdict(result)}))
    for path in ("/requests/r3", f"/sessions/{SESSION}?request=r3"):
        text = shown(browser, path)
        head = text[text.index('class="verdict ') :]
        assert head.startswith(f'class="verdict v-{result.value}{" quiet" if quiet else ""}"')
        assert f'href="#g-v-{result.value}"' in head and f'id="g-v-{result.value}"' in text
        assert f"</svg> {words}</h2>" in head
        assert ("<h3>Where</h3>" in head) == (result in (Result.PARTIAL, Result.MISS))


def test_the_answer_comes_first_then_place_text_numbers_and_what_was_checked() -> None:
    text = shown(client(judged({3: a_verdict(Result.PARTIAL)})), "/requests/r3")
    order = [
        "Request 3",
        "Partial hit: 87,296 tokens billed again",
        "AGENTS.md was edited before this request",
        "<b>certain</b>",
        ">request 2</a>: the request before it in the same lane",
        "message 4, block 1",
        "character 1,906",
        "≈ token 38,020 of 125,440",
        'Run <span class="mark">the whole suite</span> before every commit.',
        'Run <span class="mark">only the tests</span> before every commit.',
        "Edit instruction files between sessions.",
        "could be read",
        "124,288",
        "The read stopped in message 4.",
        "compared byte by byte",
        "model · 41 tools",
        "messages 0 to 3",
        "Z.ai / GLM, version 1",
        "Prompt map",
    ]
    places = [text.find(piece) for piece in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert '/compare/r2/r3?block=3#b3"' in text


def test_another_baseline_is_chosen_in_the_address() -> None:
    browser = client(judged({3: a_verdict(Result.PARTIAL)}))
    text = shown(browser, "/requests/r3")
    assert '<form class="base" id="against" action="/requests/r3" method="get">' in text
    assert '<option value="r2" selected>' in text and '<option value="r1">' in text
    assert "back to the usual one" not in text
    other = shown(browser, "/requests/r3?against=r1")
    assert '<option value="r1" selected>' in other and ">request 1</a>" in other
    assert 'href="/requests/r3#verdict">back to the usual one' in other
    assert browser.get("/requests/r3?against=nothing").status_code == 404
    panel = shown(browser, f"/fragments/sessions/{SESSION}/panel?request=r3")
    assert 'href="/requests/r3#against">change' in panel


def test_other_causes_price_and_diagnostics_stand_beside() -> None:
    second = a_cause(code="TTL_EXPIRED", subtype="", tokens=64, certainty=Certainty.MEDIUM)
    verdict = a_verdict(
        Result.MISS,
        causes=(a_cause(), second),
        also=(a_cause(code="MODEL_CHANGED", subtype="switched", expected=True),),
        cost=Cost(0.0123, "USD", "87,296 × 0.14 / 1 M", "price list of 2026-01-02"),
    )
    made = judged({3: verdict})
    made.view = a_verdict_view(
        a_request(3), verdict, change=a_change(more_hunks=2),
        diagnostics=(DiagnosticView("anthropic", "system_changed", 87_000, "agree", "Same."),),
    )  # fmt: skip
    text = shown(client(made), "/requests/r3")
    found = missing(
        text, "Also a cause", "expired", "likely · 64 tokens", "Also true",
        "model changed: switched", "meant to happen", "0.0123 USD", "price list of 2026-01-02",
        "What the provider says", "agrees", "system_changed", "2 more changes in this block",
        "nothing to compare it with",
    )  # fmt: skip
    assert found == []


def test_a_change_seen_at_an_earlier_request_links_to_it() -> None:
    verdict = a_verdict(Result.PARTIAL)
    made = judged({3: verdict})
    for seen, links in (("r1", 1), ("", 0)):
        change = a_change(seen_key=seen, seen_seq=1 if seen else None)
        made.view = a_verdict_view(a_request(3), verdict, change=change)
        page = client(made).get("/requests/r3").text
        assert page.count('<a href="/requests/r1">Not new here: the verdict on request 1') == links


def test_without_lines_the_excerpts_are_shown_with_what_differs() -> None:
    verdict = a_verdict(Result.PARTIAL)
    made = judged({3: verdict})
    made.view = a_verdict_view(a_request(3), verdict)
    for path in ("/requests/r3", f"/sessions/{SESSION}?request=r3"):
        text = shown(client(made), path)
        assert 'Run <span class="mark">the whole suite</span>' in text
        assert 'Run <span class="mark">only the tests</span>' in text


def test_a_broken_price_list_does_not_take_the_page_away() -> None:
    made = judged({})
    made.error = "prices.toml: line 3 is not TOML."
    text = shown(client(made), "/requests/r3")
    assert missing(text, "No verdict.", "prices.toml: line 3 is not TOML.", "Conversation") == []


def test_hostile_texts_are_escaped() -> None:
    cause = a_cause(summary=HOSTILE, fix=HOSTILE, before=HOSTILE, after="x", section=HOSTILE)
    verdict = a_verdict(
        Result.MISS, one_line=HOSTILE, causes=(cause,), also=(cause,), checked_equal=(HOSTILE,)
    )
    made = judged({3: verdict})
    request = a_request(3)
    choice = RequestChoice("r2", 2, None, HOSTILE, HOSTILE, True, True)
    made.view = a_verdict_view(
        request, verdict, provider=HOSTILE, choices=(choice,), baseline=choice,
        diagnostics=(DiagnosticView(HOSTILE, HOSTILE, None, HOSTILE, HOSTILE),),
    )  # fmt: skip
    paths = ("/requests/r3", f"/sessions/{SESSION}?request=r3", "/misses")
    for path in paths:
        html = client(made).get(path).text
        assert "<script>alert" not in html and "<img src=x" not in html


def test_the_map_shows_where_the_read_stopped_and_what_was_lost() -> None:
    pieces = (
        MapPiece("tools", 0, 40, 40, 4, 0, ""),
        MapPiece("context", 40, 10, 10, 1, 4, ""),
        MapPiece("history", 50, 50, 50, 5, 5, ""),
    )
    made = read_marks(pieces, Billed(100, 42, 29), 4, 4, "here")
    assert made and made.stop == 45 and made.changed and made.lost
    assert (made.changed.x, made.changed.width) == (40, 10)
    assert (made.lost.x, made.lost.width) == (45, 27.5)
    nothing_read = read_marks(pieces, Billed(100, 0, 100), None, None)
    assert nothing_read and nothing_read.stop == 0 and nothing_read.lost
    assert nothing_read.lost.width == 100 and nothing_read.changed is None
    by_share = read_marks(pieces, Billed(100, 60, 0), None, 7)
    assert by_share and (by_share.stop, by_share.lost) == (60, None)
    assert by_share.changed and by_share.changed.x == 70
    assert read_marks((), Billed(100, 60, 0), None, None) is None
    assert read_marks(pieces, Billed(0, 0, 0), None, None) is None


def test_marks_are_drawn_on_both_maps_and_not_for_a_hit() -> None:
    made = judged({3: a_verdict(Result.PARTIAL)})
    made.details["r3"] = a_detail(request=made.requests(SESSION)[2])
    browser = client(made)
    for path in ("/requests/r3", f"/sessions/{SESSION}?request=r3"):
        text = shown(browser, path)
        assert missing(text, 'href="#g-stop"', 'fill="url(#p-lost)"', "m-changed") == []
    text = shown(browser, "/requests/r2")
    assert 'href="#g-stop"' not in text and "url(#p-lost)" not in text


def test_the_timeline_has_a_verdict_lane_and_a_line_of_what_could_be_read() -> None:
    results = {1: Result.FIRST, 3: Result.PARTIAL, 4: Result.MISS}
    made = judged({n: a_verdict(r) for n, r in results.items()}, 6)
    text = shown(client(made), f"/sessions/{SESSION}")
    lane = re.findall(r'<use href="#g-v-(\w+)" x="[\d.]+%" y="256"', text)
    assert lane == ["first", "hit", "partial", "miss", "hit", "hit"]
    assert ">Verdict</text>" in text and 'class="a-expected"' in text
    assert 'class="a-missed"' in text
    words = "cache: partial hit, 87,296 tokens billed again: system or context changed"
    assert words in text


def test_merged_columns_show_the_gravest_verdict() -> None:
    made = judged({500: a_verdict(Result.MISS)}, 1_200)
    text = shown(client(made), f"/sessions/{SESSION}?from=1&to=1200")
    lane = re.findall(r'<use href="#g-v-(\w+)" x="[\d.]+%" y="256"', text)
    assert len(lane) == 400 and lane.count("miss") == 1


def test_the_head_and_the_list_tell_what_was_billed_again() -> None:
    made = judged({3: a_verdict(Result.PARTIAL)})
    text = shown(client(made), f"/sessions/{SESSION}")
    found = missing(text, "Hit rate, growth-corrected", "96.8", "tokens in 1 miss", 'class="f-bad"')
    assert found == []
    rows = shown(client(made), "/")
    assert missing(rows, "87,296", f'href="/misses?session={SESSION}">▲ 1</a>') == []
    calm = shown(client(judged({})), f"/sessions/{SESSION}")
    assert "tokens in 0 misses" in calm and 'class="f-bad"' not in calm
    unjudged = client(FakeService(a_timeline(2)))
    assert "not judged yet" in shown(unjudged, f"/sessions/{SESSION}")
    assert "not judged yet" in shown(unjudged, "/")


def test_m_leads_from_miss_to_miss() -> None:
    made = judged({2: a_verdict(Result.MISS), 4: a_verdict(Result.PARTIAL)}, 5)
    browser = client(made)

    def next_miss(selected: str) -> str:
        text = shown(browser, f"/fragments/sessions/{SESSION}/panel{selected}")
        found = re.search(r'id="miss-on" href="[^"]*request=(\w+)', text)
        return found[1] if found else ""

    steps = [next_miss(s) for s in ("", "?request=r2", "?request=r3", "?request=r4")]
    assert steps == ["r2", "r4", "r4", "r2"]
    alone = client(judged({2: a_verdict(Result.MISS)}))
    text = shown(alone, f"/fragments/sessions/{SESSION}/panel?request=r2")
    assert 'id="miss-on"' not in text
    assert 'id="miss-on"' not in shown(client(judged({})), f"/sessions/{SESSION}")


def test_the_misses_are_ranked_with_cause_place_and_fault() -> None:
    made = judged({2: a_verdict(Result.MISS), 4: a_verdict(Result.PARTIAL)}, 5)
    text = shown(client(made), "/misses")
    found = missing(
        text, "of all sessions", "174,592", 'href="/requests/r2"', "system or context changed",
        "request_user_context, message 4", "certain", "the client's side", "Fix flaky retry",
        'href="/misses?cause=SYSTEM_CHANGED"', "How it is counted", 'class="c-avoidable"',
    )  # fmt: skip
    assert found == []
    one = shown(client(made), f"/misses?session={SESSION}")
    assert missing(one, f'hx-get="/fragments/misses?session={SESSION}"', "all sessions</a>") == []
    assert '<th scope="col">Session</th>' not in one
    by_cause = shown(client(made), f"/misses?session={SESSION}&cause=UNKNOWN")
    assert "No misses" in by_cause and "all causes</a>" in by_cause
    assert client(made).get("/misses?session=none").status_code == 404
    assert client(made).get("/misses?offset=x").status_code == 422
    fragment = client(made).get("/fragments/misses").text
    assert fragment.lstrip().startswith('<section id="misses"')


def test_no_misses_is_said_in_words() -> None:
    text = shown(client(judged({})), "/misses")
    assert "No misses" in text and "read what it could from the cache" in text
    made = judged({})
    made.ranking = replace(some_misses(), unjudged_sessions=3)
    assert "3 sessions not judged yet" in shown(client(made), "/misses")


def test_a_long_ranking_is_paged() -> None:
    made = judged({n: a_verdict(Result.MISS) for n in range(1, 131)}, 130)
    first = shown(client(made), "/misses")
    assert "1 to 100 of 130" in first and 'href="/misses?offset=100">cheaper →' in first
    second = shown(client(made), "/misses?offset=100")
    assert "101 to 130 of 130" in second and 'href="/misses">← costlier' in second
    beyond = shown(client(made), "/misses?offset=500")
    assert "No miss on this page" in beyond


def test_bars_share_a_scale_and_small_ones_are_seen() -> None:
    bars = cause_bars(
        [CauseTotal("B", "", 1, 1, 0, 1), CauseTotal("A", "", 2, 3_000, 1_000, 4_000)]
    )
    assert [(b.total.code, b.missed, b.avoidable) for b in bars] == [("A", 75, 25), ("B", 0.5, 0)]
    assert cause_bars([]) == ()


def test_the_cache_box_tells_rates_with_formulas_and_patterns() -> None:
    made = judged({3: a_verdict(Result.MISS)})
    pattern = Pattern("COLD_SUBAGENTS", Certainty.MEDIUM, "Each subagent began cold.")
    made.cache = a_session_cache(
        4, misses=1, rebilled_tokens=87_296, rewrite_factor=1.25, excess_write_tokens=640,
        expected_rebuilds=2, no_usage=1, patterns=(pattern,), naive="It would count twice.",
    )  # fmt: skip
    text = shown(client(made), f"/sessions/{SESSION}")
    found = missing(
        text, "Σ read ÷ Σ min(prompt before, prompt) = 968 ÷ 1,000 = 96.8 %", "Rewrite factor",
        "640 tokens written more", "2 expected rebuilds", "1 without usage", "floor <b>512</b>",
        "Each subagent began cold. (likely)", "It would count twice.",
        f'href="/misses?session={SESSION}">all of them',
    )  # fmt: skip
    assert found == []


def test_words() -> None:
    assert cause_words("HISTORY_REWRITTEN", "TOOL_RESULT") == "history rewritten: tool result"
    assert cause_words("SOMETHING_NEW") == "something new"
    assert cause_words("") == "not established"
    assert heading(Result.MISS, 10, 10) == "Missed 10 tokens"


def test_every_cause_has_words() -> None:
    folder = Path(__file__).resolve().parents[2] / "tracer" / "cache" / "causes"
    codes = {
        found[1]
        for path in folder.glob("[a-z]*.py")
        if (found := re.search(r'^CODE = "(\w+)"', path.read_text("utf-8"), re.MULTILINE))
    }
    plain = {code for code in codes if cause_words(code) == code.replace("_", " ").lower()}
    assert codes and plain <= {"MODEL_CHANGED", "TOOLS_CHANGED", "HISTORY_REWRITTEN"} | {
        "PARAM_CHANGED"
    }


LONG = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    path = tmp_path_factory.mktemp("verdicts") / "traces.db"
    ingest(path, SAMPLES)
    return client(Service(path))


def test_the_samples_are_explained(real: TestClient) -> None:
    text = shown(real, f"/misses?session={LONG}")
    rows = re.findall(r'<th scope="row" class="vmark"><a href="(/requests/\w+)"', text)
    assert len(rows) == 2 and missing(text, "expired", "request_user_context") == []
    for href in rows:
        page = shown(real, href)
        assert missing(page, "tokens", 'href="#g-stop"', "What was checked", "What to do") == []
    lane = shown(real, f"/sessions/{LONG}")
    assert missing(lane, 'href="#g-v-miss"', 'href="#g-v-expected_rebuild"', "Growth-") == []


def test_sizes_of_parts_place_a_change_without_lines() -> None:
    verdict = a_verdict(Result.PARTIAL, causes=(a_cause(block_index=0),))
    made = judged({3: verdict})
    parts = (
        PartSize(Part.TOOLS, 4, 400, 100, 0, True),
        PartSize(Part.SYSTEM, 2, 400, 100, 0, True),
        PartSize(Part.CONTEXT, 1, 400, 100, 0, True),
        PartSize(Part.HISTORY, 9, 400, 100, 0, True),
    )
    made.details["r3"] = a_detail(request=made.requests(SESSION)[2], part_sizes=parts, blocks=())
    made.view = a_verdict_view(made.requests(SESSION)[2], verdict)
    text = shown(client(made), f"/sessions/{SESSION}?request=r3")
    outline = re.search(r'<rect x="([\d.]+)%" y="1" width="([\d.]+)%"[^>]*m-changed', text)
    assert outline and outline.groups() == ("50.0", "25.0")


def test_what_was_checked_and_equal_is_said_once() -> None:
    evidence = ("checked and equal: model", "gap 19 s, from start to start")
    cause = a_cause(
        code="SERVER_SIDE", subtype="transient", evidence=evidence, tier=None, block_index=None,
        message_index=None, before="", after="", section="", char_offset=None, token_offset=None,
    )  # fmt: skip
    made = judged({3: a_verdict(Result.MISS)})
    made.view = a_verdict_view(a_request(3), a_verdict(Result.MISS, causes=(cause,)))
    text = shown(client(made), "/requests/r3")
    assert "<h3>Evidence</h3>" in text and "gap 19 s, from start to start" in text
    assert "checked and equal: model" not in text and "<h3>Where</h3>" not in text


def test_the_chosen_baseline_stays_in_the_address_when_a_row_unfolds() -> None:
    made = judged({3: a_verdict(Result.PARTIAL)})
    made.details["r3"] = a_detail(request=made.requests(SESSION)[2])
    browser = client(made)
    here = {"HX-Current-URL": "http://127.0.0.1/requests/r3?against=r1#verdict"}
    path = "/fragments/requests/r3/blocks/5"
    kept = browser.get(path, headers=here).headers["HX-Replace-Url"]
    assert kept == "/requests/r3?block=5&against=r1#b5"
    folded = browser.get(path + "?folded=1", headers=here).headers["HX-Replace-Url"]
    assert folded == "/requests/r3?against=r1"
    plain = browser.get(path).headers["HX-Replace-Url"]
    assert plain == "/requests/r3?block=5#b5"


def test_the_chosen_baseline_stays_in_the_address_without_javascript(real: TestClient) -> None:
    """Each row that unfolds is a link, and the baseline is in it."""
    service = real.app.state.service  # type: ignore[attr-defined]
    key, before = (service.requests(LONG)[at].key for at in (41, 30))
    for more in ("", "&raw=1"):
        page = real.get(f"/requests/{key}?against={before}{more}").text
        hrefs = [unescape(h) for h in re.findall(r'class="fold" href="([^"]+)"', page)]
        assert len(hrefs) > 3 and all(f"against={before}" in href for href in hrefs)
    plain = real.get(f"/requests/{key}").text
    assert "against=" not in "".join(re.findall(r'class="fold" href="([^"]+)"', plain))


def test_the_signs_of_the_map_are_in_its_legend(real: TestClient) -> None:
    service = real.app.state.service  # type: ignore[attr-defined]
    key = service.requests(LONG)[41].key
    legend = real.get(f"/requests/{key}").text.partition('aria-label="Signs on the prompt map')[2]
    assert missing(legend.partition("</ul>")[0], "billed again", "read ended", "#p-lost") == []


@pytest.mark.parametrize(
    ("before", "after", "gone", "came"),
    [
        ("Style.\n# Dates\nToday is Monday", "Style.\nType it.\n# Dates\nToday", "", "Type it.\n"),
        ("Style.\nType it.\n# Dates\nToday", "Style.\n# Dates\nToday is Monday", "Type it.\n", ""),
        ("Today is Monday.", "Today is Friday.", "Mon", "Fri"),
        ("all old words", "quite another", "all old words", "quite another"),
    ],
)
def test_a_cut_excerpt_shows_only_what_was_added_or_removed(
    before: str, after: str, gone: str, came: str
) -> None:
    old, new = _excerpt(before, after)
    assert (old.middle, new.middle) == (gone, came)
    assert (old.head + old.middle + old.tail, new.head + new.middle + new.tail) == (before, after)
