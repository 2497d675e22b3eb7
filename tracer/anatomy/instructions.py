"""The instruction files inside a request's user context (formats/zcode.md 7.1 and 13).

One `Contents of <path> (...)` block a file: the user's own AGENTS.md, the nearest AGENTS.md of the
workspace, the memory index. The files are anybody's text and may quote such a line themselves, so
only these names count, each scope once, in this order, at the start of a paragraph where any does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

FILE_LIMIT_BYTES = 102_400
"""What a file is cut to (formats/zcode.md 13); a note line follows a cut."""

_BLOCK = re.compile(
    r"^Contents of (?P<path>[^\n]*?(?P<name>AGENTS\.md|MEMORY\.md)) \([^\n]*\):?[ \t]*$",
    re.MULTILINE,
)
_HIDDEN_FOLDER = re.compile(r"(?:^|[/\\])\.[^/\\]+[/\\]AGENTS\.md$")


class Scope(StrEnum):
    """Whose instructions a file holds. MEMORY: the index of earlier notes."""

    USER = "user"
    WORKSPACE = "workspace"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """One file. `start_char` to `end_char` is its block in the text, its heading line included.
    `truncation_note` is the line that follows a cut."""

    path: str
    scope: Scope
    start_char: int
    end_char: int
    truncated: bool = False
    truncation_note: str = ""


def instruction_files(text: str, start: int, end: int) -> tuple[InstructionFile, ...]:
    """The files of a request_user_context section that stands at `start` to `end` of `text`."""
    heads: list[tuple[Scope, re.Match[str]]] = []
    order = list(Scope)
    found = list(_BLOCK.finditer(text, start, end))
    joined = [head for head in found if text[max(start, head.start() - 2) : head.start()] == "\n\n"]
    for head in joined or found:
        scope = _scope(head)
        while heads and scope is Scope.MEMORY and heads[-1][0] is Scope.MEMORY:
            heads.pop()  # the index stands last: an earlier line of that kind was quoted
        if not heads or order.index(scope) > order.index(heads[-1][0]):
            heads.append((scope, head))
    return tuple(_file(text, heads, number, end) for number in range(len(heads)))


def _scope(head: re.Match[str]) -> Scope:
    if head["name"] == "MEMORY.md":
        return Scope.MEMORY
    return Scope.USER if _HIDDEN_FOLDER.search(head["path"]) else Scope.WORKSPACE


def _file(
    text: str, heads: Sequence[tuple[Scope, re.Match[str]]], number: int, end: int
) -> InstructionFile:
    scope, head = heads[number]
    stop = heads[number + 1][1].start() if number + 1 < len(heads) else end
    block_end = head.end() + len(text[head.end() : stop].rstrip("\n"))
    content = text[head.end() : block_end].strip("\n")
    truncated = len(content.encode("utf-8", "replace")) >= FILE_LIMIT_BYTES
    note = content.rsplit("\n", 1)[-1].strip() if truncated else ""
    return InstructionFile(head["path"], scope, head.start(), block_end, truncated, note)
