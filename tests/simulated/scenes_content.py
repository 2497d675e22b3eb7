"""Scenes in which the client changes what stands before the new messages.

Each takes an agent that is new, plays a session, and labels every request. Changes stand so far
from the end that what they cost is beyond every noise.
"""

import json
from collections.abc import Callable
from dataclasses import replace

from tests.simulated.agent import Agent
from tests.simulated.sections import CHANGES, NONCES, system_blocks
from tests.simulated.wire import MESSAGES, SYSTEM, TOOLS, Message, Part, healthy, missed

# ---- tools --------------------------------------------------------------------------------------


def tools_added(agent: Agent) -> None:
    """A server's tools arrive after the first requests, in the middle of the list."""
    agent.tools = agent.tools[:12]
    agent.warm()
    at = agent.rng.choice((5, 9, 12))
    agent.tell("mcp", "connected to the server `issues` with 3 tools")
    agent.tools[at:at] = agent.shelf.tools[15:18]
    agent.work()
    agent.send(missed("TOOLS_CHANGED", "added", (TOOLS, at)))
    agent.go_on()


def tools_removed(agent: Agent) -> None:
    """A server's tools are gone."""
    agent.warm()
    at = agent.rng.randint(2, 11)
    del agent.tools[at : at + agent.rng.randint(1, 2)]
    agent.work()
    agent.send(missed("TOOLS_CHANGED", "removed", (TOOLS, at)))
    agent.go_on()


def tools_reordered(agent: Agent) -> None:
    """Two servers answer in another order after a restart."""
    agent.tools = agent.shelf.tools[:18]
    agent.warm()
    at = agent.rng.choice((4, 12))
    middle = (at + 18) // 2
    agent.tools = agent.tools[:at] + agent.tools[middle:] + agent.tools[at:middle]
    agent.work()
    agent.send(missed("TOOLS_CHANGED", "reordered", (TOOLS, at)))
    agent.go_on()


def tools_schema(agent: Agent) -> None:
    """A field of a tool's schema has another type."""
    _edit_tool(agent, "schema", lambda text: text.replace('"string"', '"integer"', 1))


def tools_description(agent: Agent) -> None:
    """A tool's description says more."""
    _edit_tool(
        agent,
        "description",
        lambda text: text.replace('"description":"', '"description":"Now in beta. ', 1),
    )


def tools_key_order(agent: Agent) -> None:
    """A tool is serialised from a map without an order."""

    def turned(text: str) -> str:
        tool = json.loads(text)
        schema = tool["input_schema"]
        properties = schema["properties"]
        tool["input_schema"] = {
            **schema,
            "properties": {name: properties[name] for name in reversed(properties)},
        }
        return json.dumps(tool, separators=(",", ":"))

    _edit_tool(agent, "key order", turned)


def _edit_tool(agent: Agent, subtype: str, edit: Callable[[str], str]) -> None:
    agent.warm()
    at = agent.rng.randint(0, 8)
    tool = agent.tools[at]
    agent.tools[at] = replace(tool, text=edit(tool.text))
    agent.work()
    agent.send(missed("TOOLS_CHANGED", subtype, (TOOLS, at)))
    agent.go_on()


# ---- the system prompt --------------------------------------------------------------------------


def system_changed(agent: Agent, subtype: str) -> None:
    """A part of the system prompt changes once."""
    before, after, block = CHANGES[subtype]
    agent.system = system_blocks(agent.rng, agent.texts, **before)
    agent.warm()
    agent.system = system_blocks(agent.rng, agent.texts, **{**before, **after})
    agent.ask()
    agent.send(missed("SYSTEM_CHANGED", subtype, (SYSTEM, block)))
    agent.go_on()


def system_always_new(agent: Agent, subtype: str) -> None:
    """A part of the system prompt is another one in every request."""
    block = CHANGES[subtype][2]
    sample = NONCES[subtype]
    agent.system = system_blocks(agent.rng, agent.texts, **sample(agent.rng))
    label = missed("SYSTEM_CHANGED", subtype, (SYSTEM, block))
    agent.ask(Part("text", agent.shelf.take("long")), size="medium")
    agent.send(healthy("first"))
    for _ in range(5):
        agent.system = system_blocks(agent.rng, agent.texts, **sample(agent.rng))
        agent.work(calls=2, size="medium")
        agent.send(label)


# ---- history ------------------------------------------------------------------------------------


def results_cleared(agent: Agent) -> None:
    """Old tool results give way to a placeholder."""
    _warm_long(agent)
    first = _first(agent, lambda m: m.role == "tool" and len(m.parts[0].text) > 1_000)
    for at in range(first, first + 2):
        message = agent.talk[at]
        if message.role == "tool":
            cleared = replace(message.parts[0], text="[Old tool result content cleared]")
            agent.talk[at] = replace(message, parts=(cleared,))
    _resend(agent, "TOOL_RESULT_CLEARED", first)


def image_stripped(agent: Agent) -> None:
    """A picture of an earlier turn is replaced by words."""
    size = agent.rng.randint(90_000, 400_000)
    picture = json.dumps({"type": "image", "mediaType": "image/png", "data": f"<{size} bytes>"})
    agent.ask(Part("image", picture))
    agent.send(healthy("first"))
    _warm_long(agent, first=False)
    message = agent.talk[0]
    words = Part("text", "[image removed to save space]")
    agent.talk[0] = replace(message, parts=(words, *message.parts[1:]))
    _resend(agent, "IMAGE_STRIPPED", 0)


def thinking_stripped(agent: Agent) -> None:
    """The client drops the reasoning of earlier answers."""
    _warm_long(agent)
    first = _first(agent, lambda m: any(p.kind == "reasoning" for p in m.parts))
    for at, message in enumerate(agent.talk):
        kept = tuple(part for part in message.parts if part.kind != "reasoning")
        agent.talk[at] = replace(message, parts=kept)
    _resend(agent, "THINKING_STRIPPED", first)


def shape_changed(agent: Agent) -> None:
    """A resumed session sends the first message as an array instead of a string."""
    _warm_long(agent)
    message = agent.talk[0]
    parts = tuple(replace(part, shape="array") for part in message.parts)
    agent.talk[0] = replace(message, parts=parts)
    _resend(agent, "SHAPE_CHANGED", 0)


def reminder_removed(agent: Agent) -> None:
    """A reminder that stood in the first message is not sent any more."""
    agent.ask(agent.note("The TodoWrite tool hasn't been used recently. " + _filler(agent)))
    agent.send(healthy("first"))
    _warm_long(agent, first=False)
    message = agent.talk[0]
    agent.talk[0] = replace(message, parts=message.parts[1:])
    _resend(agent, "REMINDER_REMOVED", 0)


def reminder_inserted(agent: Agent) -> None:
    """A reminder appears in the middle of what was sent before."""
    _warm_long(agent)
    note = agent.note("The TodoWrite tool hasn't been used recently. " + _filler(agent))
    agent.talk.insert(3, Message("user", (note,)))
    _resend(agent, "REMINDER_INSERTED", 3)


def reminder_message_removed(agent: Agent) -> None:
    """A reminder with a message of its own is not sent any more."""
    agent.ask()
    note = agent.note("The TodoWrite tool hasn't been used recently. " + _filler(agent))
    agent.talk.append(Message("user", (note,)))
    agent.send(healthy("first"))
    _warm_long(agent, first=False)
    del agent.talk[1]
    _resend(agent, "REMINDER_REMOVED", 1)


def reminder_moved(agent: Agent) -> None:
    """The skills listing floats to the newest message of the user."""
    note = agent.note("The following skills are available for use with the Skill tool:\n\n"
                      + _filler(agent))  # fmt: skip
    agent.ask(note)
    agent.send(healthy("first"))
    _warm_long(agent, first=False)
    message = agent.talk[0]
    agent.talk[0] = replace(message, parts=message.parts[1:])
    agent.ask(note)
    agent.send(missed("HISTORY_REWRITTEN", "REMINDER_MOVED", (MESSAGES, 0)))
    agent.go_on()


def role_hoisted(agent: Agent) -> None:
    """A system message inside the conversation is lifted into the system prompt."""
    agent.warm(2)
    agent.ask()
    text = "Plan mode is active. " + _filler(agent)
    agent.talk.append(Message("system", (Part("text", text, shape="string"),)))
    agent.send(healthy())
    _warm_long(agent, first=False)
    at = next(i for i, m in enumerate(agent.talk) if m.role == "system")
    agent.system.append(Part("text", agent.talk.pop(at).parts[0].text))
    agent.work()
    agent.send(missed("HISTORY_REWRITTEN", "ROLE_SYSTEM_HOISTED", (SYSTEM, 3),
                      either=("SYSTEM_CHANGED",)))  # fmt: skip
    agent.go_on()


def reordered(agent: Agent) -> None:
    """The results of two calls change places."""
    _warm_long(agent)
    first = _first(agent, lambda m: m.role == "tool")
    agent.talk[first], agent.talk[first + 1] = agent.talk[first + 1], agent.talk[first]
    _resend(agent, "REORDERED", first)


def edited(agent: Agent) -> None:
    """An old message is worded anew, and everything behind it is kept."""
    _warm_long(agent)
    message = agent.talk[0]
    text = replace(message.parts[0], text=agent.shelf.take("medium"))
    agent.talk[0] = replace(message, parts=(text,))
    _resend(agent, "EDIT", 0)


def repaired(agent: Agent) -> None:
    """A tool call without a result gets one afterwards."""
    agent.warm(2)
    agent.work(calls=1)
    dangling = agent.talk.pop()
    at = len(agent.talk)
    agent.ask()
    agent.send(healthy())
    _warm_long(agent, first=False)
    result = replace(dangling.parts[0], text="[The call was interrupted.]")
    agent.talk.insert(at, replace(dangling, parts=(result,)))
    _resend(agent, "REPAIRED", at)


def arguments_reserialised(agent: Agent) -> None:
    """The arguments of old calls come back with their keys in another order."""
    _warm_long(agent)
    first = _first(agent, lambda m: any(p.kind == "call" for p in m.parts))
    for at, message in enumerate(agent.talk):
        parts = tuple(_turned(part) if part.kind == "call" else part for part in message.parts)
        agent.talk[at] = replace(message, parts=parts)
    _resend(agent, "ARGS_RESERIALISED", first)


def tail_window(agent: Agent) -> None:
    """The client really sends the last messages only."""
    agent.warm(5)
    size = len(agent.talk)
    for _ in range(4):
        agent.work(calls=1, size="medium")
        agent.talk.pop(0)
        while len(agent.talk) > size or agent.talk[0].role == "tool":
            agent.talk.pop(0)
        agent.send(missed("TAIL_WINDOW", "", (MESSAGES, 0)))


def _turned(part: Part) -> Part:
    given = json.loads(part.text)
    turned = {name: given[name] for name in reversed(given)}
    return replace(part, text=json.dumps(turned, separators=(",", ":")))


def _filler(agent: Agent) -> str:
    return agent.shelf.take("short")


def _warm_long(agent: Agent, *, first: bool = True) -> None:
    """A conversation with much behind its beginning."""
    if first:
        agent.warm(3)
    for _ in range(3):
        agent.work(calls=2, size="medium")
        agent.send(healthy())


def _first(agent: Agent, wanted: Callable[[Message], bool]) -> int:
    return next(i for i, message in enumerate(agent.talk) if wanted(message))


def _resend(agent: Agent, subtype: str, at: int) -> None:
    """The next step of the bent conversation, and two that go on."""
    agent.work(calls=1, size="short")
    agent.send(missed("HISTORY_REWRITTEN", subtype, (MESSAGES, at)))
    agent.go_on()
