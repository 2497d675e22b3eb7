"""One story told twice: with mid-conversation system messages on, and off."""

from datetime import UTC, datetime

from generate.agent import Agent
from generate.project import GLM_5, Profile, Project, Skill
from generate.sample import Sample, finish
from generate.script import Step, Turn, bash, edit, grep, read, say
from generate.tools import CORE_NAMES
from generate.world import World

BEFORE_MIDNIGHT = datetime(2026, 1, 12, 23, 46, 20, tzinfo=UTC)

ORCHARD = Project(
    name="orchard",
    agents_md=(
        "Stock keeping for a fruit grower. Crates are counted, never weighed.\n"
        "Every migration needs a way back. Tests: `pytest -q`."
    ),
    memory_index="- [Crate sizes](crates.md): three sizes, agreed with the packing shed",
    skills=(
        Skill("migration", "Write a migration together with its way back.", "m/SKILL.md"),
        Skill("stock-report", "Print crates by variety and shed.", "s/SKILL.md"),
        Skill("release-notes", "Collect merged changes into notes.", "r/SKILL.md"),
    ),
    branch="crate-sizes",
    commits=("d20c9ef Count by shed", "77b01aa Add varieties"),
    git_user="Mira Oss",
)

STYLE = ("Walkthrough", "Explain each change in one sentence right after making it.")

MODEL_PY = """\
class Crate:
    variety: str
    shed: str
    count: int = 0
"""


def _planning_turn() -> Turn:
    root = ORCHARD.root
    note = f"{root}/notes/sizes.txt"
    return Turn(
        "Crates come in three sizes now (see the attached note). Plan how to store the size.",
        (
            say("I'll look at the model first.", read(root, "orchard/model.py", MODEL_PY)),
            say("", grep("Crate\\(", "orchard/stock.py:9\ntests/test_stock.py:5")),
            say(
                "Plan: 1. add `size` to `Crate` with a migration and its way back; 2. count by "
                "size in `orchard/stock.py:9`; 3. extend the test. Each step ends with pytest."
            ),
        ),
        title="Store three crate sizes",
        session_hook="Database of the packing shed: read-only copy from this morning.",
        prompt_hook="Two colleagues have uncommitted work in orchard/report.py.",
        files=((note, "    1\tsmall 12 kg\n    2\tmiddle 18 kg\n    3\tlarge 25 kg"),),
    )


def _working_turn() -> Turn:
    root = ORCHARD.root
    log = bash("pytest -q", "1 failed: no column named size", failed=True)
    return Turn(
        "The plan is fine, go ahead.",
        (
            say("", edit(root, "orchard/model.py", "shed: str", "shed: str\n    size: str")),
            say("The model has a size now.", log),
            say("", log),
            say("", log),
            Step(
                "The column is missing because the migration was never applied.",
                (bash("python -m orchard.migrate", "applied 0007_crate_size"),),
                steer="Please call the middle size 'medium', the shed changed its mind.",
            ),
            say("", edit(root, "orchard/sizes.py", '"middle"', '"medium"')),
            say("", bash("pytest -q", "19 passed")),
            say("Sizes are stored, the middle one is called medium, and all 19 tests pass."),
        ),
    )


def _next_day_turn() -> Turn:
    root = ORCHARD.root
    goal = "Current session goal state: active. Goal: crates can be counted by size in each shed."
    return Turn(
        "Now the report: one column a size.",
        (
            say("", read(root, "orchard/report.py", "def report(stock):\n    return table(stock)")),
            say("", edit(root, "orchard/report.py", "table(stock)", "table(stock, by='size')")),
            say("", bash("pytest -q tests/test_report.py", "4 passed")),
            say("The report has one column a size; its four tests pass."),
        ),
        prompt_hook="The colleagues' work in orchard/report.py was committed.",
        notes=(("goal_state_change", goal),),
    )


def _notified_turn() -> Turn:
    return Turn(
        "Background task bg_1 (nightly import) finished: 4,120 crates read, 0 rejected.",
        (say("The nightly import finished: 4,120 crates, none rejected. Nothing to do."),),
        presentation="task_notification",
    )


def _story(name: str, title: str, shows: str, *, mcs: bool) -> Sample:
    world = World(name, start=BEFORE_MIDNIGHT)
    agent = Agent(world, Profile(ORCHARD, GLM_5, CORE_NAMES, mcs=mcs, output_style=STYLE))
    agent.plan_mode = True
    agent.run(_planning_turn())
    world.clock.advance(95_000)
    agent.leave_plan_mode()
    agent.run(_working_turn())
    world.clock.advance(14 * 60_000)
    agent.run(_next_day_turn())
    world.clock.advance(40_000)
    agent.run(_notified_turn())
    return finish(name, title, shows, world)


def mcs_on() -> Sample:
    """The story with mid-conversation system messages."""
    return _story(
        "mcs-on",
        "Mid-conversation system messages on",
        "Skills, hook, date, plan mode, to-do and style notes become system text behind the prompt "
        "or a tool result, several bodies in one message; the skills listing moves there too.",
        mcs=True,
    )


def mcs_off() -> Sample:
    """The same story with every note wrapped in a reminder tag."""
    return _story(
        "mcs-off",
        "Mid-conversation system messages off",
        "The same story as mcs-on: the notes are wrapped user messages, and those that float stand "
        "before the prompt they belong to.",
        mcs=False,
    )
