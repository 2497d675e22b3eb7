"""The provider families: one file a family, found by name.

A family is a module with `PROVIDER`, an object of `base.Provider`. A module whose name begins with
`_` is not one. Which family a call belongs to is told by its endpoint, its provider's id and its
model, in that order; a call that no family recognises belongs to `unknown`.
"""

import re
from dataclasses import replace
from functools import cache

from tracer.cache.providers.base import Provider
from tracer.registry import members

__all__ = ["Provider", "all_providers", "provider_for"]

UNKNOWN = "unknown"


@cache
def all_providers() -> tuple[Provider, ...]:
    """Every family of this package, by name."""
    found: list[Provider] = [module.PROVIDER for module in members(__name__)]
    return tuple(sorted(found, key=lambda p: p.name))


@cache
def provider_for(provider_id: str, model_id: str = "", endpoint: str = "") -> Provider:
    """The family that recognises a call best, else `unknown`."""
    scored = [(p.recognises(provider_id, model_id, endpoint), p.name, p) for p in all_providers()]
    score, _, best = max(scored, key=lambda item: (item[0], item[1]))
    return _as_offered(best, provider_id, endpoint) if score > 0 else _unknown()


def _as_offered(provider: Provider, provider_id: str, endpoint: str) -> Provider:
    """The family's rules as the place that offers its models keeps them."""
    for pattern, runs in provider.tool_runs_elsewhere:
        if any(re.search(pattern, place.lower()) for place in (provider_id, endpoint)):
            return replace(provider, tool_runs_are_one=runs)
    return provider


def _unknown() -> Provider:
    return next(p for p in all_providers() if p.name == UNKNOWN)
