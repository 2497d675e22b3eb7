"""Healthy runs of the sample generator's agent, as records that a test may bend.

Each record holds its whole list, so that what a test changes is what the product sees.
"""

import dataclasses
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.samples import SAMPLES

if str(SAMPLES) not in sys.path:
    sys.path.insert(0, str(SAMPLES))

_agent = importlib.import_module("generate.agent")
_project = importlib.import_module("generate.project")
_script = importlib.import_module("generate.script")
_tools = importlib.import_module("generate.tools")
_wire = importlib.import_module("generate.wire")
_world = importlib.import_module("generate.world")
reminders = importlib.import_module("generate.reminders")
prose = importlib.import_module("generate.prose")

Json = dict[str, Any]
Edit = Callable[[str], str]
EPHEMERAL: Json = {"type": "ephemeral"}
CORE = "model.request.started"


@dataclass
class Run:
    """The records of one session, and its log. `main` are the records of the conversation."""

    records: list[Json]
    log: list[Json]
    notes: list[str] = field(default_factory=list)

    @property
    def main(self) -> list[Json]:
        """The conversation's records, by start."""
        own = [r for r in self.records if r["querySource"] in ("main_turn", "subagent")]
        return sorted(own, key=lambda r: r["startedAt"])

    def seq(self, record: Json) -> int:
        """The number of a record in its session."""
        return sorted(self.records, key=lambda r: r["startedAt"]).index(record) + 1

    def messages(self, number: int) -> list[Json]:
        """The messages of the main record with that number, from 0."""
        found: list[Json] = self.main[number]["request"]["messages"]
        return found

    def first_of_turn(self, number: int) -> int:
        """The first main record of a turn, both from 0."""
        turns = list(dict.fromkeys(r["turnId"] for r in self.main))
        return next(i for i, r in enumerate(self.main) if r["turnId"] == turns[number])

    def find(self, text: str, number: int = 0) -> int:
        """The first message of a main record that holds a text."""
        return next(i for i, m in enumerate(self.messages(number)) if text in str(m["content"]))

    def edit(self, index: int, change: Edit, since: int = 0) -> None:
        """Change the text of a message in the main records from `since` on."""
        for number in range(since, len(self.main)):
            messages = self.messages(number)
            if index < len(messages):
                messages[index] = messages[index] | {"content": change(messages[index]["content"])}

    def insert(self, index: int, message: Json, since: int = 0) -> None:
        """Put a message at a place, in the main records from `since` on, and mark the last one."""
        for number in range(since, len(self.main)):
            if index <= len(self.messages(number)):
                self.messages(number).insert(index, dict(message))
        self.mark()

    def remove(self, index: int, since: int = 0) -> None:
        """Take a message away, in the main records from `since` on, and mark the last one."""
        for number in range(since, len(self.main)):
            if index < len(self.messages(number)):
                del self.messages(number)[index]
        self.mark()

    def mark(self) -> None:
        """Put the marker of the conversation where it belongs."""
        for record in self.main:
            messages = record["request"]["messages"]
            talk = [m for m in messages if m["role"] != "system"]
            for message in talk:
                message.pop("cacheControl", None)
            talk[-1]["cacheControl"] = dict(EPHEMERAL)

    def count(self) -> None:
        """Let the log tell of as many messages as the records hold."""
        lines = [e for e in self.log if e.get("event") == CORE and "messageCount" in e["context"]]
        for line, record in zip(lines, self.main, strict=True):
            line["context"]["messageCount"] = len(record["request"]["messages"])

    def write(self, folder: Path, window: int | None = None) -> list[str]:
        """Write the files; returns their paths. With a window each record holds only so many of
        its last messages, as production logs do."""
        for record in self.records:
            request = record["request"]
            messages = request["messages"]
            request["body"]["system"] = _wire.system_blocks(messages)
            request["body"].pop("messages", None)
            request.pop("sdkMessages", None)
            if window is not None and len(messages) > window:
                request["messages"] = messages[-window:]
                request["messageCount"] = len(messages)
                request["messagesKind"] = "tail"
                request["messageOffset"] = len(messages) - window
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, lines in (("model-io.jsonl", self.records), ("zcode.jsonl", self.log)):
            path = folder / name
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
            paths.append(str(path))
        return paths


def user(text: str) -> Json:
    """A user's message."""
    return {"role": "user", "content": text}


def note(source: str, body: str) -> Json:
    """A note in its tag."""
    return user(reminders.wrap(source, body))


HOOK = "PostToolUse hook additional context:\n#1\nThe formatter ran."


def _skills() -> tuple[Any, ...]:
    return (
        _project.Skill("migration", "Write a migration together with its way back.", "m/SKILL.md"),
        _project.Skill("stock-report", "Print crates by variety and shed.", "s/SKILL.md"),
    )


PROJECT = _project.Project(
    name="quarry",
    agents_md="Keep functions short. Tests: `pytest -q`.",
    memory_index="- [Names](names.md): agreed with the loading bay",
    skills=_skills(),
    status=" M quarry/cart.py",
    commits=("d20c9ef Count carts", "77b01aa Add rails"),
)


@dataclass(frozen=True)
class Setup:
    """How the agent of a run is set up."""

    mcs: bool = False
    debug: bool = False
    redacted: bool = True
    variant: str = "main"
    custom: str | None = None
    project: Any = PROJECT
    tools: tuple[str, ...] = tuple(_tools.CORE_NAMES)


class Teller:
    """An agent that works through turns."""

    def __init__(self, name: str, setup: Setup) -> None:
        self.world = _world.World(
            name,
            full_retention=True,
            redacted=setup.redacted,
            log_level="debug" if setup.debug else "info",
        )
        self.agent = _agent.Agent(
            self.world,
            _project.Profile(
                setup.project,
                _project.GLM_5,
                setup.tools,
                variant=setup.variant,
                mcs=setup.mcs,
                custom_prompt=setup.custom,
            ),
        )
        self._count = 0

    def turn(self, steps: int = 2, **more: Any) -> None:
        """One turn: steps with a tool or two, then an answer."""
        self._count += 1
        number = self._count
        made = []
        for step in range(steps):
            calls = [_script.bash(f"make step-{number}-{step}", f"step {number}.{step} is done")]
            if step == 0:
                calls.append(_script.grep(f"cart_{number}", f"quarry/cart.py:{number}"))
            made.append(_script.say(f"Step {number}.{step}.", *calls))
        made += more.pop("last", (_script.say(f"Turn {number} is done."),))
        self.agent.run(_script.Turn(f"Please do part {number}.", tuple(made), **more))
        self.world.clock.advance(60_000)

    def wait(self, days: float) -> None:
        """Let time pass."""
        self.world.clock.advance(round(timedelta(days=days).total_seconds() * 1000))

    def run(self) -> Run:
        """The records so far."""
        files = self.world.io.files()
        records = [json.loads(line) for lines in files.values() for line in lines]
        log = [json.loads(x) for lines in self.world.log.files().values() for x in lines]
        return Run(records, log)


_PLAIN = Setup()


def plain(setup: Setup = _PLAIN, *, name: str = "plain", hooks: bool = True) -> Run:
    """Three turns with tools, hooks and a title."""
    teller = Teller(name, setup)
    hook = {"session_hook": "The copy is read-only.", "prompt_hook": "Two have open work."}
    teller.turn(3, title="Parts of the quarry", **(hook if hooks else {}))
    teller.turn(2)
    teller.turn(1)
    return teller.run()


def planning() -> Run:
    """Plan mode over twelve turns."""
    teller = Teller("planning", Setup())
    teller.agent.plan_mode = True
    for _ in range(12):
        teller.turn(1)
    return teller.run()


def listing() -> Run:
    """A list of tasks that is written once and not again for a long time."""
    teller = Teller("listing", Setup())
    teller.turn(0, last=(_script.say("A list.", _script.todos(("a", "pending"))),))
    for _ in range(6):
        teller.turn(4)
    return teller.run()


def compacted(files: int = 3) -> Run:
    """A compaction that repeats some files."""
    teller = Teller("compacted", Setup())
    teller.turn(3)
    teller.turn(2)
    again = tuple((f"quarry/file_{n}.py", f"x = {n}") for n in range(files))
    step = _script.Step(
        "After the summary.", compaction=_script.Compaction("Parts 1 and 2 are done.", again)
    )
    teller.turn(0, last=(step, _script.say("All is done.")))
    return teller.run()


def days_later() -> Run:
    """A session that goes on three days later, in the same process."""
    teller = Teller("days-later", Setup())
    teller.turn(2)
    teller.wait(3)
    teller.turn(2)
    return teller.run()


def switched() -> Run:
    """A person switches the model between two turns; the prefix is built again."""
    teller = Teller("switched", Setup())
    teller.turn(2)
    profile = teller.agent.profile
    teller.agent.change(type(profile)(**{**vars(profile), "model": _project.GLM_47}))
    teller.turn(2)
    return teller.run()


def resumed() -> Run:
    """A session that is resumed in a new process, with another state of the repository."""
    teller = Teller("resumed", Setup())
    teller.turn(2, session_hook="The copy is read-only.")
    teller.agent.resume()
    profile = teller.agent.profile
    project = type(PROJECT)(**{**vars(PROJECT), "status": "(clean)", "agents_md": "New rules."})
    teller.agent.change(type(profile)(**{**vars(profile), "project": project}))
    teller.turn(2)
    return teller.run()


def custom() -> Run:
    """A prompt of a person's own, told at debug level, without notes."""
    return plain(Setup(debug=True, custom="Review, nothing else."), name="custom", hooks=False)


def many_skills(count: int, *, short: bool = False) -> Any:
    """The project with many skills; `short`: as the fallback lists them, by their paths."""
    text = "A rule of the loading bay that takes a whole line to tell, and then a bit of another."
    skills = tuple(
        _project.Skill(
            f"rule-{n}", f"skills/rule-{n:04}/SKILL.md" if short else f"{text} {n}.", "x"
        )
        for n in range(count)
    )
    return dataclasses.replace(PROJECT, skills=skills)


def at_the_limits() -> Any:
    """The project with everything cut at its limit, as the agent cuts it."""
    status = "\n".join(f"?? quarry/new_{n:04}.py" for n in range(90))[:2_000]
    rules = "Keep it short.\n" * 7_000
    return dataclasses.replace(
        PROJECT,
        status=f"{status}\n... (cut: run `git status` for the rest)",
        agents_md=f"{rules[:102_400]}\n(This file was cut at 100 KiB.)",
        skills=(_project.Skill("long", "Carry " * 60, "l/SKILL.md"),),
    )


def skills_listing(skills: Any) -> str:
    """The listing as the agent writes it."""
    return str(_project.skills_listing(skills))


def cut(run: Run, main_records: int) -> Run:
    """The run without its main records from that number on."""
    gone = [r["requestId"] for r in run.main[main_records:]]
    lines = [e for e in run.log if e.get("event") == CORE and "messageCount" in e["context"]]
    for line in lines[main_records:]:
        run.log.remove(line)
    run.records = [r for r in run.records if r["requestId"] not in gone]
    return run


def _debug(name: str, *, redacted: bool) -> Run:
    return plain(Setup(debug=True, redacted=redacted), name=name, hooks=False)


def _with_skills() -> Run:
    return plain(Setup(project=many_skills(700, short=True)), name="short-listing")


HEALTHY: dict[str, Callable[[], Run]] = {
    "plain": plain,
    "plain-on": lambda: plain(Setup(mcs=True), name="plain-on"),
    "no-notes": lambda: _debug("no-notes", redacted=False),
    "redacted": lambda: _debug("redacted", redacted=True),
    "actor": lambda: plain(Setup(variant="workflow"), name="actor"),
    "subagent": lambda: plain(Setup(variant="subagent"), name="subagent-alone"),
    "custom": custom,
    "planning": planning,
    "listing": listing,
    "compacted": compacted,
    "five-files": lambda: compacted(5),
    "days-later": days_later,
    "switched": switched,
    "resumed": resumed,
    "short-listing": _with_skills,
    "limits": lambda: plain(Setup(project=at_the_limits()), name="limits"),
}
"""Runs that obey every rule."""
