"""The parts a run's story is told in: what the person asks, what the model answers."""

from dataclasses import dataclass
from typing import Any

from generate.text import Json


@dataclass(frozen=True)
class Failure:
    """A failed attempt; `delay_ms` is the wait before the next one, None ends the turn."""

    reason: str
    message: str
    status_code: int | None = None
    name: str = "ModelProtocolError"
    duration_ms: int = 900
    delay_ms: int | None = 2000
    cancelled: bool = False
    wire_body_known: bool = False
    partial_calls: tuple[Json, ...] = ()
    reaches_provider: bool = False
    keep_request_id: bool = False


@dataclass(frozen=True)
class ChildTask:
    """What a helper agent does: its brief and its own model steps."""

    agent_type: str
    tools: tuple[str, ...]
    steps: tuple["Step", ...]


@dataclass(frozen=True)
class Call:
    """A tool call of the model and what the tool returned.

    `inline` is a reminder (source, body) that the runtime puts at the end of the result.
    """

    name: str
    input: Json
    result: str
    is_error: bool = False
    duration_ms: int = 180
    child: ChildTask | None = None
    inline: tuple[str, str] | None = None


@dataclass(frozen=True)
class Compaction:
    """A compaction before a step: the model's summary and the files read again.

    `keep` history entries at the end are left as they are.
    """

    summary: str
    read_again: tuple[tuple[str, str | None], ...] = ()
    keep: int = 1


@dataclass(frozen=True)
class Step:
    """One model call: failed attempts, then the answer, then its tool calls.

    `incoming` are messages (presentation, text) and `notes` notes (source, body) that arrive before
    it.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    failures: tuple[Failure, ...] = ()
    steer: str | None = None
    compaction: Compaction | None = None
    extra_ms: int = 0
    incoming: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def gives_up(self) -> bool:
        """Whether the last attempt failed for good."""
        return bool(self.failures) and self.failures[-1].delay_ms is None


@dataclass(frozen=True)
class Turn:
    """One message of the person and the steps it leads to; a turn can begin without one.

    `notes` come before the message, `after` behind it.
    """

    prompt: str | list[Any] | None
    steps: tuple[Step, ...]
    title: str | None = None
    title_late: bool = False
    session_hook: str | None = None
    prompt_hook: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    presentation: str | None = None
    after: tuple[tuple[str, str], ...] = ()


def say(text: str, *calls: Call, reasoning: str | None = None) -> Step:
    """Return a step without trouble."""
    return Step(text, calls, reasoning)


def read(root: str, path: str, text: str) -> Call:
    """Return a Read call; the result carries line numbers."""
    lines = text.rstrip("\n").split("\n")
    numbered = "\n".join(f"{number:>5}\t{line}" for number, line in enumerate(lines, 1))
    return Call("Read", {"file_path": f"{root}/{path}"}, numbered)


def edit(root: str, path: str, old: str, new: str) -> Call:
    """Return an Edit call that worked."""
    full = f"{root}/{path}"
    values = {"file_path": full, "old_string": old, "new_string": new}
    return Call("Edit", values, f"{full}: one passage replaced.")


def bash(command: str, output: str, *, failed: bool = False, duration_ms: int = 640) -> Call:
    """Return a Bash call."""
    return Call("Bash", {"command": command}, output, failed, duration_ms)


def grep(pattern: str, output: str) -> Call:
    """Return a Grep call."""
    return Call("Grep", {"pattern": pattern}, output)


def todos(*items: tuple[str, str]) -> Call:
    """Return a TodoWrite call with (content, status) pairs."""
    rows = [{"content": content, "status": status} for content, status in items]
    return Call("TodoWrite", {"todos": rows}, "The list was updated.", duration_ms=20)
