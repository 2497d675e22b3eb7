"""Anthropic Messages: entries are written at markers and found by walking back from markers."""

from tracer.cache.providers._params import (
    BETAS,
    CONTEXT_MANAGEMENT,
    EFFORT,
    OUTPUT_FORMAT,
    THINKING,
    TOOL_CHOICE,
)
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

_DOC = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_DIAGNOSTICS = "https://platform.claude.com/docs/en/build-with-claude/cache-diagnostics"
_SKILLS = (
    "https://github.com/anthropics/skills/blob/main/skills/claude-api/shared/prompt-caching.md"
)
_BY_MODEL = "whether tools and system are lost as well depends on the model"
_FIVE = Value(
    Lifetime(5 * MINUTE_MS, 5 * MINUTE_MS), f"{_DOC}; from the request's start: {_SKILLS}"
)
_HOUR = Value(Lifetime(HOUR_MS, HOUR_MS), f"{_DOC}; from the request's start: {_SKILLS}")

PROVIDER = Provider(
    name="anthropic",
    title="Anthropic Messages",
    endpoints=(r"api\.anthropic\.com", r"bedrock", r"aiplatform\.googleapis\.com.*anthropic"),
    provider_ids=(r"anthropic(?!.*(glm|zai|deepseek))", r"claude", r"bedrock"),
    model_ids=(r"claude", r"\b(opus|sonnet|haiku|fable|mythos)\b"),
    match=same(Match.MARKERS, _DOC),
    granularity=same(1, f"marker positions, no rounding: {_DOC}"),
    minimum=ByModel(
        Value(1_024, _SKILLS),
        (
            (r"opus-4[.-][56](\D|$)|haiku-4[.-]5", Value(4_096, _SKILLS)),
            (r"opus-4[.-]7|haiku-3[.-]5|3-5-haiku|mythos-preview", Value(2_048, _SKILLS)),
            (r"opus-5|fable-5[.-]1|mythos-5[.-]1", Value(512, _SKILLS)),
        ),
    ),
    lifetime=ByModel(_FIVE),
    lifetimes=(("5m", _FIVE), ("1h", _HOUR)),
    convention=Value(Convention.EXCLUSIVE, _DOC),
    write_factor=same(1.25, f"5 minutes; 2 for an hour: {_DOC}"),
    read_factor=same(0.1, _DOC),
    params=(
        ParamRule("effort", EFFORT, same(Lost.MESSAGES, f"{_BY_MODEL}: {_SKILLS}"), Lost.TOOLS),
        ParamRule(
            "thinking",
            THINKING,
            same(Lost.MESSAGES, f"{_BY_MODEL}: {_SKILLS}"),
            Lost.TOOLS,
        ),
        ParamRule("speed", r"(^|\.)(speed|service_tier)$", same(Lost.SYSTEM, _SKILLS)),
        ParamRule("web_search", r"web_?search", same(Lost.SYSTEM, _SKILLS)),
        ParamRule("citations", r"citations", same(Lost.SYSTEM, _SKILLS)),
        ParamRule("tool_choice", TOOL_CHOICE, same(Lost.MESSAGES, _SKILLS)),
        ParamRule("images", r"^images$", same(Lost.MESSAGES, _SKILLS)),
        ParamRule("betas", BETAS, same(Lost.UNKNOWN, _DIAGNOSTICS)),
        ParamRule("context_management", CONTEXT_MANAGEMENT, same(Lost.UNKNOWN, _DIAGNOSTICS)),
        ParamRule("output_format", OUTPUT_FORMAT, same(Lost.UNKNOWN, _DIAGNOSTICS)),
    ),
    lookback=Value(20, _SKILLS),
    tool_runs_are_one=Value(True, f"on the Claude API: {_SKILLS}"),
    tool_runs_elsewhere=(
        (
            r"bedrock|vertex|aiplatform\.googleapis",
            Value(False, "each block counts there: strands-agents#3348 (cache-rules.md 0)"),
        ),
    ),
    strips_thinking=ByModel(
        Value(False, f"kept by default: {_SKILLS}"),
        (
            (
                r"haiku|claude-3|opus-4(-2|-0|[.-]1)|sonnet-4(-2|-0|[.-]5)|(opus|sonnet)-4$",
                Value(True, _SKILLS),
            ),
        ),
    ),
    needs_opt_in=Value(True, _DOC),
)
