"""What pages can show of a session beside its prompts: the story of the generated home."""

from pathlib import Path
from typing import Any

import pytest

from tests.homes import Store, minimal_session, minimal_usage, read, write_home
from tracer.model.story import SessionStory
from tracer.service import Service


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("story")
    home = write_home(folder / "home")
    read(folder / "tracer.db", [folder / "home"])
    return folder / "tracer.db", home


@pytest.fixture(scope="module")
def story(known: tuple[Path, Any]) -> SessionStory:
    db, home = known
    return Service(db).story(home.sessions[0]["session_id"])


def test_the_session_is_described(story: SessionStory) -> None:
    stored = story.stored
    assert stored is not None
    assert (stored.title, stored.title_source) == ("Departure missing in winter", "generated")
    assert stored.directory.endswith("ferry-times")
    assert stored.removed_at_ms is None


def test_turns_have_the_words_of_the_user_and_the_rewound_one_is_abandoned(
    story: SessionStory,
) -> None:
    words = [turn.words for turn in story.turns]
    assert words[0].startswith("The 18:40 to Skarvik")
    assert words[1] == "Rename it in the data, then."
    assert [turn.abandoned for turn in story.turns] == [False, True, False, False]
    assert story.abandoned_messages == 3
    assert story.turns[0].retries == 2


def test_tools_have_times_errors_and_their_child(story: SessionStory, known: Any) -> None:
    total = known[1].totals()[story.session_id]
    assert len(story.tools) == total["tools"]
    assert all(tool.known_from == ("tool_usage", "part", "answer") for tool in story.tools)
    assert all(tool.request_key and tool.duration_ms for tool in story.tools)
    failed = [tool for tool in story.tools if tool.status == "error"]
    assert [tool.tool for tool in failed] == ["Bash"]
    assert failed[0].error and failed[0].abandoned
    assert sum(bool(tool.child_session_id) for tool in story.tools) == 2


def test_parents_and_children_are_linked_both_ways_by_the_tool_call(
    story: SessionStory, known: tuple[Path, Any]
) -> None:
    assert len(story.children) == 2
    for child in story.children:
        assert (child.strength, child.status) == ("exact", "completed")
        back = Service(known[0]).story(child.session_id).parent
        assert back is not None
        assert (back.session_id, back.call_id) == (story.session_id, child.call_id)


def test_usage_rows_carry_the_strength_of_their_tie_and_the_context(story: SessionStory) -> None:
    keys = [row.request_key for row in story.usage_rows]
    assert len(keys) == len(set(keys)) == 11
    main = [row for row in story.usage_rows if row.context_used]
    assert dict(main[0].context_chars)["system_prompt"] > 0
    assert {row.strength for row in story.usage_rows} == {"heuristic"}


def test_compaction_and_steps_of_the_list_are_there(story: SessionStory) -> None:
    (compaction,) = story.compactions
    assert (compaction.reason, compaction.status) == ("above_threshold", "completed")
    assert compaction.tokens_before and compaction.tokens_after
    assert [(t.content, t.status) for t in story.todos] == [("Add a test", "completed")]


def test_tools_of_a_transcript_alone_have_durations(tmp_path: Path, known: Any) -> None:
    home = known[1]
    root = known[0].parent / "home"
    (path,) = root.rglob("transcript.jsonl")
    read(tmp_path / "tracer.db", [path])
    session = next(s for s in home.children if s.endswith(path.parent.name))
    found = Service(tmp_path / "tracer.db").story(session)
    assert [(t.tool, t.status, t.duration_ms) for t in found.tools] == [("Bash", "completed", 100)]
    assert found.tools[0].known_from == ("events",)


def test_a_session_of_usage_rows_only_is_a_timeline_and_says_what_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session())
    more = {"time_to_first_token_ms": 300}
    rows = [
        minimal_usage(
            f"u{n}", started_at=n * 9_000, completed_at=n * 9_000 + 4_000, retry_count=n % 2, **more
        )
        for n in range(1, 5)
    ]
    store.add("model_usage", *rows).close()
    db = tmp_path / "tracer.db"
    read(db, [tmp_path / "db.sqlite"])
    timeline = Service(db).timeline("sess_1")
    assert [c.request.seq for c in timeline.columns] == [1, 2, 3, 4]
    assert {c.request.observed for c in timeline.columns} == {"metadata"}
    assert all(c.request.usage and c.request.usage.fresh_tokens == 40 for c in timeline.columns)
    story = Service(db).story("sess_1")
    assert [row.retries for row in story.usage_rows] == [1, 0, 1, 0]
    assert [row.first_token_ms for row in story.usage_rows] == [300] * 4
    assert [f.title for f in story.evidence if f.level == "missing"] == [
        "No prompts",
        "No structured log",
    ]
    assert all(f.fix for f in story.evidence if f.level == "missing")
    detail = Service(db).request(timeline.columns[0].request.key)
    assert [e.code for e in detail.evidence] == ["database-only"]


def test_turns_are_numbered_as_their_requests_are(known: tuple[Path, Any], tmp_path: Path) -> None:
    db, home = known
    for session in home.sessions:
        _same_numbers(Service(db), session["session_id"])
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session())
    title = {"query_source": "session_title", "turn_id": "turn_0", "started_at": 1_000}
    store.add("model_usage", minimal_usage("u0", **title), minimal_usage())
    silent = {"session_id": "sess_1", "turn_id": "turn_s", "status": "cancelled"}
    store.add("turn_usage", silent | {"started_at": 5_000}).close()
    read(tmp_path / "tracer.db", [tmp_path])
    _same_numbers(Service(tmp_path / "tracer.db"), "sess_1")
    turns = Service(tmp_path / "tracer.db").story("sess_1").turns
    assert [(t.turn_id, t.number) for t in turns] == [
        ("turn_0", 1), ("turn_s", 3), ("turn_1", 2),
    ]  # fmt: skip


def _same_numbers(service: Service, session_id: str) -> None:
    numbers = {turn.turn_id: turn.number for turn in service.story(session_id).turns}
    for request in service.requests(session_id):
        assert numbers[request.turn_id] == request.turn_number
