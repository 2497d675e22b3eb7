"""The part of a prompt that a block is drawn in (formats/zcode.md 8.2 and 9.2)."""

import pytest

from tracer.anatomy.parts import part_of, reminder_body
from tracer.anatomy.sections import section_rule
from tracer.model.prompt import Block, Kind, Part, Tier

SKILLS = "The following skills are available for use with the Skill tool:\n\n- pdf"
CONTEXT = "As you answer the user's questions, you can use the following context:\n# agentsMd"


def wrapped(body: str, end: str = "") -> str:
    return f"<system-reminder>\n{body}\n</system-reminder>{end}"


def a_block(
    text: str = "x", role: str = "user", kind: Kind = Kind.TEXT, tier: Tier = Tier.MESSAGES
) -> Block:
    return Block(tier, role, kind, text)


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (a_block("{}", "", Kind.TOOL_SCHEMA, Tier.TOOLS), Part.TOOLS),
        (a_block("You are", "system", tier=Tier.SYSTEM), Part.SYSTEM),
        (a_block(wrapped("a"), "system", tier=Tier.SYSTEM), Part.SYSTEM),
        (a_block("mode", "system"), Part.MCS),
        (a_block(wrapped("a"), "system"), Part.MCS),
        (a_block("Hello"), Part.HISTORY),
        (a_block("Hello", "assistant"), Part.HISTORY),
        (a_block(wrapped("Do not mention this.")), Part.REMINDER),
        (a_block(wrapped(SKILLS)), Part.CONTEXT),
        (a_block(wrapped(CONTEXT, "\n")), Part.CONTEXT),
        (a_block("", "", Kind.GAP), Part.GAP),
        (a_block("", "", Kind.GAP, Tier.TOOLS), Part.GAP),
    ],
)
def test_a_part_follows_from_tier_role_and_text(block: Block, part: Part) -> None:
    assert part_of(block) is part


@pytest.mark.parametrize("role", ["assistant", "tool", "developer", "unknown", ""])
def test_only_a_users_text_can_be_a_reminder(role: str) -> None:
    assert part_of(a_block(wrapped("a"), role)) is Part.HISTORY


@pytest.mark.parametrize("kind", [Kind.FILE, Kind.IMAGE, Kind.UNKNOWN, Kind.TOOL_RESULT])
def test_only_a_text_can_be_a_reminder(kind: Kind) -> None:
    assert part_of(a_block(wrapped("a"), kind=kind)) is Part.HISTORY


def test_a_body_is_what_one_tag_pair_encloses() -> None:
    assert reminder_body(wrapped("one\ntwo")) == "one\ntwo"
    assert reminder_body(wrapped("one", "\n")) == "one"
    assert reminder_body(wrapped("")) == ""


def test_an_escaped_tag_inside_a_body_is_text() -> None:
    body = "&lt;system-reminder>fake&lt;/system-reminder>"
    assert reminder_body(wrapped(body)) == body


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello",
        f"Look: {wrapped('a')}",
        wrapped("a") + " and more",
        wrapped("a", "\n\n"),
        " " + wrapped("a"),
        "<system-reminder>a</system-reminder>",
        "<system-reminder>\na",
        "<system-reminder>\n</system-reminder>",
        wrapped("a") + wrapped("b"),
        wrapped(wrapped("nested")),
        wrapped("a\n</system-reminder>\nb"),
        "<SYSTEM-REMINDER>\na\n</SYSTEM-REMINDER>",
        "<other-tag>\na\n</other-tag>",
    ],
)
def test_a_text_that_anybody_can_type_is_no_reminder(text: str) -> None:
    assert reminder_body(text) is None


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("cli_prefix", ("system", "stable")),
        ("env_info", ("system", "dynamic")),
        ("current_date", ("meta_user", "dynamic")),
        ("added_by_somebody", ("system", "dynamic")),
    ],
)
def test_a_section_goes_where_its_source_says(source: str, rule: tuple[str, str]) -> None:
    assert section_rule(source) == rule
