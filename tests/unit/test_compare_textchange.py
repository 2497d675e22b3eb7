"""What kind of text changed: each kind with both sides, and many that must stay unknown."""

import pytest

from tracer.compare import text_changes
from tracer.model.comparison import TextKind as K

GIT = """gitStatus: A look at the repository when the session began.
Current branch: {branch}
Main branch: main
Git user: dev
Status:
{status}
Recent commits:
a1b2c3d Raise the limit"""
SKILLS = "The following skills are available for use with the Skill tool:\n\n{entries}"
FILES = """As you answer, you can rely on the notes below.

# agentsMd
Standing instructions.

Contents of /home/dev/repo/AGENTS.md (checked into the repository):

# House rules
{rule}

Contents of /home/dev/.zcode/projects/repo/memory/MEMORY.md (index of notes):

- {note}

# currentDate
Today's date is {date}.

{closing}"""


def git(branch: str = "main", status: str = "(clean)") -> str:
    return GIT.format(branch=branch, status=status)


def files(
    rule: str = "Use tabs.",
    note: str = "names.md",
    date: str = "2026-01-12",
    closing: str = "So far.",
) -> str:
    return FILES.format(rule=rule, note=note, date=date, closing=closing)


UUID = "{}f2b1c9e-1a2b-4c3d-8e9f-0a1b2c3d4e5f"


@pytest.mark.parametrize(
    ("kind", "line", "old", "new"),
    [
        (K.DATE, "Today's date is {}.", "2026-01-12", "2026-01-13"),
        (K.DATE, "Today is {}", "Mon, Jan 12, 2026", "Tue, Jan 13, 2026"),
        (K.DATE, "Today is {}.", "12 January 2026", "13 January 2026"),
        (K.DATE, "It is {}.", "Monday", "Tuesday"),
        (K.DATE, "\u4eca\u5929\u662f{}", "2026\u5e741\u670812\u65e5", "2026\u5e741\u670813\u65e5"),
        (K.TIME, "Time: {}", "09:02", "09:03"),
        (K.TIME, "It is {} now", "9:02:11 AM", "9:02:14 AM"),
        (K.ISO_TIMESTAMP, "now {}", "2026-01-12T09:02:11.123Z", "2026-01-12T09:02:12.001Z"),
        (K.ISO_TIMESTAMP, "now {}", "2026-01-12 09:02 +01:00", "2026-01-12 09:03 +01:00"),
        (K.NONCE, "x-billing-header: cch={};", "36ee5", "0aaa9"),
        (K.NONCE, "cch={};", "36ee5", "10419"),
        (K.NONCE, "session {}", UUID.format(3), UUID.format(9)),
        (K.NONCE, '"message_id": "{}"', "7d9f3a1c", "8e0a4b2d"),
        (K.GIT_STATUS, "Branch: {}", "main", "fix/retry"),
        (K.CWD, "Working directory: {}", "/repo/a", "/repo/b"),
        (K.MODEL, "Model: {}", "zai/glm-4.7", "zai/glm-5"),
        (K.MODEL, "You are powered by the model named {}", "Opus 4.5.", "Sonnet 5."),
        (K.USAGE, "Token usage: {}/200,000", "51,969", "61,642"),
        (K.USAGE, "context left: {} tokens", "9000", "12000"),
        (K.USAGE, "context used: {}%", "41.5", "42"),
    ],
)
def test_a_line_that_differs_in_one_kind_of_piece(kind: K, line: str, old: str, new: str) -> None:
    before = f"You are an agent.\n{line.format(old)}\nBe brief."
    after = f"You are an agent.\n{line.format(new)}\nBe brief."
    found = text_changes(before, after)
    assert found.kinds == (kind,)
    (change,) = found.changes
    assert (change.before.text, change.after.text) == (old, new)
    assert before[change.before.start : change.before.end] == old
    assert change.after.window.startswith("You are an agent.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Use three retries.", "Use five retries."),
        ("Use 3 retries.", "Use 5 retries."),
        ("See issue 12345.", "See issue 54321."),
        ("the cafe facade", "the decade faded"),
        ("Today's date is 2026-01-12.", "Today is 2026-01-13."),
        ("Today's date is 2026-01-12. Be brief.", "Today's date is 2026-01-13. Be kind."),
        ("Step 3 on 2026-01-12", "Step 4 on 2026-01-13"),
        ("# Plan\nGo on.", "# MCP Instructions\nAsk nicely."),
        ("HEAD is a1b2c3d", "HEAD is d3c2b1a"),
        ("read /repo/a.py", "read /repo/b.py"),
        ("It is Monday.", "It is late."),
        ("one", "one\ntwo"),
        ("x" * 9_000 + " 09:02", "x" * 9_000 + " 09:03"),
    ],
)
def test_what_the_text_does_not_prove_stays_unknown(before: str, after: str) -> None:
    found = text_changes(before, after)
    assert [change.kind for change in found.changes] == [None]


def test_a_date_and_a_time_on_one_line_are_two_changes() -> None:
    found = text_changes("It is 2026-01-12, 23:59.", "It is 2026-01-13, 00:01.")
    assert [(c.kind, c.after.text) for c in found.changes] == [
        (K.DATE, "2026-01-13"),
        (K.TIME, "00:01"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (git(), git(branch="fix/retry")),
        (git(), git(status=" M tracer/a.py\n?? notes.md")),
        (git(status=" M a.py"), git(status=" M a.py\n M b.py")),
        (git(), git().replace("a1b2c3d Raise", "d4e5f6a Lower the limit\na1b2c3d Raise")),
    ],
)
def test_the_git_status(before: str, after: str) -> None:
    assert text_changes(f"Hello.\n\n{before}", f"Hello.\n\n{after}").kinds == (K.GIT_STATUS,)


def test_what_follows_the_git_status_is_none_of_it() -> None:
    assert text_changes(git(), git() + "\n\nPlan mode is active now.").kinds == ()


def test_skills_that_came_and_went_are_named() -> None:
    old = "- review: Reads a diff.\n- deploy: Ships it.\n- plan: Plans."
    new = "- review: Reads a diff.\n- plan: Makes a plan.\n- mcp__docs__search: Looks it up."
    change = text_changes(SKILLS.format(entries=old), SKILLS.format(entries=new)).changes[0]
    assert change.kind is K.SKILLS
    assert change.detail == "added: mcp__docs__search; removed: deploy; changed: plan"


def test_skills_as_tags() -> None:
    one = "<available_skills>\n<skill>\n<name>a</name>\n</skill>\n"
    two = one + "<skill>\n<name>b</name>\n</skill>\n"
    found = text_changes(one + "</available_skills>", two + "</available_skills>")
    assert found.kinds == (K.SKILLS,)
    assert "added: b" in found.changes[0].detail


def test_an_instruction_file_is_named_even_if_a_date_changed_in_it() -> None:
    change = text_changes(files(), files(rule="Use spaces. Since 2026-01-12.")).changes[0]
    assert change.kind is K.INSTRUCTIONS
    assert change.detail == "/home/dev/repo/AGENTS.md"


def test_a_new_instruction_file() -> None:
    text = files()
    at = text.index("# currentDate")
    more = text[:at] + "Contents of /repo/sub/AGENTS.md (nearer):\n\nNo globals.\n\n" + text[at:]
    assert text_changes(text, more).changes[0].kind is K.INSTRUCTIONS


def test_the_memory_index_and_the_date_after_it() -> None:
    found = text_changes(files(), files(note="people.md", date="2026-01-13"))
    assert found.kinds == (K.MEMORY, K.DATE)
    assert found.changes[0].detail.endswith("MEMORY.md")


def test_what_follows_the_files_is_no_instruction() -> None:
    assert text_changes(files(), files(closing="Some of it may be of no use.")).kinds == ()


def test_mcp_instructions_and_a_memory_section() -> None:
    one = "# MCP Server Instructions\n\n## docs\nAsk nicely.\n\n# Other\nx"
    assert text_changes(one, one.replace("nicely", "twice")).kinds == (K.MCP_INSTRUCTIONS,)
    assert text_changes(one, one.replace("\nx", "\ny z")).kinds == ()
    two = "# Memory\nA folder for notes is at `/a`.\n# Environment\nPlatform: linux"
    assert text_changes(two, two.replace("/a", "/b")).kinds == (K.MEMORY,)


def test_windows_reach_sixty_characters() -> None:
    before, after = "a" * 100 + " 09:02 " + "b" * 100, "a" * 100 + " 09:03 " + "b" * 100
    change = text_changes(before, after).changes[0]
    assert change.before.window_start == 41
    assert len(change.before.window) == 60 + 5 + 60


def test_many_places_are_counted_not_read() -> None:
    before = "\n".join(f"{n}\nsame {n}" for n in range(80))
    after = "\n".join(f"{n} changed\nsame {n}" for n in range(80))
    found = text_changes(before, after)
    assert (len(found.changes), found.more) == (50, 30)


def test_equal_texts_have_no_changes() -> None:
    assert text_changes("a", "a").changes == ()
