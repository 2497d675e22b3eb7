"""The window writer itself does what formats/zcode.md section 3.6 says, by example and by draw."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given

from tests.property.window_writer import (
    MARKER,
    Call,
    FileModel,
    History,
    Message,
    WindowWriter,
    Written,
    fingerprint,
    histories,
    log_call,
    sampled_indexes,
)

SYSTEM: Message = {"role": "system", "content": "system", "cacheControl": MARKER}


def conversation(count: int) -> list[Message]:
    """Return a system message and then users and assistants in turn, `count` in all, unmarked."""
    roles = ("user", "assistant")
    rest = [{"role": roles[i % 2], "content": f"message {i}"} for i in range(count - 1)]
    return [SYSTEM, *rest][:count]


def marked(messages: Sequence[Message]) -> list[Message]:
    """Return the list with the marker on its last message (rule P7)."""
    return [*messages[:-1], {**messages[-1], "cacheControl": MARKER}]


def write(writer: WindowWriter, messages: Sequence[Message], file_bytes: int | None = 1) -> Written:
    """Write one successful call into a file that exists, unless told otherwise."""
    reply: Message = {"role": "assistant", "content": "done"}
    return writer.write(Call(tuple(messages), "req-1", reply=reply), file_bytes)


def logged(written: Written) -> list[Message]:
    """Return `request.messages` of a line."""
    messages: list[Message] = json.loads(written.line)["request"]["messages"]
    return messages


def test_turns_with_a_moving_marker_are_full_until_the_window_and_then_tail() -> None:
    writer = WindowWriter(window=6)
    kinds = [write(writer, marked(conversation(count))).kind for count in range(2, 12, 2)]
    assert kinds == ["full", "full", "full", "tail", "tail"]


def test_a_tail_holds_the_last_window_of_the_list() -> None:
    messages = marked(conversation(100))
    written = write(WindowWriter(), messages)
    assert (written.kind, written.offset, logged(written)) == ("tail", 36, messages[36:])


def test_a_list_as_long_as_the_window_is_full() -> None:
    assert write(WindowWriter(window=6), conversation(6)).kind == "full"


def test_a_retry_is_an_empty_delta() -> None:
    writer = WindowWriter()
    messages = marked(conversation(5))
    write(writer, messages)
    written = write(writer, messages)
    assert (written.kind, written.offset, logged(written)) == ("delta", 5, [])


def test_an_append_without_a_marker_move_is_a_delta_of_the_new_messages() -> None:
    writer = WindowWriter(window=4)
    write(writer, conversation(10))
    written = write(writer, conversation(12))
    assert (written.kind, written.offset, len(logged(written))) == ("delta", 10, 2)


def test_an_append_after_a_closing_system_note_is_a_delta_that_keeps_a_stale_marker() -> None:
    note: Message = {"role": "system", "content": "note"}
    before = conversation(7)
    writer = WindowWriter()
    write(writer, [*marked(before), note])
    written = write(writer, [*before, note, *marked(conversation(3)[1:])])
    assert (written.kind, written.offset) == ("delta", 8)


def test_a_delta_is_relative_to_the_last_record_of_the_same_process() -> None:
    one, other = WindowWriter(), WindowWriter()
    write(one, conversation(3))
    write(other, conversation(6))
    assert write(one, conversation(8)).offset == 3


def test_another_query_source_between_two_turns_breaks_the_delta() -> None:
    writer = WindowWriter()
    write(writer, conversation(6))
    title: Message = {"role": "system", "content": "title"}
    assert write(writer, [title, {"role": "user", "content": "prompt"}]).kind == "full"
    assert write(writer, conversation(8)).kind == "full"


def test_a_shorter_list_is_never_a_delta() -> None:
    writer = WindowWriter()
    write(writer, conversation(6))
    assert write(writer, conversation(5)).kind == "full"


def test_an_edit_at_an_unsampled_index_is_a_false_delta() -> None:
    assert sampled_indexes(9) == [0, 2, 4, 6, 8]
    messages = conversation(9)
    edited = [*messages[:3], {"role": "user", "content": "edited"}, *messages[4:]]
    writer = WindowWriter()
    write(writer, messages)
    assert write(writer, edited).kind == "delta"


def test_an_edit_at_a_sampled_index_is_seen() -> None:
    messages = conversation(9)
    edited = [*messages[:4], {"role": "user", "content": "edited"}, *messages[5:]]
    writer = WindowWriter()
    write(writer, messages)
    assert write(writer, edited).kind == "full"


def test_an_edit_in_the_middle_of_a_long_text_is_a_false_delta_even_where_sampled() -> None:
    text = "x" * 2000
    prompt: Message = {"role": "user", "content": text}
    edited: Message = {"role": "user", "content": text[:1000] + "y" + text[1001:]}
    writer = WindowWriter()
    write(writer, [SYSTEM, prompt])
    written = write(writer, [SYSTEM, edited])
    assert (written.kind, logged(written)) == ("delta", [])


def test_a_fingerprint_counts_utf16_units() -> None:
    # 256 astral characters are 512 units, so the 257th from either end is not looked at.
    text = "\U0001f600" * 600
    assert fingerprint(text) == fingerprint(text[:256] + "\U0001f601" * 88 + text[344:])
    assert fingerprint(text) != fingerprint(text[:255] + "\U0001f601" + text[256:])
    assert fingerprint(text) != fingerprint(text[:300])


def test_a_fingerprint_looks_at_the_ends_of_arrays_and_the_first_twelve_keys() -> None:
    assert fingerprint(["a", "b", "c"]) == fingerprint(["a", "x", "c"])
    assert fingerprint(["a", "b", "c"]) != fingerprint(["a", "b", "x"])
    wide = {f"key{i:02}": i for i in range(14)}
    assert fingerprint(wide) == fingerprint({**wide, "key12": "other"})
    assert fingerprint(wide) != fingerprint({**wide, "key11": "other"})


def test_a_fingerprint_keeps_only_the_shape_of_deep_values() -> None:
    def called_with(value: object) -> Message:
        return {"role": "assistant", "toolCalls": [{"id": "1", "input": {"path": value}}]}

    assert fingerprint(called_with("aaaa")) == fingerprint(called_with("bbbb"))
    assert fingerprint(called_with("aaaa")) != fingerprint(called_with(["aaaa"]))


def test_a_line_has_the_documented_key_order() -> None:
    record = json.loads(write(WindowWriter(), conversation(2)).line)
    keys = ",".join(record)
    assert keys.startswith("completedAt,durationMs,requestId,attempt,model,request,response,")
    assert keys.endswith(",sessionId,querySource,startedAt,traceId,turnId,type")
    keys = ",".join(record["request"])
    assert keys == "body,headers,messages,toolNames,messageCount,messagesKind,messageOffset"
    assert "messages" not in record["request"]["body"]


def test_a_failed_attempt_has_an_error_a_hollow_response_and_the_whole_body() -> None:
    record = json.loads(WindowWriter().write(Call(tuple(conversation(3)), "req-1"), None).line)
    request: dict[str, Any] = record["request"]
    assert list(record)[2] == "error"
    assert record["response"] == {"headers": {}, "toolCalls": [], "usage": {}}
    assert len(request["body"]["messages"]) == request["bodyMessageCount"] == 3


def test_full_retention_logs_the_whole_list_without_window_fields() -> None:
    writer = WindowWriter(window=4, max_file_bytes=1, full_retention=True)
    written = write(writer, conversation(9), file_bytes=100)
    request = json.loads(written.line)["request"]
    assert (written.kind, written.overwrites) == (None, False)
    assert not {"messagesKind", "messageCount", "messageOffset"} & set(request)
    assert len(request["messages"]) == len(request["sdkMessages"]) == 9


def test_a_size_reset_overwrites_the_file_and_starts_a_fresh_baseline() -> None:
    file, writer = FileModel(), WindowWriter(max_file_bytes=100)
    call = Call(tuple(conversation(3)), "req-1")
    log_call(writer, file, call)
    before = file.size
    line, second = log_call(writer, file, replace(call, attempt=2))
    record = json.loads(line)
    assert (second.kind, second.segment, file.generation) == ("full", 1, 1)
    assert file.data == line + b"\n"
    assert list(record)[-1] == "modelIOReset"
    assert record["modelIOReset"] == {
        "maxFileBytes": 100,
        "previousFileBytes": before,
        "reason": "session_file_size_limit",
    }


def test_a_file_created_again_is_another_generation_with_a_fresh_baseline() -> None:
    file, writer = FileModel(), WindowWriter()
    call = Call(tuple(conversation(3)), "req-1")
    log_call(writer, file, call)
    file.delete()
    line, second = log_call(writer, file, replace(call, attempt=2))
    assert (second.kind, second.segment, file.generation) == ("full", 1, 2)
    assert file.data == line + b"\n"


def test_a_lone_surrogate_is_escaped_as_javascript_does() -> None:
    message: Message = {"role": "user", "content": "cut \ud83d"}
    written = write(WindowWriter(), [message])
    assert rb"cut \ud83d" in written.line
    assert logged(written) == [message]


@given(histories())
def test_every_drawn_line_holds_the_true_messages_from_its_offset(history: History) -> None:
    for line, call in zip(history.lines, history.calls, strict=True):
        request = json.loads(line)["request"]
        assert request["messages"] == list(call.messages[call.offset :])
        assert request.get("messagesKind") == call.kind
        if call.kind == "tail":
            assert len(request["messages"]) == history.window < len(call.messages)
        elif call.kind != "delta":
            assert call.offset == 0


@given(histories())
def test_no_drawn_segment_starts_with_a_delta(history: History) -> None:
    assert b"".join(history.segments()) == b"".join(line + b"\n" for line in history.lines)
    known: set[int] = set()
    for call in history.calls:
        assert call.segment in known or call.kind != "delta"
        known.add(call.segment)
    assert known == set(range(len(known)))
