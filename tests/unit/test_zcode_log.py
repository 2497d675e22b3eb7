"""ZCode's structured log (formats/zcode.md 2, 14 and 16)."""

import json
import sys
from typing import Any

import pytest

from tracer.formats.zcode_log import FORMAT
from tracer.model.events import ContextBuilt, ContextUsage, LogEvent, LoggedSection, UsageCategory
from tracer.model.source import SkipKind, Skipped

Json = dict[str, Any]
REDACTED = "[Redacted]"


def a_line(event: str | None = "any.event", **changes: Any) -> Json:
    line: Json = {"timestamp": "2026-01-05T09:00:00.120Z", "level": "info"}
    if event is not None:
        line["event"] = event
    return line | {"module": "core.runtime", "message": "Something happened"} | changes


def parse(line: Json) -> LogEvent:
    event = FORMAT.parse(json.dumps(line).encode())
    assert isinstance(event, LogEvent), event
    return event


def refused(line: bytes) -> Skipped:
    event = FORMAT.parse(line)
    assert isinstance(event, Skipped), event
    return event


def test_a_line_is_read_as_a_whole() -> None:
    event = parse(
        a_line(
            "turn.completed",
            traceId="trace_1",
            spanId="span_b",
            parentSpanId="span_a",
            sessionId="sess_1",
            turnId="turn_1",
            toolCallId="call_1",
            durationMs=1_234,
            status="completed",
            context={"queryId": "query_1", "toolCallCount": 3},
        )
    )
    assert event == LogEvent(
        at_ms=1_767_603_600_120,
        level="info",
        event="turn.completed",
        module="core.runtime",
        message="Something happened",
        session_id="sess_1",
        trace_id="trace_1",
        span_id="span_b",
        parent_span_id="span_a",
        turn_id="turn_1",
        tool_call_id="call_1",
        duration_ms=1_234,
        status="completed",
        context_json='{"queryId":"query_1","toolCallCount":3}',
    )


def test_an_unknown_event_is_kept_as_it_is() -> None:
    event = parse(a_line("brand.new", context={"any": ["thing"]}))
    assert (event.event, event.context_json) == ("brand.new", '{"any":["thing"]}')


def test_everything_but_time_and_level_may_be_missing() -> None:
    event = parse({"timestamp": "2026-01-05T09:00:00Z", "level": "warn"})
    assert (event.event, event.message, event.session_id, event.status) == ("", "", "", "")
    assert (event.context_json, event.error_json, event.duration_ms) == ("", "", None)


@pytest.mark.parametrize("value", [None, 5, True, ["a"], {"a": 1}])
def test_fields_of_another_type_are_left_out(value: Any) -> None:
    keys = ("event", "module", "message", "traceId", "sessionId", "turnId", "status")
    event = parse(a_line(**dict.fromkeys(keys, value)))
    assert (event.event, event.module, event.session_id, event.status) == ("", "", "", "")


@pytest.mark.parametrize("value", ["12", 1.5, True, None, 1e300])
def test_a_duration_that_is_no_whole_number_is_unknown(value: Any) -> None:
    assert parse(a_line(durationMs=value)).duration_ms is None


@pytest.mark.parametrize("context", [REDACTED, "[Redacted:Circular]", None, 5, ["a"]])
def test_a_context_that_is_no_object_is_kept_but_not_looked_into(context: Any) -> None:
    event = parse(a_line("context.built", context=context))
    assert event.context_json == ("" if context is None else json.dumps(context))
    assert event.built == ContextBuilt((), None, None)
    assert event.redacted == ()


# Two producers of one event name -----------------------------------------------------------------


def test_the_core_says_how_many_messages_a_request_has_and_names_no_attempt() -> None:
    event = parse(a_line("model.request.started", context={"messageCount": 6, "iteration": 0}))
    assert (event.request_id, event.attempt, event.query_source) == ("", None, "")
    assert json.loads(event.context_json)["messageCount"] == 6


def test_the_adapter_names_the_attempt() -> None:
    context = {
        "attempt": 2,
        "maxAttempts": 11,
        "modelId": "model-y",
        "providerId": "provider-x",
        "querySource": "main_turn",
        "requestId": "req-1",
        "transport": "sse",
    }
    event = parse(a_line("model.request.started", level="debug", context=context))
    assert (event.request_id, event.attempt, event.query_source) == ("req-1", 2, "main_turn")
    assert (event.provider_id, event.model_id) == ("provider-x", "model-y")


# Lines without an event --------------------------------------------------------------------------


def test_an_old_line_is_known_by_its_message() -> None:
    context = {"sections": [], "totalChars": 0}
    event = parse(a_line(None, message="Context built", context=context))
    assert (event.event, event.built) == ("context.built", ContextBuilt((), 0, None))
    event = parse(a_line(None, message="Context usage snapshot", context={"model": "p/m"}))
    assert event.event == "context_usage_snapshot"
    assert event.usage is not None and event.usage.model == "p/m"


def test_a_line_without_an_event_and_with_another_message_has_none() -> None:
    assert parse(a_line(None, message="Skills discovered")).event == ""


# Error chains ------------------------------------------------------------------------------------


def a_chain(depth: int, context: Any) -> Json:
    error: Json = {"name": "Inner", "message": "x", "context": context}
    for n in range(depth):
        error = {"name": f"Outer{n}", "message": "y", "cause": error}
    return error


@pytest.mark.parametrize("depth", [0, 1, 3, 8])
def test_an_error_chain_names_the_attempt_it_is_about(depth: int) -> None:
    context = {"requestId": "req-1", "attempt": 3, "providerId": "p", "modelId": "m"}
    event = parse(a_line(level="warn", error=a_chain(depth, context)))
    assert (event.request_id, event.attempt) == ("req-1", 3)
    assert (event.provider_id, event.model_id) == ("p", "m")
    assert json.loads(event.error_json) == a_chain(depth, context)


def test_a_chain_is_followed_as_far_as_the_logger_writes_it() -> None:
    assert parse(a_line(error=a_chain(9, {"requestId": "req-1"}))).request_id == ""


def test_the_context_goes_before_the_error() -> None:
    event = parse(a_line(context={"requestId": "req-1"}, error=a_chain(0, {"requestId": "req-2"})))
    assert event.request_id == "req-1"


@pytest.mark.parametrize("error", ["words", 5, [], {}, {"cause": "x"}, {"context": REDACTED}])
def test_an_odd_error_is_kept(error: Any) -> None:
    event = parse(a_line(error=error))
    assert (event.request_id, json.loads(event.error_json)) == ("", error)


# Subagents ---------------------------------------------------------------------------------------


def test_a_spawned_subagent_names_its_session() -> None:
    context = {"agentId": "agent_7", "agentType": "Explore", "parentToolCallId": "call_1"}
    event = parse(a_line("subagent.spawned", context=context))
    assert event.child_session_id == "sess_subagent_agent_7"
    assert parse(a_line("subagent.completed", context=context)).child_session_id == ""
    assert parse(a_line("subagent.spawned")).child_session_id == ""


# Context reports ---------------------------------------------------------------------------------


def a_section(**changes: Any) -> Json:
    return {
        "name": "CLI Prefix",
        "source": "cli_prefix",
        "chars": 31,
        "tokens": REDACTED,
        "tokenMethod": REDACTED,
        "confidence": "medium",
        "preview": "PLACEHOLDER product",
        "content": "PLACEHOLDER product prefix line",
    } | changes


def built(*sections: Any, **context: Any) -> LogEvent:
    return parse(a_line("context.built", context={"sections": list(sections), **context}))


def test_a_section_has_its_text_and_redacted_tokens_are_unknown() -> None:
    event = built(a_section(), totalChars=31, totalTokens=REDACTED)
    assert event.built == ContextBuilt(
        (LoggedSection("CLI Prefix", "cli_prefix", 31, None, a_section()["content"], True),),
        31,
        None,
    )
    assert event.redacted == ("totalTokens",)


def test_plain_numbers_are_taken() -> None:
    found = built(a_section(tokens=11), totalTokens=11).built
    assert found is not None
    assert (found.total_tokens, found.sections[0].tokens) == (11, 11)
    assert not found.sections[0].tokens_redacted


def test_a_redacted_text_is_unknown() -> None:
    found = built(a_section(content="[Redacted:DepthLimit]")).built
    assert found is not None and found.sections[0].text is None


def test_the_texts_of_sections_are_not_kept_twice() -> None:
    context = json.loads(built(a_section(), "odd").context_json)
    assert context["sections"][0]["chars"] == 31
    assert not {"content", "preview"} & set(context["sections"][0])
    assert context["sections"][1] == "odd"


@pytest.mark.parametrize("sections", [REDACTED, None, 5, {}, ["odd", None, 5, []]])
def test_odd_sections_are_none(sections: Any) -> None:
    event = parse(a_line("context.built", context={"sections": sections}))
    assert event.built == ContextBuilt((), None, None)
    assert json.loads(event.context_json) == {"sections": sections}


def a_category(**changes: Any) -> Json:
    return {
        "name": "System prompt",
        "source": "system_prompt",
        "chars": 9_000,
        "tokens": REDACTED,
        "percentTokens": REDACTED,
    } | changes


def usage(**context: Any) -> ContextUsage:
    found = parse(a_line("context_usage_snapshot", context=context)).usage
    assert found is not None
    return found


def test_a_snapshot_with_redacted_numbers() -> None:
    contributors = [{"kind": "context_section", "label": "Agent Identity", "chars": 5_000}]
    found = usage(
        model="provider-x/model-y",
        totalChars=42_000,
        totalTokens=REDACTED,
        categories=[a_category()],
        categoryBreakdown=[{"source": "system_prompt", "contributors": contributors}],
        messageBreakdown=[{"role": "user", "count": 3, "chars": 3_900, "tokens": REDACTED}],
        skillCount=4,
        warningCount=REDACTED,
    )
    assert found == ContextUsage(
        model="provider-x/model-y",
        total_chars=42_000,
        total_tokens=None,
        tokens_redacted=True,
        categories=(
            UsageCategory(
                "System prompt",
                "system_prompt",
                9_000,
                None,
                True,
                contributors_json=json.dumps(contributors, separators=(",", ":")),
            ),
        ),
        roles=(UsageCategory("user", "user", 3_900, None, True, count=3),),
        counts=(("skillCount", 4),),
    )


def test_a_snapshot_with_plain_numbers() -> None:
    found = usage(totalTokens=35, categories=[a_category(tokens=35, percentTokens=1)])
    (category,) = found.categories
    assert (found.total_tokens, found.tokens_redacted) == (35, False)
    assert (category.tokens, category.tokens_redacted, category.percent) == (35, False, 1.0)


@pytest.mark.parametrize("value", [True, None, "0.5", 10**400, [0.5]])
def test_a_share_that_is_no_number_is_unknown(value: Any) -> None:
    assert usage(categories=[a_category(percentTokens=value)]).categories[0].percent is None


@pytest.mark.parametrize("value", [REDACTED, None, 5, {}, ["odd", None]])
def test_odd_lists_of_a_snapshot_are_empty(value: Any) -> None:
    found = usage(categories=value, categoryBreakdown=value, messageBreakdown=value)
    assert (found.categories, found.roles) == ((), ())


@pytest.mark.parametrize("event", ["turn.started", "model.request.started"])
def test_only_the_two_reports_are_taken_apart(event: str) -> None:
    found = parse(a_line(event, context={"sections": [a_section()], "categories": []}))
    assert (found.built, found.usage) == (None, None)
    assert "PLACEHOLDER product prefix line" in found.context_json


# Lines that are none -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{", SkipKind.NOT_JSON),
        (b"[]", SkipKind.NOT_OBJECT),
        (
            b'{"timestamp":"2026-01-05T09:00:00Z","level":"info","message":"\xff"}',
            SkipKind.ENCODING,
        ),
        (b"{}", SkipKind.FOREIGN_TYPE),
        (b'{"timestamp":"yesterday","level":"info"}', SkipKind.FOREIGN_TYPE),
        (b'{"timestamp":"2026-01-05T09:00:00Z"}', SkipKind.FOREIGN_TYPE),
        (b'{"timestamp":"2026-01-05T09:00:00Z","level":"fatal"}', SkipKind.FOREIGN_TYPE),
    ],
)
def test_a_line_that_is_no_log_line_says_why(line: bytes, kind: SkipKind) -> None:
    skip = refused(line)
    assert skip.kind is kind
    assert skip.reason.endswith(".") and skip.reason[0].isupper()


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf%s", b"%s\r", b"  %s \t"])
def test_what_stands_around_a_line_does_not_matter(raw: bytes) -> None:
    line = json.dumps(a_line()).encode()
    assert FORMAT.parse(raw % line) == FORMAT.parse(line)


def test_half_a_surrogate_pair_is_replaced() -> None:
    line = json.dumps(a_line()).replace("Something", "\\ud83d").encode()
    event = FORMAT.parse(line)
    assert isinstance(event, LogEvent) and event.message == "� happened"


@pytest.mark.parametrize("key", ["context", "error"])
@pytest.mark.parametrize("ends", [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting_is_read_or_refused(key: str, ends: tuple[bytes, bytes]) -> None:
    head = json.dumps(a_line()).encode()[:-1] + b',"%s":' % key.encode()
    limit = sys.getrecursionlimit()
    outcomes = set()
    for depth in (10, *range(limit - 200, limit), 100 * limit):
        event = FORMAT.parse(head + ends[0] * depth + b"1" + ends[1] * depth + b"}")
        assert isinstance(event, LogEvent | Skipped)
        outcomes.add(event.kind if isinstance(event, Skipped) else None)
    assert outcomes == {None, SkipKind.NOT_JSON}


# Sniffing ----------------------------------------------------------------------------------------


def test_a_log_line_is_recognised_by_its_opening() -> None:
    line = json.dumps(a_line()).encode()
    assert FORMAT.sniff(line) == FORMAT.sniff(b"\xef\xbb\xbf\r\n" + line[:80]) == 0.8
    assert FORMAT.sniff(b'{"timestamp":"2026-01-05T09:00:00Z","other":1}') == 0.4


@pytest.mark.parametrize("head", [b"", b"\n", b"{}", b'{"level":"info"}', b'{"timestamp":5}'])
def test_anything_else_is_not_recognised(head: bytes) -> None:
    assert FORMAT.sniff(head) == 0
