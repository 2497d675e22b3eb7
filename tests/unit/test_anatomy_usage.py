"""The agent's seven categories, counted again, and what they leave out."""

import json
from typing import Any

import pytest

from benchmarks.anatomy_accuracy import prompt_from
from tracer.anatomy.prompt import anatomy_of
from tracer.anatomy.rendering import render_message
from tracer.anatomy.usage_categories import UsageBreakdown, is_mcp_tool, usage_of
from tracer.formats._zcode_blocks import message_of
from tracer.tokens import estimate_tokens, utf16_length

Json = dict[str, Any]
KEYS = ("role", "content", "toolCalls", "toolCallId", "toolName")


def stringified(message: Json) -> str:
    kept = {key: message[key] for key in KEYS if key in message}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


MESSAGES: list[Json] = [
    {"role": "user", "content": 'a "quoted"\n\tline\u2028 茶🍵 \\ \x01'},
    {"role": "user", "content": ""},
    {"role": "user", "content": []},
    {"role": "user", "content": None},
    {"role": "user", "content": {"odd": [1, 2.5, None]}},
    {"role": "user"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "茶", "note": 1},
            {"type": "image", "mediaType": "image/png", "dataUrl": "data:"},
            {"type": "new", "x": [True]},
            "bare",
        ],
    },
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "text": "hm", "providerOptions": {"a": "b"}}],
        "providerId": "p",
        "toolCalls": [{"id": "1", "name": "Read", "input": {"p": "/é"}, "providerExecuted": True}],
    },
    {"role": "assistant", "content": "", "toolCalls": [{"id": "1", "name": "x", "input": None}]},
    {"role": "assistant", "toolCalls": [{"id": "1", "name": "x", "input": "text"}]},
    {"role": "assistant", "content": "", "toolCalls": [{"name": "x"}, "odd", {"id": 5}]},
    {"role": "tool", "content": "ok", "toolCallId": "1", "toolName": "", "isError": True},
    {"role": "tool", "content": [{"type": "text", "text": "ok"}], "toolCallId": "1"},
    {"role": "tool", "content": "ok"},
]


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_a_message_is_rendered_as_the_agent_measures_it(message: Json) -> None:
    rendered = render_message(message_of(message).blocks)
    assert json.loads(rendered) == json.loads(stringified(message))
    assert utf16_length(rendered) == utf16_length(stringified(message))
    assert estimate_tokens(rendered) == estimate_tokens(stringified(message))


def usage(messages: list[Json | None], tools: list[Json] | None = None) -> UsageBreakdown:
    prompt = prompt_from(messages, tools or [])
    return usage_of(prompt, anatomy_of(prompt))


def tagged(body: str) -> Json:
    return {"role": "user", "content": f"<system-reminder>\n{body}\n</system-reminder>"}


def test_reminders_are_in_no_category_and_made_visible() -> None:
    prompt: Json = {"role": "user", "content": "hi"}
    notification = tagged("[SYSTEM NOTIFICATION - NOT USER INPUT]\nx")
    typed: Json = {"role": "user", "content": "<system-reminder> what is that?"}
    mcs: Json = {"role": "system", "content": "Plan mode is active."}
    found = usage([prompt, tagged("Plan mode still active."), notification, typed, mcs])
    (messages,) = found.categories
    texts = [stringified(prompt), stringified(notification)]
    assert messages.source == "messages"
    assert messages.chars == sum(map(len, texts))
    assert messages.tokens == found.total_tokens == sum(map(estimate_tokens, texts))
    assert [(o.kind, o.sources, o.chars) for o in found.leftovers] == [
        ("runtime_reminders", ("runtime_mode",), len("Plan mode still active.")),
        ("mcs_texts", ("runtime_mode",), len("Plan mode is active.")),
    ]


def test_tools_are_counted_by_server_and_the_largest_are_named() -> None:
    tools: list[Json] = [{"name": f"t{i}", "description": "x" * 10 * i} for i in range(7)]
    tools.append({"name": "mcp__wiki__find"})
    system, mcp = usage([], tools).categories
    assert (system.source, mcp.source) == ("system_tool_schemas", "mcp_tool_schemas")
    assert system.contributor_count == 7
    assert [c.label for c in system.contributors] == ["t6", "t5", "t4", "t3", "t2"]
    assert mcp.chars == len('{"name":"mcp__wiki__find"}')


@pytest.mark.parametrize(
    ("name", "mcp"),
    [("mcp__a__b", True), ("mcp__a__b__c", True), ("mcp__a", False), ("Read", False)],
)
def test_the_name_of_an_mcp_tool(name: str, mcp: bool) -> None:
    assert is_mcp_tool(name) is mcp


def test_gaps_make_the_numbers_a_lower_bound() -> None:
    found = usage([None, {"role": "user", "content": "hi"}])
    assert not found.complete and not found.categories[0].complete
    assert usage([{"role": "user", "content": "hi"}]).complete


def test_the_frame_of_the_context_prefix_is_left_over() -> None:
    intro, closing = "As you answer the user's questions, you can look:", "Use it."
    body = f"{intro}\n\n# currentDate\nIt is 2026-01-12.\n\n{closing}"
    found = usage([{"role": "user", "content": f"{tagged(body)['content']}\n"}])
    (meta,), (frame,) = found.categories, found.leftovers
    assert (meta.source, frame.kind) == ("meta_user_context", "prefix_frame")
    assert meta.chars + frame.chars == len(body)
