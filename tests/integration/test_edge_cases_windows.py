"""Edge cases 16 to 20 of formats/zcode.md section 14: windows of message lists."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import (
    SESSION,
    append,
    assistant,
    call,
    detail,
    evidence_codes,
    ingest,
    ingest_one,
    messages_of,
    request,
    request_ids,
    system,
    talk,
    user,
    write,
)
from tracer.model.prompt import Kind, Tier
from tracer.service import Service

RESET = {"maxFileBytes": 100, "previousFileBytes": 120, "reason": "session_file_size_limit"}


# ---- files that are begun anew ----------------------------------------------------------------


def test_case_16_a_file_shrinks(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1", talk(3)), call("req-2", talk(5), at=2000))
    ingest(db, rollout)
    after = call("req-3", talk(6, 4), at=3000, kind="tail", offset=4, modelIOReset=RESET)
    write(rollout, after, call("req-4", [], at=4000, kind="delta", offset=6))
    result = ingest_one(db, rollout)
    assert (result.records, result.new_records) == (2, 2)
    assert request_ids(db) == ["req-1", "req-2", "req-3", "req-4"]
    assert [(s.segment, s.status) for s in Service(db).sources()] == [
        (2, "current"),
        (1, "replaced"),
    ]
    (mark,) = (e for e in Service(db).timeline(SESSION).events if e.kind == "reset")
    assert mark.after_seq == 2
    # The tail agrees with what was read before; the delta goes on from it.
    assert [request(db, f"req-{n}").carry for n in (3, 4)] == ["overlap", "sequence"]
    assert messages_of(db, "req-4") == talk(6)


def test_case_16_a_delta_cannot_go_on_from_before_a_reset(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1", talk(3)))
    ingest(db, rollout)
    write(rollout, call("req-2", talk(4, 3), at=2000, kind="delta", offset=3))
    ingest(db, rollout)
    assert (request(db, "req-2").carry, request(db, "req-2").observed) == ("lost", "windowed")
    assert messages_of(db, "req-2") == [None, None, None, user("message 3") | talk(4)[3]]
    assert evidence_codes(db, "req-2")[:2] == ["windowed", "gap"]


def test_case_17_a_file_is_deleted_and_created_again(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1", talk(3)))
    ingest(db, rollout)
    rollout.rename(rollout.with_suffix(".old"))
    ingest(db, rollout.parent)
    assert [s.status for s in Service(db).sources()] == ["missing"]
    write(rollout, call("req-2", talk(5), at=2000))
    ingest(db, rollout)
    assert request_ids(db) == ["req-1", "req-2"]
    assert [(s.segment, s.status) for s in Service(db).sources()] == [
        (2, "current"),
        (1, "replaced"),
    ]
    column = Service(db).timeline(SESSION).columns[1]
    assert sum(part.new_tokens for part in column.parts) < column.prompt_tokens


# ---- windows ----------------------------------------------------------------------------------


def test_case_18_without_a_kind_the_list_is_full(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1", talk(4), kind=None))
    ingest(db, rollout)
    found = request(db, "req-1")
    assert (found.observed, found.verified_from, found.message_count) == ("full", 0, 4)
    assert messages_of(db, "req-1") == talk(4)


def test_case_18_an_empty_delta_repeats_the_list_and_proves_nothing(
    db: Path, rollout: Path
) -> None:
    write(rollout, call("req-1", talk(4)), call("req-2", [], at=2000, kind="delta", offset=4))
    ingest(db, rollout)
    found = request(db, "req-2")
    assert (found.observed, found.verified_from, found.message_count) == ("windowed", 4, 4)
    assert messages_of(db, "req-2") == talk(4)
    assert not any(b.verified for b in detail(db, "req-2").blocks)
    assert evidence_codes(db, "req-2")[0] == "windowed"


def test_case_18_a_delta_that_fits_no_list_leaves_a_gap(db: Path, rollout: Path) -> None:
    write(
        rollout, call("req-1", talk(4)), call("req-2", talk(9, 7), at=2000, kind="delta", offset=7)
    )
    ingest(db, rollout)
    found = request(db, "req-2")
    assert (found.carry, found.verified_from, found.message_count) == ("lost", 7, 9)
    assert messages_of(db, "req-2") == [None] * 7 + talk(9, 7)
    (gap,) = (b for b in detail(db, "req-2").blocks if b.kind is Kind.GAP)
    assert (gap.message_index, gap.span_messages, gap.verified) == (0, 7, False)


def test_case_18_a_tail_after_a_gap_carries_the_gap_on(db: Path, rollout: Path) -> None:
    write(
        rollout,
        call("req-1", talk(10, 6), kind="tail", offset=6),
        call("req-2", talk(12, 8), at=2000, kind="tail", offset=8),
        call("req-3", talk(12), at=3000),
    )
    ingest(db, rollout)
    assert messages_of(db, "req-2") == [None] * 6 + talk(12, 6)
    assert [request(db, f"req-{n}").observed for n in (1, 2, 3)] == ["windowed", "windowed", "full"]
    assert messages_of(db, "req-3") == talk(12)


def test_case_18_a_false_delta_is_flagged_and_the_next_full_list_shows_the_truth(
    db: Path, rollout: Path
) -> None:
    """The writer compares samples only: a cleared tool result in between went unnoticed."""
    cleared = [*talk(3), assistant("[cleared]"), *talk(7, 4)]
    write(
        rollout,
        call("req-1", talk(7)),
        call("req-2", talk(9, 7), at=2000, kind="delta", offset=7),
        call("req-3", [*cleared, *talk(9, 7)], at=3000),
    )
    ingest(db, rollout)
    assert messages_of(db, "req-2") == talk(9)  # what can be said, and is not proven
    unproven = [b.message_index for b in detail(db, "req-2").blocks if not b.verified]
    assert unproven == list(range(7))
    assert "an edit in the middle can hide there" in detail(db, "req-2").evidence[0].detail
    assert messages_of(db, "req-3") == [*cleared, *talk(9, 7)]
    assert detail(db, "req-3").common_blocks == 3


@pytest.mark.parametrize(
    ("offset", "count"), [(-5, 3), (10**7, 10**7 + 1), (2**70, 3), (0, 10**12), ("x", "y"), (5, 2)]
)
def test_case_18_a_window_with_impossible_numbers_stops_nothing(
    db: Path, rollout: Path, offset: Any, count: Any
) -> None:
    window = {"messageOffset": offset, "messageCount": count}
    for kind in ("full", "delta", "tail", "other", 7):
        append(rollout, call("odd", talk(3), request={**window, "messagesKind": kind}))
    append(rollout, call("req-2", talk(3), at=2000))
    result = ingest_one(db, rollout)
    assert result.records + result.skipped_total == 6
    assert {s.kind for s in result.skipped} <= {"bad-field"}
    assert messages_of(db, "req-2") == talk(3)
    assert Service(db).timeline(SESSION).columns


def test_case_18_a_tail_that_begins_inside_the_system_prompt_goes_on_from_it(
    db: Path, rollout: Path
) -> None:
    """65 messages, of which 64 are shown: the first of three system messages is not."""
    head = [system(f"part {n}") for n in range(3)]
    write(
        rollout,
        call("req-1", [*head, *talk(60)]),
        call("req-2", [*head[1:], *talk(62)], at=2000, kind="tail", offset=1),
    )
    ingest(db, rollout)
    assert request(db, "req-2").carry == "overlap"
    assert messages_of(db, "req-2") == [*head, *talk(62)]
    tiers = [b.tier for b in detail(db, "req-2").blocks[:4]]
    assert tiers == [Tier.SYSTEM, Tier.SYSTEM, Tier.SYSTEM, Tier.MESSAGES]
    assert not request(db, "req-2").mcs


def test_case_18_a_note_is_part_of_the_system_prompt_only_at_the_head_of_the_list(
    db: Path, rollout: Path
) -> None:
    note = system("a note")
    write(
        rollout,
        call("req-1", [system("rules"), note, user("hello")]),
        call("req-2", [user("hello"), note, user("hello")], at=2000),
        call("req-3", [system("rules"), note, user("hello")], at=3000),
    )
    ingest(db, rollout)
    tiers = [[b.tier for b in detail(db, f"req-{n}").blocks] for n in (1, 2, 3)]
    assert tiers[0] == tiers[2] == [Tier.SYSTEM, Tier.SYSTEM, Tier.MESSAGES]
    assert tiers[1] == [Tier.MESSAGES] * 3
    assert [m.message_index for m in request(db, "req-2").mcs] == [1]


def test_case_19_a_shorter_list_is_not_carried_over(db: Path, rollout: Path) -> None:
    after = [user("summary"), *talk(12, 9)]
    write(
        rollout,
        call("req-1", talk(12)),
        call("compact", [*talk(12), user("sum up")], at=2000, source="compact"),
        call("req-2", after, at=3000),
        call("req-3", after[2:], at=4000, kind="tail", offset=2),
        call("title", [user("a title")], at=5000, source="session_title"),
        call("req-4", talk(13, 12), at=6000, kind="delta", offset=4),
    )
    ingest(db, rollout)
    assert messages_of(db, "req-2") == after
    assert messages_of(db, "req-3") == after
    assert messages_of(db, "req-4") == [*after, *talk(13, 12)]
    assert request(db, "req-4").carry == "earlier"
    found = {r.request_id: (r.lane, r.side_call) for r in Service(db).requests(SESSION)}
    main = ("main_turn@provider-x/model-y", False)
    assert [found[f"req-{n}"] for n in (1, 2, 3, 4)] == [main] * 4
    assert found["title"] == ("session_title@provider-x/model-y", True)
    assert found["compact"][1]
    # A rewind that is seen only through a tail: what is hidden may be another text.
    append(rollout, call("req-5", talk(30, 0), at=7000))
    append(rollout, call("req-6", [*talk(10, 8), user("back")], at=8000, kind="tail", offset=8))
    ingest(db, rollout)
    assert messages_of(db, "req-6") == [None] * 8 + [*talk(10, 8), user("back")]


def test_case_20_two_sessions_in_one_file(db: Path, rollout: Path) -> None:
    """A name cut to 80 characters, or calls without a session."""
    write(
        rollout,
        call("a-1", talk(3), session="sess_a"),
        call("b-1", [user("other"), *talk(4, 1)], session="sess_b", at=1000),
        call("none", [user("no session")], session=None, at=1500),
        call("a-2", talk(5, 3), session="sess_a", at=2000, kind="delta", offset=3),
    )
    ingest(db, rollout)
    ids = {s.session_id: s.requests for s in Service(db).sessions().sessions}
    assert ids == {"sess_a": 2, "sess_b": 1, "no-session": 1}
    assert messages_of(db, "a-2") == talk(5)
    (source,) = Service(db).sources()
    assert set(source.sessions) == set(ids)
    headers = {"headers": {"X-Session-Id": "sess_c"}}
    append(rollout, call("c-1", session=None, at=3000, request=headers))
    ingest(db, rollout)
    assert request_ids(db, "sess_c") == ["c-1"]
