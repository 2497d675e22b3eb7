"""The rows of a session database that fit a run's attempts."""

from dataclasses import dataclass, field

from generate.database import Rows
from generate.recorder import ModelCall, epoch_ms, prompt_text, tool_results
from generate.text import Json, compact_json, utf16_len

CONVERSATIONS = frozenset({"main_turn", "subagent"})
WINDOW_TOKENS = 200_000
_VERSION = "0.14.2"


@dataclass(frozen=True)
class Child:
    """A helper session: who started it."""

    session_id: str
    agent_id: str
    agent_type: str
    parent_id: str
    parent_call_id: str


@dataclass
class StoreRows:
    """Builds the rows of every table, session by session."""

    calls: list[ModelCall]
    children: dict[str, Child]
    root: str
    rows: Rows = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._results = tool_results(self.calls)
        self._sequences: dict[str, int] = {}
        self._users: dict[tuple[str, str], str] = {}
        self._tools: dict[tuple[str, str], list[Json]] = {}

    def build(self) -> Rows:
        """Return the rows by table."""
        for session_id in dict.fromkeys(call.session_id for call in self.calls):
            own = [call for call in self.calls if call.session_id == session_id]
            self._session(session_id, own)
            for index, call in enumerate(own):
                following = next((c for c in own[index + 1 :] if c.source == call.source), None)
                self._call(call, following)
            for turn_id in dict.fromkeys(call.turn_id for call in own):
                self._turn(session_id, [call for call in own if call.turn_id == turn_id])
            self._todos(session_id, own)
        return self.rows

    def add(self, table: str, **row: object) -> None:
        """Add one row."""
        self.rows.setdefault(table, []).append(row)

    def _session(self, session_id: str, own: list[ModelCall]) -> None:
        title = next((_text(c) for c in own if c.source == "session_title"), "")
        child = self.children.get(session_id)
        words = prompt_text(next(c for c in own if c.source in CONVERSATIONS))
        self.add(
            "session",
            id=session_id,
            project_id="project_01",
            parent_id=child.parent_id if child else None,
            slug=session_id[-8:],
            directory=self.root,
            title=title or words[:60],
            version=_VERSION,
            time_created=own[0].started_ms - 40,
            time_updated=own[-1].completed_ms + 20,
            task_type="subagent_child" if child else "interactive",
            title_source="generated" if title else "first_input",
            trace_id=own[0].first.trace_id,
        )
        self.add(
            "session_entry",
            id=f"entry_{session_id[-8:]}",
            session_id=session_id,
            type="runtime/model_selection",
            time_created=own[0].started_ms - 30,
            time_updated=own[0].started_ms - 30,
            data=compact_json({"modelId": own[0].first.model_id}),
        )

    def _user(self, call: ModelCall) -> str:
        """Return the id of the message that a turn answers; the first call of it writes it."""
        key = (call.session_id, call.turn_id)
        if key in self._users:
            return self._users[key]
        message_id = self._users[key] = f"msg_user_{call.first.request_id[:13]}"
        at = call.started_ms - 20
        data: Json = {"role": "user", "time": {"created": at}, "agent": "zcode-agent"}
        data |= {"anchor": {"turnId": call.turn_id, "origin": "user"}, "visibility": "user-visible"}
        self._message(message_id, call.session_id, at, at, data)
        self._part(message_id, call.session_id, at, {"type": "text", "text": prompt_text(call)})
        self.add(
            "session_input",
            id=f"input_{call.first.request_id[:13]}",
            session_id=call.session_id,
            kind="message",
            delivery="startNow",
            payload=compact_json({"text": prompt_text(call)}),
            admitted_sequence=len(self._users),
            promoted_message_id=message_id,
            status="promoted",
            time_created=at - 5,
            time_updated=at,
        )
        return message_id

    def _call(self, call: ModelCall, following: ModelCall | None) -> None:
        answers = call.source in CONVERSATIONS
        user = self._user(call) if answers else self._users.get((call.session_id, call.turn_id))
        message_id = f"msg_{call.last.attempt.request_id[:13]}" if answers else None
        if message_id:
            self._answer(call, following, message_id, user or "")
        elif call.source == "compact":
            message_id = self._compaction(call, user or "")
        self._usage(call, message_id, user)

    def _usage(self, call: ModelCall, message_id: str | None, user: str | None) -> None:
        last, usage = call.last.attempt, call.last.usage
        logical = message_id or f"span_{last.request_id[:13]}"
        status = {"completed": "completed", "cancelled": "cancelled"}.get(call.last.status, "error")
        first_token = epoch_ms(last.started_at) + 420 if usage else None
        tokens = (usage.input, usage.output) if usage else (0, 0)
        response = last.response or {}
        self.add(
            "model_usage",
            id=f"usage_model_{call.source}_{logical}_0",
            logical_request_id=logical,
            session_id=call.session_id,
            turn_id=call.turn_id,
            trace_id=call.first.trace_id,
            span_id=f"span_{last.request_id[:13]}",
            assistant_message_id=message_id,
            parent_user_message_id=user,
            query_source=call.source,
            provider_id=last.model["providerId"] if isinstance(last.model, dict) else "",
            model_id=last.model_id,
            variant="high",
            agent="zcode-agent" if call.source != "subagent" else "zcode-Explore",
            mode="build",
            task_type="subagent_child" if call.source == "subagent" else "interactive",
            status=status,
            started_at=call.started_ms,
            first_token_at=first_token,
            completed_at=call.completed_ms,
            duration_ms=call.completed_ms - call.started_ms,
            time_to_first_token_ms=first_token - call.started_ms if first_token else None,
            finish_reason=response.get("finishReason"),
            tool_call_count=len(call.tool_calls),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cache_creation_input_tokens=usage.cache_write if usage else 0,
            cache_read_input_tokens=usage.cache_read if usage else 0,
            provider_total_tokens=sum(tokens) if usage else None,
            computed_total_tokens=sum(tokens),
            retry_count=len(call.attempts) - 1,
            cancelled_by_user=int(status == "cancelled"),
            error_type=last.error["name"] if last.error else None,
            error_message=last.error["message"] if last.error else None,
            raw_usage_json=compact_json(response["usage"]) if response.get("usage") else None,
        )

    def _answer(
        self, call: ModelCall, following: ModelCall | None, message_id: str, user: str
    ) -> None:
        last, usage = call.last.attempt, call.last.usage
        done = call.completed_ms
        counts = {"input": usage.input, "output": usage.output, "reasoning": 0} if usage else {}
        if usage:
            counts["cache"] = {"read": usage.cache_read, "write": usage.cache_write}
        response = last.response or {}
        data: Json = {"role": "assistant", "time": {"created": call.started_ms, "completed": done}}
        data |= {"parentID": user, "modelId": last.model_id, "mode": "build", "cost": 0}
        data |= {"agent": "zcode-agent", "path": {"cwd": self.root, "root": self.root}}
        data |= {"tokens": counts, "finish": response.get("finishReason")}
        data["anchor"] = {"turnId": call.turn_id}
        if last.error:
            data["error"] = {"name": last.error["name"], "message": last.error["message"]}
        self._message(message_id, call.session_id, call.started_ms, done, data)
        parts: list[Json] = [{"type": "step-start"}]
        if response.get("reasoningText"):
            parts.append({"type": "reasoning", "text": response["reasoningText"]})
        if response.get("text"):
            parts.append({"type": "text", "text": response["text"]})
        parts += self._tool_parts(call, following)
        if usage:
            parts.append(self._step_end(call, counts))
        for part in parts:
            self._part(message_id, call.session_id, done, part)

    def _compaction(self, call: ModelCall, user: str) -> str:
        """Write the message of a compaction: the summary, and what it saved."""
        message_id = f"msg_{call.last.attempt.request_id[:13]}"
        at, usage = call.completed_ms, call.last.usage
        data: Json = {"role": "assistant", "time": {"created": call.started_ms, "completed": at}}
        data |= {"parentID": user, "modelId": call.first.model_id, "summary": True}
        self._message(message_id, call.session_id, call.started_ms, at, data)
        counts = {"preCompactTokenCount": usage.input if usage else None}
        counts |= {"postCompactTokenCount": usage.output if usage else None}
        part: Json = {"type": "compaction", "auto": True, "trigger": "auto", "phase": "pre_request"}
        part |= {"compactReason": "above_threshold", "timelineStatus": "completed", **counts}
        self._part(message_id, call.session_id, at, part)
        mark = {"type": "timeline", "timelineType": "context_compaction", **counts}
        self._part(message_id, call.session_id, at, mark)
        self._part(message_id, call.session_id, at, {"type": "text", "text": _text(call)})
        return message_id

    def _step_end(self, call: ModelCall, counts: Json) -> Json:
        messages = call.first.message_objects()
        sizes = {"system_prompt": 0, "messages": 0}
        for message in messages:
            name = "system_prompt" if message["role"] == "system" else "messages"
            sizes[name] += utf16_len(compact_json(message["content"]))
        part: Json = {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": counts}
        if call.source == "main_turn":
            breakdown = [{"source": name, "chars": size} for name, size in sizes.items()]
            used = counts["input"] + counts["output"]
            part["contextUsage"] = {"used": used, "contextWindow": WINDOW_TOKENS}
            part["contextUsage"]["breakdown"] = breakdown
        return part

    def _tool_parts(self, call: ModelCall, following: ModelCall | None) -> list[Json]:
        parts = []
        for index, tool in enumerate(call.tool_calls):
            text, failed = self._results.get((call.session_id, tool["id"]), ("", False))
            start = call.completed_ms + 4 + index
            end = following.started_ms - 9 if following else start + 200
            state: Json = {"status": "error" if failed else "completed", "input": tool["input"]}
            state |= {"error": text} if failed else {"output": text, "title": tool["name"]}
            state["time"] = {"start": start, "end": end}
            parts.append(
                {"type": "tool", "callID": tool["id"], "tool": tool["name"], "state": state}
            )
            row = self._tool_row(call, tool, text, failed, (start, end))
            self._tools.setdefault((call.session_id, call.turn_id), []).append(row)
        return parts

    def _tool_row(
        self, call: ModelCall, tool: Json, text: str, failed: bool, span: tuple[int, int]
    ) -> Json:
        asks = tool["name"] in ("Bash", "Edit", "Write")
        row: Json = {
            "id": f"usage_tool_{call.session_id[-8:]}_{tool['id']}",
            "session_id": call.session_id,
            "turn_id": call.turn_id,
            "trace_id": call.first.trace_id,
            "tool_call_id": tool["id"],
            "tool_name": tool["name"],
            "read_only": int(not asks),
            "approval_status": "allowed" if asks else "none",
            "status": "error" if failed else "completed",
            "started_at": span[0],
            "completed_at": span[1],
            "duration_ms": span[1] - span[0],
            "exit_code": int(failed),
            "output_bytes": len(text.encode()),
            "error_type": "ToolError" if failed else None,
            "error_message": text[:80] if failed else None,
        }
        self.rows.setdefault("tool_usage", []).append(row)
        return row

    def _turn(self, session_id: str, calls: list[ModelCall]) -> None:
        usages = [c.last.usage for c in calls if c.last.usage]
        tools = self._tools.get((session_id, calls[0].turn_id), [])
        start, end = min(c.started_ms for c in calls) - 20, max(c.completed_ms for c in calls) + 10
        self.add(
            "turn_usage",
            session_id=session_id,
            turn_id=calls[0].turn_id,
            trace_id=calls[0].first.trace_id,
            user_message_id=self._users.get((session_id, calls[0].turn_id)),
            status="completed" if calls[-1].last.status == "completed" else "error",
            started_at=start,
            first_model_start_at=start + 20,
            first_token_at=start + 440,
            completed_at=end,
            duration_ms=end - start,
            time_to_first_token_ms=440,
            model_request_count=len(calls),
            model_retry_count=sum(len(c.attempts) - 1 for c in calls),
            tool_call_count=len(tools),
            tool_error_count=sum(row["status"] == "error" for row in tools),
            input_tokens=sum(u.input for u in usages),
            output_tokens=sum(u.output for u in usages),
            cache_read_input_tokens=sum(u.cache_read for u in usages),
            computed_total_tokens=sum(u.input + u.output for u in usages),
        )

    def _todos(self, session_id: str, own: list[ModelCall]) -> None:
        lists = [
            (call.completed_ms, tool["input"]["todos"])
            for call in own
            for tool in call.tool_calls
            if tool["name"] == "TodoWrite"
        ]
        for at, items in lists[-1:]:
            for position, item in enumerate(items):
                status, content = item["status"], item["content"]
                self.add(
                    "todo", session_id=session_id, content=content, status=status,
                    priority="medium", position=position, time_created=at, time_updated=at,
                )  # fmt: skip

    def _message(self, message_id: str, session: str, at: int, updated: int, data: Json) -> None:
        number = self._sequences.get(session, 0)
        self._sequences[session] = number + 1
        self.add(
            "message", id=message_id, session_id=session, time_created=at, time_updated=updated,
            data=compact_json(data), sequence=number,
        )  # fmt: skip

    def _part(self, message_id: str, session: str, at: int, data: Json) -> None:
        number = self._sequences.get(message_id, 0)
        self._sequences[message_id] = number + 1
        self.add(
            "part", id=f"prt_{message_id[4:]}_{number}", message_id=message_id,
            session_id=session, time_created=at, time_updated=at, data=compact_json(data),
            sequence=number,
        )  # fmt: skip


def _text(call: ModelCall) -> str:
    response = call.last.attempt.response or {}
    return str(response.get("text", ""))
