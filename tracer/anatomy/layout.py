"""Which variant of the agent a prompt belongs to, told by the layout of its system messages.

formats/zcode.md 7.2: a main agent sends three system messages (a line, the stable sections behind
a newline, the dynamic ones behind two), one with a custom prompt or a workflow actor two, a
subagent one a section. The leading newlines belong to the layout and decide where headings do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracer.anatomy.sections import SECTION_KINDS

_CLI_MAX_CHARS = 200
_DYNAMIC_HEADINGS = tuple(
    kind.heading for kind in SECTION_KINDS if kind.target == "system" and kind.heading
)


class Variant(StrEnum):
    """The kinds of prefix. NONE: a side call with a prompt of its own (title, search). UNKNOWN: the
    log does not show the system messages, or they fit no variant."""

    MAIN = "main"
    CUSTOM = "custom"
    WORKFLOW_ACTOR = "workflow_actor"
    SUBAGENT = "subagent"
    NONE = "none"
    UNKNOWN = "unknown"


class Place(StrEnum):
    """What a prefix text is expected to hold: one section as a whole, or several in order."""

    CLI = "cli_prefix"
    ACTOR = "workflow_actor_identity"
    CUSTOM = "custom_system_prompt"
    AGENT_PROMPT = "subagent_agent_prompt"
    NOTES = "subagent_notes"
    ENVIRONMENT = "subagent_environment"
    STABLE = "stable"
    DYNAMIC = "dynamic"
    ANY = "any"
    SKILLS = "skills"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Layout:
    """The variant, the place of each system message (None: it holds no section), and why."""

    variant: Variant
    places: tuple[Place | None, ...]
    evidence: str


def layout_of(texts: Sequence[str]) -> Layout:
    """The layout of a prompt's leading system messages, all of them, in order."""
    count = len(texts)
    if not count:
        return Layout(Variant.UNKNOWN, (), "The log shows no system message.")
    if count == 1:
        return Layout(Variant.NONE, (None,), "One system message: no agent's prefix has only one.")
    second = texts[1]
    if count == 2:
        return _of_two(texts[0], second)
    if count == 3 and not second.startswith("\n\n") and is_dynamic(texts[2]):
        return Layout(
            Variant.MAIN,
            (Place.CLI, Place.STABLE, Place.DYNAMIC),
            "Three system messages: a line, the stable sections, the dynamic ones.",
        )
    if count == 4 or (count == 3 and _is_line(texts[0])):
        prompt = (Place.AGENT_PROMPT,) if count == 4 else ()
        return Layout(
            Variant.SUBAGENT,
            (Place.CLI, *prompt, Place.NOTES, Place.ENVIRONMENT),
            f"{count} system messages, one a section.",
        )
    return Layout(
        Variant.UNKNOWN, (Place.ANY,) * count, f"{count} system messages in no known layout."
    )


def _of_two(first: str, second: str) -> Layout:
    if second.startswith("\n\n") or (not _is_line(first) and is_dynamic(second)):
        return Layout(
            Variant.WORKFLOW_ACTOR,
            (Place.ACTOR, Place.DYNAMIC),
            "Two system messages: an identity, the dynamic sections.",
        )
    if _is_line(first):
        return Layout(
            Variant.CUSTOM,
            (Place.CLI, Place.CUSTOM),
            "Two system messages: a line and a prompt without the agent's own sections.",
        )
    return Layout(Variant.UNKNOWN, (Place.ANY,) * 2, "Two system messages in no known layout.")


def _is_line(text: str) -> bool:
    return bool(text.strip()) and "\n" not in text.strip("\n") and len(text) <= _CLI_MAX_CHARS


def is_dynamic(text: str) -> bool:
    """True for a text that begins with one of the dynamic sections, or holds two of them."""
    body = text.lstrip("\n")
    if body.startswith(_DYNAMIC_HEADINGS):
        return True
    return sum(f"\n\n{heading}" in text for heading in _DYNAMIC_HEADINGS) > 1
