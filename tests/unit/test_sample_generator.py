"""The sample generator follows the format it claims to model (formats/zcode.md)."""

import hashlib
import importlib
import importlib.util
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]

SAMPLES = Path(__file__).resolve().parents[2] / "sample-logs"


def _load_command() -> Any:
    spec = importlib.util.spec_from_file_location(
        "generate_samples", SAMPLES / "generate_samples.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMAND = _load_command()
cache = importlib.import_module("generate.cache")
entries = importlib.import_module("generate.entries")
logfile = importlib.import_module("generate.logfile")
modelio = importlib.import_module("generate.modelio")
projection = importlib.import_module("generate.projection")
reminders = importlib.import_module("generate.reminders")
text = importlib.import_module("generate.text")
window = importlib.import_module("generate.window")

M, A = entries.Message, entries.Attachment

RECORD_ORDER = (
    "completedAt durationMs error requestId attempt model request response sessionId querySource "
    "startedAt traceId turnId type modelIOReset"
)
LOG_ORDER = (
    "timestamp level event module message traceId spanId parentSpanId sessionId turnId toolCallId "
    "durationMs status context error"
)

SHORT = {
    "skills_listing": "skills",
    "context_prefix": "context",
    "hook_context": "hook",
    "date_change": "date",
    "prompt_attachment": "attachment",
    "runtime_mode": "mode",
    "output_style": "style",
    "model_anomaly": "anomaly",
    "todo_reminder": "todo",
    "incoming_message": "incoming",
    "goal_state_change": "goal",
    "conversation_fork": "fork",
    "resume_referenced_session_context": "read-state",
    "plan_mode_exit": "exit",
}
SOURCES = {short: source for source, short in SHORT.items()}


def history(words: str) -> list[Any]:
    """Return entries: S system, A assistant, T:x tool result, P:x prompt, steer, else a note."""
    out: list[Any] = []
    for word in words.split():
        kind, _, rest = word.partition(":")
        if kind == "S":
            out.append(M("system", "rules", cached=True))
        elif kind == "A":
            out.append(M("assistant", "done"))
        elif kind == "T":
            out.append(M("tool", rest, tool_call_id=rest, tool_name="Read"))
        elif kind == "P":
            out.append(M("user", rest))
        elif kind == "steer":
            out.append(M("user", "wait", presentation="user_steer"))
        else:
            out.append(A(SOURCES[word], f"body of {word}"))
    return out


def described(messages: list[Any]) -> list[str]:
    """Return one word a message: `r:` for a tagged reminder, `m:` for system text."""
    out = []
    for item in messages:
        names = "+".join(SHORT[source] for source in item.sources)
        role, content = item.message["role"], item.message["content"]
        if item.via == "mcs":
            out.append(f"m:{names}")
        elif item.via == "reminder":
            out.append(f"r:{names}")
        else:
            out.append({"system": "S", "assistant": "A"}.get(role, f"{role[0].upper()}:{content}"))
    return out


FIRST_TURN = "S S S skills context hook date P:prompt attachment mode style"
WORKED_EXAMPLES = {
    "first turn": (
        FIRST_TURN,
        "S S S r:skills r:context r:hook r:date r:attachment r:mode r:style U:prompt",
        "S S S r:context U:prompt m:skills+hook+date+attachment+mode+style",
    ),
    "anomaly in a run": ("A T:r1 anomaly T:r2", "A T:r1 T:r2 r:anomaly", "A T:r1 T:r2 m:anomaly"),
    "then to-do and a steer": (
        "A T:r1 anomaly T:r2 todo steer",
        "A T:r1 T:r2 r:anomaly r:todo r:incoming",
        "A T:r1 T:r2 m:anomaly+todo+incoming",
    ),
    "goal, prompt": (
        "A goal P:prompt2 mode",
        "A r:mode r:goal U:prompt2",
        "A U:prompt2 m:mode+goal",
    ),
    "to-do, prompt": ("A T:r todo P:prompt2", "A T:r r:todo U:prompt2", "A T:r U:prompt2 m:todo"),
    "fork notice": (
        "S S S skills context fork P:prompt todo",
        "S S S r:skills r:context r:todo r:fork U:prompt",
        "S S S r:context r:fork U:prompt m:skills+todo",
    ),
    "after compaction": (
        "S S S skills context P:summary read-state P:prompt mode",
        "S S S r:skills r:context r:mode U:summary r:read-state U:prompt",
        "S S S r:context U:summary r:read-state U:prompt m:skills+mode",
    ),
    "plan exit between assistants": ("A exit A", "A r:exit A", "A r:exit A"),
    "steer between two prompts": (
        "S S S skills context P:prompt1 steer P:prompt2",
        "S S S r:skills r:context U:prompt1 r:incoming U:prompt2",
        "S S S r:context U:prompt1 r:skills+incoming U:prompt2",
    ),
}


@pytest.mark.parametrize("name", WORKED_EXAMPLES)
def test_worked_examples_of_projection(name: str) -> None:
    given, off, on = WORKED_EXAMPLES[name]
    entries_given = history(given)
    assert described(projection.project(entries_given, mcs=False)) == off.split()
    assert described(projection.project(entries_given, mcs=True)) == on.split()


def test_system_text_joins_bodies_without_tags() -> None:
    *_, last = projection.project(history("P:prompt hook date"), mcs=True)
    assert last.message == {"role": "system", "content": "body of hook\n\nbody of date"}


def test_fallback_holds_all_bodies_in_one_tag() -> None:
    given = [M("user", "one"), *history("todo"), *history("steer"), M("user", "two")]
    messages = projection.project(given, mcs=True)
    content = messages[1].message["content"]
    assert messages[1].message["role"] == "user"
    assert content.count(reminders.OPEN_TAG) == content.count(reminders.CLOSE_TAG) == 1
    assert "body of todo\n\nThe user sent a new message while you" in content


def test_wrapping_escapes_nested_tags_and_only_the_context_prefix_ends_with_a_newline() -> None:
    body = "a <system-reminder>b</system-reminder> c"
    inner = "a &lt;system-reminder>b&lt;/system-reminder> c"
    expected = f"<system-reminder>\n{inner}\n</system-reminder>"
    assert reminders.wrap("todo_reminder", body) == expected
    assert reminders.wrap("context_prefix", body) == expected + "\n"


def test_only_nineteen_of_the_reminder_sources_may_become_system_text() -> None:
    kinds = reminders.KINDS.values()
    assert len(kinds) == 27
    assert sum(kind.mcs for kind in kinds) == 19


def test_an_unknown_source_is_refused() -> None:
    for mcs in (False, True):
        with pytest.raises(ValueError, match="unknown attachment source"):
            projection.project([A("nonsense", "body")], mcs=mcs)


@pytest.mark.parametrize(("from_end", "marked"), [(1, [0, 3]), (2, [0, 2])])
def test_the_marker_stands_near_the_end(from_end: int, marked: list[int]) -> None:
    messages = projection.project(history("S P:a A P:b mode"), mcs=True, marker_from_end=from_end)
    assert described(messages) == ["S", "U:a", "A", "U:b", "m:mode"]
    found = [i for i, item in enumerate(messages) if "cacheControl" in item.message]
    assert found == marked


def _users(*texts: str) -> list[Json]:
    return [{"role": "user", "content": content} for content in texts]


def test_window_writes_full_then_delta_then_tail() -> None:
    memory = window.Window(3)
    assert memory.cut(_users("a", "b")).kind == "full"
    grown = memory.cut(_users("a", "b", "c"))
    assert (grown.kind, grown.offset, len(grown.messages)) == ("delta", 2, 1)
    retried = memory.cut(_users("a", "b", "c"))
    assert (retried.kind, retried.offset, retried.messages) == ("delta", 3, [])
    changed = memory.cut(_users("a", "b", "C", "d", "e"))
    assert (changed.kind, changed.offset, len(changed.messages)) == ("tail", 2, 3)
    assert memory.cut(_users("a")).kind == "full"


def test_a_moved_marker_ends_the_delta() -> None:
    memory = window.Window(64)
    first = _users("a", "b")
    first[1]["cacheControl"] = {"type": "ephemeral"}
    second = _users("a", "b", "c")
    second[2]["cacheControl"] = {"type": "ephemeral"}
    assert [memory.cut(first).kind, memory.cut(second).kind] == ["full", "full"]


def test_fingerprints_miss_edits_in_the_middle_of_long_texts_and_at_unsampled_places() -> None:
    long, edited = "x" * 512 + "a" + "x" * 512, "x" * 512 + "b" + "x" * 512
    assert window.fingerprint(long) == window.fingerprint(edited)
    assert window.fingerprint(long) != window.fingerprint("y" + long[1:])
    assert window.sampled_indexes(9) == [0, 2, 4, 6, 8]
    memory = window.Window(64)
    memory.cut(_users(*"abcdefghi"))
    assert memory.cut(_users(*"aBcdefghij")).kind == "delta"


def test_fingerprints_of_objects_and_arrays_are_sampled() -> None:
    wide = {f"k{index:02}": index for index in range(13)}
    assert window.fingerprint(wide) == window.fingerprint(wide | {"k12": "other"})
    assert window.fingerprint([1, 2, 3]) == window.fingerprint([1, 9, 3])
    assert window.fingerprint([[[[["deep"]]]]]) == window.fingerprint([[[[["else"]]]]])


def test_estimates_count_utf16_units_and_ideographs_twice() -> None:
    assert text.utf16_len("a🍵") == 3
    assert text.estimate_tokens("茶a🍵") == 2  # (4 units + 1 ideograph) / 3, rounded up
    assert text.compact_json({"a": "\ud83c", "b": "茶"}) == '{"a":"\\ud83c","b":"茶"}'


def test_redaction_goes_by_key_depth_and_identity() -> None:
    deep: Json = {"end": 1}
    for _ in range(9):
        deep = {"in": deep}
    shared = {"n": 1}
    out = logfile.redact({"totalTokens": [1], "chars": 2, "deep": deep, "a": shared, "b": shared})
    assert out["totalTokens"] == "[Redacted]"
    assert (out["chars"], out["a"], out["b"]) == (2, {"n": 1}, "[Redacted:Circular]")
    assert "[Redacted:DepthLimit]" in json.dumps(out["deep"])


def test_the_level_gate_and_the_local_day_name_the_file() -> None:
    log = logfile.LogFile("info")
    at = datetime(2026, 1, 12, 23, 59, 59, tzinfo=UTC)
    log.write(at, "debug", "x", "hidden")
    log.write(at + timedelta(seconds=2), "info", "x", "second", status="odd")
    log.write(at, "warn", None, "first")
    files = log.files()
    assert list(files) == ["log/zcode-2026-01-12.jsonl", "log/zcode-2026-01-13.jsonl"]
    assert [json.loads(line[0]).get("status") for line in files.values()] == [None, None]


def test_the_provider_reads_whole_blocks_of_a_recent_equal_prefix() -> None:
    provider, now = cache.ProviderCache(), datetime(2026, 1, 12, tzinfo=UTC)
    first = provider.charge("m", ["a" * 900, "b" * 90], 5, now)
    assert (first.cache_read, first.cache_write) == (0, 0)
    later = provider.charge("m", ["a" * 900, "c" * 900], 5, now + timedelta(minutes=5))
    assert later.cache_read == cache.tokens_of(900) // 64 * 64 > 0
    assert provider.charge("n", ["a" * 900], 5, now + timedelta(minutes=6)).cache_read == 0
    assert provider.charge("m", ["a" * 900], 5, now + timedelta(minutes=50)).cache_read == 0


def test_file_names_keep_safe_characters_only() -> None:
    name = modelio.file_name
    assert name("sess_a/b c-") == "model-io-sess_a-b-c.jsonl"
    assert (name(None), len(name("x" * 200))) == ("model-io-no-session.jsonl", 95)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """Every sample file as the generator writes it now."""
    out: dict[str, bytes] = COMMAND.sample_files()
    return out


def _samples(files: dict[str, bytes]) -> Iterator[tuple[str, Json]]:
    for path, data in files.items():
        if path.endswith("expected.json"):
            yield path.removesuffix("expected.json"), json.loads(data)


def _records(files: dict[str, bytes], folder: str, entry: Json) -> list[Json]:
    skipped = {item["line"] for item in entry["skipped"]}
    lines = files[folder + entry["path"]].removeprefix(b"\xef\xbb\xbf").split(b"\n")
    good = (line for number, line in enumerate(lines, 1) if line.strip() and number not in skipped)
    return [json.loads(line) for line in good]


def _requests(expected: Json) -> dict[tuple[str, int], Json]:
    return {
        (row["request_id"], row["attempt"]): row
        for session in expected["sessions"]
        for row in session["requests"]
    }


def _digest(message: Json) -> str:
    bare = {key: value for key, value in message.items() if key != "cacheControl"}
    rendered = json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    clean = rendered.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hashlib.sha256(clean.encode()).hexdigest()[:16]


def test_the_committed_samples_are_what_the_generator_writes(files: dict[str, bytes]) -> None:
    every = files | COMMAND.trace_files()
    assert COMMAND.differences(every, SAMPLES) == []
    assert sum(map(len, every.values())) < 5_000_000


def test_every_file_has_the_counts_it_claims(files: dict[str, bytes]) -> None:
    for folder, expected in _samples(files):
        for entry in expected["files"]:
            data = files[folder + entry["path"]]
            assert len(data.split(b"\n")) - data.endswith(b"\n") == entry["lines"]
            assert len(_records(files, folder, entry)) == entry["records"], entry["path"]


def test_keys_stand_in_the_order_of_the_disk(files: dict[str, bytes]) -> None:
    for folder, expected in _samples(files):
        for entry in expected["files"]:
            order = LOG_ORDER if entry["format"] == "zcode-log" else RECORD_ORDER
            for record in _records(files, folder, entry):
                assert list(record) == [key for key in order.split() if key in record]


def test_every_record_holds_the_messages_the_truth_tells(files: dict[str, bytes]) -> None:
    for folder, expected in _samples(files):
        truth, seen = _requests(expected), 0
        for entry in expected["files"]:
            if entry["format"] != "zcode-model-io":
                continue
            for record in _records(files, folder, entry):
                row, seen = truth[record["requestId"], record["attempt"]], seen + 1
                if "request" not in record:
                    continue
                request = record["request"]
                assert request.get("messagesKind") == row["messages_kind"]
                offset = request.get("messageOffset", 0)
                digests = [_digest(message) for message in request["messages"]]
                assert digests == row["messages_sha256"][offset:]
                assert request["toolNames"] == row["tools"]
        assert seen == len(truth), folder


def test_usage_includes_what_was_read(files: dict[str, bytes]) -> None:
    checked = 0
    for folder, expected in _samples(files):
        for entry in expected["files"]:
            for record in _records(files, folder, entry):
                response = record.get("response", {})
                raw = response.get("providerMetadata", {}).get("anthropic", {}).get("usage")
                if raw is None:
                    continue
                usage, checked = response["usage"], checked + 1
                assert raw["input_tokens"] == usage["inputTokens"] - usage["cacheReadTokens"]
                assert usage["cacheReadTokens"] % 64 == 0
                assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert checked > 100


def _full_lists(files: dict[str, bytes]) -> Iterator[tuple[Json, list[Json]]]:
    for folder, expected in _samples(files):
        truth = _requests(expected)
        for entry in expected["files"]:
            for record in _records(files, folder, entry):
                request = record.get("request", {})
                whole = request.get("messagesKind", "full") == "full"
                if record.get("type") == "model_io" and "messages" in request and whole:
                    yield truth[record["requestId"], record["attempt"]], request["messages"]


def test_full_lists_keep_the_placement_rules(files: dict[str, bytes]) -> None:
    for row, messages in _full_lists(files):
        roles = [message["role"] for message in messages]
        leading = next(i for i, role in enumerate(roles) if role != "system")
        marked = [i for i, message in enumerate(messages) if "cacheControl" in message]
        talk = [i for i, role in enumerate(roles) if role != "system"]
        from_end = 2 if row["query_source"] == "compact" else 1
        assert 1 <= leading <= 4  # A1
        assert marked == row["markers"] == [*range(leading), talk[-from_end]]  # A1, A2
        system_text = [i for i, role in enumerate(roles) if role == "system" and i >= leading]
        assert system_text == [item["message_index"] for item in row["mcs"]]  # A3
        for index in system_text:  # A4
            assert roles[index - 1] in {"user", "tool"}
            assert index + 1 == len(roles) or roles[index + 1] == "assistant"
        _assert_tags(row, messages)
        _assert_tool_runs(messages)


def _assert_tags(row: Json, messages: list[Json]) -> None:
    tagged = {item["message_index"] for item in row["reminders"] if item["via"] == "reminder"}
    context = {x["message_index"] for x in row["reminders"] if x["source"] == "context_prefix"}
    for index, message in enumerate(messages):
        content = message["content"]
        is_tagged = isinstance(content, str) and content.startswith(reminders.OPEN_TAG)
        assert is_tagged == (index in tagged)
        if is_tagged:  # A7, A8
            end = reminders.CLOSE_TAG + ("\n" if index in context else "")
            assert content.endswith(end)
            assert content.count(reminders.OPEN_TAG) == content.count(reminders.CLOSE_TAG) == 1


def _assert_tool_runs(messages: list[Json]) -> None:
    known: set[str] = set()
    for index, message in enumerate(messages):
        known |= {call["id"] for call in message.get("toolCalls", [])}
        if message["role"] == "tool":  # A9, A11
            assert message["toolCallId"] in known
            assert messages[index - 1]["role"] in {"assistant", "tool"}


def test_a_list_only_grows_inside_a_turn(files: dict[str, bytes]) -> None:
    for folder, expected in _samples(files):
        for session in expected["sessions"]:
            rows = [row for row in session["requests"] if row["messages_sha256"]]
            main = [row for row in rows if row["query_source"] in {"main_turn", "subagent"}]
            for before, after in zip(main, main[1:], strict=False):
                if before["turn_id"] == after["turn_id"]:  # A12
                    length = len(before["messages_sha256"])
                    assert after["messages_sha256"][:length] == before["messages_sha256"], folder


def test_the_log_counts_the_messages_of_each_step(files: dict[str, bytes]) -> None:
    for folder, expected in _samples(files):
        if folder in {"zcode/damaged/", "zcode/size-reset/", "zcode/older-build/"}:
            continue
        logged, sent = [], []
        for entry in expected["files"]:
            if entry["format"] == "zcode-log":
                for line in _records(files, folder, entry):
                    if (
                        line.get("event") == "model.request.started"
                        and "messageCount" in (line["context"])
                    ):
                        logged.append((line["sessionId"], line["context"]["messageCount"]))
        for session in expected["sessions"]:
            for row in session["requests"]:
                aux = row["query_source"] in {"session_title", "compact"}
                if not aux and row["attempt"] == 1:
                    sent.append((session["session_id"], row["message_count"]))
        assert sorted(logged) == sorted(sent)  # A13


def test_snapshots_add_up_and_follow_from_the_sections(files: dict[str, bytes]) -> None:
    folder = "zcode/unredacted/"
    entry = {"path": "log/zcode-2026-01-12.jsonl", "skipped": []}
    lines = _records(files, folder, entry)
    built = next(line["context"] for line in lines if line.get("event") == "context.built")
    for section in built["sections"]:
        assert section["chars"] == text.utf16_len(section["content"])
        assert section["tokens"] == text.estimate_tokens(section["content"])
    system = sum(s["chars"] for s in built["sections"][:-2])
    snapshots = [line for line in lines if line.get("event") == "context_usage_snapshot"]
    assert len(snapshots) == 6
    for line in snapshots:
        context = line["context"]
        assert context["categories"][0]["chars"] == system
        assert context["totalTokens"] == sum(row["tokens"] for row in context["categories"])
        assert sum(row["percentTokens"] for row in context["categories"]) == pytest.approx(1)
        assert all(len(row["contributors"]) <= 5 for row in context["categoryBreakdown"])


def test_the_default_redactor_leaves_no_token_number(files: dict[str, bytes]) -> None:
    data = files["zcode/development-debug/log/zcode-2026-01-12.jsonl"].decode()
    assert '"totalTokens":"[Redacted]"' in data
    assert '"percentTokens":"[Redacted]"' in data
    assert '"totalTokens":' not in data.replace('"totalTokens":"[Redacted]"', "")


def test_a_preview_can_end_in_half_a_surrogate_pair(files: dict[str, bytes]) -> None:
    data = files["zcode/chinese/log/zcode-2026-01-12.jsonl"].decode()
    line = next(line for line in data.splitlines() if '"event":"context.built"' in line)
    previews = [section["preview"] for section in json.loads(line)["context"]["sections"]]
    assert any("\ud800" <= preview[-1] <= "\udbff" for preview in previews)


def test_the_long_run_shows_what_it_promises(files: dict[str, bytes]) -> None:
    expected = json.loads(files["zcode/windowed-long/expected.json"])
    rows = expected["sessions"][0]["requests"]
    main = [row for row in rows if row["query_source"] == "main_turn"]
    assert sum(row["messages_kind"] == "tail" for row in rows) > 30
    misses = [
        row["started_at"]
        for before, row in zip(main, main[1:], strict=False)
        if row["usage"]["cache_read"] < before["usage"]["cache_read"]
    ]
    assert len(misses) == 4  # switched model, edited AGENTS.md, lunch, compaction
    counts = [row["message_count"] for row in main]
    assert any(after < before for before, after in zip(counts, counts[1:], strict=False))
    assert [row["query_source"] for row in rows].count("compact") == 1
