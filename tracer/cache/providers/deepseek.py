"""DeepSeek: automatic; a request reuses whole persisted units, not any common prefix."""

from tracer.cache.providers._params import EFFORT, OUTPUT_FORMAT, THINKING, TOOL_CHOICE
from tracer.cache.providers.base import (
    HOUR_MS,
    ByModel,
    Lifetime,
    Lost,
    Match,
    ParamRule,
    Provider,
    Value,
    same,
)
from tracer.model.usage import Convention

_DOC = "https://api-docs.deepseek.com/guides/kv_cache"
_NEWS = "https://api-docs.deepseek.com/news/news0802"
_UNKNOWN = same(Lost.UNKNOWN, f"not documented: {_DOC}")

PROVIDER = Provider(
    name="deepseek",
    title="DeepSeek",
    endpoints=(r"api\.deepseek\.com",),
    provider_ids=(r"deepseek",),
    model_ids=(r"deepseek",),
    match=same(Match.UNITS, _DOC),
    granularity=ByModel(
        Value(128, "measured: reads of 168,704; 44,672; 17,920 (cache-rules.md 1.4)"),
        ((r"v[23]|-chat|coder", Value(64, _NEWS)),),
    ),
    minimum=same(64, _NEWS),
    lifetime=same(Lifetime(HOUR_MS, None), f"cleared after hours to days: {_DOC}"),
    convention=Value(Convention.INCLUSIVE, _DOC),
    write_factor=same(1.0, f"writing is free: {_DOC}"),
    read_factor=same(None, "changes with model and date; see a price table"),
    params=(
        ParamRule("effort", EFFORT, _UNKNOWN),
        ParamRule("thinking", THINKING, _UNKNOWN),
        ParamRule("tool_choice", TOOL_CHOICE, _UNKNOWN),
        ParamRule("output_format", OUTPUT_FORMAT, _UNKNOWN),
    ),
    keeps_forks=Value(True, f"a detected common prefix is a unit: {_DOC}"),
    write_delay_ms=Value(
        6_000, "measured: asynchronous, about 6 s, one source (cache-rules.md 1.1)"
    ),
)
