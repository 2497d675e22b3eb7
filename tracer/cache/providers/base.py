"""What a provider family is: values, each with its source. No provider is code."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from tracer.model.usage import Convention

T = TypeVar("T")

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Value(Generic[T]):
    """A value and where it comes from: a page of the vendor, or what was measured."""

    value: T
    source: str


@dataclass(frozen=True, slots=True)
class ByModel(Generic[T]):
    """A value that depends on the model: the first pattern found in the model's id decides."""

    default: Value[T]
    models: tuple[tuple[str, Value[T]], ...] = ()

    def of(self, model: str) -> Value[T]:
        """The value for a model id."""
        name = model.lower()
        return next((v for pattern, v in self.models if re.search(pattern, name)), self.default)


class Match(StrEnum):
    """How a provider finds what it can reuse (cache-rules.md 1.1, "match unit").

    PREFIX: the longest common prefix, in whole blocks of `granularity` tokens.
    MARKERS: entries that earlier requests wrote at their markers, within `lookback` positions.
    UNITS: whole persisted units only; a common prefix alone is not enough.
    """

    PREFIX = "prefix"
    MARKERS = "markers"
    UNITS = "units"


class Lost(StrEnum):
    """What a changed parameter costs: the named tier and all behind it. UNKNOWN: undocumented."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ParamRule:
    """What changing one parameter costs. `pattern` is searched in the parameter's dotted path, in
    lower case. `may_reach`: on some models it costs this tier, too."""

    name: str
    pattern: str
    lost: ByModel[Lost]
    may_reach: Lost | None = None

    def matches(self, path: str) -> bool:
        """True where the path is this parameter."""
        return re.search(self.pattern, path.lower()) is not None


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long an entry lives after the START of the request that last wrote or read it.

    Before `sure_ms` it lives, after `gone_ms` it is gone, between the two it may be. None: the
    provider names no such time.
    """

    sure_ms: int | None
    gone_ms: int | None


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider family and its rules. `source` of each value says where it comes from.

    `guaranteed` is false where an unread prefix is normal. `self_hosted`: one server, whose slots
    and memory are the user's. `write_delay_ms`: a finished request is readable only after that.
    `keeps_forks`: a prefix at which two prompts parted is reused, too (Match.UNITS).
    `tool_runs_elsewhere`: `tool_runs_are_one` by a pattern of the provider's id or endpoint.
    """

    name: str
    title: str
    endpoints: tuple[str, ...]
    provider_ids: tuple[str, ...]
    model_ids: tuple[str, ...]
    match: ByModel[Match]
    granularity: ByModel[int]
    minimum: ByModel[int]
    lifetime: ByModel[Lifetime]
    convention: Value[Convention]
    write_factor: ByModel[float | None]
    read_factor: ByModel[float | None]
    params: tuple[ParamRule, ...] = ()
    lifetimes: tuple[tuple[str, Value[Lifetime]], ...] = ()
    lookback: Value[int | None] = Value(None, "not applicable")
    tool_runs_are_one: Value[bool] = Value(False, "not applicable")
    tool_runs_elsewhere: tuple[tuple[str, Value[bool]], ...] = ()
    strips_thinking: ByModel[bool] = ByModel(Value(False, "not documented"))
    write_delay_ms: Value[int] = Value(0, "not documented")
    keeps_forks: Value[bool] = Value(False, "not documented")
    needs_opt_in: Value[bool] = Value(False, "automatic")
    guaranteed: Value[bool] = Value(True, "not documented otherwise")
    affinity_headers: Value[tuple[str, ...]] = Value((), "not documented")
    self_hosted: bool = False

    def recognises(self, provider_id: str, model_id: str, endpoint: str) -> float:
        """How sure this family is that a call is its own. The endpoint tells best (1), then the
        provider's id (0.8), then the model's (0.5). An id that often names only the protocol
        (0.4) gives way to a model of another family."""
        model = _found(self.model_ids, model_id)
        if _found(self.endpoints, endpoint):
            return 1.0
        if _found(self.provider_ids, provider_id):
            return 0.4 if model_id and self.model_ids and not model else 0.8
        return 0.5 if model else 0.0

    def named_lifetime(self, ttl: str) -> Value[Lifetime] | None:
        """The lifetime that a marker or parameter asks for by name."""
        return next((value for name, value in self.lifetimes if name == ttl), None)


def _found(patterns: tuple[str, ...], text: str) -> bool:
    return bool(text) and any(re.search(p, text.lower()) for p in patterns)


def same(value: T, source: str) -> ByModel[T]:
    """A value that holds for every model."""
    return ByModel(Value(value, source))
