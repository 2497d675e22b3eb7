"""Geometry and formats: pure functions of the web layer."""

import re

import pytest

from tests.factories import a_block, a_column, a_timeline, an_event, some_blocks, some_parts
from tracer.model.events import Status
from tracer.model.prompt import Marker, Part, Tier
from tracer.model.views import MapRun, PartSize, SparkPoint
from web import filters
from web.layout.axis import MOST_SLOTS
from web.layout.lanes import all_lanes
from web.layout.overview import overview
from web.layout.prompt_map import map_of_blocks, map_of_parts, map_of_runs
from web.layout.spark import spark
from web.layout.timeline import Addresses, Area, Band, TimelineDrawing, draw_timeline
from web.layout.window import Window, choose
from web.layout.words import column_words, marker_words, side_call, variant_words

LANES = {"prompt", "cache", *(lane.name for lane in all_lanes())}


def draw(
    timeline: object, window: Window, selected: str = "", scale: str = "window"
) -> TimelineDrawing:
    to = Addresses(
        lambda r: f"?request={r.key}",
        lambda w: f"?from={w.first}",
        lambda s, k: f"/sessions/{s}#{k}",
    )
    return draw_timeline(
        timeline,  # type: ignore[arg-type]
        window, selected, to, lanes=LANES, scale=scale,
    )  # fmt: skip


def areas(band: Band | None) -> tuple[Area, ...]:
    assert band is not None
    return band.areas


def heights(path: str) -> list[float]:
    return [float(height) for height in re.findall(r"v(-?[\d.]+)", path)]


@pytest.mark.parametrize(
    ("asked", "window"),
    [
        ((0, None, None, None), (0, 0, False)),
        ((50, None, None, None), (1, 50, False)),
        ((1000, None, None, None), (841, 1000, False)),
        ((1000, None, None, 900), (841, 1000, False)),
        ((1000, None, None, 100), (20, 179, True)),
        ((1000, 10, 20, 500), (10, 20, True)),
        ((1000, 990, 5000, None), (990, 1000, True)),
        ((1000, 30, 10, None), (30, 30, True)),
        ((1000, None, 7, None), (1, 7, True)),
    ],
)
def test_the_window_is_what_the_address_says_inside_the_session(
    asked: tuple[int, int | None, int | None, int | None], window: tuple[int, int, bool]
) -> None:
    found = choose(*asked)
    assert (found.first, found.last, found.pinned) == window


def test_a_window_moves_and_zooms_inside_the_session() -> None:
    window = Window(11, 50, 100, pinned=True)
    assert window.panned(-0.8).first == 1 and window.panned(-0.8).count == 40
    assert window.panned(5).last == 100
    assert window.zoomed(0.5).count == 20 and window.zoomed(0.5).holds(30)
    assert window.zoomed(10).is_all
    assert window.zoomed(0.01).count == 12


def test_bars_stack_to_the_prompt_with_what_is_new_on_top() -> None:
    drawing = draw(a_timeline(columns=[a_column(1)]), Window(1, 1, 1, False))
    found = {area.css: area for area in areas(drawing.prompt)}
    assert list(found) == ["tools", "system", "context", "history", "reminder", "new"]
    total = sum(heights(area.path)[0] for area in areas(drawing.prompt))
    assert total == pytest.approx(152, abs=0.4)
    assert found["new"].path.startswith("M0 0h")


def test_a_gap_and_a_side_call_are_hatched() -> None:
    gap = (*some_parts(), PartSize(Part.GAP, 1, 0, 9_000, 0, False))
    columns = [a_column(1, gap), a_column(2, side_call=True, query_source="session_title")]
    drawing = draw(a_timeline(columns=columns), Window(1, 2, 2, False))
    assert {area.css for area in areas(drawing.prompt) if area.hatched} == {"gap", "side"}
    assert [(mark.glyph, mark.text) for mark in drawing.marks] == [("side", "T")]


def test_a_prompt_that_was_not_logged_is_an_outline_of_its_billed_input() -> None:
    drawing = draw(a_timeline(columns=[a_column(1, ())]), Window(1, 1, 1, False))
    assert [area.css for area in areas(drawing.prompt)] == ["unlogged"]


def test_unknown_usage_is_a_dash_and_never_a_bar() -> None:
    drawing = draw(a_timeline(columns=[a_column(1, usage=None)]), Window(1, 1, 1, False))
    assert [area.css for area in areas(drawing.cache)] == ["none"]


def test_each_column_is_one_hit_with_exact_numbers() -> None:
    drawing = draw(a_timeline(30), Window(11, 20, 30, True), "r12")
    assert [hit.seq for hit in drawing.hits] == list(range(11, 21))
    assert [hit.key for hit in drawing.hits if hit.selected] == ["r12"]
    assert "input 125,440 = read 36,992 + fresh 88,448" in drawing.hits[0].words
    assert len(drawing.hits) + drawing.spare_slots == 20


def test_many_columns_are_merged() -> None:
    drawing = draw(a_timeline(1000), Window(1, 1000, 1000, True), "r500")
    assert drawing.merged == 3 and len(drawing.hits) <= MOST_SLOTS
    assert sum(hit.selected for hit in drawing.hits) == 1
    assert [hit.seq for hit in drawing.hits if hit.key] == [1000], "one alone is selected at once"


def test_lanes_show_what_went_wrong_and_what_changed() -> None:
    columns = [
        a_column(1),
        a_column(2, status=Status.FAILED, usage=None),
        a_column(3, attempt=2, attempts=2),
        a_column(4, model_id="GLM-5.3-Flash", turn_number=2),
        a_column(5, status=Status.CANCELLED, model_id="GLM-5.3-Flash", turn_number=2),
    ]
    events = [an_event("log", 3), an_event("compaction", 3), an_event("reset", 0)]
    drawing = draw(a_timeline(columns=columns, events=events), Window(1, 5, 5, False))
    assert [m.glyph for m in drawing.marks] == [
        "failed", "retry", "cancelled", "compaction", "model", "reset", "log",
    ]  # fmt: skip
    assert drawing.marks[5].x == 0 and "log happened" in drawing.marks[6].title
    spans = [(s.css, s.x, s.width) for s in drawing.spans]
    assert spans == [
        ("model first", 0.0, 15.0), ("model switched", 15.0, 10.0),
        ("turn odd", 0.0, 15.0), ("turn even", 15.0, 10.0),
    ]  # fmt: skip


@pytest.mark.parametrize("scale", ["window", "session", "share"])
@pytest.mark.parametrize("count", [0, 1, 41])
def test_every_scale_draws_every_length(scale: str, count: int) -> None:
    timeline = a_timeline(count)
    drawing = draw(timeline, choose(count, None, None, None), scale=scale)
    assert all(height <= 152.1 for area in areas(drawing.prompt) for height in heights(area.path))


def test_coordinates_are_short() -> None:
    drawing = draw(a_timeline(97), choose(97, None, None, None))
    for area in (*areas(drawing.prompt), *areas(drawing.cache)):
        assert not re.search(r"\.\d\d", area.path)


def test_the_overview_is_a_few_paths_however_long_the_session() -> None:
    strip = overview(a_timeline(2500).outline, Window(2341, 2500, 2500, False), 2400)
    assert strip.merged == 5 and strip.read.count("M") == 500
    assert strip.window_x == pytest.approx(93.6) and strip.window_width == pytest.approx(6.4)
    assert len(strip.jumps) == 40 and strip.jumps[0].window.first == 1
    assert overview((), Window(0, 0, 0, False)).read == ""


def test_the_map_of_parts_fills_the_bar_in_order() -> None:
    pieces = map_of_parts(some_parts())
    assert [p.css for p in pieces] == [
        "tools", "system", "context", "history", "reminder", "new",
    ]  # fmt: skip
    assert sum(p.width for p in pieces) == pytest.approx(100, abs=0.1)
    assert [p.first for p in pieces] == [0, 41, 44, 46, 46, None]


def test_the_map_of_runs_fills_the_bar_in_the_prompts_order() -> None:
    runs = [
        MapRun(Part.TOOLS, 0, 40, 5_000, False, True),
        MapRun(Part.HISTORY, 40, 300, 20_000, False, False),
        MapRun(Part.REMINDER, 340, 1, 10, False, True),
        MapRun(Part.HISTORY, 341, 200, 24_990, False, True),
        MapRun(Part.HISTORY, 541, 2, 10_000, True, True),
    ]
    pieces = map_of_runs(runs)
    assert [p.css for p in pieces] == ["tools", "history", "history", "new"], "thin runs join"
    assert [p.first for p in pieces] == [0, 40, 341, 541]
    assert sum(p.tokens for p in pieces) == 60_000
    assert abs(sum(p.width for p in pieces) - 100) < 0.1
    assert [p.carried for p in pieces] == [False, True, False, False]
    assert map_of_runs(()) == ()


def test_the_map_of_blocks_joins_thin_neighbours_of_one_colour() -> None:
    blocks = some_blocks(8)
    assert [p.first for p in map_of_blocks(blocks)] == [0, 1, 2, 3, 4, 5, 6, 7]
    thin = (a_block(0, tokens_bpe=90_000), *(a_block(i, tokens_bpe=5) for i in range(1, 40)))
    pieces = map_of_blocks(thin)
    assert len(pieces) == 2 and pieces[1].label == "blocks 1 to 39, history"
    assert map_of_blocks(()) == ()


def test_the_spark_line_stacks_and_is_empty_without_input() -> None:
    made = spark([SparkPoint(75, 0, 25), SparkPoint(0, 0, 50)])
    assert heights(made.read) == [15] and heights(made.fresh) == [5, 10] and not made.write
    assert spark([]).empty and spark([SparkPoint(0, 0, 0)]).empty


def test_columns_in_words() -> None:
    words = column_words(a_column(7, status=Status.FAILED, error="429\nslow down", usage=None))
    assert words.startswith("Request 7, turn 1, step 7; failed; 429 slow down; prompt 122,320")
    assert "usage not reported" in words
    request = a_column(1, side_call=True, query_source="compaction_summary").request
    assert side_call(request) == ("C", "compaction")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (filters.num(125_440), "125,440"),
        (filters.num(None), "–"),
        (filters.approx(9), "≈\u202f9"),
        (filters.short(999), "999"),
        (filters.short(1_150), "1.15\u202fK"),
        (filters.short(125_440), "125\u202fK"),
        (filters.short(999_600), "1.00\u202fM"),
        (filters.short(5_610_000), "5.61\u202fM"),
        (filters.pct(0.9684), "96.8\u202f%"),
        (filters.share(1, 0), "–"),
        (filters.duration(850), "850\u202fms"),
        (filters.duration(59_949), "59.9\u202fs"),
        (filters.duration(59_999), "1\u202fmin 0\u202fs"),
        (filters.duration(75 * 60_000), "1\u202fh 15\u202fmin"),
        (filters.duration(3 * 86_400_000), "3\u202fd 0\u202fh"),
        (filters.size(912), "912\u202fB"),
        (filters.size(5_242_880), "5.24\u202fMB"),
        (filters.utc(1_768_208_531_000), "2026-01-12 09:02:11"),
        (filters.utc(10**18), "–"),
        (filters.iso(None), ""),
        (filters.visible("a\r\n\tb\x00\u202e\ud83d"), "a\n\tb\\x00⟦RLO⟧\\ud83d"),
        (filters.one_line(" a\n\n b "), "a b"),
        (filters.basename("C:\\logs\\x.jsonl"), "x.jsonl"),
        (filters.file_tail("/l/model-io-sess_4f2a.jsonl"), "…o-sess_4f2a.jsonl"),
        (filters.pretty("{broken"), "{broken"),
    ],
)
def test_formats(made: str, text: str) -> None:
    assert made == text


def test_markers_and_variants_in_words() -> None:
    assert marker_words(Marker(Tier.TOOLS, 3, 0, "5m")) == "tool 3, to live 5m"
    assert marker_words(Marker(Tier.MESSAGES, 3, 1, "", "global", 7)) == (
        "message 7, block 1, scope global"
    )
    assert variant_words("main") == "the default agent" and variant_words("x_y") == "x y"
