"""Scenes in which the prompt only grows, and the cache is lost by time, place or machine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.simulated.agent import Agent
from tests.simulated.houses import Server
from tests.simulated.markers import MarkerServer
from tests.simulated.prefixes import PrefixServer
from tests.simulated.wire import (
    Billed,
    Message,
    Part,
    Sent,
    healthy,
    missed,
)

# ---- model, place, parameters -------------------------------------------------------------------


def fallback(agent: Agent) -> None:
    """The provider answers with another model than the one that was asked for."""
    agent.warm()
    agent.answered_by = agent.house.other
    agent.work(calls=1, size="short")
    agent.send(missed("MODEL_CHANGED"))
    agent.work(calls=1, size="short")
    agent.send(healthy())
    agent.go_on()


def endpoint(agent: Agent) -> None:
    """Another region, or another gateway's host."""
    agent.warm()
    agent.endpoint = "https://eu.gateway.example/v1"
    agent.work()
    agent.send(missed("ENDPOINT_CHANGED"))
    agent.go_on()


PARAMS: Mapping[str, tuple[str, object, object]] = {
    "effort": ("output_config", {"effort": "high"}, {"effort": "low"}),
    "thinking": ("thinking", {"type": "enabled", "budget_tokens": 8_000}, {"type": "disabled"}),
    "tool_choice": ("tool_choice", {"type": "auto"}, {"type": "any"}),
    "speed": ("speed", "standard", "fast"),
    "reasoning": ("reasoning", {"effort": "high"}, {"effort": "low"}),
    "verbosity": ("text", {"verbosity": "medium"}, {"verbosity": "low"}),
    "service_tier": ("service_tier", "default", "flex"),
    "prompt_cache_key": ("prompt_cache_key", "lane-1", "lane-2"),
    "template": ("chat_template_kwargs", {"enable_thinking": True}, {"enable_thinking": False}),
}
"""Case: the parameter, its value before and after."""

PARAM_SUBTYPES = {"reasoning": "effort", "template": "thinking"}


def parameter(agent: Agent, case: str) -> None:
    """A parameter that belongs to the prefix gets another value."""
    name, before, after = PARAMS[case]
    agent.params[name] = before
    agent.warm()
    agent.params[name] = after
    agent.work()
    agent.send(missed("PARAM_CHANGED", PARAM_SUBTYPES.get(case, case)))
    agent.go_on()


# ---- time ---------------------------------------------------------------------------------------


def expired(agent: Agent) -> None:
    """A pause that outlives every entry."""
    agent.warm()
    agent.ask()
    agent.send(missed("TTL_EXPIRED"), after_s=agent.house.idle_s)
    agent.go_on()


def expired_hour(agent: Agent) -> None:
    """Entries of an hour survive 25 minutes and die within two hours."""
    agent.ttl = "1h"
    agent.warm()
    agent.ask()
    agent.send(healthy(), after_s=25 * 60)
    agent.work()
    agent.send(healthy())
    agent.ask()
    agent.send(missed("TTL_EXPIRED"), after_s=110 * 60)
    agent.go_on()


def downgraded(agent: Agent) -> None:
    """The client asks for an hour, and the provider begins to write for five minutes."""
    server = agent.server
    assert isinstance(server, MarkerServer)
    agent.ttl = "1h"
    agent.warm()
    server.downgrades = True
    # Enough of it that the hour's older entries, which still live, are far behind.
    for _ in range(3):
        agent.work(calls=2, size="medium")
        agent.send(healthy())
    agent.ask()
    agent.send(missed("TTL_DOWNGRADED"), after_s=20 * 60)
    agent.go_on()


# ---- markers ------------------------------------------------------------------------------------


def caching_off(agent: Agent) -> None:
    """A client that sets no marker at all."""
    agent.marked = False
    agent.ask(size="medium")
    agent.send(healthy("first"))
    for _ in range(4):
        agent.work(calls=2, size="medium")
        agent.send(missed("CACHING_OFF"))


def caching_off_once(agent: Agent) -> None:
    """A retry path that leaves the markers out."""
    agent.warm()
    agent.work(calls=1, size="short")
    agent.marked = False
    agent.send(missed("CACHING_OFF"))
    agent.marked = True
    agent.work(calls=1, size="short")
    agent.send(healthy())
    agent.go_on()


def explicit_without(agent: Agent) -> None:
    """Explicit mode, and no breakpoint."""
    agent.params["prompt_cache_options"] = {"mode": "explicit"}
    agent.server = _NoCache(agent.server)
    agent.ask(size="medium")
    agent.send(healthy("first"))
    agent.go_on(4, missed("CACHING_OFF"))


def below_minimum(agent: Agent) -> None:
    """Prompts that the model does not cache at all."""
    agent.tools = agent.tools[:1]
    agent.ask()
    agent.send(healthy("first"))
    for _ in range(2):
        agent.work(calls=1, size="short")
        agent.send(missed("BELOW_MINIMUM"))


def breakpoint_missing(agent: Agent) -> None:
    """The system prompt is marked, and nothing behind it."""
    agent.warm()
    agent.mark_talk = False
    for _ in range(3):
        agent.work(calls=2, size="medium")
        agent.send(missed("BREAKPOINT_MISSING"))


def lookback(agent: Agent) -> None:
    """A message of many pieces puts the next marker out of reach of the last one."""
    agent.warm()
    agent.work(calls=2, size="long")
    agent.send(healthy())
    pieces = [Part("text", agent.shelf.take("short")) for _ in range(27)]
    agent.ask(*pieces)
    agent.send(missed("LOOKBACK_EXCEEDED"))
    agent.go_on()


def lookback_calls(agent: Agent) -> None:
    """Fourteen parallel calls are 28 positions where runs are not counted as one."""
    agent.warm()
    agent.work(calls=2, size="long")
    agent.send(healthy())
    agent.work(calls=14, size="short")
    agent.send(missed("LOOKBACK_EXCEEDED"))
    agent.go_on()


def unreachable(agent: Agent) -> None:
    """The last marker stands on a note that no later request carries."""
    agent.warm(2)
    for n in range(5):
        agent.work(calls=2, size="medium")
        note = agent.note("Tokens left: " + agent.shelf.take("short"))
        agent.talk.append(Message("user", (note,)))
        agent.send(missed("BREAKPOINT_UNREACHABLE") if n else healthy())
        agent.talk.pop()


# ---- machines -----------------------------------------------------------------------------------


def concurrent_subagents(agent: Agent) -> None:
    """Three subagents with one prefix start before the first can be read."""
    agent.warm(2)
    lead = Message("user", (Part("text", agent.shelf.take("long")),))
    now = agent.now_ms
    for n in range(3):
        child = agent.branch(f"agent_{n}")
        child.tools = child.tools[:8]
        child.system = [Part("text", "You are a scout of a larger task.\n" + lead.parts[0].text)]
        child.talk = [lead]
        child.now_ms = now
        child.ask()
        label = missed("CONCURRENT") if n else healthy("subagent")
        child.send(label, after_s=8 + 0.2 * n, source="subagent", thinks_s=3)
    agent.now_ms = now + 20_000
    agent.go_on()


def concurrent_question(agent: Agent) -> None:
    """A question on the side starts while a big step cannot be read yet."""
    agent.warm()
    agent.work(calls=3, size="long")
    agent.send(healthy(), thinks_s=9)
    side = agent.branch("question")
    side.talk = list(agent.talk)
    side.talk.append(Message("user", (Part("text", agent.shelf.take("short")),)))
    side.send(missed("CONCURRENT"), after_s=4, source="subagent")
    agent.now_ms += 20_000
    agent.go_on()


def slot_taken(agent: Agent) -> None:
    """A title call takes the only slot."""
    agent.warm()
    side = agent.branch("title")
    side.tools, side.system = [], [Part("text", "Give this conversation a title of five words.")]
    side.ask(size="medium")
    side.send(healthy("title"), after_s=9, source="session_title")
    agent.now_ms = side.now_ms
    agent.work()
    agent.send(missed("SIDECAR_EVICTION"))
    agent.go_on()


def memory_pressure(agent: Agent) -> None:
    """Another lane's big prompt pushes this one out of the engine's memory."""
    assert isinstance(agent.server, PrefixServer)
    agent.server.capacity = 45_000
    agent.warm()
    side = agent.branch("scan")
    side.tools, side.system = [], [Part("text", "You read a whole repository at once.")]
    side.ask(*(Part("text", agent.shelf.take("long")) for _ in range(14)))
    side.send(healthy("subagent"), after_s=12, source="subagent")
    agent.now_ms = side.now_ms
    agent.work(calls=1, size="short")
    agent.send(missed("SIDECAR_EVICTION"))
    agent.go_on()


def affinity_header(agent: Agent) -> None:
    """One request carries another session header and reaches a machine that knows nothing."""
    agent.warm()
    agent.work(calls=1, size="short")
    agent.headers["x-session-id"], agent.node = "fresh-5d21", "b"
    agent.send(missed("AFFINITY"))
    agent.headers["x-session-id"], agent.node = agent.session, "a"
    agent.work(calls=1, size="short")
    agent.send(healthy())
    agent.go_on()


def affinity_absent(agent: Agent) -> None:
    """Without a session header, requests wander between machines."""
    del agent.headers["x-session-id"]
    agent.warm()
    for node in ("b", "a", "c", "a", "d", "a"):
        agent.node = node
        agent.work(calls=1, size="short")
        agent.send(healthy() if node == "a" else missed("AFFINITY"))


def stripped(agent: Agent) -> None:
    """A plain message of the user makes the provider drop the reasoning before it."""
    agent.warm(2)
    for _ in range(2):
        agent.work(calls=2, size="long")
        agent.send(healthy())
        agent.work(calls=2, size="medium")
        agent.send(healthy())
        agent.ask()
        agent.send(missed("SERVER_STRIPPED"))


def lost(agent: Agent) -> None:
    """The provider finds nothing once, for no reason on this side."""
    agent.warm()
    for _ in range(2):
        agent.work(calls=1)
        agent.server.lose_next = True
        agent.send(missed("SERVER_SIDE"))
        agent.go_on(3)


def gateway(agent: Agent) -> None:
    """A gateway puts a line of its own before the prompt that it passes on."""
    agent.server = _Gateway(agent.server)
    agent.warm()
    agent.endpoint = _Gateway.URL
    agent.work()
    agent.send(missed("ENDPOINT_CHANGED"))
    # One request through the gateway proves nothing yet: by elimination it is the provider's side.
    agent.work()
    agent.send(missed("GATEWAY_REWRITE", either=("SERVER_SIDE",)))
    agent.go_on(4, missed("GATEWAY_REWRITE"))


def both(agent: Agent) -> None:
    """A pause beyond every lifetime, and another date after it."""
    agent.warm()
    agent.system[-1] = replace(
        agent.system[-1], text=agent.system[-1].text.replace("2026-01-12", "2026-01-13")
    )
    agent.ask()
    agent.send(missed("SYSTEM_CHANGED", either=("TTL_EXPIRED",)), after_s=agent.house.idle_s)
    agent.go_on()


@dataclass(slots=True)
class _NoCache:
    inner: Server
    lose_next: bool = False

    def answer(self, sent: Sent) -> Billed:
        return replace(self.inner.answer(sent), read=0, write=0)

    def said(self, sent: Sent) -> int:
        return self.inner.said(sent)


@dataclass(slots=True)
class _Gateway:
    inner: Server
    lose_next: bool = False
    count: int = 0

    URL = "https://llm-gateway.example/proxy"

    def answer(self, sent: Sent) -> Billed:
        return self.inner.answer(self._passed_on(sent))

    def said(self, sent: Sent) -> int:
        return self.inner.said(sent)

    def _passed_on(self, sent: Sent) -> Sent:
        if sent.endpoint != self.URL:
            return sent
        self.count += 1
        line = Part("tool", f'{{"name":"_request","description":"{self.count}"}}', "_request")
        return replace(sent, tools=(line, *sent.tools))
