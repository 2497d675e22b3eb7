"""The system prompt of the simulated agent, and the ways in which parts of it change.

Three blocks: who the agent is, how it works, and what is true of this session. The texts are
invented.
"""

import random
from collections.abc import Callable, Mapping

from tests.simulated.wire import Part

HEAD = "Dash, a coding agent at your prompt."
_RULES = """\
You are a programming assistant that works inside one repository at a time.

# Harness
- Whatever you print outside a tool call is shown to the person as plain Markdown.
- Tools run on the person's own machine; a call that would change something may be put before them.
- Long conversations are shortened from time to time, so there is no need to hurry.

# Communicating with the user
Say what you are about to do in one line before the first tool call, and what came of it at the end.
"""
_RULE = "- When {a} and {b} disagree, trust {a}, and say so with the path and the line of both."
_THINGS = (
    "a test", "the type checker", "the changelog", "a comment", "the schema", "a fixture",
    "the linter", "a benchmark", "the lock file", "the build", "a migration", "the manual page",
)  # fmt: skip
_SKILLS = {
    "release": "Use when a version is to be published: notes, tags, and checks of the artefacts.",
    "review": "Use to read a change with the eyes of a maintainer, findings ordered by severity.",
    "migrate": "Use when a database schema changes: forward and backward steps, tested with rows.",
    "profile": "Use when something is slow: measure first, then change one thing at a time.",
}
_MORE_SKILLS = {
    "issues": "Use when a ticket is to be read, triaged, or closed with a note on what was done.",
    "diagrams": "Use to draw a flow or an architecture as text that a page can render.",
}
STATE: Mapping[str, str] = {
    "date": "2026-01-12",
    "minute": "09:02",
    "stamp": "2026-01-12T09:02:11Z",
    "nonce": "36ee5a01",
    "branch": "main",
    "status": " M uploader/retry.py",
    "cwd": "/home/dev/uploader",
    "memory": "- The staging bucket is eu-west-1.",
    "instructions": "Run the unit tests before every commit.",
    "tokens": "Tokens used so far: 18,200 of 200,000.",
    "skills": "few",
    "mcp": "Search before you open; cite the page.",
}


def system_blocks(rng: random.Random, texts: Mapping[str, str], **state: str) -> list[Part]:
    """The three blocks. `state` overrides what `STATE` says; a value with the name of a thing that
    the prompt does not show otherwise (`minute`, `stamp`, `nonce`, `tokens`) adds a line for it."""
    given = {**STATE, **state}
    rules = random.Random(7)
    body = [_RULES] + [
        _RULE.format(a=a, b=b) for a, b in (rules.sample(_THINGS, 2) for _ in range(30))
    ]
    head = HEAD
    if "nonce" in state:
        head = f"x-billing-header: cc_version=2.1.36; cch={given['nonce']};\n{head}"
    return [
        Part("text", head),
        Part("text", "\n".join(body)),
        Part("text", "\n\n".join(_session(texts, given, state))),
    ]


def _session(
    texts: Mapping[str, str], given: Mapping[str, str], state: Mapping[str, str]
) -> list[str]:
    """The sections of the last block."""
    environment = [
        "# Environment",
        f"Working directory: {given['cwd']}",
        "Git repository: yes",
        "Platform: linux",
        f"Model: {state.get('model', texts['model'])}",
        f"Today's date: {given['date']}",
    ]
    if "minute" in state:
        environment.append(f"Current time: {given['minute']}")
    if "stamp" in state:
        environment.append(f"Session clock: {given['stamp']}")
    if "tokens" in state:
        environment.append(given["tokens"])
    skills = {**_SKILLS, **(_MORE_SKILLS if given["skills"] == "many" else {})}
    return [
        f"# Memory\nNotes that outlive the session. MEMORY.md is their index:\n{given['memory']}",
        "\n".join(environment),
        "gitStatus: A look at the repository when the session began.\n"
        f"Current branch: {given['branch']}\nMain branch: main\nStatus:\n{given['status']}\n"
        "Recent commits:\n1f3a9c2 Retry uploads with backoff\n8d20b71 Split the chunk reader",
        "# MCP Server Instructions\n\n## docs\n" + given["mcp"],
        "The following skills are available for use with the Skill tool:\n\n"
        + "\n".join(f"- {name}: {text}" for name, text in skills.items()),
        # Last, since an instruction file can hold any heading: nothing tells where it ends.
        "# agentsMd\nStanding instructions of this repository.\n\n"
        "Contents of /home/dev/uploader/AGENTS.md (checked into the repository):\n\n"
        f"# Conventions\n{given['instructions']}\nNames say what a thing is for.",
    ]


Changes = Mapping[str, tuple[Mapping[str, str], Mapping[str, str], int]]

CHANGES: Changes = {
    "date": ({}, {"date": "2026-01-13"}, 2),
    "time": ({"minute": "09:02"}, {"minute": "09:07"}, 2),
    "iso_timestamp": ({"stamp": STATE["stamp"]}, {"stamp": "2026-01-12T09:07:45Z"}, 2),
    "nonce": ({"nonce": "36ee5a01"}, {"nonce": "0aaa9f4c"}, 0),
    "git_status": ({}, {"branch": "fix/retry", "status": " M uploader/retry.py\n?? notes.md"}, 2),
    "cwd": ({}, {"cwd": "/home/dev/uploader/tools"}, 2),
    "model": ({}, {"model": "another-model-name"}, 2),
    "usage": ({"tokens": STATE["tokens"]}, {"tokens": "Tokens used so far: 31,840 of 200,000."}, 2),
    "memory": ({}, {"memory": STATE["memory"] + "\n- Releases are cut on Thursdays."}, 2),
    "skills": ({}, {"skills": "many"}, 2),
    "instructions": ({}, {"instructions": "Run all tests, and the linter, before a push."}, 2),
    "mcp_instructions": ({}, {"mcp": "Search twice before you open; cite page and version."}, 2),
}
"""Subtype: what the state is before, what it becomes, and the block that changes."""

Sampler = Callable[[random.Random], Mapping[str, str]]

NONCES: Mapping[str, Sampler] = {
    "nonce": lambda rng: {"nonce": f"{rng.randrange(16**8):08x}"},
    "iso_timestamp": lambda rng: {
        "stamp": f"2026-01-12T{rng.randint(10, 23)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}Z"
    },
}
"""What changes with every request: a state drawn anew."""
