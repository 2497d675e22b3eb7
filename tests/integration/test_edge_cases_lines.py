"""Edge cases 1 to 8 of formats/zcode.md section 14: encoding and lines."""

import json
from pathlib import Path

from tests.helpers import (
    SESSION,
    append,
    call,
    detail,
    encode,
    event,
    ingest,
    ingest_one,
    messages_of,
    only_request,
    request,
    rows,
    user,
    write,
)
from tracer.service import Service


def test_case_01_incomplete_last_line(db: Path, rollout: Path) -> None:
    line = encode(call("req-2", [user("中文")], at=2000))
    cut = line.index("中".encode()) + 2
    write(rollout, call("req-1"))
    with rollout.open("ab") as file:
        file.write(line[:cut])
    first = ingest_one(db, rollout)
    assert [(s.line, s.kind) for s in first.skipped] == [(2, "torn")]
    (source,) = Service(db).sources()
    assert source.offset_bytes == rollout.stat().st_size - cut
    assert source.pending_bytes == cut
    append(rollout, line[cut:])
    assert ingest_one(db, rollout).skipped_total == 0
    assert messages_of(db, "req-2") == [user("中文")]


def test_case_02_blank_lines_crlf_and_a_bom(db: Path, rollout: Path, log: Path) -> None:
    write(
        rollout,
        b"\xef\xbb\xbf" + encode(call("req-1")),
        b"",
        b"  \t",
        call("req-2", at=2000),
        end=b"\r\n",
    )
    write(log, b"", b"\xef\xbb\xbf" + encode(event("turn.started")), b"", end=b"\r\n")
    for path in (rollout, log):
        result = ingest_one(db, path)
        assert (result.format is not None, result.skipped_total) == (True, 0)
    assert [request(db, f"req-{n}").source.line for n in (1, 2)] == [1, 4]
    assert rows(db, "SELECT event FROM log_events") == [("turn.started",)]


def test_case_03_bad_json_in_the_middle(db: Path, rollout: Path, log: Path) -> None:
    one, two = encode(call("req-2", at=2000)), encode(call("req-3", at=3000))
    lines = [
        call("req-1"),
        one[:120] + two,  # two writers at once
        one[:90],  # a killed one
        b"\x00\x00\x00",  # a crashed file system
        b"\xff\xfe{}",
        b"[1,2]",
        b'"text"',
        b"null",
        encode({"type": "other", "requestId": "x"}),
        b"{" * 2000,
        call("req-4", at=4000),
    ]
    write(rollout, *lines)
    result = ingest_one(db, rollout)
    assert result.records == 2
    assert [s.line for s in result.skipped] == list(range(2, 11))
    assert all(s.reason.endswith(".") for s in result.skipped)
    assert {s.kind for s in result.skipped} <= {
        "not-json",
        "not-object",
        "foreign-type",
        "encoding",
    }
    assert [r.request_id for r in Service(db).requests(SESSION)] == ["req-1", "req-4"]
    offsets = [s.offset_bytes for s in result.skipped]
    data = rollout.read_bytes()
    assert all(data[offset - 1 : offset] == b"\n" for offset in offsets)

    write(log, event("turn.started"), b"half a li", {"timestamp": "never"}, event("turn.completed"))
    assert [s.line for s in ingest_one(db, log).skipped] == [2, 3]


def test_case_04_very_long_lines(db: Path, rollout: Path, log: Path) -> None:
    sections = [
        {"name": "Skills", "source": "skills", "chars": 3 << 20, "content": "s" * (3 << 20)}
    ]
    built = event("context.built", level="debug", context={"sections": sections})
    write(log, built)
    write(rollout, call("req-1", [user("m" * (4 << 20))]), call("req-2", at=2000))
    assert ingest(db, log, rollout).new_records == 3
    assert len(str(messages_of(db, "req-1"))) > 4 << 20
    (section,) = request(db, "req-2").sections
    assert section.tokens_estimate == (3 << 20) // 3

    append(rollout, call("req-3", [user("m" * (2 << 20))], at=3000), call("req-4", at=4000))
    result = ingest_one(db, rollout, max_line_bytes=1 << 20)
    (skip,) = result.skipped
    assert (skip.line, skip.kind, result.new_records) == (3, "too-long", 1)
    assert f"{len(encode(call('req-3', [user('m' * (2 << 20))], at=3000))) + 1:,}" in skip.reason
    assert "--max-line-mb" in skip.reason


def test_case_05_lone_surrogates(db: Path, rollout: Path, log: Path) -> None:
    """JavaScript cuts a text in the middle of a pair; nothing that is stored can hold the half."""
    body = {"system": "half \ud83d", "tools": [{"name": "T\udc00", "description": "\ud83d"}]}
    calls = [{"id": "c1", "name": "Read", "input": {"path": "x\ud800"}}]
    written = call(
        "req-1",
        [user("cut \ud83d"), {"role": "assistant", "content": "", "toolCalls": calls}],
        body={**body, "metadata": {"user": "\ud83d"}},
        request={"headers": {"x-note": "n\ud83d"}},
        response={"text": "answer \ud83d", "usage": {}},
        error={"name": "E\ud83d", "message": "m\ud83d"},
    )
    write(rollout, written)
    preview = {
        "name": "S",
        "source": "skills",
        "chars": 1,
        "content": "\ud83d",
        "preview": "\ud83d",
    }
    write(
        log, event("context.built", level="debug", context={"sections": [preview], "n": "\ud83d"})
    )
    result = ingest(db, rollout, log, count_tokens=True)
    assert (result.new_records, result.count_error) == (2, "")
    found = messages_of(db, "req-1")
    assert found[0] == user("cut \ufffd")
    assert found[1] is not None
    assert found[1]["toolCalls"][0]["input"] == {"path": "x\ufffd"}
    shown = detail(db, "req-1")
    json.dumps([b.text for b in shown.blocks], ensure_ascii=False).encode("utf-8")
    shown.params_json.encode("utf-8")
    assert json.loads(shown.headers_json) == {"x-note": "n\ufffd"}
    assert shown.request.error == "E\ufffd: m\ufffd"
    assert [b.text for b in shown.response] == ["answer \ufffd"]
    assert shown.request.tools == ("T\ufffd",)
    for text in (shown.params_json, shown.log[0].context_json if shown.log else "{}"):
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")


def test_case_06_chars_are_utf_16_units(db: Path, rollout: Path) -> None:
    text = "a😀中"  # 1 + 2 + 1 units; the ideograph counts twice in the agent's estimate
    write(rollout, call("req-1", [user(text)]))
    ingest(db, rollout)
    (block,) = detail(db, "req-1").blocks
    assert (block.chars, block.bytes, block.tokens_estimate) == (4, 8, 2)
    assert len(text) == 3


def test_case_07_missing_numbers_are_unknown_and_never_zero(db: Path, rollout: Path) -> None:
    bare = call(
        "req-1",
        durationMs=...,
        completedAt=...,
        response={"text": "x", "usage": {"inputTokens": 7}},
    )
    odd = call(
        "req-2",
        at=2000,
        durationMs="fast",
        response={"usage": {"inputTokens": 1e300, "outputTokens": 5}},
    )
    nan = encode(call("req-3", at=3000)).replace(b'"inputTokens":100', b'"inputTokens":NaN')
    huge = encode(call("req-4", at=4000)).replace(b'"inputTokens":100', b'"inputTokens":1e999')
    write(rollout, bare, odd, nan, huge)
    ingest(db, rollout)
    first = request(db, "req-1")
    assert (first.duration_ms, first.completed_at_ms) == (None, None)
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens) == (7, None)
    assert (first.usage.cache_read_tokens, first.usage.fresh_tokens) == (None, None)
    for request_id in ("req-2", "req-3", "req-4"):
        found = request(db, request_id)
        assert found.usage is not None
        assert (found.usage.input_tokens, found.usage.output_tokens) == (None, 5)
    session = Service(db).session(SESSION)
    assert (session.usage.input_tokens, session.usage.reported_requests) == (7, 1)


def test_case_08_of_a_key_that_comes_twice_the_last_counts(
    db: Path, rollout: Path, log: Path
) -> None:
    line = encode(call("req-1")).replace(b'"turnId":', b'"turnId":"turn_0000","turnId":')
    line = line.replace(b'"content":', b'"content":"first","content":')
    write(rollout, line)
    write(log, encode(event("turn.started")).replace(b'"event":', b'"event":"first","event":'))
    ingest(db, rollout, log)
    assert only_request(db).turn_id == "turn_0001"
    assert messages_of(db, "req-1") == [user("hello")]
    assert rows(db, "SELECT event FROM log_events") == [("turn.started",)]
