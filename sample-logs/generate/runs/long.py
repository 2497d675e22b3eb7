"""A long session: windows, a rebuilt prefix, cache misses and a compaction."""

import random
from dataclasses import replace

from generate.agent import Agent
from generate.project import GLM_5, GLM_47, Profile, Project
from generate.sample import Sample, finish
from generate.script import Call, Compaction, Step, Turn, bash, edit, grep, read, say
from generate.tools import SMALL_NAMES
from generate.world import World

RULES = "A job queue in Python. Times are in seconds.\nTests: `pytest -q`, before every commit."

RIVET = Project(
    name="rivet",
    agents_md=RULES,
    branch="leases",
    commits=("b41e7d9 Renew leases", "6f02c5a First worker"),
    git_user="Ada Quist",
)

EDITED_RULES = RULES + "\nNew functions get a type and one line of text."

MODULES = ("queue", "worker", "lease", "retry", "store", "clock", "metrics", "cli")
VERBS = ("take", "renew", "drop", "count", "park", "wake", "list", "mark")

SUMMARY = (
    "Request: leases must survive a restart of the worker. Decided: the store keeps the "
    "deadline, the worker renews at two thirds of it. Changed: lease.py, worker.py, store.py. "
    "Open: metrics still count a renewed lease twice. Next: fix the counter in metrics.py."
)


class _Work:
    """Makes up small, plausible steps."""

    def __init__(self) -> None:
        self._random = random.Random("rivet")
        self._passed = 31

    def steps(self, count: int, last: str) -> tuple[Step, ...]:
        """Return `count` steps; the last one is the answer."""
        return (*(self._step() for _ in range(count - 1)), say(last))

    def _step(self) -> Step:
        module, verb = self._random.choice(MODULES), self._random.choice(VERBS)
        kind = self._random.choice((self._read, self._search, self._change, self._test))
        text = self._random.choice(("", "", f"Next: `{verb}` in {module}.py."))
        return say(text, kind(module, verb))

    def _read(self, module: str, verb: str) -> Call:
        line = self._random.randint(2, 40)
        body = f"def {verb}(job):\n    slot = job.slots[{line}]\n    return slot.{verb}d_at"
        return read(RIVET.root, f"rivet/{module}.py", body)

    def _search(self, module: str, verb: str) -> Call:
        line = self._random.randint(10, 200)
        return grep(f"{verb}\\(", f"rivet/{module}.py:{line}\ntests/test_{module}.py:{line // 3}")

    def _change(self, module: str, verb: str) -> Call:
        limit = self._random.randint(5, 90)
        return edit(RIVET.root, f"rivet/{module}.py", f"{verb}(job)", f"{verb}(job, limit={limit})")

    def _test(self, module: str, verb: str) -> Call:
        if self._random.random() < 0.25:
            failure = f"test_{verb} failed: {self._random.randint(1, 9)} != 0"
            return bash(f"pytest -q tests/test_{module}.py", failure, failed=True)
        self._passed += 1
        return bash("pytest -q", f"{self._passed} passed in 1.{self._random.randint(10, 99)}s")


def _edit_rules() -> Call:
    last = RULES.splitlines()[-1]
    return edit(RIVET.root, "AGENTS.md", last, EDITED_RULES[EDITED_RULES.index(last) :])


def windowed_long() -> Sample:
    """Some seventy requests of one session."""
    world, work = World("windowed-long"), _Work()
    agent = Agent(world, Profile(RIVET, GLM_47, SMALL_NAMES, name_models=True))
    prompt = "Leases are lost when a worker restarts. Make them survive it."
    agent.run(
        Turn(prompt, work.steps(15, "The store keeps deadlines now."), title="Lasting leases")
    )
    world.clock.advance(130_000)
    agent.run(Turn("The worker must renew them.", work.steps(13, "It renews at two thirds.")))
    world.clock.advance(75_000)
    agent.change(replace(agent.profile, model=GLM_5))
    steps = work.steps(11, "Parked jobs keep their lease; I noted the rule in AGENTS.md.")
    steps = (*steps[:-1], say("", _edit_rules()), steps[-1])
    agent.run(Turn("Same for parked jobs. Add our rule on types to AGENTS.md.", steps))
    world.clock.advance(90_000)
    edited = replace(agent.profile.project, agents_md=EDITED_RULES)
    agent.change(replace(agent.profile, project=edited))
    agent.run(Turn("Type the new functions.", work.steps(11, "All of them are typed.")))
    world.clock.advance(47 * 60_000)
    agent.run(Turn("Back from lunch. Do the numbers add up?", work.steps(10, "Not the counter.")))
    world.clock.advance(50_000)
    first, *rest = work.steps(9, "The counter counts a renewed lease once.")
    files = ((f"{RIVET.root}/rivet/lease.py", "    1\tdef renew(job, limit=30):"),)
    files_and_note = (*files, (f"{RIVET.root}/rivet/store.py", None))
    first = replace(first, compaction=Compaction(SUMMARY, files_and_note))
    agent.run(Turn("Then fix the counter.", (first, *rest)))
    return finish(
        "windowed-long",
        "A long session with windows, misses and a compaction",
        "About seventy requests: full lists, then tails of 64 messages; a switched model, an "
        "edited AGENTS.md and a lunch break cost cache reads; a compaction shortens the list.",
        world,
    )
