"""Usage of a ZCode response, as logged (formats/zcode.md 3.7 and 16)."""

from typing import Any

from tracer.formats._json import compact, int_of
from tracer.model.usage import Convention, ReportedUsage


def reported_usage(response: dict[str, Any]) -> ReportedUsage | None:
    """The counts of a response; None where it has none.

    `usage: {}` is unknown, not zero. `usage` includes the cache counts. Where it is missing, the
    provider's raw usage in `providerMetadata` is taken, whose input excludes them.
    """
    raw = response.get("usage")
    metadata = provider_usage(response)
    said = cache_diagnostics(response)
    if isinstance(raw, dict):
        found = ReportedUsage(
            input_tokens=int_of(raw.get("inputTokens")),
            output_tokens=int_of(raw.get("outputTokens")),
            total_tokens=int_of(raw.get("totalTokens")),
            cache_read_tokens=_cache(raw, "cacheReadTokens", "cachedInputTokens"),
            cache_write_tokens=_cache(raw, "cacheWriteTokens"),
            reasoning_tokens=int_of(raw.get("reasoningTokens")),
            declared=Convention.INCLUSIVE,
            raw_json=_raw_json(raw, metadata, said),
        )
        if found.input_tokens is not None or found.output_tokens is not None:
            return found
    if metadata is None:
        return None
    return ReportedUsage(
        input_tokens=int_of(metadata.get("input_tokens")),
        output_tokens=int_of(metadata.get("output_tokens")),
        cache_read_tokens=int_of(metadata.get("cache_read_input_tokens")),
        cache_write_tokens=int_of(metadata.get("cache_creation_input_tokens")),
        declared=Convention.EXCLUSIVE,
        raw_json=_raw_json(raw if isinstance(raw, dict) else {}, metadata, said),
    )


def provider_usage(response: dict[str, Any]) -> dict[str, Any] | None:
    """The provider's own usage object inside `providerMetadata`, or None."""
    metadata = response.get("providerMetadata")
    if not isinstance(metadata, dict):
        return None
    for value in metadata.values():
        if isinstance(value, dict) and isinstance(value.get("usage"), dict):
            usage: dict[str, Any] = value["usage"]
            return usage if int_of(usage.get("input_tokens")) is not None else None
    return None


def cache_diagnostics(response: dict[str, Any]) -> dict[str, Any]:
    """What the provider itself says of its cache, in `providerMetadata` or in the wire body, under
    the vendors' names; empty where it says nothing."""
    holders = [response.get("body"), response.get("providerMetadata")]
    if isinstance(holders[1], dict):
        holders += list(holders[1].values())
    found: dict[str, Any] = {}
    for holder in holders:
        if isinstance(holder, dict):
            for name, vendors in _DIAGNOSTICS.items():
                if name in holder:
                    found.setdefault(vendors, holder[name])
    return found


_DIAGNOSTICS = {
    "diagnostics": "diagnostics",
    "cache_miss_reason": "cache_miss_reason",
    "cacheMissReason": "cache_miss_reason",
    "prompt_cache_diagnostics": "prompt_cache_diagnostics",
    "promptCacheDiagnostics": "prompt_cache_diagnostics",
    "prompt_cache": "prompt_cache",
}


def _cache(raw: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = int_of(raw.get(name))
        if value is not None:
            return value
    return None


def _raw_json(raw: dict[str, Any], metadata: dict[str, Any] | None, said: dict[str, Any]) -> str:
    both: dict[str, Any] = {"usage": raw} if raw else {}
    if metadata:
        both["provider"] = metadata
    if said:
        both["diagnostics"] = said
    return compact(both) if both else ""
