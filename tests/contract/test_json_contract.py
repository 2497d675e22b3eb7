"""The JSON of each command is the one that docs/json.md describes, key by key, type by type."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.check_factories import a_bare_check_report, a_check_report
from tests.cli_anatomies import a_presence
from tests.integration import test_cli_fakes as fakes
from tests.search_factories import a_bare_search_page, a_search_page
from tests.session_comparisons import a_session_comparison
from tests.story_factories import a_bare_story, a_story
from tests.verdict_factories import (
    a_bare_verdict_view,
    a_verdict_view,
    no_misses,
    some_misses,
)
from tracer.jsonview.anatomy import presence_json
from tracer.jsonview.checks import check_json
from tracer.jsonview.compare import comparison_json
from tracer.jsonview.core import doctor_json, ingest_json, sessions_json, sources_json
from tracer.jsonview.encoding import json_text
from tracer.jsonview.request import detail_json, requests_json
from tracer.jsonview.search import search_json
from tracer.jsonview.session_comparison import compare_json
from tracer.jsonview.story import story_json
from tracer.jsonview.traces import traces_json
from tracer.jsonview.verdict import explain_json, misses_json
from tracer.model.compare_views import ChangeView, HunksAsked, HunksView
from tracer.model.comparison import Op
from tracer.model.source import SkipKind
from tracer.model.trace_views import ProblemLevel, TraceFile, TraceProblem
from tracer.model.verdict import Certainty, Result
from tracer.model.views import SessionPage
from tracer.service.comparing import Compared, hunks_of

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
COMMANDS = (
    "compare",
    "ingest", "sessions", "requests", "presence", "show", "explain", "misses", "check", "diff",
    "search", "sources", "story", "doctor", "traces",
)  # fmt: skip

# What others rely on. More keys may be added, none renamed.
REQUIRED = {
    "ingest": "schema files totals",
    "traces": "schema traces",
    "traces traces[]": "path format failed lines events errors notes problems",
    "traces traces[].problems[]": "level line where what fix",
    "ingest files[]": "path format bytes records skipped new_records status",
    "ingest files[].skipped[]": "line offset reason",
    "sessions": "schema sessions",
    "sessions sessions[]": "session_id agent title project started_at ended_at requests turns "
    "models lanes usage hit_rate missed_tokens misses findings",
    "sessions sessions[].usage": "input fresh cache_read cache_write output",
    "requests": "schema requests",
    "requests requests[]": "key seq request_id attempt turn_id query_source lane provider model "
    "started_at completed_at duration_ms status observed verified_from message_count roles usage "
    "sections reminders mcs markers tools verdict",
    "requests requests[].sections[]": "source target cache_hint chars message_index",
    "requests requests[].reminders[]": "source via message_index",
    "requests requests[].mcs[]": "message_index sources",
    "requests requests[].markers[]": "tier index ttl",
    "show": "schema key seq request_id usage sections reminders mcs markers tools verdict blocks",
    "show blocks[]": "index tier message_index block_index role kind section reminders chars "
    "tokens wire_hash marker source_ref text",
    "show blocks[].tokens": "bpe estimate calibrated",
    "presence": "schema session_id lanes",
    "presence lanes[].rows[]": "group name runs",
    "explain": "schema key verdict",
    "explain verdict": "result baseline baseline_reason expected_read actual_read missed_tokens "
    "avoidable_tokens cost causes also checked_equal not_verifiable convention",
    "explain verdict.causes[]": "code subtype certainty tier block_index message_index section "
    "reminder char_offset token_offset summary before after fix",
    "misses": "schema misses causes rebilled_tokens",
    "search": "schema hits",
    "search hits[]": "session_id first_key last_key times_sent where snippet",
    "check": "schema findings rules_run not_applicable",
    "check findings[]": "rule level key message message_index evidence",
    "diff": "schema a b common first_divergence changes",
    "diff common": "blocks chars tokens",
    "diff first_divergence": "tier index message_index char_offset token_offset",
    "compare": "schema a b rows",
    "compare rows[]": "group name state a b",
    "story": "schema session_id parent children turns tools usage_rows evidence",
    "story turns[]": "turn_id number words status started_at duration_ms abandoned",
    "story tools[]": "call_id tool status started_at duration_ms permission_ms error key",
    "diff changes[]": "op tier a_index b_index label hunks",
}


def outputs(command: str) -> list[Any]:
    """What the command prints where everything is known, and where next to nothing is."""
    match command:
        case "ingest":
            files = (fakes.a_file(), fakes.a_file("x", "not-read", "No format fits."))
            values = [ingest_json(fakes.an_ingest(*files)), ingest_json(fakes.an_ingest())]
        case "sessions":
            sessions = (fakes.a_session(), fakes.a_bare_session())
            values = [sessions_json(SessionPage(sessions, 2))]
        case "requests":
            requests = (fakes.a_request(), fakes.a_bare_request())
            values = [requests_json("sess_demo", requests)]
        case "presence":
            values = [presence_json(a_presence())]
        case "show":
            values = [
                detail_json(fakes.a_detail(), with_text=True),
                detail_json(fakes.a_detail(), with_text=False),
                detail_json(fakes.a_bare_detail(), with_text=True),
            ]
        case "explain":
            values = [explain_json(v) for v in (a_verdict_view(), a_bare_verdict_view())]
        case "misses":
            values = [
                misses_json(some_misses(), "sess_demo", 1_000),
                misses_json(no_misses(), "", None),
            ]
        case "check":
            values = [
                check_json(a_check_report(), "sess_demo", "error"),
                check_json(a_bare_check_report(), "", "never"),
            ]
        case "diff":
            values = [
                comparison_json(made.view, [inside(made, change) for change in made.view.changes])
                for made in (fakes.a_comparison(), fakes.a_bare_comparison())
            ]
        case "compare":
            values = [compare_json(a_session_comparison())]
        case "search":
            values = [search_json(page) for page in (a_search_page(), a_bare_search_page())]
        case "story":
            values = [story_json(story) for story in (a_story(), a_bare_story())]
        case "sources":
            values = [sources_json([fakes.a_source()])]
        case "traces":
            problem = TraceProblem(ProblemLevel.NOTE, 3, "kind", "is odd", "Nothing to do.")
            whole = replace(problem, where="")
            found = TraceFile("t.jsonl", "context-trace", 3, 3, 1, 1, 0, 2, (problem, whole))
            values = [traces_json([found, TraceFile("x", "", failed="The file is empty.")])]
        case _:
            values = [doctor_json(fakes.a_report())]
    return [json.loads(json_text(value)) for value in values]


def inside(compared: Compared, change: ChangeView) -> HunksView:
    """The hunks of a change."""
    return hunks_of(compared, change.index, HunksAsked())


class Page:
    """docs/json.md: the table of each section, and the examples."""

    def __init__(self, text: str) -> None:
        self.tables: dict[str, dict[str, str]] = {}
        for heading, body in re.findall(r"^##+ (.+?)\n(.*?)(?=^##|\Z)", text, re.M | re.S):
            rows = re.findall(r"^\| `([^`]+)` \| ([^|]+?) \| [^|]+ \| ([^|]*)\|$", body, re.M)
            self.tables[heading] = {key: kind for key, kind, _ in rows}
            for key, kind, null_when in rows:
                assert ("or null" in kind) == bool(null_when.strip()), f"{heading}: {key}"
        self.tables["show"] |= self.tables["R"]
        self.examples = dict(re.findall(r"^```json (\w+)\n(.*?)^```", text, re.M | re.S))
        self.used: set[tuple[str, str]] = set()

    def problems(self, value: object, table: str, at: str = "") -> Iterator[str]:
        """Keys of the object `value` that are missing, not documented, or of another type."""
        assert isinstance(value, dict)
        rows = self.tables[table]
        prefix = f"{at}." if at else ""
        documented = {k for k in rows if k.startswith(prefix) and "." not in k[len(prefix) :]}
        for key in documented:
            name = key[len(prefix) :].removesuffix("?")
            if name.endswith("[]"):
                continue
            if name in value:
                self.used.add((table, key))
                yield from self._mismatches(value[name], rows[key], table, f"{prefix}{name}")
            elif not key.endswith("?"):
                yield f"{table}: {key} is missing"
        for name in value:
            if not documented & {f"{prefix}{name}", f"{prefix}{name}?"}:
                yield f"{table}: {prefix}{name} is not documented"

    def _mismatches(self, value: object, kind: str, table: str, at: str) -> Iterator[str]:
        nullable = kind.endswith(" or null")
        kind = kind.removesuffix(" or null")
        if value is None:
            if not nullable:
                yield f"{table}: {at} is null"
        elif kind.startswith("array of "):
            assert isinstance(value, list), at
            for item in value:
                yield from self._mismatches(item, kind.removeprefix("array of "), table, f"{at}[]")
        elif kind.startswith("map of "):
            assert isinstance(value, dict), at
            for item in value.values():
                yield from self._mismatches(item, kind.removeprefix("map of "), table, at)
        elif kind == "object":
            yield from self.problems(value, table, at)
        elif kind[0].isupper():
            yield from self.problems(value, kind)
        elif not is_a(kind, value):
            yield f"{table}: {at} is {value!r}, not {kind}"


def is_a(kind: str, value: object) -> bool:
    """Is `value` of this plain type of docs/json.md?"""
    if kind == "time":
        return (
            isinstance(value, str)
            and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value) is not None
            and datetime.fromisoformat(value).tzinfo is not None
        )
    plain: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "any": (object,),
    }
    return isinstance(value, plain[kind]) and (
        isinstance(value, bool) <= (kind in ("boolean", "any"))
    )


@pytest.fixture(scope="module")
def page() -> Page:
    """docs/json.md."""
    return Page(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_prints_is_documented(page: Page, command: str) -> None:
    for value in outputs(command):
        assert list(page.problems(value, command)) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_are_as_documented(page: Page, command: str) -> None:
    assert list(page.problems(json.loads(page.examples[command]), command)) == []


def test_every_documented_key_is_printed() -> None:
    fresh = Page(PAGE.read_text(encoding="utf-8"))
    for command in COMMANDS:
        for value in outputs(command):
            assert not list(fresh.problems(value, command))
    documented = {(table, key) for table, rows in fresh.tables.items() for key in rows}
    # `show` repeats the keys of R under its own name.
    assert documented - fresh.used == set()


@pytest.mark.parametrize("place", REQUIRED)
def test_keys_that_others_rely_on_are_there(place: str) -> None:
    command, _, path = place.partition(" ")
    value = outputs(command)[0]
    for step in filter(None, path.split(".")):
        assert isinstance(value, dict)
        value = value[step.removesuffix("[]")]
        if step.endswith("[]"):
            assert isinstance(value, list)
            value = value[0]
    assert isinstance(value, dict)
    assert set(REQUIRED[place].split()) <= set(value)
    if not path:
        assert value["schema"] == 1


def test_ambiguous_reminders_say_so_and_others_do_not() -> None:
    first, second = outputs("requests")[0]["requests"][0]["reminders"]
    assert first["ambiguous_with"] == ["clock"]
    assert "ambiguous_with" not in second


def test_skip_kinds_are_documented() -> None:
    row = next(
        line
        for line in PAGE.read_text().splitlines()
        if line.startswith("| `kind` | string | `not-json`")
    )
    assert set(re.findall(r"`([a-z-]+)`", row)) == {"kind", *SkipKind}


def test_results_and_certainties_are_documented() -> None:
    text = PAGE.read_text()
    verdict = text.partition("### Verdict")[2]
    row = next(line for line in verdict.splitlines() if line.startswith("| `result`"))
    assert {*Result} <= set(re.findall(r"`([a-z_]+)`", row))
    cause = text.partition("### Cause")[2]
    row = next(line for line in cause.splitlines() if line.startswith("| `certainty`"))
    assert set(re.findall(r"`([a-z]+)`", row)) == {"certainty", *Certainty}


def test_operations_are_documented() -> None:
    row = next(
        line for line in PAGE.read_text().splitlines() if line.startswith("| `changes[].op`")
    )
    assert set(re.findall(r"`([a-z]+)`", row)) == set(Op)


def test_unknown_is_null_and_text_comes_only_when_asked_for() -> None:
    bare = outputs("sessions")[0]["sessions"][1]
    assert bare["usage"] == {
        "input": None, "fresh": None, "cache_read": None, "cache_write": None, "output": None,
        "reported_requests": 0,
    }  # fmt: skip
    assert bare["hit_rate"] is None
    with_text, without = outputs("show")[:2]
    assert with_text["blocks"][0]["text"] == "You are a demo agent."
    assert "text" not in without["blocks"][0]
