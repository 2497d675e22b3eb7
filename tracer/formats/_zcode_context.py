"""The two context reports of ZCode's structured log (formats/zcode.md 2.6 and 2.7).

Every key with "token" in its name may be a number or the string "[Redacted]": both are legal, and
a redacted number is unknown, not zero.
"""

from typing import Any

from tracer.formats._json import compact, float_of, int_of, text_of
from tracer.model.events import ContextBuilt, ContextUsage, LoggedSection, UsageCategory

REDACTED = "[Redacted]"
_COUNTS = (
    "systemToolCount",
    "mcpToolCount",
    "skillCount",
    "systemPromptSectionCount",
    "warningCount",
)


def is_redacted(value: Any) -> bool:
    """True for "[Redacted]" and its variants for depth and repetition."""
    return isinstance(value, str) and value.startswith("[Redacted")


def context_built(context: dict[str, Any]) -> ContextBuilt:
    """The sections of a `context.built` line, in injection order."""
    sections = context.get("sections")
    items = sections if isinstance(sections, list) else []
    return ContextBuilt(
        tuple(_section(item) for item in items if isinstance(item, dict)),
        int_of(context.get("totalChars")),
        int_of(context.get("totalTokens")),
    )


def _section(item: dict[str, Any]) -> LoggedSection:
    content = item.get("content")
    return LoggedSection(
        name=text_of(item.get("name")),
        source=text_of(item.get("source")),
        chars=int_of(item.get("chars")),
        tokens=int_of(item.get("tokens")),
        text=content if isinstance(content, str) and not is_redacted(content) else None,
        tokens_redacted=is_redacted(item.get("tokens")),
    )


def context_usage(context: dict[str, Any]) -> ContextUsage:
    """The categories and the message breakdown of a `context_usage_snapshot` line."""
    contributors = {
        text_of(item.get("source")): compact(item.get("contributors"))
        for item in _objects(context.get("categoryBreakdown"))
        if item.get("contributors") is not None
    }
    return ContextUsage(
        model=text_of(context.get("model")),
        total_chars=int_of(context.get("totalChars")),
        total_tokens=int_of(context.get("totalTokens")),
        tokens_redacted=is_redacted(context.get("totalTokens")),
        categories=tuple(
            _category(item, contributors) for item in _objects(context.get("categories"))
        ),
        roles=tuple(_category(item, {}) for item in _objects(context.get("messageBreakdown"))),
        counts=tuple(
            (name, number) for name in _COUNTS if (number := int_of(context.get(name))) is not None
        ),
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _category(item: dict[str, Any], contributors: dict[str, str]) -> UsageCategory:
    source = text_of(item.get("source")) or text_of(item.get("role"))
    return UsageCategory(
        name=text_of(item.get("name")) or text_of(item.get("role")),
        source=source,
        chars=int_of(item.get("chars")),
        tokens=int_of(item.get("tokens")),
        tokens_redacted=is_redacted(item.get("tokens")),
        percent=float_of(item.get("percentTokens")),
        count=int_of(item.get("count")),
        contributors_json=contributors.get(source, ""),
    )
