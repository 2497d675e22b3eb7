"""What a conversation history is made of before it is projected to messages."""

from dataclasses import dataclass, replace
from typing import Any

from generate.text import Json

EPHEMERAL: Json = {"type": "ephemeral"}

Content = str | list[Any]


@dataclass(frozen=True)
class Message:
    """A message of the history: system, user, assistant or tool."""

    role: str
    content: Content
    source: str | None = None
    presentation: str | None = None
    tool_calls: tuple[Json, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    provider_id: str | None = None
    model_id: str | None = None
    cached: bool = False
    inline: str | None = None

    def with_text(self, text: str) -> "Message":
        """Return the same message with other content."""
        return replace(self, content=text)

    def to_json(self) -> Json:
        """Return the canonical message object (section 3.5), without a cache marker unless kept."""
        out: Json = {"role": self.role, "content": self.content}
        if self.tool_calls:
            out["toolCalls"] = list(self.tool_calls)
        if self.tool_call_id is not None:
            out["toolCallId"] = self.tool_call_id
            out["toolName"] = self.tool_name or ""
        if self.is_error:
            out["isError"] = True
        if self.provider_id is not None:
            out["providerId"] = self.provider_id
            out["modelId"] = self.model_id
        if self.cached:
            out["cacheControl"] = dict(EPHEMERAL)
        return out


@dataclass(frozen=True)
class Attachment:
    """A runtime note with a known source; it becomes a reminder or system text."""

    source: str
    body: str
    presentation: str | None = None


Entry = Message | Attachment


@dataclass(frozen=True)
class Projected:
    """One message of a request, with where it came from.

    `via` is `plain`, `reminder` or `mcs`; `sources` names the reminders inside it, `spans` where
    the body of each stands in the text. `inline` is the source of one at the end of a tool's
    result, with its place; `demoted` marks system text that had to stay a tagged message.
    """

    message: Json
    via: str = "plain"
    sources: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    inline: tuple[str, int, int] | None = None
    demoted: bool = False
