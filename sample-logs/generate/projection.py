"""From history entries to request messages: rules P1 to P7 of formats/zcode.md section 9."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from generate.entries import EPHEMERAL, Attachment, Entry, Message, Projected
from generate.reminders import (
    CLOSE_TAG,
    FORK_KINDS,
    KINDS,
    OPEN_TAG,
    STEER_INTROS,
    ReminderKind,
    body_spans,
    wrap,
    wrapped_bodies,
)
from generate.text import Json


@dataclass
class _SystemText:
    """Bodies that became one mid-conversation system message."""

    bodies: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(self.bodies)


@dataclass(frozen=True)
class _Fallback:
    """A mid-conversation system message that failed validation: one tagged user message."""

    text: str
    sources: tuple[str, ...]
    bodies: tuple[str, ...]


_Draft = Message | Attachment | _SystemText | _Fallback


def project(entries: Sequence[Entry], *, mcs: bool, marker_from_end: int = 1) -> list[Projected]:
    """Return the messages of one request.

    `mcs` switches mid-conversation system messages on. The cache marker goes on the
    `marker_from_end`-th non-system message from the end (2 for compaction requests).
    """
    drafts: list[_Draft] = list(bubble(present(entries)))
    if mcs:
        drafts = validate(anchor(drafts))
    rendered = [render(draft) for draft in repair_tool_runs(drafts)]
    if mcs:
        rendered = [replace(item, demoted=_is_demoted(item)) for item in rendered]
    return mark(rendered, marker_from_end)


def _is_demoted(item: Projected) -> bool:
    """Whether a tagged message would be system text if its place allowed it."""
    own_message = (
        item.message["content"].startswith(f"{OPEN_TAG}\n[SYSTEM NOTIFICATION - NOT USER INPUT]")
        if item.via == "reminder"
        else False
    )
    kinds = [KINDS[source].mcs for source in item.sources if source in KINDS]
    return item.via == "reminder" and not own_message and len(kinds) > 0 and all(kinds)


def present(entries: Iterable[Entry]) -> list[Entry]:
    """P1: return the entries with incoming user messages brought into their presentation."""
    return [
        _present(entry) if isinstance(entry, Message) and entry.role == "user" else entry
        for entry in entries
    ]


def _present(message: Message) -> Entry:
    name, text = message.presentation, message.content
    if name is None or not isinstance(text, str):
        return message
    if name in STEER_INTROS:
        return Attachment("incoming_message", f"{STEER_INTROS[name]}\n{text}", name)
    if name == "task_notification":
        body = f"[SYSTEM NOTIFICATION - NOT USER INPUT]\n{text}"
        return message.with_text(wrap("incoming_message", body))
    if name == "subagent_reply":
        return message.with_text(f"Another ZCode session sent a message:\n{text}")
    return message


def _kind(source: str) -> ReminderKind:
    if source in FORK_KINDS:
        return FORK_KINDS[source]
    if source not in KINDS:
        raise ValueError(f"unknown attachment source: {source}")
    return KINDS[source]


def is_floating(entry: _Draft) -> bool:
    """Whether an entry bubbles to the nearest earlier stop (P2)."""
    if isinstance(entry, Attachment):
        kind = KINDS.get(entry.source)
        return kind is not None and kind.floats and entry.presentation is None
    if isinstance(entry, Message) and entry.role == "user" and entry.presentation is None:
        return entry.source in {"legacy_synthetic", "context_prefix"}
    return False


def is_stop(entry: _Draft) -> bool:
    """Whether nothing bubbles past an entry (P2)."""
    if isinstance(entry, Message):
        tool_result = entry.tool_call_id is not None or entry.tool_name is not None
        return entry.role != "user" or tool_result or entry.presentation is not None
    return isinstance(entry, Attachment) and entry.presentation is not None


def bubble(entries: Iterable[Entry]) -> list[Entry]:
    """P2: return the entries with floating ones moved up behind the nearest earlier stop."""
    out: list[Entry] = []
    floating: list[Entry] = []
    others: list[Entry] = []
    for entry in entries:
        if is_stop(entry):
            out += [*floating, *others, entry]
            floating, others = [], []
        elif is_floating(entry):
            floating.append(entry)
        else:
            others.append(entry)
    return [*out, *floating, *others]


class _Anchor:
    """P3.1 to P3.5: collects eligible bodies and anchors them as system text."""

    def __init__(self) -> None:
        self.out: list[_Draft] = []
        self._pending: list[Attachment] = []

    def add(self, entry: _Draft) -> None:
        presented = isinstance(entry, Message | Attachment) and entry.presentation is not None
        role = entry.role if isinstance(entry, Message) else None
        pending_presented = any(item.presentation is not None for item in self._pending)
        if presented or role in {"assistant", "system"} or (role == "user" and pending_presented):
            self.flush()
        if isinstance(entry, Attachment) and _kind(entry.source).mcs:
            self._pending.append(entry)
        else:
            self.out.append(entry)

    def flush(self) -> None:
        if not self._pending:
            return
        last = self.out[-1] if self.out else None
        if isinstance(last, Message) and last.role in {"user", "tool"}:
            last = _SystemText()
            self.out.append(last)
        if isinstance(last, _SystemText):
            last.bodies += [item.body for item in self._pending]
            last.sources += [item.source for item in self._pending]
        else:
            self.out += self._pending
        self._pending = []


def anchor(entries: Iterable[_Draft]) -> list[_Draft]:
    """P3.1 to P3.5: return the entries with eligible attachments turned to system text."""
    anchored = _Anchor()
    for entry in entries:
        anchored.add(entry)
    anchored.flush()
    return anchored.out


def validate(drafts: Sequence[_Draft]) -> list[_Draft]:
    """P3.6: return the drafts with system text in a forbidden place turned to a tagged message."""
    out: list[_Draft] = []
    for index, draft in enumerate(drafts):
        if isinstance(draft, _SystemText):
            before = drafts[index - 1] if index else None
            after = drafts[index + 1] if index + 1 < len(drafts) else None
            after_ok = after is None or isinstance(after, _SystemText)
            after_ok = after_ok or (isinstance(after, Message) and after.role == "assistant")
            before_ok = isinstance(before, Message) and before.role in {"user", "tool"}
            if not (before_ok and after_ok):
                text = wrap("fallback", draft.text)
                out.append(_Fallback(text, tuple(draft.sources), tuple(draft.bodies)))
                continue
        out.append(draft)
    return out


def repair_tool_runs(drafts: Iterable[_Draft]) -> list[_Draft]:
    """P4: return the drafts with reminders inside a run of tool messages moved behind the run."""
    out: list[_Draft] = []
    held: list[_Draft] = []
    in_run = False
    for draft in drafts:
        is_tool = isinstance(draft, Message) and draft.role == "tool"
        if in_run and not is_tool and _is_reminder(draft):
            held.append(draft)
            continue
        if not is_tool:
            out += held
            held = []
        out.append(draft)
        in_run = is_tool
    return [*out, *held]


def _is_reminder(draft: _Draft) -> bool:
    legacy = isinstance(draft, Message) and draft.source == "legacy_synthetic"
    return legacy or isinstance(draft, Attachment | _Fallback)


def render(draft: _Draft) -> Projected:
    """P5: return the message of one draft."""
    if isinstance(draft, Message):
        if draft.presentation == "task_notification" and isinstance(draft.content, str):
            spans = ((len(OPEN_TAG) + 1, len(draft.content) - len(CLOSE_TAG) - 1),)
            return Projected(draft.to_json(), "reminder", ("incoming_message",), spans)
        return Projected(draft.to_json(), inline=_inline(draft))
    if isinstance(draft, _SystemText):
        message: Json = {"role": "system", "content": draft.text}
        return Projected(message, "mcs", tuple(draft.sources), body_spans(draft.bodies))
    if isinstance(draft, _Fallback):
        message = {"role": "user", "content": draft.text}
        return Projected(message, "reminder", draft.sources, wrapped_bodies(draft.bodies))
    text = wrap(_kind(draft.source).source, draft.body)
    spans = wrapped_bodies([draft.body])
    return Projected({"role": "user", "content": text}, "reminder", (draft.source,), spans)


def _inline(message: Message) -> tuple[str, int, int] | None:
    """Return the reminder at the end of a tool's result and where its body stands."""
    if message.inline is None or not isinstance(message.content, str):
        return None
    start = message.content.rindex(OPEN_TAG) + len(OPEN_TAG) + 1
    return message.inline, start, len(message.content) - len(CLOSE_TAG) - 1


def mark(messages: list[Projected], from_end: int) -> list[Projected]:
    """P7: return the messages with the one cache marker outside the system messages set."""
    candidates = [i for i, item in enumerate(messages) if item.message["role"] != "system"]
    target = candidates[-from_end] if len(candidates) >= from_end else None
    out: list[Projected] = []
    for index, item in enumerate(messages):
        message = dict(item.message)
        if message["role"] != "system":
            message.pop("cacheControl", None)
        if index == target:
            message["cacheControl"] = dict(EPHEMERAL)
        out.append(replace(item, message=message))
    return out
