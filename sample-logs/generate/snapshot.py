"""The contexts of `context.built` and `context_usage_snapshot` (sections 2.6 and 2.7)."""

from collections.abc import Iterable, Sequence

from generate.entries import Projected
from generate.project import Profile
from generate.reminders import OPEN_TAG
from generate.sections import Section
from generate.text import Json, compact_json, estimate_tokens, utf16_len, utf16_slice
from generate.tools import TOOLS

METHOD = {"tokenMethod": "estimated"}
TOKENIZER = {"tokenizer": "zcode.estimateTokens.v1"}

CATEGORY_NAMES = {
    "system_prompt": "System prompt",
    "meta_user_context": "Meta user context",
    "skills": "Skills",
    "system_tool_schemas": "System tool schemas",
    "mcp_tool_schemas": "MCP tool schemas",
    "messages": "Messages",
}

_TOP_CONTRIBUTORS = 5
_PREVIEW_UNITS = 100


def _measure(text: str) -> Json:
    return {"chars": utf16_len(text), "tokens": estimate_tokens(text)}


def _total(items: Iterable[Json], key: str) -> int:
    return sum(item[key] for item in items)


def built_context(sections: Sequence[Section]) -> Json:
    """Return the context of a `context.built` line."""
    rows = [
        {
            "name": section.name,
            "source": section.source,
            **_measure(section.content),
            **METHOD,
            "confidence": "medium",
            **TOKENIZER,
            "preview": utf16_slice(section.content, 0, _PREVIEW_UNITS),
            "content": section.content,
        }
        for section in sections
    ]
    head = {"sectionCount": len(rows), **METHOD, **TOKENIZER}
    totals = {"totalChars": _total(rows, "chars"), "totalTokens": _total(rows, "tokens")}
    return {**head, **totals, "sections": rows}


def _section_contributor(section: Section, category: str) -> Json:
    return {
        "cacheHint": section.cache_hint,
        "categorySource": category,
        "confidence": "medium",
        "injectionTarget": section.target,
        "kind": "context_section",
        "label": section.name,
        "name": section.name,
        "source": section.source,
        **_measure(section.content),
    }


def _tool_contributor(name: str) -> Json:
    tool = TOOLS[name]
    out = {
        "categorySource": "mcp_tool_schemas" if tool.server else "system_tool_schemas",
        "confidence": "low",
        "kind": "tool_schema",
        "label": name,
        "name": name,
        "readOnly": tool.read_only,
        "sideEffectScope": tool.scope,
        "source": "mcp_tool" if tool.server else "system_tool",
        **_measure(compact_json(tool.schema())),
    }
    return out | ({"serverName": tool.server} if tool.server else {})


def _message_text(message: Json) -> str:
    keys = ("role", "content", "toolCalls", "toolCallId", "toolName")
    return compact_json({key: message[key] for key in keys if key in message})


def _is_counted(item: Projected) -> bool:
    """Whether a message is in the `messages` category: reminders and system text are in none."""
    content = item.message["content"]
    tagged = isinstance(content, str) and content.startswith(OPEN_TAG)
    notification = tagged and "[SYSTEM NOTIFICATION - NOT USER INPUT]" in content
    return item.message["role"] != "system" and (not tagged or notification)


def _by_role(items: Iterable[Projected]) -> list[Json]:
    rows: dict[str, Json] = {}
    for item in items:
        role, size = item.message["role"], _measure(_message_text(item.message))
        row = rows.setdefault(role, {"role": role, "count": 0, "chars": 0, "tokens": 0})
        row["count"] += 1
        row["chars"] += size["chars"]
        row["tokens"] += size["tokens"]
    return list(rows.values())


def _contributors(
    profile: Profile, sections: Sequence[Section], messages: Sequence[Projected]
) -> dict[str, list[Json]]:
    out: dict[str, list[Json]] = {category: [] for category in CATEGORY_NAMES}
    for section in sections:
        if section.source != "skills":
            target = "system_prompt" if section.target == "system" else "meta_user_context"
            out[target].append(_section_contributor(section, target))
    if any(section.source == "skills" for section in sections):
        out["skills"] = [
            {
                "categorySource": "skills",
                "confidence": "medium",
                "kind": "skill",
                "label": skill.name,
                "name": skill.name,
                "path": skill.path,
                "scope": "project",
                **_measure(f"{skill.name}: {skill.description}"),
            }
            for skill in profile.project.skills
        ]
    for name in profile.tools:
        contributor = _tool_contributor(name)
        out[contributor["categorySource"]].append(contributor)
    out["messages"] = [
        {
            "categorySource": "messages",
            "confidence": "medium",
            "kind": "message_role",
            "label": row["role"],
            **row,
        }
        for row in _by_role(item for item in messages if _is_counted(item))
    ]
    return out


def _categories(contributors: dict[str, list[Json]], sections: Sequence[Section]) -> list[Json]:
    """Return the categories with tokens; the skills category is the rendered listing."""
    rows = []
    for source, name in CATEGORY_NAMES.items():
        items = contributors[source]
        if source == "skills":
            items = [_measure(s.content) for s in sections if s.source == "skills"]
        size = {"chars": _total(items, "chars"), "tokens": _total(items, "tokens")}
        confidence = "low" if source.endswith("tool_schemas") else "medium"
        if size["tokens"]:
            rows.append({"name": name, "source": source, **size, "confidence": confidence})
    return rows


def usage_context(
    profile: Profile, sections: Sequence[Section], messages: Sequence[Projected]
) -> Json:
    """Return the context of a `context_usage_snapshot` line, in its compact form."""
    contributors = _contributors(profile, sections, messages)
    categories = _categories(contributors, sections)
    total = _total(categories, "tokens")
    for row in categories:
        row |= {"percentTokens": row["tokens"] / total}
    keys = ("name", "source", "chars", "tokens", "confidence", "percentTokens")
    breakdown = []
    for row in categories:
        items = contributors[row["source"]]
        top = sorted(items, key=lambda item: -item["tokens"])[:_TOP_CONTRIBUTORS]
        details = {key: row[key] for key in sorted(keys)} | METHOD | TOKENIZER
        ranked = [dict(sorted((item | METHOD | TOKENIZER).items())) for item in top]
        counts = {"contributorCount": len(items), "contributors": ranked}
        breakdown.append(dict(sorted(details.items())) | counts)
    mcp_tools = sum(TOOLS[name].server is not None for name in profile.tools)
    return {
        **METHOD,
        "confidence": "low",
        **TOKENIZER,
        "totalChars": _total(categories, "chars"),
        "totalTokens": total,
        "model": f"{profile.model.provider_id}/{profile.model.model_id}",
        "categories": [_category_row(row) for row in categories],
        "categoryBreakdown": breakdown,
        "messageBreakdown": [
            {**row, **METHOD, "confidence": "medium", **TOKENIZER} for row in _by_role(messages)
        ],
        "mcpToolCount": mcp_tools,
        "skillCount": len(profile.project.skills),
        "systemPromptSectionCount": sum(section.target == "system" for section in sections),
        "systemToolCount": len(profile.tools) - mcp_tools,
        "warningCount": 2,
    }


def _category_row(row: Json) -> Json:
    head = {key: row[key] for key in ("name", "source", "chars", "tokens")}
    return {
        **head,
        **METHOD,
        "confidence": row["confidence"],
        **TOKENIZER,
        "percentTokens": row["percentTokens"],
    }
