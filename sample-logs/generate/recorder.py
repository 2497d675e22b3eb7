"""The attempts of a run as its adapter made them, grouped into logical calls."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from generate.cache import Usage
from generate.modelio import Attempt
from generate.project import Model
from generate.sections import Section
from generate.text import Json
from generate.truth import Truth
from generate.window import Cut


def epoch_ms(moment: datetime) -> int:
    """Return milliseconds since 1970 UTC."""
    return round(moment.timestamp() * 1000)


@dataclass(frozen=True)
class Finished:
    """One attempt with how it ended."""

    attempt: Attempt
    status: str
    usage: Usage | None


@dataclass(frozen=True)
class ModelCall:
    """All attempts of one logical call, the last one first to be asked for its outcome."""

    attempts: tuple[Finished, ...]

    @property
    def first(self) -> Attempt:
        """The attempt that began the call."""
        return self.attempts[0].attempt

    @property
    def last(self) -> Finished:
        """The attempt that ended it."""
        return self.attempts[-1]

    @property
    def session_id(self) -> str:
        """The session that made it."""
        return self.first.session_id or ""

    @property
    def turn_id(self) -> str:
        """The turn it belongs to."""
        return self.first.turn_id or ""

    @property
    def source(self) -> str:
        """What it was for."""
        return self.first.query_source or "unknown"

    @property
    def started_ms(self) -> int:
        """When it began."""
        return epoch_ms(self.first.started_at)

    @property
    def completed_ms(self) -> int:
        """When it ended."""
        return epoch_ms(self.last.attempt.completed_at)

    @property
    def tool_calls(self) -> list[Json]:
        """The tool calls of its answer."""
        if self.last.status != "completed" or self.last.attempt.response is None:
            return []
        calls: list[Json] = self.last.attempt.response["toolCalls"]
        return calls


class Recorder(Truth):
    """Keeps the attempts beside the truth about them."""

    def __init__(self) -> None:
        super().__init__()
        self._finished: list[Finished] = []

    def record(
        self,
        attempt: Attempt,
        cut: Cut | None,
        status: str,
        usage: Usage | None,
        model: Model,
        sections: Sequence[Section],
        setup: Json,
    ) -> None:
        """Keep the attempt, and the truth about it."""
        super().record(attempt, cut, status, usage, model, sections, setup)
        self._finished.append(Finished(attempt, status, usage))

    def calls(self) -> list[ModelCall]:
        """Return the logical calls by start."""
        groups: list[list[Finished]] = []
        open_groups: dict[tuple[Any, ...], list[Finished]] = {}
        for finished in sorted(self._finished, key=lambda f: f.attempt.started_at):
            attempt = finished.attempt
            key = (attempt.session_id, attempt.turn_id, attempt.query_source)
            if attempt.number == 1:
                open_groups[key] = []
                groups.append(open_groups[key])
            open_groups[key].append(finished)
        return [ModelCall(tuple(group)) for group in groups]


def tool_results(calls: Collection[ModelCall]) -> dict[tuple[str, str], tuple[str, bool]]:
    """Return text and failure of each tool call, by session and call id, as later prompts say."""
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for call in calls:
        for message in call.first.message_objects():
            if message["role"] == "tool":
                key = (call.session_id, message["toolCallId"])
                found[key] = (message["content"], bool(message.get("isError")))
    return found


def prompt_text(call: ModelCall) -> str:
    """Return the person's words that a turn's first call answers."""
    plain = [
        item.message["content"]
        for item in call.first.messages
        if item.message["role"] == "user" and not item.sources
    ]
    return plain[-1] if plain and isinstance(plain[-1], str) else "(picture)"
