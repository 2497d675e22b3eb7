"""A simulated provider: an implicit prompt cache that reads whole blocks of 64 tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from generate.entries import Projected
from generate.text import Json, compact_json, weight

BLOCK_TOKENS = 64
LIFETIME = timedelta(minutes=30)

# Real tokens for one estimated token; the agent's estimate is a little high for English prose.
TOKENS_PER_ESTIMATE = 0.82


@dataclass(frozen=True)
class Usage:
    """Token counts of one request; `input` includes cache reads and writes."""

    input: int
    output: int
    cache_read: int
    cache_write: int = 0


@dataclass
class _Stored:
    model: str
    blocks: list[str]
    used_at: datetime
    started_at: datetime


def tokens_of(size: int) -> int:
    """Return the provider's tokens for a summed `weight`."""
    return round(size * TOKENS_PER_ESTIMATE / 3)


def rendered_prompt(tools: Sequence[Json], messages: Sequence[Projected]) -> list[str]:
    """Return the prompt in the order the provider reads it: tools, system, messages."""
    blocks = [compact_json(tool) for tool in tools]
    for item in messages:
        message = {k: v for k, v in item.message.items() if k in _RENDERED_KEYS}
        role = message.pop("role")
        blocks.append(f"<|{role}|>{compact_json(message)}")
    return blocks


_RENDERED_KEYS = {"role", "content", "toolCalls", "toolCallId", "isError"}


def common_prefix_weight(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the summed weight of the longest common prefix of two rendered prompts."""
    total = 0
    for mine, other in zip(left, right, strict=False):
        if mine == other:
            total += weight(mine)
            continue
        shared = next(
            (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b),
            min(len(mine), len(other)),
        )
        return total + weight(mine[:shared])
    return total


class ProviderCache:
    """Prompts of the last half hour, shared by every session of one account."""

    def __init__(self) -> None:
        self._stored: list[_Stored] = []

    def charge(self, model: str, blocks: list[str], output: int, now: datetime) -> Usage:
        """Return the usage of a request that starts at `now`, and remember its prompt."""
        total = tokens_of(sum(map(weight, blocks)))
        best, best_tokens = None, 0
        for stored in self._stored:
            usable = stored.started_at < now and now - stored.used_at <= LIFETIME
            if usable and stored.model == model:
                shared = tokens_of(common_prefix_weight(blocks, stored.blocks))
                if shared > best_tokens:
                    best, best_tokens = stored, shared
        if best is not None:
            best.used_at = max(best.used_at, now)
        self._stored.append(_Stored(model, blocks, now, now))
        read = min(best_tokens, total - 1) // BLOCK_TOKENS * BLOCK_TOKENS
        return Usage(total, output, read)
