"""Requests of the sample logs compared as the store keeps them."""

from pathlib import Path

import pytest

from tests.comparisons import HEAD, TALK, a_comparison, edited
from tests.factories import a_request
from tests.helpers import SAMPLES, append, call, ingest, system, user
from tests.unit.test_compare_builders import a_gap, a_note, a_prompt, a_text, a_tool
from tracer.compare import apply
from tracer.errors import NotFoundError
from tracer.model.compare_views import ComparisonView, HunksAsked
from tracer.model.comparison import Line, Op, Relation
from tracer.model.prompt import Prompt
from tracer.service import Service
from tracer.service import ingest as ingest_and_judge
from tracer.service.comparing import KEPT_DIFFS, LARGE_CHARS, hunks_of
from tracer.service.comparing_words import counts_words, headline, prefix_words, where_words

LONG = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"
MCS_ON = "sess_7b14f91b-248a-4692-8550-18975f2e8294"
MCS_OFF = "sess_7ed5f5de-6b72-412b-af03-0d158c0b73b4"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The long windowed session, and one story twice: with mid-conversation messages or not."""
    path = tmp_path_factory.mktemp("compare") / "x.db"
    names = ("windowed-long", "mcs-on", "mcs-off")
    ingest_and_judge(path, [str(SAMPLES / name) for name in names], count_tokens=False)
    return Service(path)


def key(service: Service, session: str, seq: int) -> str:
    return service.requests(session)[seq - 1].key


def compared(service: Service, a: int, b: int, session: str = LONG) -> ComparisonView:
    return service.compare(key(service, session, a), key(service, session, b))


def changed(lines: tuple[Line, ...]) -> list[str]:
    return [f"{line.op}{line.text}" for line in lines if line.op != " "]


def test_a_switched_model_is_one_line_of_the_environment(service: Service) -> None:
    view = compared(service, 29, 30)
    assert headline(view) == "They part at system block 2: its text differs from character 512 on."
    assert counts_words(view) == "1 changed, 0 moved, 2 added, 0 removed"
    assert view.divergence is not None
    assert changed(view.divergence.lines) == [
        "-Model: builtin:zai-coding-plan/glm-4.7",
        "+Model: builtin:zai-coding-plan/glm-5",
    ]
    assert view.changes[view.divergence.change_index or 0].change.op is Op.CHANGED
    assert where_words(view).startswith("system block 2, character 512; token ")
    assert prefix_words(view).endswith("7 of 76 blocks")
    assert [limit.code for limit in view.limits] == ["models", "uncounted"]


def test_an_edit_that_no_record_shows_is_not_claimed_to_be_equal(service: Service) -> None:
    """AGENTS.md was edited before request 42, whose record begins at message 22."""
    view = compared(service, 41, 42)
    assert headline(view) == (
        "As far as the logs show, B is A and 2 blocks more. But the verdict on B found an edit in "
        "message 3, which the logs do not show here."
    )
    codes = [limit.code for limit in view.limits]
    assert codes[0] == "hidden-edit" and "carried" in codes
    assert view.limits[0].key == view.b.request.key
    assert "An instruction file changed" in view.limits[0].detail
    hidden = [made for made in view.changes if not made.change.verified]
    assert [made.change.label for made in hidden] == ["messages 3 to 21"]
    late = compared(service, 40, 50)
    assert [edit.seq for edit in late.hidden_edits] == [42]
    assert "the verdict on request 42 found an edit in message 3" in headline(late)
    assert not compared(service, 43, 50).hidden_edits, "both texts are from before the edit"
    assert not compared(service, 20, 41).hidden_edits


def test_a_change_of_carried_text_is_not_dated_to_one_request(service: Service) -> None:
    """Request 62 carries over the text that request 32 was the last to show."""
    view = compared(service, 62, 64)
    (limit,) = (limit for limit in view.limits if limit.code == "carried-changes")
    assert limit.title == "1 changed block not proven on both sides"
    assert "may have come at any request between" in limit.detail


def test_after_a_compaction_the_edit_and_the_removed_history_are_seen(service: Service) -> None:
    view = compared(service, 62, 64)
    counts = view.blocks_by_op()
    assert (counts[Op.CHANGED], counts[Op.REMOVED], counts[Op.ADDED]) == (1, 140, 4)
    assert view.divergence is not None
    assert changed(view.divergence.lines) == ["+New functions get a type and one line of text."]


def test_two_sessions_are_aligned_by_what_their_blocks_are(service: Service) -> None:
    view = service.compare(key(service, MCS_OFF, 5), key(service, MCS_ON, 5))
    assert (view.a.request.session_id, view.b.request.session_id) == (MCS_OFF, MCS_ON)
    assert view.comparison is not None and view.comparison.common.blocks == 11
    roles = [
        field
        for made in view.changes
        if made.change.op is Op.CHANGED
        for field in service.hunks(view.a.request.key, view.b.request.key, made.index).fields
    ]
    assert ("role", "system", "user") in {tuple(field) for field in roles} | {
        (f.field, f.after, f.before) for f in roles
    }
    assert headline(view).startswith("They part at message 3: A has reminder “")


def test_the_changes_lead_from_one_stored_prompt_to_the_other(service: Service) -> None:
    for a, b in ((2, 72), (72, 2), (29, 30), (62, 64), (1, 2)):
        view = compared(service, a, b)
        hashes = [
            [
                bytes.fromhex(block.wire_hash)
                for block in service.request(k, block_limit=None).blocks
            ]
            for k in (view.a.request.key, view.b.request.key)
        ]
        assert view.comparison is not None
        assert apply(hashes[0], view.comparison) == hashes[1]


def test_the_default_baseline_is_the_one_of_the_verdict(service: Service) -> None:
    for session in (LONG, MCS_ON):
        for request in service.requests(session):
            verdict = service.explain(request.key).verdict
            own = service.request(request.key, block_limit=0).baseline_key
            assert service.baseline(request.key) == own
            if verdict.baseline_key and service.request(verdict.baseline_key).block_total:
                assert own == verdict.baseline_key
                view = service.compare(own, request.key)
                assert view.baseline_reason == verdict.baseline_reason != ""
    view = compared(service, 5, 31)
    assert view.baseline_key == service.explain(view.b.request.key).verdict.baseline_key
    assert service.baseline(key(service, LONG, 1)) == ""


def test_without_a_verdict_the_baseline_is_the_request_before_it_in_its_lane(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.db"
    ingest(path, SAMPLES / "windowed-long")
    service = Service(path)
    view = compared(service, 5, 31)
    assert view.baseline_key == key(service, LONG, 30)
    assert view.baseline_reason.startswith("the request before it in the same lane; no verdict")
    assert service.baseline(key(service, LONG, 2)) == ""


def test_a_side_knows_its_neighbours(service: Service) -> None:
    view = compared(service, 1, 72)
    assert (view.a.previous_key, view.b.next_key) == ("", "")
    assert view.a.next_key == key(service, LONG, 2)
    assert [choice.seq for choice in view.a.choices] == list(range(1, 52))
    assert view.a.choices[0].side_call and not view.b.choices[-1].side_call


def test_what_is_equal_is_listed_a_page_at_a_time(service: Service) -> None:
    view = compared(service, 41, 42)
    run = next(made for made in view.changes if made.change.count > 20)
    keys = view.a.request.key, view.b.request.key
    page = service.hunks(*keys, run.index, offset=0, limit=5)
    assert len(page.blocks) == 5 and page.next_offset == 5 and page.total == run.change.count
    rest = service.hunks(*keys, run.index, offset=5, limit=100)
    assert rest.next_offset is None and len(rest.blocks) == run.change.count - 5
    assert page.blocks[0].label and page.blocks[0].b_index == run.change.b_index


def test_what_does_not_exist_is_said_so(service: Service) -> None:
    keys = key(service, LONG, 29), key(service, LONG, 30)
    with pytest.raises(NotFoundError, match="no request 'nope'"):
        service.compare(keys[0], "nope")
    with pytest.raises(NotFoundError, match="has 6 changes, not 6"):
        service.hunks(*keys, 6)
    with pytest.raises(NotFoundError):
        service.baseline("nope")


def test_a_new_revision_is_compared_anew(tmp_path: Path, rollout: Path, db: Path) -> None:
    talk = [system("s"), user("one")]
    append(rollout, call("r1", talk), call("r2", [*talk, user("two")], at=2000))
    ingest(db, rollout)
    service = Service(db)
    keys = [r.key for r in service.requests("sess_0001")]
    first = service.compare(*keys)
    assert service.compare(*keys) is first
    append(rollout, call("r3", [*talk, user("three")], at=4000))
    ingest(db, rollout)
    again = service.compare(*keys)
    assert again is not first and again.b.next_key


def test_a_request_without_a_prompt_blocks_the_comparison() -> None:
    view = a_comparison((a_request(1), Prompt(())), (a_request(2), edited()[1])).view
    assert headline(view) == "Nothing can be compared: the log holds no prompt of A."
    assert (view.comparison, view.divergence, view.changes) == (None, None, ())
    assert view.limits[0].code == "no-prompt" and "tracer doctor" in view.limits[0].detail
    assert prefix_words(view) == ""


def test_gaps_are_unknown_in_words() -> None:
    a = a_prompt(*HEAD, *TALK, a_gap(4), a_text("user", "Go on."))
    b = a_prompt(*HEAD, *TALK, a_gap(5), a_text("user", "Go on."))
    view = a_comparison((a_request(1), a), (a_request(2), b)).view
    assert view.comparison is not None and view.comparison.relation is Relation.UNKNOWN
    assert headline(view) == "Where the two part is in what the logs do not show."
    gap = next(limit for limit in view.limits if limit.code == "gap")
    assert "4 of A, 5 of B" in gap.title and "1 message more" in gap.detail


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (edited()[0], edited()[0], "The two are the same, byte for byte."),
        (edited()[0], a_prompt(*HEAD, *TALK, marked=(2,)), "Only cache markers differ: the"),
        (a_prompt(*HEAD, *TALK), a_prompt(*HEAD), "B is the beginning of A: the last 4 blocks of"),
        (a_prompt(*HEAD), a_prompt(*HEAD, TALK[0]), "B is A and 1 block more."),
        (
            a_prompt(*HEAD, *TALK),
            a_prompt(HEAD[0], a_tool("Grep"), *HEAD[1:], *TALK),
            "They part at tool Grep: it is new in B, where A has tool Bash.",
        ),
        (
            a_prompt(*HEAD, *TALK),
            a_prompt(HEAD[0], *HEAD[2:], *TALK),
            "They part at tool Bash: it is not in B, which goes on with system block 0.",
        ),
        (
            a_prompt(*HEAD, a_text("user", "same words here, as ever")),
            a_prompt(*HEAD, a_text("user", "same words here, as ever", shape="array")),
            "They part at message 1 · user text: different string or array.",
        ),
        (
            a_prompt(*HEAD, a_note("one of them"), a_text("user", "Question")),
            a_prompt(*HEAD, a_text("user", "Question"), a_note("one of them")),
            "They part at message 1: A has reminder “one of them",
        ),
    ],
)
def test_the_result_is_one_sentence(a: Prompt, b: Prompt, said: str) -> None:
    view = a_comparison((a_request(1), a), (a_request(2), b)).view
    assert headline(view).startswith(said)


def test_aligned_lines_of_large_texts_are_kept_and_only_a_few_of_them() -> None:
    texts = [f"block {n}\n" + "line\n" * (LARGE_CHARS // 5) for n in range(5)]
    a = a_prompt(*HEAD, *(a_text("user", text) for text in texts))
    b = a_prompt(*HEAD, *(a_text("user", text + "more") for text in texts))
    made = a_comparison((a_request(1), a), (a_request(2), b))
    for change in made.view.changes:
        if change.change.op is Op.CHANGED:
            hunks_of(made, change.index, HunksAsked())
    assert len(made.diffs) == KEPT_DIFFS
