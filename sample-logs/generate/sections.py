"""Context sections and how they become the prefix of a request (formats/zcode.md section 7)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generate.entries import Attachment, Entry, Message

# source -> (human name, injection target, cache hint); the order is the builder's.
SECTION_KINDS = {
    "cli_prefix": ("CLI Prefix", "system", "stable"),
    "identity": ("Agent Identity", "system", "stable"),
    "desktop_context": ("ZCode Desktop Context", "system", "stable"),
    "custom_system_prompt": ("Custom System Prompt", "system", "stable"),
    "workflow_actor_identity": ("Workflow Actor Identity", "system", "stable"),
    "subagent_agent_prompt": ("Subagent Agent Prompt", "system", "stable"),
    "subagent_notes": ("Subagent Notes", "system", "stable"),
    "subagent_environment": ("Subagent Environment", "system", "dynamic"),
    "dynamic_behavior": ("Dynamic Behavior", "system", "dynamic"),
    "session_guidance": ("Session-specific guidance", "system", "dynamic"),
    "memory": ("Memory", "system", "dynamic"),
    "env_info": ("Environment Info", "system", "dynamic"),
    "output_style": ("Output Style", "system", "dynamic"),
    "context_management": ("Context Management", "system", "dynamic"),
    "system_context": ("System Context", "system", "dynamic"),
    "skills": ("Skills", "meta_user", "dynamic"),
    "request_user_context": ("Request User Context", "meta_user", "dynamic"),
    "current_date": ("Current Date", "meta_user", "dynamic"),
}

CONTEXT_INTRO = "As you answer the user's questions, you can rely on the notes gathered below."
CONTEXT_CLOSING = (
    "These notes were collected before the conversation began. Some of them may have nothing to do "
    "with the task at hand; use what helps and leave the rest aside."
)


@dataclass(frozen=True)
class Section:
    """A named part of the prefix."""

    source: str
    content: str

    @property
    def name(self) -> str:
        """The human name."""
        return SECTION_KINDS[self.source][0]

    @property
    def target(self) -> str:
        """`system` or `meta_user`."""
        return SECTION_KINDS[self.source][1]

    @property
    def cache_hint(self) -> str:
        """`stable` or `dynamic`."""
        return SECTION_KINDS[self.source][2]


def in_injection_order(sections: Iterable[Section]) -> list[Section]:
    """Return the sections by target and hint: system stable first, meta-user dynamic last."""
    targets, hints = ("system", "meta_user"), ("stable", "dynamic")
    return sorted(sections, key=lambda s: (targets.index(s.target), hints.index(s.cache_hint)))


def system_messages(sections: Sequence[Section], *, one_each: bool) -> list[Message]:
    """Return the leading system messages, each with a cache marker.

    Subagents send one message a section. Others send the first section alone, then the other
    stable ones, then the dynamic ones behind a blank line.
    """
    system = [section for section in in_injection_order(sections) if section.target == "system"]
    if one_each:
        texts = [section.content for section in system]
    else:
        stable = [section.content for section in system if section.cache_hint == "stable"]
        dynamic = [section.content for section in system if section.cache_hint == "dynamic"]
        texts = stable[:1]
        if stable[1:]:
            texts.append("\n" + "\n\n".join(stable[1:]).removeprefix("\n"))
        if dynamic:
            texts.append("\n\n" + "\n\n".join(dynamic))
    return [Message("system", text, cached=True) for text in texts]


def meta_attachments(sections: Sequence[Section]) -> list[Attachment]:
    """Return the skills listing and the context prefix, those that exist (section 7.3)."""
    by_source = {section.source: section.content for section in sections}
    out = []
    if "skills" in by_source:
        out.append(Attachment("skills_listing", by_source["skills"]))
    context = [by_source[s] for s in ("request_user_context", "current_date") if s in by_source]
    if context:
        body = "\n\n".join([CONTEXT_INTRO, *context, CONTEXT_CLOSING])
        out.append(Attachment("context_prefix", body))
    return out


def prefix(sections: Sequence[Section], *, one_each: bool = False) -> list[Entry]:
    """Return the entries every request of a session begins with."""
    return [*system_messages(sections, one_each=one_each), *meta_attachments(sections)]
