"""What the files beside the prompts say of a session: turns, tools, children, rewinds, usage rows.

Times are UTC epoch milliseconds, sizes have their unit in their names. None means unknown.
"""

from dataclasses import dataclass

from tracer.model.doctor_views import DoctorLine

_FAILED = frozenset({"error", "failed", "cancelled", "denied"})


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A fact of which two files say different things; both are shown, none is corrected."""

    fact: str
    request: str
    row: str


@dataclass(frozen=True, slots=True)
class UsageRowView:
    """What a session database (or a session event) counts for a request.

    `strength` is `exact` or `heuristic`, `join` says what the tie rests on. `retries` are the
    attempts before the last. `context_*` is the agent's own account at the end of the step:
    tokens used, the window's size, and characters by category (`source`, `chars`).
    """

    request_key: str
    usage_id: str
    origin: str
    status: str
    strength: str
    join: str
    conflicts: tuple[ConflictView, ...]
    retries: int
    first_token_ms: int | None
    message_id: str
    context_used: int | None
    context_window: int | None
    context_chars: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn with the user's words. `abandoned` turns were taken back by a rewind. `words` is empty
    where no file has them; `words_from` is `message`, or `prompt` where they are taken from the
    end of the first prompt of the turn. `known_from` says who tells of the turn: `turn_usage`,
    `messages`, `log` or `requests`. `number` is that of its requests' `turn_number`."""

    turn_id: str
    number: int
    words: str
    status: str
    started_at_ms: int | None
    duration_ms: int | None
    first_token_ms: int | None
    model_requests: int | None
    retries: int | None
    tool_calls: int | None
    tool_errors: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    abandoned: bool
    message_id: str = ""
    words_from: str = ""
    known_from: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallView:
    """One tool call, put together from the usage row, the message's part and the session events.

    `known_from` names those (`tool_usage`, `part`, `events`, `answer`: the model's answer); they
    share the call's id, which is exact. It is `prompt` where the prompts alone tell of a call:
    `result_key` is then the request in whose prompt the result first stands.
    `permission_ms` is the time from the question to the answer, where events tell it.
    `child_session_id` is the session that the call started.
    """

    call_id: str
    turn_id: str
    tool: str
    status: str
    approval: str
    started_at_ms: int | None
    ended_at_ms: int | None
    duration_ms: int | None
    permission_ms: int | None
    output_bytes: int | None
    error: str
    message_id: str
    request_key: str
    child_session_id: str
    known_from: tuple[str, ...]
    abandoned: bool = False
    result_key: str = ""

    @property
    def failed(self) -> bool:
        """Whether it ended in an error, was cancelled, or was denied."""
        return self.status in _FAILED

    @property
    def strength(self) -> str:
        """`exact` where what tells of the call shares its id with the answer that asked for it;
        `heuristic` where no answer is logged, and the order of the prompts tells who asked."""
        return "heuristic" if self.request_key and self.known_from == ("prompt",) else "exact"

    @property
    def join(self) -> str:
        """What the tie rests on, in words."""
        if self.strength == "exact":
            return "the call's id"
        return (
            "the order of the prompts: the last request before the one whose prompt first holds "
            "the call; the call and its result share an id"
        )


@dataclass(frozen=True, slots=True)
class FamilyLink:
    """A parent or a child session. `call_id` is the tool call of the parent that started the child;
    `join` says what the tie rests on."""

    session_id: str
    title: str
    task_type: str
    call_id: str
    agent_type: str
    status: str
    strength: str
    join: str


@dataclass(frozen=True, slots=True)
class CompactionView:
    """A compaction as the conversation keeps it, or as the events of a trace tell it: `known_from`
    is `message` or `event`. `covers` counts the messages that the summary stands for."""

    at_ms: int | None
    reason: str
    status: str
    tokens_before: int | None
    tokens_after: int | None
    known_from: str = "message"
    covers: int | None = None


@dataclass(frozen=True, slots=True)
class TodoView:
    """One step of the session's list."""

    content: str
    status: str
    priority: str


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as its database describes it. `removed_at_ms` is when it was found to be gone from
    there; what it said is kept."""

    title: str
    title_source: str
    directory: str
    task_type: str
    version: str
    removed_at_ms: int | None
    rewound_to_message_id: str


@dataclass(frozen=True, slots=True)
class SessionStory:
    """Everything beside the prompts. `evidence` says what is there, what is gone and what to switch
    on to see more next time."""

    session_id: str
    stored: StoredSession | None
    parent: FamilyLink | None
    children: tuple[FamilyLink, ...]
    turns: tuple[TurnView, ...]
    tools: tuple[ToolCallView, ...]
    usage_rows: tuple[UsageRowView, ...]
    compactions: tuple[CompactionView, ...]
    todos: tuple[TodoView, ...]
    abandoned_messages: int
    evidence: tuple[DoctorLine, ...]
