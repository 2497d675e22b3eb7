"""Scenes in which nothing is lost, however it looks, and such as a log cannot explain."""

from dataclasses import replace

from tests.simulated.agent import Agent
from tests.simulated.wire import SYSTEM, Mark, Message, Part, healthy, missed

SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The conversation is summarized below:\n\n"
)


def appended(agent: Agent) -> None:
    """Thirty requests that only go on."""
    agent.warm()
    for n in range(26):
        if n % 5 == 4:
            agent.ask()
        else:
            agent.work(calls=agent.rng.choice((1, 1, 2)), size="short" if n % 3 else "medium")
        agent.send(healthy())


def retried(agent: Agent) -> None:
    """A call fails and is sent again; one is answered and sent again all the same."""
    agent.warm()
    agent.work()
    agent.send(healthy("failed"), fails=529)
    agent.send(healthy("retry"), attempt=2, after_s=4)
    agent.work()
    agent.send(healthy())
    agent.send(healthy("retry"), attempt=2, after_s=31)
    agent.go_on()


def failed(agent: Agent) -> None:
    """Calls that are turned down, and one that is not."""
    agent.warm(3)
    agent.ask()
    for status in (400, 400, 429):
        agent.send(healthy("failed"), fails=status, after_s=5)
    agent.send(healthy("retry"), after_s=9, attempt=4)
    agent.go_on()


def compacted(agent: Agent) -> None:
    """The conversation is summarised by a call of its own and goes on behind the summary."""
    agent.warm(6)
    side = agent.branch("compact")
    side.session = agent.session
    side.talk = list(agent.talk)
    ask = "Summarise the conversation so far: what was asked, done, decided, and what is open."
    side.talk.append(Message("user", (Part("text", ask, shape="string"),)))
    side.send(healthy("compaction call"), source="compact", after_s=8)
    agent.now_ms = side.now_ms
    if agent.rng.random() < 0.5:
        agent.tell("compaction", "the conversation was compacted")
    kept = agent.talk[-1:] if agent.talk[-1].role == "user" else []
    agent.take_nothing()
    summary = SUMMARY + agent.shelf.take("prose")
    agent.talk = [Message("user", (Part("text", summary, shape="string"),)), *kept]
    agent.send(healthy("compacted"), after_s=14)
    agent.go_on(3)


def compacted_apart(agent: Agent) -> None:
    """The summary is made with another system prompt and without tools."""
    agent.warm(6)
    side = agent.branch("compact")
    side.session, side.tools = agent.session, []
    side.system = [Part("text", "You write summaries of conversations, complete and short.")]
    side.talk = list(agent.talk)
    side.send(healthy("compaction call"), source="compact", after_s=8)
    agent.now_ms = side.now_ms
    agent.take_nothing()
    summary = SUMMARY + agent.shelf.take("prose")
    agent.talk = [Message("user", (Part("text", summary, shape="string"),))]
    agent.send(healthy("compacted"), after_s=14)
    agent.go_on(3)


def titled(agent: Agent) -> None:
    """A title is made beside the first request."""
    agent.ask(size="medium")
    agent.send(healthy("first"))
    side = agent.branch("title")
    side.session = agent.session
    side.tools, side.system = [], [Part("text", "Give this conversation a title of five words.")]
    side.ask(size="short")
    side.send(healthy("title"), source="session_title", after_s=1)
    agent.now_ms = side.now_ms
    agent.go_on(4)


def switched(agent: Agent) -> None:
    """The user chooses another model."""
    agent.warm()
    agent.tell("model", f"{agent.model} -> {agent.house.other}")
    if agent.rng.random() < 0.5:
        agent.system[-1] = replace(
            agent.system[-1], text=agent.system[-1].text.replace(agent.model, agent.house.other)
        )
    agent.model = agent.house.other
    agent.ask()
    agent.send(healthy("model switch"))
    agent.go_on(3)


def subagents(agent: Agent) -> None:
    """A subagent works between two steps of the main conversation."""
    agent.warm()
    child = agent.branch("agent_0")
    child.tools = child.tools[:5]
    child.system = [Part("text", "You are a scout. Find the answer, change nothing, come back.")]
    child.ask(Part("text", agent.shelf.take("long")), size="long")
    child.send(healthy("subagent"), source="subagent", after_s=7)
    for _ in range(3):
        child.work(calls=1)
        child.send(healthy(), source="subagent")
    agent.now_ms = child.now_ms
    agent.go_on(3)


def rewound(agent: Agent) -> None:
    """The user goes back to an earlier message and says something else."""
    agent.warm(3)
    back = len(agent.talk)
    agent.ask()
    agent.send(healthy())
    agent.go_on(2)
    del agent.talk[back + 1 :]
    agent.take_nothing()
    agent.talk.append(Message("user", (Part("text", agent.shelf.take("short"), shape="string"),)))
    agent.send(healthy("rewind"), after_s=40)
    agent.go_on()


def kept_alive(agent: Agent) -> None:
    """A question on the side, every four minutes, keeps the conversation's entries alive."""
    agent.warm()
    side = agent.branch("question")
    side.talk = list(agent.talk)
    side.talk.append(Message("user", (Part("text", agent.shelf.take("short"), shape="string"),)))
    side.send(healthy(), after_s=240, source="subagent")
    agent.now_ms = side.now_ms
    agent.work(calls=1, size="short")
    agent.send(healthy(), after_s=240)
    agent.go_on()


def prewarmed(agent: Agent) -> None:
    """A first request that asks for no answer."""
    agent.params["max_tokens"] = 0
    agent.ask(size="medium")
    agent.send(healthy("first"))
    agent.take_nothing()
    agent.params["max_tokens"] = 32_000
    agent.send(healthy(), after_s=5)
    agent.go_on(3)


def noted(agent: Agent) -> None:
    """System messages and reminders come in behind what is cached."""
    agent.warm()
    agent.ask()
    note = Part("text", "Plan mode is active. " + agent.shelf.take("short"), shape="string")
    agent.talk.append(Message("system", (note,)))
    agent.send(healthy())
    agent.work()
    agent.talk.append(Message("user", (agent.note("The date has changed."),)))
    agent.send(healthy())
    agent.go_on()


def markers_moved(agent: Agent) -> None:
    """Markers come and go on equal content; what was written stays in reach."""
    agent.warm()
    agent.extra_marks = (Mark(SYSTEM, 0, 0, "5m"),)
    agent.go_on(2)
    agent.extra_marks = (Mark("tools", len(agent.tools) - 1, 0, "5m"),)
    agent.go_on(2)


def tool_choice_kept(agent: Agent) -> None:
    """Tools are restricted by a parameter that leaves the prefix alone."""
    agent.params["tool_choice"] = "auto"
    agent.warm()
    agent.params["tool_choice"] = "none"
    agent.go_on(2)


def small_change(agent: Agent) -> None:
    """A reminder near the end is gone: what it costs is less than any noise."""
    agent.warm()
    agent.ask()
    agent.talk.append(Message("user", (agent.note("The date has changed."),)))
    agent.send(healthy())
    at = len(agent.talk) - 1
    agent.thinks = False
    agent.work(calls=1, size="short")
    del agent.talk[at]
    agent.send(healthy("small change"))
    agent.go_on()


def windowed(agent: Agent) -> None:
    """The log shows the last messages only; the prompt is whole."""
    agent.warm(5)
    for n in range(6):
        agent.work(calls=1, size="medium" if n % 2 else "short")
        agent.send(healthy("windowed"), shown=8)


def log_begins_late(agent: Agent) -> None:
    """The log begins in the middle of the session, and shows the last messages only."""
    agent.warm(5)
    agent.work()
    agent.send(healthy())
    agent.forget_log()
    for n in range(5):
        agent.work(calls=1, size="medium" if n % 2 else "short")
        agent.send(healthy("windowed" if n else "first"), shown=6)


def not_reported(agent: Agent) -> None:
    """The log has no count of the read."""
    agent.ask(size="medium")
    agent.send(healthy("not reported"), read_reported=False)
    for _ in range(3):
        agent.work()
        agent.send(healthy("not reported"), read_reported=False)


def unknown(agent: Agent) -> None:
    """A read is gone, and no prompt was logged that could tell why."""
    agent.ask(size="medium")
    agent.send(healthy("first"), prompt_logged=False)
    for n in range(6):
        agent.work(calls=2, size="medium")
        agent.server.lose_next = n == 3
        label = missed("UNKNOWN") if n == 3 else healthy()
        agent.send(label, prompt_logged=False)


def hidden_edit(agent: Agent) -> None:
    """An old message is edited where the log does not show it."""
    agent.warm(5)
    for _ in range(3):
        agent.work(calls=1, size="medium")
        agent.send(healthy("windowed"), shown=6)
    message = agent.talk[0]
    text = replace(message.parts[0], text=agent.shelf.take("medium"))
    agent.talk[0] = replace(message, parts=(text,))
    agent.work(calls=1, size="medium")
    agent.send(missed("UNKNOWN"), shown=6)
    agent.work(calls=1, size="medium")
    agent.send(healthy("windowed"), shown=6)


def reporting_gap(agent: Agent) -> None:
    """After an upgrade of the client no read is reported as anything but 0."""
    agent.warm(6)
    agent.client_version = "1.5.0"
    for n in range(5):
        agent.work()
        # Two zeroes are no pattern yet: by elimination they are the provider's side.
        either = ("SERVER_SIDE",) if n < 2 else ()
        agent.send(missed("REPORTING_GAP", either=either), reported_read=0)
