"""Scenes with more than one thing in them, and the finer points of the rules."""

import json
from dataclasses import replace

from tests.simulated.agent import Agent
from tests.simulated.scenes_healthy import SUMMARY
from tests.simulated.sections import system_blocks
from tests.simulated.wire import SYSTEM, TOOLS, Message, Part, healthy, missed


def tools_and_instructions(agent: Agent) -> None:
    """A tool server connects late: its tools and its instructions come with the same request."""
    agent.tools = agent.tools[:12]
    agent.warm()
    agent.tell("mcp", "connected to the server `docs` with 3 tools")
    agent.tools += agent.shelf.tools[12:15]
    agent.system = system_blocks(
        agent.rng, agent.texts, mcp="Search first; cite the page and its version."
    )
    agent.work()
    agent.send(missed("TOOLS_CHANGED", "added", (TOOLS, 12)))
    agent.go_on()


def tools_after_pause(agent: Agent) -> None:
    """Tools that come back in another order after a pause that nothing survives."""
    agent.warm()
    agent.tools[3], agent.tools[5] = agent.tools[5], agent.tools[3]
    agent.ask()
    label = missed("TOOLS_CHANGED", "reordered", (TOOLS, 3), either=("TTL_EXPIRED",))
    agent.send(label, after_s=agent.house.idle_s)
    agent.go_on()


def effort_after_pause(agent: Agent) -> None:
    """Another effort, after a pause that nothing survives."""
    agent.params["output_config"] = {"effort": "high"}
    agent.warm()
    agent.params["output_config"] = {"effort": "low"}
    agent.ask()
    label = missed("PARAM_CHANGED", "effort", either=("TTL_EXPIRED",))
    agent.send(label, after_s=agent.house.idle_s)
    agent.go_on()


def long_answer(agent: Agent) -> None:
    """A lifetime runs from the start of a request: four minutes of answer leave one."""
    agent.warm()
    agent.work()
    agent.send(healthy(), thinks_s=2, takes_s=275)
    agent.work()
    agent.send(missed("TTL_EXPIRED"), after_s=330)
    agent.go_on()


def just_in_time(agent: Agent) -> None:
    """Pauses that are long and yet too short, one after another."""
    agent.warm()
    for _ in range(4):
        agent.ask()
        agent.send(healthy(), after_s=280)


def first_image(agent: Agent) -> None:
    """The first picture of a conversation costs the messages tier."""
    agent.warm(5)
    picture = json.dumps({"type": "image", "mediaType": "image/png", "data": "<90311 bytes>"})
    agent.ask(Part("image", picture))
    agent.send(missed("PARAM_CHANGED", "images"))
    agent.go_on()


def workspace(agent: Agent) -> None:
    """Another workspace's key."""
    agent.headers["anthropic-workspace-id"] = "wrkspc_01"
    agent.warm()
    agent.headers["anthropic-workspace-id"] = "wrkspc_02"
    agent.work()
    agent.send(missed("ENDPOINT_CHANGED"))
    agent.go_on()


def betas(agent: Agent) -> None:
    """Another set of beta features, which is part of the prompt here."""
    agent.headers["anthropic-beta"] = "fine-grained-tool-streaming-2025-05-14"
    agent.warm()
    agent.headers["anthropic-beta"] += ",context-management-2025-06-27"
    agent.work()
    agent.send(missed("PARAM_CHANGED", "betas"))
    agent.go_on()


def cleared(agent: Agent) -> None:
    """The user starts over with the same tools and system prompt."""
    agent.warm(5)
    agent.take_nothing()
    agent.talk = []
    agent.tell("clear", "the conversation was cleared")
    agent.ask(size="medium")
    agent.send(healthy("cleared"))
    agent.go_on()


def compacted_silently(agent: Agent) -> None:
    """A summary stands where the conversation was; neither the call nor an event was logged."""
    agent.warm(6)
    agent.take_nothing()
    text = Part("text", SUMMARY + agent.shelf.take("prose"), shape="string")
    agent.talk = [Message("user", (text,))]
    agent.send(healthy("compacted"), after_s=40)
    agent.go_on(3)


def kept_a_day(agent: Agent) -> None:
    """A retention of a day survives a pause of three hours."""
    agent.params["prompt_cache_retention"] = "24h"
    agent.warm()
    agent.ask()
    agent.send(healthy(), after_s=3 * 3_600)
    agent.go_on()


def no_promise(agent: Agent) -> None:
    """A cache without a promise reads nothing, again and again, and then it does."""
    agent.warm(2)
    for n in range(6):
        agent.work(calls=1)
        agent.server.lose_next = n in (0, 2, 3)
        agent.send(missed("SERVER_SIDE") if n in (0, 2, 3) else healthy())


def pause_without_prompts(agent: Agent) -> None:
    """A pause beyond every lifetime in a log that holds no prompts."""
    agent.ask(size="medium")
    agent.send(healthy("first"), prompt_logged=False)
    for n in range(5):
        agent.work(calls=2, size="medium")
        label = missed("TTL_EXPIRED", either=("UNKNOWN",)) if n == 3 else healthy()
        pause = agent.house.idle_s if n == 3 else None
        agent.send(label, after_s=pause, prompt_logged=False)


def windowed_tools(agent: Agent) -> None:
    """A tool's description changes while the log shows the last messages only."""
    agent.warm(5)
    agent.work(calls=1)
    agent.send(healthy("windowed"), shown=6)
    tool = agent.tools[2]
    text = tool.text.replace('"description":"', '"description":"Now in beta. ', 1)
    agent.tools[2] = replace(tool, text=text)
    agent.work(calls=1)
    agent.send(missed("TOOLS_CHANGED", "description", (TOOLS, 2)), shown=6)
    agent.work(calls=1)
    agent.send(healthy("windowed"), shown=6)


def worded_anew(agent: Agent) -> None:
    """The user takes back the last message and words it in another way."""
    agent.warm(4)
    agent.ask()
    agent.send(healthy())
    agent.take_nothing()
    text = Part("text", agent.shelf.take("short"), shape="string")
    agent.talk[-1] = Message("user", (text,))
    agent.send(healthy("rewind"), after_s=25)
    agent.go_on()


def many_rounds(agent: Agent) -> None:
    """A long session: one cleared result, and one date, among forty requests."""
    agent.warm(4)
    for n in range(24):
        if n == 12:
            agent.system = system_blocks(agent.rng, agent.texts, date="2026-01-13")
            agent.work(calls=1, size="short")
            agent.send(missed("SYSTEM_CHANGED", "date", (SYSTEM, 2)))
            continue
        agent.work(calls=1, size="medium" if n % 3 == 0 else "short")
        agent.send(healthy())
