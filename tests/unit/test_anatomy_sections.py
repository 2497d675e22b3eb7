"""Each section by example: logged, by heading, by place; and headings that are none."""

import pytest

from tracer.anatomy.instructions import FILE_LIMIT_BYTES, Scope, instruction_files
from tracer.anatomy.layout import Place, Variant, layout_of
from tracer.anatomy.section_spans import How, LoggedText, SectionSpan, recognise_sections
from tracer.anatomy.sections import SECTION_KINDS, section_name, section_rule

CLI = "Some Code, at your service."
IDENTITY = "You help.\n\nBe safe.\n\n# Harness\n- text is shown\n- tools may be refused"
DESKTOP = "Links look like [a](b).\n- Use `::code-comment` for remarks."
BEHAVIOR = "# Communicating with the user\nBe brief.\n\nBe kind."
GUIDANCE = "# Session-specific guidance\n- Use skills."
MEMORY = "# Memory\nThe folder is /m."
ENV = "# Environment\nWorking directory: /w\nPlatform: linux\nShell: bash\nModel: p/one"
STYLE = "# Output Style: Loud\nShout."
MANAGE = "# Context management\nIt is finite."
GIT = "gitStatus: on main\nStatus:\n M a\nRecent commits:\n1 x"
DYNAMIC = (BEHAVIOR, GUIDANCE, MEMORY, ENV, STYLE, MANAGE, GIT)
SOURCES = (
    "dynamic_behavior",
    "session_guidance",
    "memory",
    "env_info",
    "output_style",
    "context_management",
    "system_context",
)


def joined(*texts: str) -> str:
    return "\n\n" + "\n\n".join(texts)


def told(text: str, spans: tuple[SectionSpan, ...]) -> list[tuple[str, str]]:
    return [(s.source, text[s.start_char : s.end_char]) for s in spans]


def known(*pairs: tuple[str, str]) -> tuple[LoggedText, ...]:
    return tuple(LoggedText(source, section_name(source), text) for source, text in pairs)


def test_the_table_has_every_source_of_the_format() -> None:
    sources = [kind.source for kind in SECTION_KINDS]
    assert len(set(sources)) == len(sources) == 20
    assert {"vision_guidance", "tools", "custom_system_prompt"} <= set(sources)
    assert section_rule("identity") == ("system", "stable")
    assert section_rule("skills") == ("meta_user", "dynamic")
    assert section_rule("added from outside") == ("system", "dynamic")
    assert (section_name("env_info"), section_name("x")) == ("Environment Info", "x")


@pytest.mark.parametrize("left_out", range(len(DYNAMIC) + 1))
def test_the_dynamic_sections_by_their_headings(left_out: int) -> None:
    texts = [t for i, t in enumerate(DYNAMIC) if i != left_out]
    text = joined(*texts)
    spans = recognise_sections(text, Place.DYNAMIC)
    expected = [s for i, s in enumerate(SOURCES) if i != left_out]
    assert told(text, spans) == list(zip(expected, texts, strict=True))
    assert {s.how for s in spans} == {How.HEADING}


def test_known_texts_are_found_as_they_are_and_changed_ones_between_them() -> None:
    log = known(*zip(SOURCES, DYNAMIC, strict=True))
    changed = ENV.replace("p/one", "p/two")
    texts = [BEHAVIOR, GUIDANCE, MEMORY, changed, STYLE, MANAGE, GIT]
    text = joined(*texts)
    spans = recognise_sections(text, Place.DYNAMIC, log)
    assert told(text, spans) == list(zip(SOURCES, texts, strict=True))
    assert [s.source for s in spans if s.how is How.HEADING] == ["env_info"]


def test_of_several_logged_texts_any_may_be_the_one() -> None:
    log = known(("memory", MEMORY), ("env_info", ENV))
    log += known(("memory", MEMORY + " New."), ("env_info", ENV + "\nnew"))
    text = joined(MEMORY, ENV + "\nnew")
    assert {s.how for s in recognise_sections(text, Place.DYNAMIC, log)} == {How.LOGGED}


def test_a_section_from_outside_is_known_from_the_log_alone() -> None:
    extra = ("team_rules", "Team rules: none.")
    log = known(("dynamic_behavior", BEHAVIOR), extra, ("env_info", ENV))
    text = joined(BEHAVIOR, extra[1], ENV)
    assert told(text, recognise_sections(text, Place.DYNAMIC, log))[1] == extra
    other = joined(BEHAVIOR, "Team rules: many.", ENV)
    spans = recognise_sections(other, Place.DYNAMIC, log)
    assert told(other, spans)[1] == ("team_rules", "Team rules: many.")
    assert spans[1].how is How.PLACE


def test_prefix_text_that_nothing_explains_is_kept_as_unknown() -> None:
    text = joined("Hello.", BEHAVIOR)
    assert told(text, recognise_sections(text, Place.DYNAMIC)) == [
        ("unknown", "Hello."),
        ("dynamic_behavior", BEHAVIOR),
    ]


def test_headings_in_an_output_style_are_not_taken_for_sections() -> None:
    style = (
        "# Output Style: Odd\n# Memory\n\n# Memory\nnone\n\n# Environment\nquiet\n\n"
        "# Context management\nsay less\n\n```\n\n# Context management\n\ngitStatus: x\n\n```"
    )
    texts = [BEHAVIOR, ENV, style, MANAGE, GIT]
    text = joined(*texts)
    assert [t for _, t in told(text, recognise_sections(text, Place.DYNAMIC))] == texts


def test_an_environment_tells_a_directory_or_a_platform() -> None:
    memory = "# Memory\nx\n\n# Environment\nnothing of the kind"
    text = joined(BEHAVIOR, memory, ENV)
    assert [t for _, t in told(text, recognise_sections(text, Place.DYNAMIC))] == [
        BEHAVIOR,
        memory,
        ENV,
    ]


@pytest.mark.parametrize("log", [(), known(("identity", IDENTITY), ("desktop_context", DESKTOP))])
def test_identity_and_desktop(log: tuple[LoggedText, ...]) -> None:
    text = f"\n{IDENTITY}\n\n{DESKTOP}"
    expected = [("identity", IDENTITY), ("desktop_context", DESKTOP)]
    assert told(text, recognise_sections(text, Place.STABLE, log)) == expected
    alone = f"\n{IDENTITY}"
    assert told(alone, recognise_sections(alone, Place.STABLE, log)) == expected[:1]


def context(*sections: str, closing: str = "\n\nUse what helps.") -> str:
    body = "\n\n".join(["As you answer the user's questions, you can look:", *sections])
    return f"<system-reminder>\n{body}{closing}\n</system-reminder>\n"


AGENTS = "# agentsMd\nRules.\n\nContents of /w/AGENTS.md (project):\n\n"
DATE = "# currentDate\nToday's date is 2026-01-12."


@pytest.mark.parametrize("logged", [True, False])
def test_the_context_prefix_and_headings_in_instruction_files(logged: bool) -> None:
    trap = "# currentDate\nsee 1\n\n# agentsMd\n\n```\n# currentDate\n2\n```\n\n# Environment"
    agents = f"{AGENTS}{trap}"
    log = known(("request_user_context", agents), ("current_date", DATE)) if logged else ()
    text = context(agents, DATE)
    expected = [("request_user_context", agents), ("current_date", DATE)]
    assert told(text, recognise_sections(text, Place.CONTEXT, log)) == expected


def test_tags_in_instruction_files_are_escaped_and_still_found() -> None:
    agents = f"{AGENTS}never <system-reminder> this"
    text = context(agents.replace("<", "&lt;"), DATE)
    spans = recognise_sections(text, Place.CONTEXT, known(("request_user_context", agents)))
    assert [s.how for s in spans] == [How.LOGGED, How.HEADING]


def test_either_section_of_the_context_prefix_may_be_missing() -> None:
    text = context(DATE)
    assert told(text, recognise_sections(text, Place.CONTEXT)) == [("current_date", DATE)]
    text = context(f"{AGENTS}x")
    found = told(text, recognise_sections(text, Place.CONTEXT))
    assert found == [("request_user_context", f"{AGENTS}x")]


def test_instruction_files_have_a_path_and_a_scope() -> None:
    quoted = "Contents of /x/AGENTS.md (quoted):\nContents of README.md (no):"
    text = (
        "# agentsMd\n\nContents of /home/a/.fork/AGENTS.md (mine):\n\nbrief\n\n"
        f"Contents of /w/AGENTS.md (checked in):\n\nrules\n{quoted}\n\n"
        "Contents of /m/MEMORY.md (index):\n\n- one\nContents of /n/MEMORY.md (quoted)"
    )
    files = instruction_files(text, 0, len(text))
    assert [(f.path, f.scope) for f in files] == [
        ("/home/a/.fork/AGENTS.md", Scope.USER),
        ("/w/AGENTS.md", Scope.WORKSPACE),
        ("/m/MEMORY.md", Scope.MEMORY),
    ]
    assert text[files[1].start_char : files[1].end_char].endswith(quoted)
    assert not any(f.truncated for f in files)


def test_a_cut_instruction_file_shows_its_note() -> None:
    body = "é" * (FILE_LIMIT_BYTES // 2)
    text = f"Contents of /w/AGENTS.md (project):\n\n{body}\n\n(the rest was cut)"
    (file,) = instruction_files(text, 0, len(text))
    assert file.truncated and file.truncation_note == "(the rest was cut)"


STABLE_TEXT, DYNAMIC_TEXT = f"\n{IDENTITY}", joined(*DYNAMIC)


@pytest.mark.parametrize(
    ("texts", "variant"),
    [
        ([CLI, STABLE_TEXT, DYNAMIC_TEXT], Variant.MAIN),
        ([CLI, IDENTITY, joined(*DYNAMIC).strip()], Variant.MAIN),
        ([CLI, f"\nYou review.\n\n{ENV}"], Variant.CUSTOM),
        (["One actor.\n\nOne node.", joined(MEMORY, ENV)], Variant.WORKFLOW_ACTOR),
        (["One actor.", joined(ENV, MANAGE)], Variant.WORKFLOW_ACTOR),
        ([CLI, "\nScout.", "\n\nNotes:\n- x", f"\n\n{ENV}"], Variant.SUBAGENT),
        ([CLI, "\n\nNotes:\n- x", f"\n\n{ENV}"], Variant.SUBAGENT),
        (["Name this conversation."], Variant.NONE),
        ([], Variant.UNKNOWN),
        (["a"] * 5, Variant.UNKNOWN),
        (["Two lines\nat first", "and this"], Variant.UNKNOWN),
    ],
)
def test_the_layout_tells_the_variant(texts: list[str], variant: Variant) -> None:
    layout = layout_of(texts)
    assert layout.variant is variant
    assert len(layout.places) == len(texts) and layout.evidence


def test_a_section_that_fills_its_message_keeps_its_newlines() -> None:
    text = "\n\nNotes:\n- x"
    (span,) = recognise_sections(text, Place.NOTES)
    assert (span.start_char, span.end_char, span.how) == (0, len(text), How.PLACE)
    (span,) = recognise_sections(text, Place.NOTES, known(("subagent_notes", text)))
    assert span.how is How.LOGGED


def test_an_unknown_layout_yields_only_what_is_known() -> None:
    text = f"Hello.\n\n{ENV}"
    assert [s.source for s in recognise_sections(text, Place.ANY)] == ["env_info"]
    assert recognise_sections("Hello.", Place.ANY) == ()
    assert recognise_sections("", Place.DYNAMIC) == ()
