"""The simulated providers: how they bill, what they cache by, how a client talks to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.simulated.markers import MarkerServer
from tests.simulated.prefixes import BreakpointServer, PrefixServer, SlotServer, UnitServer
from tests.simulated.stream import Pricing
from tests.simulated.wire import Billed, Sent

HOUR_MS = 3_600_000


class Server(Protocol):
    """A provider's cache. `lose_next` makes the next request find nothing, whatever it asks."""

    lose_next: bool

    def answer(self, sent: Sent) -> Billed:
        """The bill of a request."""
        ...

    def said(self, sent: Sent) -> int:
        """The answer of a request is known in full; its tokens."""
        ...


@dataclass(frozen=True, slots=True)
class House:
    """A provider and a model of it.

    `marks`: the client has to set markers. `exclusive`: input is reported without the cache counts.
    `writes`: writes are reported. `idle_s` is a pause that certainly outlives an entry, None where
    no lifetime is known. `other` is a second model of the provider. `thinks`: answers hold
    reasoning that is sent back. `pace_s` is the least time from one step to the next.
    """

    name: str
    provider_id: str
    model: str
    other: str
    endpoint: str
    server: Callable[[], Server]
    marks: bool = False
    exclusive: bool = False
    writes: bool = False
    idle_s: int | None = None
    thinks: bool = False
    pace_s: int = 6


CLAUDE = House(
    "claude", "anthropic", "claude-opus-5", "claude-sonnet-5", "https://api.anthropic.com",
    lambda: MarkerServer(Pricing(1.12, 1.3, 5), 512),
    marks=True, exclusive=True, writes=True, idle_s=900, thinks=True,
)  # fmt: skip
CLAUDE_OLD = House(
    "claude-old", "anthropic", "claude-haiku-4-5", "claude-sonnet-4-5",
    "https://api.anthropic.com",
    lambda: MarkerServer(Pricing(1.0, 1.25, 5), 4_096, strips=True),
    marks=True, exclusive=True, writes=True, idle_s=900, thinks=True,
)  # fmt: skip
BEDROCK = House(
    "bedrock", "amazon-bedrock", "anthropic.claude-sonnet-4-5", "anthropic.claude-opus-4-8",
    "https://bedrock-runtime.us-east-1.amazonaws.com",
    lambda: MarkerServer(Pricing(1.05, 1.25, 5), 1_024, runs_as_one=False),
    marks=True, exclusive=True, writes=True, idle_s=900,
)  # fmt: skip
GPT = House(
    "gpt", "openai", "gpt-5.5", "gpt-5.5-mini", "https://api.openai.com/v1",
    lambda: PrefixServer(Pricing(0.92, 0.8, 3), 128, 1_024, HOUR_MS),
    idle_s=3 * 3_600,
)  # fmt: skip
GPT_NEW = House(
    "gpt-new", "openai", "gpt-5.6", "gpt-5.6-mini", "https://api.openai.com/v1",
    lambda: BreakpointServer(Pricing(0.92, 0.8, 3), HOUR_MS),
    writes=True, idle_s=4 * 3_600,
)  # fmt: skip
DEEPSEEK = House(
    "deepseek", "deepseek", "deepseek-v4", "deepseek-v4-flash", "https://api.deepseek.com",
    lambda: UnitServer(Pricing(0.95, 0.9, 4)), thinks=True, pace_s=14,
)  # fmt: skip
GLM = House(
    "glm", "builtin:zai-coding-plan", "glm-5", "glm-4.7", "https://api.z.ai/api/coding/paas/v4",
    lambda: PrefixServer(Pricing(0.97, 0.9, 4), 64, 64, HOUR_MS // 2),
    idle_s=3 * 3_600, thinks=True,
)  # fmt: skip
GEMINI = House(
    "gemini", "google", "gemini-3-pro", "gemini-3-flash",
    "https://generativelanguage.googleapis.com",
    lambda: PrefixServer(Pricing(1.02, 0.85, 2), 1, 4_096),
)  # fmt: skip
VLLM = House(
    "vllm", "vllm", "qwen3-coder", "qwen3-next", "http://10.0.0.7:8000/v1",
    lambda: PrefixServer(Pricing(1.0, 0.95, 4), 16, 16, keeps_output=True, capacity=200_000),
)  # fmt: skip
SGLANG = House(
    "sglang", "sglang", "qwen3-coder", "qwen3-next", "http://10.0.0.8:30000/v1",
    lambda: PrefixServer(Pricing(1.0, 0.95, 4), 1, 1),
)  # fmt: skip
LLAMACPP = House(
    "llamacpp", "llama-server", "qwen3-coder-30b", "qwen3-next", "http://127.0.0.1:8080/v1",
    lambda: SlotServer(Pricing(1.0, 0.95, 4)),
)  # fmt: skip

ALL = (
    CLAUDE, CLAUDE_OLD, BEDROCK, GPT, GPT_NEW, DEEPSEEK, GLM, GEMINI, VLLM, SGLANG, LLAMACPP,
)  # fmt: skip


def house_named(name: str) -> House:
    """The house of that name."""
    return next(house for house in ALL if house.name == name)
