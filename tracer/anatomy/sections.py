"""The sections of a prompt's prefix: where each goes, and how stable it is meant to be.

The table is that of formats/zcode.md 7. The log names only a section's source; its target and its
cache hint follow from it. `tracer.anatomy.section_spans` finds them in texts.
"""

from typing import NamedTuple

UNKNOWN_SECTION = "unknown"
"""The source of prefix text that no known section explains."""


class SectionRule(NamedTuple):
    """A section's injection target (`system` or `meta_user`) and cache hint."""

    target: str
    cache_hint: str


class SectionKind(NamedTuple):
    """One section. `heading` is the line its content starts with, empty where it has none that is
    known; `whole_line` is false for a heading that goes on behind those words."""

    source: str
    name: str
    target: str
    cache_hint: str
    heading: str = ""
    whole_line: bool = True


_SYSTEM, _META, _STABLE, _DYNAMIC = "system", "meta_user", "stable", "dynamic"

SECTION_KINDS = (
    SectionKind("cli_prefix", "CLI Prefix", _SYSTEM, _STABLE),
    SectionKind("identity", "Agent Identity", _SYSTEM, _STABLE),
    SectionKind("desktop_context", "ZCode Desktop Context", _SYSTEM, _STABLE),
    SectionKind("custom_system_prompt", "Custom System Prompt", _SYSTEM, _STABLE),
    SectionKind("workflow_actor_identity", "Workflow Actor Identity", _SYSTEM, _STABLE),
    SectionKind("subagent_agent_prompt", "Subagent Agent Prompt", _SYSTEM, _STABLE),
    SectionKind("subagent_notes", "Subagent Notes", _SYSTEM, _STABLE),
    SectionKind(
        "dynamic_behavior", "Dynamic Behavior", _SYSTEM, _DYNAMIC, "# Communicating with the user"
    ),
    SectionKind(
        "session_guidance",
        "Session-specific guidance",
        _SYSTEM,
        _DYNAMIC,
        "# Session-specific guidance",
    ),
    SectionKind("memory", "Memory", _SYSTEM, _DYNAMIC, "# Memory"),
    SectionKind("env_info", "Environment Info", _SYSTEM, _DYNAMIC, "# Environment"),
    SectionKind("output_style", "Output Style", _SYSTEM, _DYNAMIC, "# Output Style:", False),
    SectionKind(
        "context_management", "Context Management", _SYSTEM, _DYNAMIC, "# Context management"
    ),
    SectionKind("system_context", "System Context", _SYSTEM, _DYNAMIC, "gitStatus:", False),
    SectionKind("subagent_environment", "Subagent Environment", _SYSTEM, _DYNAMIC),
    SectionKind("vision_guidance", "Vision Guidance", _SYSTEM, _DYNAMIC),
    SectionKind("tools", "Tools", _SYSTEM, _DYNAMIC),
    SectionKind("skills", "Skills", _META, _DYNAMIC),
    SectionKind("request_user_context", "Request User Context", _META, _DYNAMIC, "# agentsMd"),
    SectionKind("current_date", "Current Date", _META, _DYNAMIC, "# currentDate"),
)
"""Every known section in the order of the wire. `vision_guidance` is a fork's, and no builder emits
`tools` any more: both are known from a log only."""

_BY_SOURCE = {kind.source: kind for kind in SECTION_KINDS}
_DEFAULT = SectionRule(_SYSTEM, _DYNAMIC)


def section_rule(source: str) -> SectionRule:
    """The rule of a section; one added from outside goes to the system prompt as dynamic."""
    kind = _BY_SOURCE.get(source)
    return SectionRule(kind.target, kind.cache_hint) if kind else _DEFAULT


def section_name(source: str) -> str:
    """The human name of a section; that of an unknown one is its source."""
    kind = _BY_SOURCE.get(source)
    return kind.name if kind else source
