"""Whole homes: every file of a machine tells of the same sessions."""

from generate.agent import Agent
from generate.home import Home, finish_home
from generate.project import GLM_47, Profile, Project, Skill
from generate.recorder import Recorder
from generate.script import (
    Call,
    ChildTask,
    Compaction,
    Failure,
    Step,
    Turn,
    bash,
    edit,
    grep,
    read,
    say,
    todos,
)
from generate.text import Json, compact_json
from generate.tools import ALL_NAMES, SCOUT_NAMES
from generate.world import World

FERRY = Project(
    name="ferry-times",
    agents_md="A timetable service in Python. `pytest -q` must pass.",
    memory_index="- [Stops](stops.md): stop 12 was renamed in March",
    skills=(Skill("deploy", "Put the timetable on the two test machines.", "d/SKILL.md"),),
    branch="winter",
    commits=("5fd1c20 Winter timetable", "0b7e6a3 Stops as a table"),
    git_user="Ada Moen",
)
_OVERLOADED = Failure("provider_overloaded", "The provider is overloaded.", 529)


def _helper(kind: str, brief: str, *steps: Step) -> Call:
    task = ChildTask(kind, SCOUT_NAMES, steps)
    values = {"description": brief[:24], "prompt": brief, "agent_type": kind}
    return Call("Agent", values, "", child=task)


def _first_turn() -> Turn:
    root = FERRY.root
    return Turn(
        "The 18:40 to Skarvik is missing from the winter timetable. Where is it lost?",
        (
            say(
                "Two helpers will look at the data and at the loader.",
                todos(("Find the departure", "in_progress"), ("Add a test", "pending")),
                _helper(
                    "Explore",
                    "Is the 18:40 to Skarvik in the data files?",
                    say("", grep("18:40", "data/winter.csv:88:18:40;12;Skarvik")),
                    say("It is in data/winter.csv:88, for stop 12."),
                ),
                _helper(
                    "general-purpose",
                    "Does the loader drop rows?",
                    Step("", (bash("pytest -q -k load", "4 passed"),), failures=(_OVERLOADED,)),
                    say("The loader drops rows whose stop is unknown."),
                ),
            ),
            Step(
                "Stop 12 is unknown under its old name.",
                (read(root, "ferry/stops.py", 'STOPS = {12: "Skarvik brygge"}\n'),),
                failures=(_OVERLOADED, _OVERLOADED),
            ),
            say("The row names stop 12 by its old name, so the loader drops it."),
        ),
        title="Departure missing in winter",
    )


def _other_turns() -> tuple[Turn, Turn, Turn]:
    root = FERRY.root
    tried = Turn(
        "Rename it in the data, then.",
        (
            say("", bash("sed -i s/Skarvik/x/ data/winter.csv", "sed: no input", failed=True)),
            say("That did not work."),
        ),
    )
    better = Turn(
        "Better: let the loader know both names.",
        (
            say("", edit(root, "ferry/stops.py", '"Skarvik brygge"', '("Skarvik brygge",)')),
            say("The loader accepts both names now."),
        ),
    )
    summary = "Stop 12 has two names; the loader in ferry/stops.py knows both."
    last = Turn(
        "Add the test.",
        (
            Step(
                "",
                (todos(("Add a test", "completed")), bash("pytest -q", "5 passed")),
                compaction=Compaction(summary),
            ),
            say("The test is in tests/test_stops.py; all five pass."),
        ),
    )
    return tried, better, last


def session_database() -> Home:
    """A rewound and compacted session with two helpers, retries, and a session that was stopped."""
    world = World("session-database")
    world.truth = Recorder()
    agent = Agent(world, Profile(FERRY, GLM_47, ALL_NAMES))
    agent.run(_first_turn())
    world.clock.advance(40_000)
    tried, better, last = _other_turns()
    before = len(agent.history)
    agent.run(tried)
    world.clock.advance(30_000)
    agent.rewind(len(agent.history) - before, "Conversation rewind applied.")
    for turn in (better, last):
        agent.run(turn)
        world.clock.advance(35_000)
    other = Agent(world, Profile(FERRY, GLM_47, ALL_NAMES))
    stopped = Failure(
        "cancelled", "The user stopped.", name="AbortError", delay_ms=None, cancelled=True
    )
    other.run(Turn("Which boats run on Sunday?", (Step(failures=(stopped,)),)))
    home = finish_home(
        "session-database",
        "Every file of one machine",
        "Log, model I/O, session database, helpers' folders and a transcript of the same sessions: "
        "a rewind, a compaction, retries, two helpers, and a turn that was stopped.",
        world,
        FERRY.root,
    )
    _rewound(home, agent.session_id)
    return home


def _rewound(home: Home, session_id: str) -> None:
    """Note in the session that the second turn was taken back (section 5, active branch)."""
    turns = list(dict.fromkeys(c.turn_id for c in home.calls if c.session_id == session_id))
    messages = [row for row in home.rows["message"] if row["session_id"] == session_id]
    first = [row["id"] for row in messages if turns[0] in row["data"]]
    taken_back = [row["id"] for row in messages if turns[1] in row["data"]]
    revert = {"messageID": taken_back[0], "keptMessageIDs": first, "kind": "conversation"}
    revert["branchCutAfterMessageID"] = taken_back[-1]
    row = next(row for row in home.rows["session"] if row["id"] == session_id)
    row["revert"] = compact_json(revert)
    following = next(row for row in messages if turns[2] in row["data"])
    at = following["time_created"] - 1
    notice: Json = {"role": "user", "synthetic": True, "source": "rewind", "time": {"created": at}}
    notice |= {"visibility": "model-only", "anchor": {"turnId": turns[2]}}
    stored = {"id": "msg_rewind_notice", "time_created": at, "time_updated": at}
    home.rows["message"].append(following | stored | {"data": compact_json(notice)})
    text = compact_json({"type": "text", "text": "Conversation rewind applied.", "synthetic": True})
    part: Json = {"id": "prt_rewind_notice", "message_id": "msg_rewind_notice", "data": text}
    part |= {"session_id": session_id, "time_created": at, "time_updated": at, "sequence": 0}
    home.rows["part"].append(part)
