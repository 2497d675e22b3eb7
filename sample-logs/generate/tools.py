"""Invented tool schemas in the Anthropic wire form."""

from collections.abc import Iterable
from dataclasses import dataclass

from generate.text import Json


@dataclass(frozen=True)
class Tool:
    """A tool contract."""

    name: str
    description: str
    parameters: dict[str, str]
    required: tuple[str, ...]
    read_only: bool = False
    scope: str = "workspace"

    @property
    def server(self) -> str | None:
        """The MCP server of an `mcp__server__tool` name."""
        parts = self.name.split("__")
        return parts[1] if len(parts) == 3 and parts[0] == "mcp" else None

    def schema(self) -> Json:
        """Return `{name, description, input_schema}`."""
        properties: Json = {}
        for name, spec in self.parameters.items():
            kind, _, text = spec.partition(": ")
            properties[name] = {"type": kind, "description": text}
        schema: Json = {"type": "object", "properties": properties}
        schema |= {"required": list(self.required), "additionalProperties": False}
        return {"name": self.name, "description": self.description, "input_schema": schema}


_ALL = [
    Tool(
        "Agent",
        "Hand a self-contained question to a helper agent. It starts with an empty conversation, "
        "works with its own tools and returns one message.",
        {
            "description": "string: three to five words for the status line",
            "prompt": "string: everything the helper needs to know",
            "agent_type": "string: which kind of helper, for example Explore",
        },
        ("description", "prompt"),
        read_only=True,
        scope="session",
    ),
    Tool(
        "Bash",
        "Run a command in the workspace shell and return what it printed. The folder is kept "
        "between calls, variables are not. Long output is cut in the middle.",
        {
            "command": "string: the command line",
            "timeout_ms": "integer: give up after this long, at most 600000",
        },
        ("command",),
        scope="system",
    ),
    Tool(
        "Edit",
        "Replace one passage of a file. The old passage must occur exactly once and the file must "
        "have been read before.",
        {
            "file_path": "string: absolute path",
            "old_string": "string: the passage as it is now",
            "new_string": "string: the passage as it shall be",
        },
        ("file_path", "old_string", "new_string"),
    ),
    Tool(
        "Glob",
        "List files whose path fits a pattern, the newest first.",
        {"pattern": "string: for example src/**/*.py"},
        ("pattern",),
        read_only=True,
    ),
    Tool(
        "Grep",
        "Search file contents with a regular expression and return matching lines with numbers.",
        {
            "pattern": "string: the expression",
            "path": "string: where to search; the workspace when absent",
            "context": "integer: lines to show around each match",
        },
        ("pattern",),
        read_only=True,
    ),
    Tool(
        "Read",
        "Read a text file with line numbers, 2000 lines unless told otherwise.",
        {
            "file_path": "string: absolute path",
            "offset": "integer: first line to read",
            "limit": "integer: number of lines",
        },
        ("file_path",),
        read_only=True,
    ),
    Tool(
        "Skill",
        "Load the instructions of one of the listed skills into the conversation.",
        {"skill": "string: its name", "args": "string: optional arguments"},
        ("skill",),
        read_only=True,
        scope="session",
    ),
    Tool(
        "TodoWrite",
        "Replace the list of steps the person sees. Exactly one step should be in progress.",
        {"todos": "array: objects with `content` and `status`"},
        ("todos",),
        scope="session",
    ),
    Tool(
        "WebFetch",
        "Fetch a page and answer a question from its text.",
        {"url": "string: address", "question": "string: what to look for"},
        ("url", "question"),
        read_only=True,
        scope="network",
    ),
    Tool(
        "Write",
        "Write a whole file, replacing what was there. Prefer Edit for small changes.",
        {"file_path": "string: absolute path", "content": "string: the new text"},
        ("file_path", "content"),
    ),
    Tool(
        "mcp__tickets__get_ticket",
        "Return one ticket with its comments.",
        {"id": "integer: ticket number"},
        ("id",),
        read_only=True,
        scope="network",
    ),
    Tool(
        "mcp__tickets__list_tickets",
        "List open tickets, newest first.",
        {"label": "string: only tickets with this label"},
        (),
        read_only=True,
        scope="network",
    ),
    Tool(
        "mcp__wiki__search_pages",
        "Search the team wiki and return titles with short excerpts.",
        {"query": "string: words to look for", "limit": "integer: number of pages"},
        ("query",),
        read_only=True,
        scope="network",
    ),
]

TOOLS = {tool.name: tool for tool in _ALL}

ALL_NAMES = tuple(TOOLS)
CORE_NAMES = ("Bash", "Edit", "Glob", "Grep", "Read", "Skill", "TodoWrite", "Write")
SMALL_NAMES = ("Bash", "Edit", "Grep", "Read", "mcp__tickets__get_ticket")
SCOUT_NAMES = ("Bash", "Glob", "Grep", "Read")


def schemas(names: Iterable[str]) -> list[Json]:
    """Return the schemas of the named tools, in the given order."""
    return [TOOLS[name].schema() for name in names]
