"""Runs that obey every rule, each another one: what happens is drawn from a seed."""

from random import Random

from generate.clock import Clock
from generate.segments.agent import MODEL_A, MODEL_B, Agent, Call, Setup
from generate.segments.trace import Message, Trace
from generate.segments.words import CHINESE, ENGLISH
from generate.text import estimate_tokens

STABLE_CALLS = ("read_file", "run_tests", "write_file")


def healthy(seed: int, runs: int = 4, steps: int = 6) -> Trace:
    """A session of some runs with up to so many requests each. The same seed gives the same."""
    return _Driver(Random(seed), runs, steps).trace()


class _Driver:
    def __init__(self, random: Random, runs: int, steps: int) -> None:
        self._random = random
        self._runs = runs
        self._steps = steps
        words = random.choice((ENGLISH, ENGLISH, CHINESE))
        switches = tuple((name, random.random() < 0.6) for name in sorted(words.guides))
        skills = tuple(name for name in words.skills if random.random() < 0.3)
        self._agent = Agent(
            f"seeded-{random.randrange(10_000)}",
            Clock(),
            Setup(words, switches, skills, texts=random.random() < 0.7),
        )

    def trace(self) -> Trace:
        """The whole session."""
        for _ in range(self._runs):
            self._between()
            self._run()
        return self._agent.trace()

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _between(self) -> None:
        agent, random = self._agent, self._random
        if not agent.run:
            return
        if self._chance(0.3):
            self._switch()
        if self._chance(0.2):
            agent.use_model(MODEL_B if agent.model is MODEL_A else MODEL_A)
        if self._chance(0.2):
            agent.instructions = f"{agent.words.instructions} {random.randrange(100)}"
        if self._chance(0.25):
            agent.catalogue = random.sample(sorted(agent.words.skills), 2)
        if self._chance(0.3):
            self._compact()

    def _run(self) -> None:
        agent, random, words = self._agent, self._random, self._agent.words
        agent.start(random.choice(words.tasks), words.attachment if self._chance(0.3) else "")
        while self._chance(0.25):
            agent.request(status=random.choice(("cancelled", "failed")))
            if self._chance(0.4):
                self._switch()
            agent.add_input(
                random.choice(words.tasks), words.attachment if self._chance(0.3) else ""
            )
        for _ in range(random.randrange(1, self._steps)):
            self._step()
        agent.request(random.choice(words.replies), attempts=random.choice((1, 1, 1, 2)))
        agent.end()

    def _step(self) -> None:
        agent, random, words = self._agent, self._random, self._agent.words
        count = random.choice((1, 1, 2, 3))
        calls = [self._call() for _ in range(count)]
        agent.request(
            random.choice((*words.replies, "")), calls, attempts=random.choice((1, 1, 1, 2))
        )
        if any(call.failed for call in calls) and self._chance(0.7):
            agent.ask_repair()
        happenings = (
            self._switch,
            self._skill,
            self._plan,
            self._file,
            self._file,
            self._word,
            self._page,
            self._compact,
            agent.fail_to_compact,
        )
        for happening in random.sample(happenings, random.choice((0, 1, 1, 2, 3))):
            happening()

    def _call(self) -> Call:
        random = self._random
        name = random.choice(STABLE_CALLS)
        return Call(
            name,
            {"path": f"geo/{random.randrange(50)}.csv"},
            random.choice(self._agent.words.results),
            self._chance(0.2),
        )

    def _switch(self) -> None:
        name = self._random.choice(sorted(self._agent.switches))
        self._agent.switch(name, not self._agent.switches[name])

    def _skill(self) -> None:
        idle = [name for name in self._agent.words.skills if name not in self._agent.active]
        if idle:
            self._agent.activate(self._random.choice(idle))

    def _plan(self) -> None:
        number = self._random.randrange(20)
        self._agent.plan(f"{self._agent.words.todo} ({number})" if self._chance(0.8) else "")

    def _file(self) -> None:
        agent = self._agent
        if not agent.transactions or self._chance(0.15):
            agent.open_file(f"notes/{self._random.randrange(100)}.md")
            return
        chosen = self._random.choice(agent.transactions)
        if self._chance(0.4):
            agent.close_file(chosen)
        else:
            agent.step(chosen)

    def _word(self) -> None:
        agent, words = self._agent, self._agent.words
        role, kind, text = self._random.choice(
            (
                ("user", "answer", words.answer),
                ("user", "guidance", words.guidance),
                ("system", "recovery", words.recovery),
                ("system", "ignored_interaction", words.ignored),
                ("user", "mood_note", "An unknown kind is shown as it is."),
            )
        )
        agent.happens(role, kind, text)

    def _page(self) -> None:
        self._agent.change("run", {"browser": f"https://example.org/{self._random.randrange(9)}"})

    def _compact(self) -> None:
        """Cover what was shown: some of the history, and whole exchanges of the run."""
        agent = self._agent
        covers = [*_whole(agent.history, agent.shown, self._random.choice((0, 0, 3)))]
        if agent.items_since_run():
            if self._chance(0.5):
                covers += _whole(agent.timeline, agent.shown, self._random.choice((0, 2)))
        else:
            ended = [*agent.inputs, *agent.loaded, *agent.run_full, *agent.timeline]
            covers = [*agent.history, *ended] if self._chance(0.4) else covers
        size = sum(estimate_tokens(message.sent()) for message in covers)
        text = f"{agent.words.summary} ({self._random.randrange(100)})"
        # Twice: how the names and ids of calls are counted differs from reader to reader.
        if size > 2 * estimate_tokens(text):
            agent.compact(covers, text)


def _whole(messages: list[Message], shown: set[str], keep: int) -> list[Message]:
    """The messages up to the last `keep`, ended where no exchange is open and all were shown."""
    end = len(messages) - keep
    for place, message in enumerate(messages):
        if message.id not in shown:
            end = min(end, place)
    while 0 < end < len(messages) and messages[end].kind == "tool_result":
        end -= 1
    return messages[: max(end, 0)]
