"""What differs between the parameters of two requests, and what that costs (cache-rules.md 1.2)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from tracer.cache.providers._params import NEUTRAL
from tracer.cache.providers.base import Lost, ParamRule, Provider
from tracer.cache.wording import quoted
from tracer.model.prompt import Kind
from tracer.model.verdict import CallFacts, Difference

_PROMPT_KEYS = frozenset({"messages", "system", "tools", "input", "instructions", "body_text"})
_HEADERS = ("anthropic-beta",)


class ParamChange(NamedTuple):
    """One changed parameter. `old` and `new` are as logged, `absent` where it was not sent."""

    path: str
    old: str
    new: str
    rule: ParamRule | None
    lost: Lost
    source: str

    @property
    def name(self) -> str:
        """The rule's name, else the path."""
        return self.rule.name if self.rule else self.path

    @property
    def may_reach(self) -> Lost | None:
        """The tier that is lost, too, on some models."""
        return self.rule.may_reach if self.rule else None


_DEPTH = (Lost.TOOLS, Lost.SYSTEM, Lost.MESSAGES, Lost.UNKNOWN, Lost.NOTHING)


def param_changes(
    before: CallFacts, after: CallFacts, provider: Provider, difference: Difference | None
) -> tuple[ParamChange, ...]:
    """The changed parameters that can matter to a cache, the costliest first. Parameters without a
    rule come last, with Lost.UNKNOWN and no rule; those that never reach a prompt are left out."""
    old, new = _relevant(before), _relevant(after)
    if not before.params or not after.params:
        body = {p for p in {**old, **new} if not p.startswith("headers.")}
        old = {p: v for p, v in old.items() if p not in body}
        new = {p: v for p, v in new.items() if p not in body}
    found = []
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) == new.get(path) or re.search(NEUTRAL, path.lower()):
            continue
        found.append(_change(path, old.get(path), new.get(path), provider, after.model))
    found += _first_image(provider, difference)
    return tuple(sorted(found, key=lambda c: (c.rule is None, _DEPTH.index(c.lost), c.path)))


def _change(
    path: str, old: str | None, new: str | None, provider: Provider, model: str
) -> ParamChange:
    rule = next((r for r in provider.params if r.matches(path)), None)
    if rule is None:
        return ParamChange(path, old or "absent", new or "absent", None, Lost.UNKNOWN, "no rule")
    value = rule.lost.of(model)
    return ParamChange(path, old or "absent", new or "absent", rule, value.value, value.source)


def _first_image(provider: Provider, difference: Difference | None) -> list[ParamChange]:
    """The first image of a conversation, where the provider counts that as a parameter."""
    rule = next((r for r in provider.params if r.name == "images"), None)
    if rule is None or difference is None or not difference.append_only:
        return []
    common = difference.common_blocks
    had = any(b.kind is Kind.IMAGE for b in difference.boundaries if b.index < common)
    has = any(b.kind is Kind.IMAGE for b in difference.boundaries if b.index >= common)
    if had or not has:
        return []
    value = rule.lost.default
    return [ParamChange("images", "none", "present", rule, value.value, value.source)]


def _relevant(call: CallFacts) -> dict[str, str]:
    flat = dict(_flat(call.params))
    for name in _HEADERS:
        if name in call.headers:
            flat[f"headers.{name}"] = ",".join(
                sorted(call.headers[name].replace(" ", "").split(","))
            )
    return flat


_FLAT: dict[int, tuple[Mapping[str, object], dict[str, str]]] = {}
_KEPT = 32


def _flat(params: Mapping[str, object]) -> dict[str, str]:
    """Parameters by dotted path. The last few are kept: most requests of a session share theirs."""
    known = _FLAT.get(id(params))
    if known is not None and known[0] is params:
        return known[1]
    flat: dict[str, str] = {}
    _flatten("", params, flat)
    if len(_FLAT) >= _KEPT:
        _FLAT.clear()
    _FLAT[id(params)] = (params, flat)
    return flat


def _flatten(prefix: str, value: object, into: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _PROMPT_KEYS:
                _flatten(f"{prefix}.{key}" if prefix else str(key), inner, into)
    elif isinstance(value, list | tuple):
        into[prefix] = ",".join(sorted(repr(item) for item in value))
    elif isinstance(value, bool):
        into[prefix] = str(value).lower()
    elif value is not None:
        into[prefix] = str(value)


def find_param(call: CallFacts, pattern: str) -> str | None:
    """The value of the first parameter whose dotted path matches, in path order."""
    found = sorted(_flat(call.params).items())
    return next((v for p, v in found if re.search(pattern, p.lower())), None)


def param_source(change: ParamChange) -> str:
    """The change in words: `effort: high -> low`."""
    return f"{change.name}: {quoted(change.old)} → {quoted(change.new)}"
