"""The World State over whole sessions equals what a simulated agent held: across runs, inputs that
come late, and compactions that cover diffs."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.layouts import generator, session_of
from tracer.anatomy.told_worlds import ToldWorlds
from tracer.checks import CheckedRequest
from tracer.model.segments import MessageNote

SEEDS = st.integers(0, 1_000_000)


def notes_of(request: CheckedRequest) -> list[tuple[int, MessageNote]]:
    return [(i, m.note) for i, m in enumerate(request.messages)]


def covers_of(request: CheckedRequest) -> set[str]:
    return {c for m in request.messages if m.note.kind == "summary" for c in m.note.covers}


def session(seed: int) -> tuple[list[CheckedRequest], dict[str, Any]]:
    """The requests of a healthy session, and what its agent held at each."""
    trace = generator("seeded").healthy(seed)
    known = {built.request: built.known for built in trace.built()}
    lines = generator("write").Writer().lines(trace)
    return list(session_of(lines).requests), known


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_model_knew_what_the_agent_held(seed: int) -> None:
    requests, known = session(seed)
    told = ToldWorlds()
    for request in requests:
        world = told.at(notes_of(request), covers_of(request))
        assert world.session is not None and world.run is not None
        assert world.session.state == known[request.request_id]["session"]
        assert world.run.state == known[request.request_id]["run"]
        place = world.session.full_message
        assert place is not None and request.messages[place].note.mode == "full"


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_ids_are_needed_only_for_what_is_covered(seed: int) -> None:
    """Without ids the states are the same as long as no summary covers a diff."""
    requests, known = session(seed)
    bare: dict[int, MessageNote] = {}
    told = ToldWorlds()
    for request in requests:
        if covers_of(request):
            return
        notes = [
            (i, bare.setdefault(id(note), replace(note, id=""))) for i, note in notes_of(request)
        ]
        world = told.at(notes, ())
        assert world.session is not None
        assert world.session.state == known[request.request_id]["session"]
