"""Where each section of the prefix goes, and how stable it is meant to be (formats/zcode.md 7).

The log names only a section's source; its target and its cache hint follow from it.
"""

from typing import NamedTuple


class SectionRule(NamedTuple):
    """A section's injection target (`system` or `meta_user`) and cache hint."""

    target: str
    cache_hint: str


_RULES = {
    "cli_prefix": SectionRule("system", "stable"),
    "identity": SectionRule("system", "stable"),
    "desktop_context": SectionRule("system", "stable"),
    "custom_system_prompt": SectionRule("system", "stable"),
    "workflow_actor_identity": SectionRule("system", "stable"),
    "subagent_agent_prompt": SectionRule("system", "stable"),
    "subagent_notes": SectionRule("system", "stable"),
    "dynamic_behavior": SectionRule("system", "dynamic"),
    "session_guidance": SectionRule("system", "dynamic"),
    "memory": SectionRule("system", "dynamic"),
    "env_info": SectionRule("system", "dynamic"),
    "output_style": SectionRule("system", "dynamic"),
    "context_management": SectionRule("system", "dynamic"),
    "system_context": SectionRule("system", "dynamic"),
    "subagent_environment": SectionRule("system", "dynamic"),
    "skills": SectionRule("meta_user", "dynamic"),
    "request_user_context": SectionRule("meta_user", "dynamic"),
    "current_date": SectionRule("meta_user", "dynamic"),
}
_DEFAULT = SectionRule("system", "dynamic")


def section_rule(source: str) -> SectionRule:
    """The rule of a section; one added from outside goes to the system prompt as dynamic."""
    return _RULES.get(source, _DEFAULT)
