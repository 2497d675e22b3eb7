"""Parameters that several families share, and those that never reach the prompt."""

from tracer.cache.providers.base import ByModel, Lost, ParamRule, same

NEUTRAL = (
    r"(^|\.)(model|max_?(output_?|completion_?)?tokens|temperature|top_?[pk]|stream(_options)?"
    r"|stop(_sequences)?|seed|n|user|metadata|store|presence_penalty|frequency_penalty|logprobs"
    r"|top_logprobs|cache_control|previous_response_id|diagnostics|prompt_cache_options"
    r"|session_?id|request_?id|query_?id|trace_?id|include|truncation|background)(\.|\[|$)"
)
"""Sampling, limits and ids: not part of the rendered prompt on any provider that documents it."""

EFFORT = r"effort(\.|$)|(^|\.)variant$"
THINKING = r"(^|\.)(thinking|enable_thinking|reasoning|budget_?tokens)(\.|$)"
TOOL_CHOICE = r"tool_?choice|disable_?parallel_?tool_?use|parallel_?tool_?calls"
BETAS = r"(^|\.)(anthropic-beta|betas)(\.|\[|$)"
CONTEXT_MANAGEMENT = r"context_?management"
OUTPUT_FORMAT = r"output_?format|output_config\.format|response_?format|text\.format"


def rendered(source: str, effort: ByModel[Lost] | None = None) -> tuple[ParamRule, ...]:
    """Rules of a provider that renders its prompt from a template which nobody documents: what a
    change costs is not known in advance."""
    unknown = same(Lost.UNKNOWN, source)
    return (
        ParamRule("effort", EFFORT, effort or unknown),
        ParamRule("thinking", THINKING, unknown),
        ParamRule("tool_choice", TOOL_CHOICE, unknown),
        ParamRule("output_format", OUTPUT_FORMAT, unknown),
    )
