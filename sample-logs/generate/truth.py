"""What really was in every request: the content of a sample's `expected.json`."""

from collections import Counter
from collections.abc import Collection, Sequence

from generate.cache import Usage
from generate.clock import iso
from generate.entries import Projected
from generate.modelio import Attempt
from generate.project import Model
from generate.reminders import CLOSE_TAG, OPEN_TAG, escape_nested
from generate.sections import Section
from generate.text import Json, compact_json, message_sha256
from generate.window import Cut

_SECTIONS_BY_ATTACHMENT = {
    "skills_listing": ("skills",),
    "context_prefix": ("request_user_context", "current_date"),
}


class Truth:
    """Collects one row a request, as the run produces it."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, Json]] = []

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
        """Keep the truth about one attempt."""
        objects = attempt.message_objects()
        row: Json = {
            "request_id": attempt.request_id,
            "attempt": attempt.number,
            "turn_id": attempt.turn_id,
            "query_source": attempt.query_source,
            "model_id": model.model_id,
            "provider_id": model.provider_id,
            "started_at": iso(attempt.started_at),
            "status": status,
            "message_count": len(objects),
            "messages_kind": cut.kind if cut else None,
            "message_offset": cut.offset if cut else None,
            "usage": _usage(usage),
            "roles": dict(Counter(message["role"] for message in objects)),
            "tools": [tool["name"] for tool in attempt.tools],
            "messages_sha256": [message_sha256(message) for message in objects],
        }
        row |= _placed_sections(attempt, sections)
        row |= _placed_reminders(attempt)
        row["markers"] = [i for i, message in enumerate(objects) if "cacheControl" in message]
        row |= setup | _spans(attempt, sections)
        self._rows.append((attempt.session_id or "", row))

    def keep_only(self, request_ids: Collection[str]) -> None:
        """Forget the requests whose lines are no longer in any file."""
        self._rows = [item for item in self._rows if item[1]["request_id"] in request_ids]

    def rows(self) -> list[Json]:
        """Return every row, to be changed in place by a run that edits its lines afterwards."""
        return [row for _, row in self._rows]

    def sessions(self) -> list[Json]:
        """Return the sessions in order of their first request, requests by start time."""
        groups: dict[str, list[Json]] = {}
        for session_id, row in sorted(self._rows, key=lambda item: item[1]["started_at"]):
            groups.setdefault(session_id, []).append(row)
        return [{"session_id": key, "requests": rows} for key, rows in groups.items()]


def _usage(usage: Usage | None) -> Json | None:
    if usage is None:
        return None
    reads = {"cache_read": usage.cache_read, "cache_write": usage.cache_write}
    return {"input": usage.input, "output": usage.output, **reads}


def _placed_sections(attempt: Attempt, sections: Sequence[Section]) -> Json:
    """Return the section sources in the order they stand in the request, and where.

    Meta-user sections are placed by the attachment that carries them.
    """
    system = [s for s in sections if s.target == "system"]
    rows = [(section.source, _find_system(attempt, section)) for section in system]
    present = {section.source for section in sections}
    for index, item in enumerate(attempt.messages):
        for source in item.sources:
            carried = _SECTIONS_BY_ATTACHMENT.get(source, ())
            rows += [(name, index) for name in carried if name in present]
    return {
        "sections": [source for source, _ in rows],
        "section_messages": [index for _, index in rows],
    }


def _spans(attempt: Attempt, sections: Sequence[Section]) -> Json:
    """Return where everything stands: `message:start-end` in characters of the message's text, in
    the order of `sections` and `reminders`; the demoted messages and those with look-alike tags."""
    by_source = {section.source: section.content for section in sections}
    placed = _placed_sections(attempt, sections)
    places = zip(placed["sections"], placed["section_messages"], strict=True)
    reminders = []
    for index, item in enumerate(attempt.messages):
        reminders += [f"{index}:{start}-{end}" for start, end in item.spans]
        if item.inline:
            reminders.append(f"{index}:{item.inline[1]}-{item.inline[2]}")
    return {
        "section_spans": [
            _section_span(attempt, by_source[source], index) for source, index in places
        ],
        "reminder_spans": reminders,
        "demoted": [i for i, item in enumerate(attempt.messages) if item.demoted],
        "look_alikes": [i for i, item in enumerate(attempt.messages) if _has_look_alike(item)],
    }


def _section_span(attempt: Attempt, content: str, index: int) -> str:
    text = attempt.messages[index].message["content"]
    found = content if content in text else escape_nested(content)
    start = text.index(found)
    return f"{index}:{start}-{start + len(found)}"


def _has_look_alike(item: Projected) -> bool:
    """Whether a tag stands in what is not a reminder: user text, model text, tool output, or
    quoted in system text."""
    message = item.message
    if item.via == "reminder" or "cacheControl" in message and message["role"] == "system":
        return False
    text = compact_json([message["content"], message.get("toolCalls", [])])
    return text.count(OPEN_TAG) + text.count(CLOSE_TAG) > (2 if item.inline else 0)


def _find_system(attempt: Attempt, section: Section) -> int:
    return next(
        index
        for index, item in enumerate(attempt.messages)
        if section.content.strip("\n") in item.message["content"]
    )


def _placed_reminders(attempt: Attempt) -> Json:
    reminders, mcs = [], []
    for index, item in enumerate(attempt.messages):
        reminders += [
            {"source": source, "via": item.via, "message_index": index} for source in item.sources
        ]
        if item.inline:
            row = {"source": item.inline[0], "via": "inline", "message_index": index}
            reminders.append(row)
        if item.via == "mcs":
            mcs.append({"message_index": index, "sources": list(item.sources)})
    return {"reminders": reminders, "mcs": mcs}
