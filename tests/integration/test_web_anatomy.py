"""The presence lanes, the anatomy of a request, and the panel: geometry, links, hostile texts."""

from dataclasses import replace
from html import unescape

import pytest
from starlette.testclient import TestClient

from tests.anatomy_factories import a_breakdown, a_category, a_file, a_presence_row, an_anatomy
from tests.axes import places
from tests.factories import (
    SESSION,
    FakeService,
    a_block,
    a_column,
    a_detail,
    a_reminder,
    a_request,
    a_section,
    a_timeline,
    an_mcs,
)
from tests.integration.test_web_pages import HOSTILE, Elements, client
from tracer.model.anatomy_views import (
    DemotedView,
    McsStateView,
    McsView,
    Presence,
    PresenceLane,
    PresenceRowView,
    SectionView,
    UnverifiedTagView,
)
from tracer.model.prompt import Kind, Marker, Part, Tier
from tracer.model.views import BlockView, RequestDetail
from web.layout.axis import Axis
from web.layout.marks import Span, cut, first_line
from web.layout.presence import Hap, PresenceDrawing, draw_presence

SYSTEM = "# Identity 😀\nYou help.\n\n# Environment\nmodel: GLM-5.3\n"
ENVIRONMENT = SYSTEM.index("# Env")
CONTEXT = "<system-reminder>\nProject rules:\nRun the suite.\n</system-reminder>\n"


def draw(
    *rows: PresenceRowView,
    seqs: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    slots: Axis | None = None,
    shown: tuple[str, ...] = (),
) -> PresenceDrawing:
    presence = Presence(SESSION, len(seqs), (PresenceLane("main", seqs, rows),))

    def address(group: str, hap: Hap, name: str) -> str:
        return f"/{group}/{name}/{hap.cell}/{hap.baseline_seq}/{hap.seq}"

    made = draw_presence(presence, slots or places(seqs[0], seqs[-1], 1, 10), (), shown, address)
    assert made is not None
    return made


def layer(drawing: PresenceDrawing, css: str) -> str:
    return next((one.path for one in drawing.layers if one.css == css), "")


SEQS = tuple(range(1, 11))


def test_a_row_is_a_line_with_signs_where_something_happened() -> None:
    made = draw(a_presence_row("skills", "asscsmsg..", SEQS))
    assert [(g.cell, g.x) for g in made.glyphs] == [
        ("appeared", 5.0), ("changed", 35.0), ("moved", 55.0), ("gone", 75.0),
    ]  # fmt: skip
    assert layer(made, "same") == "M5 55h70v4h-70z", "from its sign to the cross"
    assert made.glyphs[1].words == "skills changed in request 4, compared with request 3"
    assert made.glyphs[1].href == "/section/skills/changed/3/4"
    assert made.glyphs[0].href.endswith("/appeared/None/1")


def test_what_was_not_observed_is_a_dashed_line_and_no_sign() -> None:
    made = draw(a_presence_row("skills", "assuuus", SEQS))
    assert [g.cell for g in made.glyphs] == ["appeared"]
    assert layer(made, "same") == "M5 55h25v4h-25zM60 55h40v4h-40z"
    assert layer(made, "unseen") == "M30 57h30"


def test_a_change_behind_records_that_do_not_show_it_says_what_it_is_compared_with() -> None:
    row = a_presence_row("skills", "asuuc", SEQS[:5])
    runs = (*row.runs[:-1], replace(row.runs[-1], baseline_seq=2, baseline_key="r2"))
    (_, glyph) = draw(replace(row, runs=runs)).glyphs
    assert glyph.words == (
        "skills changed in request 5, compared with request 2; the records of the requests "
        "between do not show it"
    )
    assert glyph.href == "/section/skills/changed/2/5"


def test_what_comes_back_has_a_gap_before_it() -> None:
    made = draw(a_presence_row("todo", "asg..as", SEQS, "reminder"))
    assert layer(made, "same") == "M5 55h20v4h-20zM55 55h45v4h-45z"


def test_requests_of_other_lanes_do_not_cut_a_line() -> None:
    made = draw(
        a_presence_row("skills", "ascs", (1, 2, 4, 6)), seqs=(1, 2, 4, 6), slots=places(1, 7, 1, 10)
    )
    assert layer(made, "same") == "M5 55h55v4h-55z"
    assert made.glyphs[1].words.endswith("compared with request 2")


def test_only_the_window_is_drawn() -> None:
    row = a_presence_row("skills", "ascsccsscs", SEQS)
    made = draw(row, slots=places(5, 8, 1, 40))
    assert [g.cell for g in made.glyphs] == ["changed", "changed"]
    assert layer(made, "same") == "M0 55h40v4h-40z"
    assert not draw(a_presence_row("old", "asg.", SEQS), slots=places(5, 8, 1, 40)).layers


def test_columns_that_share_a_slot_show_the_gravest_sign() -> None:
    made = draw(a_presence_row("skills", "amcgas", SEQS), slots=places(1, 10, 5, 40))
    assert [(g.cell, g.x) for g in made.glyphs] == [("changed", 1.25)]
    assert made.glyphs[0].words.endswith("; 4 more events in this column")


def test_signs_that_would_overlap_are_thin_and_too_many_are_ticks() -> None:
    seqs = tuple(range(1, 161))
    close = a_presence_row("a", "ass" + "c" * 2 + "s", seqs)
    busy = a_presence_row("b", "a" + "c" * 159, seqs)
    made = draw(close, busy, seqs=seqs, slots=places(1, 160, 1, 160))
    assert [g.thin for g in made.glyphs] == [False, True, True]
    assert made.ticked_rows == 1 and layer(made, "changed").count("M") == 159


def test_groups_stand_in_order_and_fold_what_never_changed() -> None:
    rows = (
        a_presence_row("Bash", "as", SEQS, "tool"),
        a_presence_row("Edit", "ascs", SEQS, "tool"),
        a_presence_row("Late", "..as", SEQS, "tool"),
        *(a_presence_row(f"message {i}", "as", SEQS, "mcs") for i in range(7)),
        a_presence_row("todo", "as", SEQS, "reminder"),
        a_presence_row("skills", "as", SEQS),
    )
    made = draw(*rows)
    assert [g.title for g in made.groups] == ["Sections", "Reminders", "Mid-conversation", "Tools"]
    assert [r.name for r in made.groups[3].rows] == ["Edit", "Late"]
    assert made.groups[3].note == "2 of 3 changed" and made.groups[3].folded
    assert [r.name for r in made.groups[2].rows] == ["MCS messages"]
    whole = draw(*rows, shown=("tools", "messages"))
    assert len(whole.groups[3].rows) == 3 and len(whole.groups[2].rows) == 7


def test_side_lanes_are_drawn_when_asked_for_and_lanes_of_one_conversation_as_one() -> None:
    lanes = (
        PresenceLane("main@a", (1, 2, 3), (a_presence_row("skills", "as", (1, 2, 3)),)),
        PresenceLane("main@b", (4, 6), (a_presence_row("skills", "ac", (4, 6)),)),
        PresenceLane("compact@a", (5,), (a_presence_row("skills", "a", (5,)),)),
        PresenceLane("title@a", (7,), ()),
    )
    presence = Presence(SESSION, 7, lanes)

    def drawn(*shown: str) -> PresenceDrawing:
        made = draw_presence(
            presence, places(1, 7, 1, 40), {"compact@a", "title@a"}, shown, lambda *_: ""
        )
        assert made is not None
        return made

    made = drawn()
    assert [(g.title, len(g.rows)) for g in made.groups] == [("Sections", 1), ("Side calls", 0)]
    assert [g.cell for g in made.glyphs] == ["appeared", "appeared", "changed"]
    assert [g.title for g in drawn("lanes").groups] == [
        "Sections", "Sections · compact", "Side calls",
    ]  # fmt: skip
    nothing = Presence(SESSION, 7, lanes[3:])
    assert draw_presence(nothing, places(1, 7, 1, 40), (), (), lambda *_: "") is None


def test_the_axis_has_round_numbers_that_do_not_touch() -> None:
    made = draw(a_presence_row("x", "a", (1,)), seqs=(1,), slots=places(341, 500, 1, 160))
    assert [t.text for t in made.axis][:3] == ["341", "350", "360"]
    assert made.axis[0].anchor == "start"
    wide = draw(a_presence_row("x", "a", (1,)), seqs=(1,), slots=places(1, 1500, 4, 375))
    assert [t.text for t in wide.axis][:3] == ["1", "100", "200"]


def test_a_text_is_cut_into_pieces_without_loss() -> None:
    text = "ab😀cd\nef"
    pieces = cut(text, (Span(2, 4, "x"), Span(3, 6, "y"), Span(7, 99, "z"), Span(5, 5, "w")))
    assert [(p.text, p.css) for p in pieces] == [
        ("ab", ""), ("😀c", "x"), ("d\n", "y"), ("e", ""), ("f", "z"),
    ]  # fmt: skip
    assert [p.text for p in cut("", ())] == [""]
    assert first_line("\n  # A\nb") == "# A" and first_line("") == ""


def prompt() -> tuple[BlockView, ...]:
    """Two tools, a system block with two sections, a context message, a conversation."""
    texts = ("Fix it.", "", "Plan mode is on.", "<system-reminder>\nx\n</system-reminder>", "Done.")
    head = (
        a_block(0, tier=Tier.TOOLS, message_index=None, part=Part.TOOLS, name="read_file",
                kind=Kind.TOOL_SCHEMA),
        a_block(1, tier=Tier.TOOLS, message_index=None, part=Part.TOOLS, name="run_command",
                kind=Kind.TOOL_SCHEMA, marker=Marker(Tier.TOOLS, 1, 0, "5m"), new=True),
        a_block(2, tier=Tier.SYSTEM, message_index=0, role="system", part=Part.SYSTEM,
                text=SYSTEM, chars=len(SYSTEM) + 1, preview="# Identity"),
        a_block(3, tier=Tier.SYSTEM, message_index=1, role="system", part=Part.SYSTEM,
                text="nobody knows this", preview="nobody knows this"),
        a_block(4, message_index=2, role="user", part=Part.CONTEXT, text=CONTEXT, preview=CONTEXT),
    )  # fmt: skip
    rest = tuple(
        a_block(i, message_index=i - 2, text=text, preview=text, new=i in (6, 9))
        for i, text in enumerate(texts, 5)
    )
    call = a_block(6, message_index=4, kind=Kind.TOOL_CALL, name="Grep", preview="{}", new=True)
    return (*head, rest[0], call, *rest[2:])


def sections() -> tuple[SectionView, ...]:
    end = len(CONTEXT) - len("\n</system-reminder>\n")
    return (
        a_section("identity", message_index=0, block_index=0, prompt_index=2, start_char=0,
                  end_char=ENVIRONMENT, how="heading", since_seq=1, chars=ENVIRONMENT + 1),
        a_section("env_info", message_index=0, block_index=0, prompt_index=2,
                  start_char=ENVIRONMENT, end_char=len(SYSTEM), how="logged", since_seq=3,
                  changed=True),
        a_section("request_user_context", message_index=2, block_index=0, prompt_index=4,
                  start_char=18, end_char=end, how="place", since_seq=2, chars=end - 18),
        a_section("skills", message_index=None, how="not observed"),
    )  # fmt: skip


def full_detail(**changes: object) -> RequestDetail:
    """Request 3 with everything that an anatomy can hold."""
    request = a_request(
        3,
        sections=sections(),
        reminders=(
            a_reminder("runtime_mode", via="mcs", message_index=5, prompt_index=7, end_char=16),
            a_reminder("plan_mode", message_index=6, prompt_index=8, start_char=18, end_char=19,
                       ambiguous_with=("runtime_mode",), trust="tagged"),
            a_reminder("tool_note", via="inline", message_index=7, prompt_index=9, end_char=4,
                       trust="place", counted=False),
        ),
        mcs=(McsView(5, ("runtime_mode", "date_change", "date_change")),),
        mcs_state=McsStateView("on", "Message 5 is a system message behind the prefix.", 5),
    )  # fmt: skip
    anatomy = an_anatomy(
        instruction_files=(a_file(message_index=2, start_char=18, end_char=32),),
        demoted=(DemotedView(6, ("plan_mode",), "It stood before a tool's result."),),
        unverified=(UnverifiedTagView(3, 0, 0, 3, "typed by a user"),) * 2,
        mcs_state=request.mcs_state,
    )
    made = {"request": request, "anatomy": anatomy, "baseline_key": "r2"} | changes
    return a_detail(prompt(), **made)  # type: ignore[arg-type]


def browser(**changes: object) -> TestClient:
    timeline = a_timeline(6)
    details = {f"r{i}": a_detail(request=a_request(i)) for i in (1, 2, 4, 5, 6)}
    return client(FakeService(timeline, details={**details, "r3": full_detail(**changes)}))


def page(path: str, **changes: object) -> str:
    response = browser(**changes).get(path)
    assert response.status_code == 200, response.text[-600:]
    return unescape(response.text)


def links(html: str, label: str) -> list[str]:
    return [
        str(a["href"]) for tag, a in Elements(html).found
        if tag == "a" and label in str(a.get("aria-label") or a.get("title") or a.get("href"))
    ]  # fmt: skip


def test_the_lanes_below_the_timeline_lead_to_texts_and_to_differences() -> None:
    text = page(f"/sessions/{SESSION}?request=r3")
    assert links(text, "request_user_context changed in request 4") == ["/compare/r3/r4?block=4#b4"]
    assert links(text, "todo_reminder is gone in request 4") == ["/compare/r3/r4"]
    assert links(text, "todo_reminder appeared in request 2") == [
        "/requests/r2?block=4&mark=todo_reminder#mark"
    ]
    assert "run_command" in text and ">read_file<" not in text, "it never changed"
    assert ">read_file<" in page(f"/sessions/{SESSION}?tools=all")
    assert links(text, "show all of them") == [f"/sessions/{SESSION}?request=r3&tools=all"]
    assert links(text, "show its text") == []


def test_every_sign_is_a_page_that_answers() -> None:
    made = browser()
    text = unescape(made.get(f"/sessions/{SESSION}").text)
    hrefs = [h for h in links(text, "in request") if h.startswith("/requests/")]
    assert hrefs
    for href in hrefs:
        answer = made.get(href)
        assert answer.status_code == 200 and f'id="{href.partition("#")[2]}"' in answer.text


@pytest.mark.parametrize("query", ["tools=some", "lanes=1", "messages=x"])
def test_a_fold_that_is_unknown_is_said_so(query: str) -> None:
    response = browser().get(f"/sessions/{SESSION}?{query}")
    assert response.status_code == 422 and "must be one of few, all" in response.text


def test_the_fragments_of_the_session_are_pieces_of_its_page_with_folds() -> None:
    made = browser()
    query = "?request=r3&tools=all&lanes=all"
    whole = made.get(f"/sessions/{SESSION}{query}").text
    for name in ("timeline", "panel"):
        assert made.get(f"/fragments/sessions/{SESSION}/{name}{query}").text.strip() in whole


def test_a_session_without_prompts_says_that_nothing_can_be_followed() -> None:
    service = FakeService(
        a_timeline(2), presences={SESSION: Presence(SESSION, 2, (PresenceLane("x", (1, 2), ()),))}
    )
    text = client(service).get(f"/sessions/{SESSION}").text
    assert "no section, reminder or tool can be followed" in text


def test_the_matrix_of_a_long_session_is_small_and_merged() -> None:
    timeline = a_timeline(1500)
    seqs = tuple(range(1, 1501))
    rows = tuple(
        a_presence_row(f"section_{i}", "a" + "s" * (i * 20 + 20) + "cs", seqs) for i in range(60)
    )
    presence = Presence(SESSION, 1500, (PresenceLane("main", seqs, rows),))
    made = client(FakeService(timeline, presences={SESSION: presence}))
    text = made.get(f"/sessions/{SESSION}?from=1&to=1500&request=r700").text
    matrix = text[text.index('class="presence"') : text.index('class="below"')]
    assert matrix[: matrix.index("</svg>")].count("<path") == 1
    assert matrix.count("<a href") == 120
    assert 'aria-current="true"' in text and "4 a column" in text


def test_the_panel_says_what_changed_which_notes_there_are_and_whether_mcs_was_on() -> None:
    text = page(f"/fragments/sessions/{SESSION}/panel?request=r3")
    assert '<a class="flag changed" href="/compare/r2/r3?block=2#b2"' in text
    assert "plan_mode or runtime_mode" in text and "not counted" in text
    assert "/requests/r3?block=8&mark=18-19#mark" in text
    assert "Message 5 is a system message behind the prefix." in text


def test_the_prefix_is_a_table_of_sections_in_the_prompts_order() -> None:
    text = page("/requests/r3")
    order = [text.index(f'id="{i}"') for i in ("tools", "s0", "s1", "p3", "s2", "s3")]
    assert order == sorted(order)
    for piece in ("by its heading", "as logged", "by its place", "named by the log", "2 tools",
                  "# Identity", "# Environment", "no section recognised", "nobody knows this",
                  "/home/dev/uploader/AGENTS.md", "truncated to 40,000 characters", "workspace",
                  "not located in the messages", "marker 5m", "1 new"):  # fmt: skip
        assert piece in text, piece
    assert links(text, "show what changed") == ["/compare/r2/r3?block=2#b2"]
    assert links(text, "marked in the block") == ["/requests/r3?block=4&mark=18-32#mark"]


def test_a_section_unfolds_to_its_own_text() -> None:
    made = browser()
    whole = made.get("/requests/r3?section=1").text
    response = made.get("/fragments/requests/r3/sections/1")
    assert response.text.strip() in whole
    assert ">" + SYSTEM[ENVIRONMENT:] + "</pre>" in whole and "# Identity 😀\nYou" not in whole
    assert response.headers["hx-replace-url"] == "/requests/r3?section=1#s1"
    folded = made.get("/fragments/requests/r3/sections/1?folded=1").text
    assert 'aria-expanded="false"' in folded and "</pre>" not in folded
    assert made.get("/fragments/requests/r3/sections/99").status_code == 404


def test_the_conversation_is_a_row_a_message_with_its_notes() -> None:
    text = page("/requests/r3")
    for piece in ("MCS runtime_mode + date_change × 2", "plan_mode or runtime_mode",
                  "ambiguous: these sources open alike", "demoted plan_mode",
                  "It stood before a tool's result.", "unverified origin × 2", "typed by a user",
                  "not counted as a reminder"):  # fmt: skip
        assert piece in text, piece
    assert text.count('<tbody id="m') == 5, "the prefix is not in it"
    assert 'id="m4" class="block changed"' in text and 'id="m7" class="block new"' in text
    assert '<table class="list blocks">' not in text, "raw blocks are shown on demand"


def test_a_message_unfolds_with_its_notes_marked() -> None:
    made = browser()
    whole = made.get("/requests/r3?message=6").text
    assert '<mark class="m-reminder" title="plan_mode or runtime_mode">x</mark>' in whole
    response = made.get("/fragments/requests/r3/messages/6?blocks_from=0")
    assert response.text.strip() in whole
    assert response.headers["hx-replace-url"] == "/requests/r3?message=6#m6"
    assert made.get("/fragments/requests/r3/messages/999").status_code == 404


@pytest.mark.parametrize(
    ("mark", "marked"),
    [
        ("env_info", SYSTEM[ENVIRONMENT:]),
        ("env_info (2)", SYSTEM[ENVIRONMENT:]),
        ("2-12", "Identity 😀"),
    ],
)
def test_a_block_is_shown_with_a_span_marked(mark: str, marked: str) -> None:
    text = page(f"/requests/r3?block=2&mark={mark}")
    start = text.index('<mark class="m-found" id="mark"')
    assert text[text.index(">", start) + 1 :].startswith(marked + "</mark>")


def test_a_mark_that_is_not_found_leads_to_the_text() -> None:
    for mark in ("nothing", "9-3", "999999999-999999999"):
        assert page(f"/requests/r3?block=2&mark={mark}").count('id="mark"') == 1


def test_raw_blocks_are_shown_on_demand() -> None:
    text = page("/requests/r3?raw=1")
    assert "0 to 9 of 10" in text and text.count('<tbody id="b') == 10
    assert page("/requests/r3?block=2").count('<tbody id="b') == 1


def test_the_side_says_layout_usage_and_calibration() -> None:
    text = page("/requests/r3")
    for piece in ("the default agent", "Message 5 is a system message behind the prefix.",
                  "Over the lane ×\u202f1.042", "median of 41 whole requests, from ×\u202f1.031",
                  "leave 312 billed tokens unexplained", "In no category of the agent",
                  "runtime reminders", "todo_reminder, hook_context", "recomputed: equal",
                  "redacted the tokens of 6 categories", "≈\u202f21,000", "20,944"):  # fmt: skip
        assert piece in text, piece


def test_a_usage_that_differs_from_what_was_logged_shows_both() -> None:
    differing = (
        a_category(method="logged", tokens=90, logged_tokens=90, recomputed_tokens=95),
        a_category(logged_tokens=80, redacted=False),
        a_category(complete=False, chars=None, tokens=None),
    )
    usage = a_breakdown(categories=differing, leftovers=(), complete=False, billed_tokens=None)
    text = page("/requests/r3", anatomy=an_anatomy(usage=usage, calibration=None))
    for piece in ("recomputed: 95", "logged: 80", "a part was not logged", "no usage logged",
                  "the prompt is not whole"):  # fmt: skip
        assert piece in text, piece


def test_a_log_without_a_prompt_or_without_usage_says_so_in_words() -> None:
    bare = a_request(1, usage=None, observed="metadata", tools=(), sections=(sections()[3],))
    detail = a_detail((), bare, calibration=None, response=())
    text = client(FakeService(a_timeline(1), details={"r1": detail})).get("/requests/r1").text
    for piece in ("The log holds no prompt for this request.", "those that the structured log",
                  "The log reports no usage for this request.", "No message was observed",
                  "named by the log"):  # fmt: skip
        assert piece in text, piece
    plain = a_detail((), a_request(1, tools=()), calibration=None)
    text = client(FakeService(a_timeline(1), details={"r1": plain})).get("/requests/r1").text
    assert "no tools, no system blocks, no sections" in text


def test_hostile_names_and_texts_are_shown_and_never_run() -> None:
    row = a_presence_row(HOSTILE, "ac", (1, 2), note=HOSTILE)
    timeline = a_timeline(columns=[a_column(1), a_column(2)])
    presence = Presence(SESSION, 2, (PresenceLane(HOSTILE, (1, 2), (row,)),))
    place: dict[str, object] = {"message_index": 0, "prompt_index": 0, "block_index": 0}
    request = a_request(
        1,
        sections=(a_section(HOSTILE, start_char=0, end_char=9, how=HOSTILE, **place),),
        reminders=(a_reminder(HOSTILE, end_char=9, ambiguous_with=(HOSTILE,), **place),),
        mcs=(an_mcs(HOSTILE),),
        mcs_state=McsStateView(HOSTILE, HOSTILE, 0),
    )
    anatomy = an_anatomy(
        variant=HOSTILE, variant_evidence=HOSTILE, mcs_state=request.mcs_state,
        instruction_files=(a_file(HOSTILE, message_index=0, start_char=0, end_char=9,
                                  truncation_note=HOSTILE, scope=HOSTILE),),
        demoted=(DemotedView(0, (HOSTILE,), HOSTILE),),
        unverified=(UnverifiedTagView(0, 0, 3, 9, HOSTILE),),
    )  # fmt: skip
    block = a_block(0, text=HOSTILE, preview=HOSTILE, role=HOSTILE)
    detail = a_detail((block,), request, anatomy=anatomy, baseline_key=HOSTILE)
    made = client(FakeService(timeline, details={"r1": detail}, presences={SESSION: presence}))
    paths = (f"/sessions/{SESSION}?request=r1", "/requests/r1?message=0&section=0&block=0&raw=1",
             "/requests/r1?block=0&mark=2-9", f"/requests/r1?mark={HOSTILE[:9]}")  # fmt: skip
    for path in paths:
        text = made.get(path).text
        assert "<script>alert" not in text and "<img" not in text
        assert "\u202e" not in text and "\x1b" not in text
    assert "&lt;script&gt;alert(1)" in made.get(paths[1]).text


@pytest.mark.parametrize("path", [
    "/requests/r3?section=0&message=6&block=2&raw=1", f"/sessions/{SESSION}?request=r3&lanes=all",
])  # fmt: skip
def test_everything_works_without_javascript(path: str) -> None:
    for tag, attributes in Elements(page(path)).found:
        if "hx-get" in attributes:
            by_itself = "revision" in str(attributes.get("hx-trigger")) or "every" in str(
                attributes.get("hx-trigger")
            )
            assert by_itself or (tag == "a" and attributes.get("href")), attributes
        if tag == "a":
            assert str(attributes.get("href")).startswith(("/", "#", "?")), attributes
