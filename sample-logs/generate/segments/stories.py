"""Runs that obey every rule, each to show something else."""

from collections.abc import Callable

from generate.clock import Clock
from generate.segments.agent import MODEL_B, Agent, Call, Setup
from generate.segments.trace import Built, Message, Trace
from generate.segments.words import CHINESE, ENGLISH

CSV = {"path": "rows.csv"}


def read(number: int, path: str = "rows.csv") -> Call:
    """A file is read."""
    return Call("read_file", {"path": path}, ENGLISH.results[number % len(ENGLISH.results)])


def tests() -> Call:
    """The tests are run."""
    return Call("run_tests", {"filter": ""}, ENGLISH.results[1])


def plain() -> list[Trace]:
    """Three runs of one session: what a run was becomes the history of the next."""
    agent = Agent("plain-runs", Clock(), Setup(ENGLISH, marked=True))
    agent.start(ENGLISH.tasks[0], ENGLISH.attachment)
    agent.request(ENGLISH.replies[0], [read(0), read(2, "geo/export.py")])
    agent.request(ENGLISH.replies[1], [Call("write_file", CSV, "written"), tests()])
    agent.request(ENGLISH.replies[2])
    agent.end()
    agent.start(ENGLISH.tasks[2])
    agent.request(ENGLISH.replies[3], [read(2, "geo/kinds.py")], attempts=2)
    agent.request("Quinces are not among the known kinds.")
    agent.end()
    agent.start(ENGLISH.tasks[3])
    agent.request("Both pears are on the map, left and right of the gate.")
    agent.end()
    return [agent.trace()]


def capabilities() -> list[Trace]:
    """Capabilities are switched on the way and between runs; the World State tells in diffs."""
    agent = Agent(
        "capabilities", Clock(), Setup(ENGLISH, (("browser", False), ("web", True)), texts=False)
    )
    agent.start(ENGLISH.tasks[2])
    agent.request("", [Call("web_search", {"words": "quince species"}, "Cydonia oblonga")])
    agent.switch("web", enabled=False)
    agent.request(ENGLISH.replies[3], [read(2, "geo/kinds.py")])
    agent.request("The export knows apples and pears only.")
    agent.end()
    agent.switch("browser", enabled=True)
    agent.use_model(MODEL_B)
    agent.start(ENGLISH.tasks[3])
    agent.request("", [Call("browser_open", {"address": "https://example.org/pears"}, "Pears")])
    agent.change("run", {"browser": "https://example.org/pears"})
    agent.switch("web", enabled=True)
    agent.request("Both pears are on the map.")
    agent.end()
    return [agent.trace()]


def skills() -> list[Trace]:
    """Skills at the start and on the way, in Chinese."""
    agent = Agent("skills", Clock(), Setup(CHINESE, (("human", True),), ("盘点",)))
    agent.start(CHINESE.tasks[0], CHINESE.attachment)
    agent.request(CHINESE.replies[0], [Call("read_file", {"path": "账/流水"}, CHINESE.results[0])])
    agent.activate("拼配")
    agent.request("", [Call("ask_person", {"question": "样茶在哪一架?"}, "已提问")])
    agent.happens("user", "answer", CHINESE.answer)
    agent.request(CHINESE.replies[1])
    agent.end()
    agent.catalogue = ["开票", "盘点"]
    agent.start(CHINESE.tasks[2])
    agent.request(CHINESE.replies[2])
    agent.end()
    return [agent.trace()]


def compaction() -> list[Trace]:
    """A compaction between runs, one that fails, and one inside a run; the call that writes the
    summary has a prompt without segments."""
    agent = Agent("compaction", Clock(), Setup(ENGLISH))
    agent.start(ENGLISH.tasks[0], ENGLISH.attachment)
    agent.request(ENGLISH.replies[0], [read(0), read(2, "geo/export.py")])
    agent.request(ENGLISH.replies[1], [Call("write_file", CSV, "written"), tests()])
    agent.request(ENGLISH.replies[2])
    agent.end()
    agent.start(ENGLISH.tasks[1])
    agent.request("", [read(3)])
    summarise(agent)
    agent.compact(list(agent.history[:6]), ENGLISH.summary)
    agent.request(ENGLISH.replies[3], [read(0)])
    agent.fail_to_compact()
    agent.request("", [tests()])
    agent.compact(
        [*agent.history, *agent.timeline[:2]], f"{ENGLISH.summary} Row C was entered: 41 trees."
    )
    agent.request("Row C is entered: 41 trees, two of them without a tag.")
    agent.end()
    agent.start(ENGLISH.tasks[3])
    agent.request("Both pears are on the map.")
    agent.end()
    return [agent.trace()]


def summarise(agent: Agent) -> None:
    """The agent asks a model for the summary, with a prompt of its own."""
    built = agent.lay_out()
    built.layout, built.source = "", "compact"
    built.stable, built.dynamic = [], []
    ask = Message("ask-summary", "user", "", "Sum up what happened, in two sentences.")
    built.segments = [(0, [agent.history[0], agent.history[-1], ask])]
    agent.send(built, "stop", 1)


def transaction() -> list[Trace]:
    """A file is written in pieces across two runs, with a plan, a failure and its repair."""
    agent = Agent("transaction", Clock(), Setup(ENGLISH))
    agent.start(ENGLISH.tasks[1])
    agent.plan(ENGLISH.todo)
    agent.request("", [Call("write_file", {"path": "rows/c.csv"}, "opened")])
    file = agent.open_file("rows/c.csv")
    agent.request("", [Call("write_file", {"path": "rows/c.csv", "text": "1"}, "piece 1")])
    agent.step(file)
    agent.request("", [Call("write_file", {"text": "2"}, "path is missing", failed=True)])
    agent.ask_repair()
    agent.request("The first part of row C is written.")
    agent.end()
    agent.start("Go on, please.")
    agent.request("", [Call("write_file", {"path": "rows/c.csv", "text": "2"}, "piece 2")])
    agent.step(file)
    agent.plan("")
    agent.close_file(file)
    agent.request("Row C is complete.")
    agent.end()
    return [agent.trace()]


def helpers() -> list[Trace]:
    """A helper in a session of its own; inputs one after the other; what happens on the way."""
    clock = Clock()
    agent = Agent("helpers", clock, Setup(ENGLISH, (("human", True),)))
    agent.start(ENGLISH.tasks[4])
    agent.request(status="cancelled")
    agent.change("session", {"permissions": "edit"}, "The person allowed edits.")
    agent.add_input("Only rows A to C, please.", ENGLISH.attachment)
    agent.request("", [Call("read_file", CSV, ENGLISH.results[3])])
    agent.write("subagent.started", agent.run, childSessionId="surveyor",
                parentRequestId=agent.last_request)  # fmt: skip
    child = Agent("surveyor", clock, Setup(ENGLISH, ()))
    child.start("Which trees on these photographs look pruned?")
    child.request("All but two in row B.")
    child.end()
    agent.write("subagent.stopped", agent.run, childSessionId="surveyor",
                parentRequestId=agent.last_request)  # fmt: skip
    agent.happens("system", "ignored_interaction", ENGLISH.ignored)
    agent.request("", [Call("ask_person", {"question": "Count the hedge as well?"}, "asked")])
    agent.happens("user", "guidance", ENGLISH.guidance)
    agent.happens("system", "recovery", ENGLISH.recovery)
    agent.request("Two trees in row B have not been pruned.", attempts=3)
    agent.end()
    agent.start(ENGLISH.tasks[3])
    agent.request(status="failed", attempts=2)
    agent.end("failed")
    return [agent.trace(), child.trace()]


def unusual() -> list[Trace]:
    """Kinds, events and keys that nobody knows, a layout of another agent, no World State text."""
    agent = Agent("unusual", Clock(), Setup(ENGLISH, (), texts=False))
    agent.start(ENGLISH.tasks[1])
    agent.happens("user", "mood_note", "The person sounds tired.", weight=0.4)
    agent.write("weather.changed", agent.run, wind="north", degrees=4)
    agent.request("", [read(3)])
    other = _four_parts(agent)
    agent.send(other, "stop", 1)
    agent.request("Row C is entered.")
    agent.end()
    return [agent.trace()]


def _four_parts(agent: Agent) -> Built:
    built = agent.lay_out()
    built.layout, built.source = "four-parts", "review"
    texts = [m for _, messages in built.segments for m in messages if m.content is not None]
    built.segments = [(4, texts[:1]), (2, texts[1:3]), (20, texts[-1:])]
    return built


STORIES: dict[str, Callable[[], list[Trace]]] = {
    "plain-runs": plain,
    "capabilities": capabilities,
    "skills": skills,
    "compaction": compaction,
    "transaction": transaction,
    "helpers": helpers,
    "unusual": unusual,
}
