"""OpenAI: automatic; steps of 128 tokens before GPT-5.6, exact breakpoints from then on."""

from tracer.cache.providers._params import EFFORT, OUTPUT_FORMAT, THINKING
from tracer.cache.providers.base import (
    HOUR_MS,
    MINUTE_MS,
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

_DOC = "https://developers.openai.com/api/docs/guides/prompt-caching"
_DIAGNOSTICS = "https://developers.openai.com/api/docs/guides/prompt-caching/diagnostics.md"
_NEW = r"gpt-(5[.-]([6-9]|\d\d)|[6-9])"
_IN_MEMORY = Value(
    Lifetime(5 * MINUTE_MS, HOUR_MS), f"5 to 10 minutes idle, an hour at most: {_DOC}"
)
_UNKNOWN = same(Lost.UNKNOWN, f"named as an invalidator, tier not documented: {_DIAGNOSTICS}")

PROVIDER = Provider(
    name="openai",
    title="OpenAI",
    endpoints=(r"api\.openai\.com", r"openai\.azure\.com"),
    provider_ids=(r"openai(?!.*(compatible|glm|zai))", r"azure", r"codex"),
    model_ids=(r"^(openai/)?(gpt-|o[1-9](-|$)|codex)",),
    match=ByModel(
        Value(Match.PREFIX, _DOC),
        ((_NEW, Value(Match.UNITS, f"exact breakpoints, at the ends of prompts: {_DOC}")),),
    ),
    granularity=ByModel(
        Value(128, _DOC),
        ((_NEW, Value(1, "measured: reads of 2,907 and 2,772 (cache-rules.md 1.3)")),),
    ),
    minimum=same(1_024, _DOC),
    lifetime=ByModel(
        _IN_MEMORY,
        (
            (
                _NEW,
                Value(
                    Lifetime(30 * MINUTE_MS, None), f"30 minutes at least, may be longer: {_DOC}"
                ),
            ),
        ),
    ),
    lifetimes=(
        ("24h", Value(Lifetime(24 * HOUR_MS, 24 * HOUR_MS), _DOC)),
        ("30m", Value(Lifetime(30 * MINUTE_MS, None), _DOC)),
    ),
    convention=Value(Convention.INCLUSIVE, _DOC),
    write_factor=ByModel(Value(1.0, f"writing is free: {_DOC}"), ((_NEW, Value(1.25, _DOC)),)),
    read_factor=same(None, "0.1 to 0.5 by model; see a price table"),
    params=(
        ParamRule("prompt_cache_key", r"prompt_?cache_?key", same(Lost.TOOLS, _DIAGNOSTICS)),
        ParamRule("service_tier", r"service_?tier", same(Lost.TOOLS, _DIAGNOSTICS)),
        ParamRule(
            "text_format", OUTPUT_FORMAT, same(Lost.TOOLS, f"the schema comes first: {_DOC}")
        ),
        ParamRule("effort", EFFORT, _UNKNOWN),
        ParamRule("verbosity", r"verbosity", _UNKNOWN),
        ParamRule("thinking", THINKING, _UNKNOWN),
        ParamRule("tool_choice", r"tool_?choice", same(Lost.NOTHING, _DOC)),
        ParamRule("retention", r"prompt_?cache_?retention", same(Lost.NOTHING, _DOC)),
    ),
    affinity_headers=Value((), f"prompt_cache_key is a parameter: {_DOC}"),
)
