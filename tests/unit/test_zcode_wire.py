"""The shape of the messages of a logged request body (formats/zcode.md 3.5)."""

import json
from typing import Any

import pytest

from tracer.formats._zcode_wire import SDK_SOURCE, BodyWindow, wire_summary
from tracer.formats.zcode_model_io import FORMAT
from tracer.model.events import ModelCall

MARK = {"type": "ephemeral"}
MERGED: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "content": [{"type": "text", "cache_control": MARK}]},
            {"type": "text", "text": "x", "cache_control": MARK},
        ],
    },
    {"role": "assistant", "content": "y"},
    {"role": "user", "content": [{"type": "text", "text": "z", "cache_control": None}]},
]


def summary(messages: object, source: str = "", window: BodyWindow | None = None) -> Any:
    text = wire_summary(json.dumps(messages).encode(), source, window or BodyWindow())
    return json.loads(text) if text else None


def parse(body: object, **request: object) -> ModelCall:
    line = {"requestId": "r", "attempt": 1, "request": {"messages": [], "body": body, **request}}
    call = FORMAT.parse(json.dumps(line).encode())
    assert isinstance(call, ModelCall)
    return call


def test_roles_blocks_and_markers_are_counted() -> None:
    found = summary(MERGED)
    assert len(found.pop("digest")) == 32
    assert found == {
        "form": "wire", "kind": "full", "offset": 0, "count": 3, "messages": 3,
        "roles": {"user": 2, "assistant": 1}, "blocks": 4, "markers": [[0, 1]],
    }  # fmt: skip


def test_a_window_tells_where_its_messages_stand() -> None:
    found = summary(MERGED, window=BodyWindow("tail", 58, 61))
    assert (found["kind"], found["offset"], found["count"]) == ("tail", 58, 61)
    assert found["messages"] == 3
    assert found["markers"] == [[58, 1]]
    assert summary(MERGED, window=BodyWindow(None, 58, "?"))["count"] == 61
    empty = summary([], window=BodyWindow("delta", 7, 7))
    assert (empty["count"], empty["messages"], empty["roles"]) == (7, 0, {})


def test_the_sdk_writes_its_markers_beside_the_content() -> None:
    options = {"anthropic": {"cacheControl": MARK}}
    messages = [
        {"role": "system", "content": "a", "providerOptions": options},
        {"role": "user", "content": [{}, {}], "cacheControl": MARK},
        {"role": "tool", "content": [{"providerOptions": options}, {}]},
        {"role": "user", "content": "b", "providerOptions": {"cache": 1}},
    ]
    found = summary(messages, SDK_SOURCE)
    assert found["form"] == "sdk" and found["markers"] == [[0, 0], [1, 1], [2, 0]]


def test_equal_lists_have_equal_digests() -> None:
    assert summary(MERGED)["digest"] == summary(MERGED, SDK_SOURCE)["digest"]
    assert summary(MERGED)["digest"] != summary(MERGED[:2])["digest"]


@pytest.mark.parametrize("raw", [b"", b"null", b"{}", b'"[]"', b"[", b"[1]", b"[" * 100_000])
def test_what_is_no_list_of_messages_has_no_summary(raw: bytes) -> None:
    assert wire_summary(raw, "", BodyWindow()) == ""


def test_odd_contents_and_numbers_do_no_harm() -> None:
    odd = [{"role": 5, "content": ["a", {}]}, {"content": None}, {"role": "user", "content": {}}]
    found = summary(odd, window=BodyWindow(True, -4, 1e300))
    assert (found["roles"], found["blocks"]) == ({"unknown": 2, "user": 1}, 3)
    assert (found["offset"], found["count"]) == (0, 3)


def test_a_record_tells_the_shape_of_its_body_and_not_in_its_parameters() -> None:
    call = parse({"model": "m", "messages": MERGED}, bodyMessageCount=9, bodyMessageOffset=6)
    found = json.loads(call.wire_json)
    assert (found["form"], found["count"], found["offset"]) == ("wire", 9, 6)
    assert json.loads(call.params_json) == {"body": {"model": "m"}}
    sdk = parse({"bodySource": SDK_SOURCE, "messages": []}, bodyMessagesKind="delta")
    assert json.loads(sdk.wire_json)["form"] == "sdk"
    text = parse(json.dumps({"messages": MERGED}))
    assert json.loads(text.wire_json)["messages"] == 3


def test_fields_of_unexpected_types_do_not_hide_the_body() -> None:
    call = parse({"messages": MERGED}, messages="lost", bodyMessageCount=4)
    assert json.loads(call.wire_json)["count"] == 4


@pytest.mark.parametrize("body", [None, {}, {"model": "m"}, "no JSON", {"messages": None}])
def test_without_messages_in_the_body_there_is_nothing(body: object) -> None:
    assert parse(body).wire_json == ""
