"""Passages of a text that say themselves what they are: a skills listing, an instruction file, ...

A passage begins at a line that only such a passage has, and ends where the next one begins or at a
line that closes it. An instruction file can hold any heading, so fewer lines end it.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from tracer.model.comparison import TextKind

_OPENINGS = re.compile(
    r"^(?:"
    r"(?P<git>gitStatus:)"
    r"|(?P<skills>The following skills are available\b|<available_skills>|#{1,3} (?:Available )?"
    r"[Ss]kills[ \t]*$)"
    r"|(?P<file>(?:Contents of|Instructions from:) (?P<path>\S[^\n]*?\.\w+)(?=[\s:(]|$))"
    r"|(?P<memory>#{1,3} (?:[Aa]uto )?[Mm]emory[ \t]*$)"
    r"|(?P<mcp>#{1,3} MCP (?:[Ss]erver )?[Ii]nstructions\b)"
    r"|(?P<close>#{1,3} currentDate[ \t]*$"
    r"|</(?:available_skills|system-reminder|env|environment|instructions|context)>)"
    r"|(?P<heading># \S|<(?:system-reminder|env|environment|context)>)"
    r")",
    re.MULTILINE,
)
_MEMORY_FILE = re.compile(r"(?:^|[/\\])MEMORY\.md$|[/\\]memory[/\\]", re.IGNORECASE)
_KINDS = {
    "git": TextKind.GIT_STATUS,
    "skills": TextKind.SKILLS,
    "memory": TextKind.MEMORY,
    "mcp": TextKind.MCP_INSTRUCTIONS,
}

_GIT_LINE = re.compile(
    r"\s*$|gitStatus:|(?:Current |Main )?[Bb]ranch\b|Git user:|Status:|Recent commits:|\(clean\)"
    r"|[ MADRCUT?!]{1,2} +\S|[0-9a-f]{7,40} \S"
)
_SKILL_LINE = re.compile(
    r"\s*$|\s*[-*] +(?P<name>[\w:./@-]+)"
    r"|\s*</?(?:available_skills|skill|name|description|location)\b"
    r"|The following skills are available\b|#{1,3} "
)
_XML_NAME = re.compile(r"<name>\s*([^<]+?)\s*</name>")
_KEYED = (
    (
        TextKind.GIT_STATUS,
        re.compile(r"\s*[-*]?\s*(?:Current |Main |Git )?[Bb]ranch(?: name)?: *(?=\S)"),
    ),
    (
        TextKind.CWD,
        re.compile(
            r"\s*[-*]?\s*(?:(?:Primary |Current )?[Ww]orking [Dd]irectory|cwd|Workspace(?: root)?"
            r"(?: (?:path|folder|directory))?|Project root|Root directory) *[:=] *(?=\S)"
        ),
    ),
    (
        TextKind.MODEL,
        re.compile(
            r"\s*[-*]?\s*(?:Model(?: ?ID| name)?|modelId|providerId|model) *[:=] *(?=\S)"
            r"|.*\b(?:powered by (?:the )?model(?: named)?|exact model ID is) +(?=\S)"
        ),
    ),
)
_MAX_NAMES = 8


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text from `start` on; `kind` None for one that proves nothing."""

    start: int
    kind: TextKind | None
    path: str = ""

    def holds(self, old: list[str], new: list[str]) -> bool:
        """Whether changed lines look like what this passage holds. What follows a git status or a
        listing without a heading of its own does not belong to it."""
        if self.kind is TextKind.GIT_STATUS:
            return all(_GIT_LINE.match(line) for line in (*old, *new))
        if self.kind is TextKind.SKILLS:
            return all(_SKILL_LINE.match(line) for line in (*old, *new))
        return self.kind is not None

    def detail(self, old: list[str], new: list[str]) -> str:
        """The file, or the skills that came, went or read otherwise."""
        if self.kind is not TextKind.SKILLS:
            return self.path
        before, after = _names(old), _names(new)
        told = (
            ("added", [name for name in after if name not in before]),
            ("removed", [name for name in before if name not in after]),
            ("changed", [name for name in after if name in before]),
        )
        return "; ".join(f"{word}: {_listed(names)}" for word, names in told if names)


def passages_of(text: str) -> list[Passage]:
    """The passages of a text in order. Linear."""
    passages: list[Passage] = []
    in_file = False  # or in tags: only a line that closes it ends the passage
    for found in _OPENINGS.finditer(text):
        name = found.lastgroup or ""
        if found["file"] is not None:
            path = found["path"]
            kind = TextKind.MEMORY if _MEMORY_FILE.search(path) else TextKind.INSTRUCTIONS
            passages.append(Passage(found.start(), kind, path))
            in_file = True
        elif name == "close" or not in_file:
            passages.append(Passage(found.start(), _KINDS.get(name)))
            in_file = found[0] == "<available_skills>"
    return passages


def passage_at(passages: list[Passage], offset: int) -> Passage | None:
    """The passage in which an offset lies."""
    at = bisect_right(passages, offset, key=lambda passage: passage.start)
    return passages[at - 1] if at else None


def line_kind(x: str, y: str) -> tuple[TextKind, int] | None:
    """The kind of two lines that say by the same words what they are about (a branch, a working
    directory, a model), and where their values begin."""
    for kind, pattern in _KEYED:
        p, q = pattern.match(x), pattern.match(y)
        if p and q and p[0] == q[0]:
            return kind, p.end()
    return None


def _names(lines: list[str]) -> list[str]:
    names = []
    for line in lines:
        found = _SKILL_LINE.match(line)
        if found and found["name"]:
            names.append(found["name"].rstrip(":"))
        names += _XML_NAME.findall(line)
    return list(dict.fromkeys(names))


def _listed(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
