"""An agent's runtime: turns, model steps, reminders, tools, helpers, compaction, resume."""

from dataclasses import replace
from datetime import datetime

from generate import prose
from generate.adapter import Adapter, Answer, Request
from generate.cache import rendered_prompt
from generate.entries import Attachment, Entry, Message, Projected
from generate.logfile import Trace
from generate.project import Profile, build_sections
from generate.projection import project
from generate.reminders import KINDS, ReminderKind, wrap
from generate.script import Call, ChildTask, Compaction, Step, Turn
from generate.sections import prefix
from generate.snapshot import built_context, usage_context
from generate.text import Json, compact_json, estimate_tokens, utf16_len
from generate.tools import schemas
from generate.world import World

# A small window, so that a short sample reaches it.
CONTEXT_WINDOW = 8_192
EFFECTIVE_WINDOW = 7_590
THRESHOLD_PERCENT = 90
TODO_DISTANCE = 10
MODE_DISTANCE = 5
ANOMALY_THRESHOLD = 3
MAX_WARNINGS = 3
LOST = ReminderKind("", "fork")


class Agent:
    """One session of an agent, main or helper."""

    def __init__(
        self,
        world: World,
        profile: Profile,
        *,
        session_id: str | None = None,
        trace: Trace | None = None,
        attributes: Json | None = None,
        query_source: str = "main_turn",
    ) -> None:
        self.world, self.profile = world, profile
        self.session_id = session_id or f"sess_{world.ids.uuid('session')}"
        self.plan_mode = False
        self.history: list[Entry] = []
        self._attributes = attributes or {}
        self._parent = trace
        self._query_source = query_source
        self._trace_id = trace.trace_id if trace else world.ids.uuid("trace")
        self._adapter = Adapter(world)
        self._built = False
        self._steers: list[str] = []
        self._leaving_plan = False
        self._mode_reminders, self._turns_since_mode = 0, MODE_DISTANCE
        self._first_date = self._emitted_date = world.clock.now.date()
        self._turn: Trace = Trace()
        self._query_id = ""
        self._tool_calls = self._warnings = 0
        self._rebuild_prefix()
        if profile.project.skills:
            context = {"count": len(profile.project.skills)}
            self._log("info", None, "Skills discovered", context, module="zcode")
            world.clock.advance(35)

    def change(self, profile: Profile) -> None:
        """Use another profile; the prefix is rebuilt at the next turn (section 8.3)."""
        self.profile = profile

    def leave_plan_mode(self) -> None:
        """End plan mode; the next model step is told."""
        self.plan_mode, self._leaving_plan = False, True

    def _rebuild_prefix(self) -> None:
        self.sections = build_sections(self.profile, self._first_date)
        self._prefix = prefix(self.sections, one_each=self.profile.variant == "subagent")

    def run(self, turn: Turn) -> str:
        """Run one turn; return the model's last text."""
        self._start_turn(turn)
        started = self.world.clock.now
        self._attach_before_prompt(turn)
        self.history += [Attachment(source, body) for source, body in turn.notes]
        if turn.prompt is not None:
            self.history.append(Message("user", turn.prompt, presentation=turn.presentation))
        for path, text in turn.files:
            call = compact_json({"file_path": path})
            body = f"Called the Read tool with {call} for the attached file:\n{text}"
            self.history.append(Attachment("prompt_attachment", body))
        self.history += [Attachment(source, body) for source, body in turn.after]
        if turn.title and not turn.title_late:
            self._title(turn)
        text = ""
        for index, step in enumerate(turn.steps):
            step_start = self.world.clock.now
            text = self._step(step, index)
            if index == 0 and turn.title and turn.title_late:
                self._late_title(turn, step_start)
        self._end_turn(turn, round((self.world.clock.now - started).total_seconds() * 1000))
        return text

    def _start_turn(self, turn: Turn) -> None:
        ids = self.world.ids
        turn_id = self._parent.turn_id if self._parent else f"turn_{ids.uuid('turn')}"
        parent_span = self._parent.span_id if self._parent else None
        span = ids.short("span", 16)
        self._turn = Trace(self._trace_id, span, parent_span, self.session_id, turn_id)
        self._query_id = ids.uuid("query")
        self._tool_calls = self._warnings = 0
        self._turns_since_mode += 1
        size = {"inputLength": utf16_len(turn.prompt) if isinstance(turn.prompt, str) else 0}
        self._log("info", "turn.started", "Turn started", size, status="started")
        self.world.clock.advance(24)
        if self._built:
            self._rebuild_prefix()
        else:
            context = built_context(self.sections)
            self._log("debug", "context.built", "Context built", context, status="completed")
        self._built = True
        self.world.clock.advance(8)

    def _attach_before_prompt(self, turn: Turn) -> None:
        if turn.session_hook:
            self._hook("SessionStart", turn.session_hook)
        if turn.prompt_hook:
            self._hook("UserPromptSubmit", turn.prompt_hook)
        today = self.world.clock.now.date()
        if today != self._emitted_date:
            self._emitted_date = today
            body = prose.DATE_CHANGE.format(date=today.isoformat())
            self.history.append(Attachment("date_change", body))

    def _hook(self, event: str, text: str) -> None:
        body = f"{event} hook additional context:\n#1\n{text}"
        self.history.append(Attachment("hook_context", body))

    def _end_turn(self, turn: Turn, duration_ms: int) -> None:
        if turn.steps[-1].gives_up:
            failure = turn.steps[-1].failures[-1]
            if failure.cancelled:
                context = {"runtimeStopKind": "stopped"}
                event = "v4.stop.foreground_execution_inspected"
                self._log("info", event, "v4 stop foreground execution inspected", context)
            cause = {"name": failure.name, "message": failure.message}
            error: Json = {
                "name": "Error",
                "message": "Turn execution failed",
                "type": failure.reason,
            }
            error = error | {"cause": cause}
            status = "cancelled" if failure.cancelled else "failed"
            self._log("error", "turn.failed", "Turn failed", {}, status=status, error=error)
        else:
            count = {"toolCallCount": self._tool_calls}
            self._log(
                "info",
                "turn.completed",
                "Turn completed",
                count,
                status="completed",
                duration_ms=duration_ms,
            )
        self.world.clock.advance(60)

    def _title(self, turn: Turn, extra_ms: int = 0) -> None:
        """Ask for a title beside the first step, which starts at the same time."""
        prompt = turn.prompt if isinstance(turn.prompt, str) else "(picture)"
        entries = [Message("system", prose.TITLE_PROMPT, cached=True), Message("user", prompt)]
        step = Step(turn.title or "", extra_ms=extra_ms)
        start = self.world.clock.now
        self._send("session_title", project(entries, mcs=False), step, with_tools=False)
        self.world.clock.now = start

    def _late_title(self, turn: Turn, step_start: datetime) -> None:
        """Ask for a title that started with the first step but ended after it."""
        end = self.world.clock.now
        with self.world.clock.overlapping(step_start):
            self._title(turn, round((end - step_start).total_seconds() * 1000))
        self.world.clock.now = end

    def _step(self, step: Step, index: int) -> str:
        for text in self._steers:
            self.history.append(Message("user", text, presentation="user_steer"))
        self._steers = []
        for presentation, text in step.incoming:
            self.history.append(Message("user", text, presentation=presentation))
        self.history += [Attachment(source, body) for source, body in step.notes]
        if step.compaction:
            self._compact(step.compaction, index)
        self._attach_before_step(index)
        messages = project([*self._prefix, *self.history], mcs=self.profile.mcs)
        step_trace = replace(
            self._turn,
            span_id=self.world.ids.short("span", 16),
            parent_span_id=self._turn.span_id,
        )
        context = usage_context(self.profile, self.sections, messages)
        message = "Context usage snapshot"
        event = "context_usage_snapshot"
        self._log("debug", event, message, context, status="completed", trace=step_trace)
        self.world.clock.advance(3)
        size = {"messageCount": len(messages), "iteration": -(-self._tool_calls // 10)}
        event = "model.request.started"
        self._log("info", event, "Model request started", size, status="started", trace=step_trace)
        self.world.clock.advance(5)
        answer = self._send(self._query_source, messages, step, trace=step_trace)
        if answer is None:
            return ""
        self._take_answer(answer, step)
        return answer.text

    def _send(
        self,
        source: str,
        messages: list[Projected],
        step: Step,
        *,
        with_tools: bool = True,
        trace: Trace | None = None,
    ) -> Answer | None:
        request = Request(
            query_source=source,
            model=self.profile.model,
            messages=messages,
            tools=schemas(self.profile.tools) if with_tools else [],
            sections=self.sections if with_tools else [],
            trace=trace or replace(self._turn, span_id=self.world.ids.short("span", 16)),
            query_id=self._query_id,
            attributes=self._attributes,
            variant=self._variant() if with_tools else "none",
            mcs_on=self.profile.mcs if with_tools else None,
        )
        return self._adapter.send(request, step)

    def _attach_before_step(self, index: int) -> None:
        """Add the notes of a step in their order: plan exit, mode, to-do, style (section 8.3)."""
        if self._leaving_plan:
            self._leaving_plan = False
            self.history.append(Attachment("plan_mode_exit", prose.PLAN_MODE_EXIT))
        if self.plan_mode and self._turns_since_mode >= MODE_DISTANCE:
            self._mode_reminders += 1
            self._turns_since_mode = 0
            full = self._mode_reminders % MODE_DISTANCE == 1
            body = prose.PLAN_MODE_FULL if full else prose.PLAN_MODE_SHORT
            self.history.append(Attachment("runtime_mode", body))
        if "TodoWrite" in self.profile.tools and self._todo_distance() >= TODO_DISTANCE:
            self.history.append(Attachment("todo_reminder", prose.TODO_REMINDER))
        if index == 0 and self.profile.output_style and self.profile.variant == "main":
            body = prose.OUTPUT_STYLE_REMINDER.format(name=self.profile.output_style[0])
            self.history.append(Attachment("output_style", body))

    def _todo_distance(self) -> int:
        """Return how many assistant messages followed the last to-do call or reminder."""
        distance = 0
        for entry in reversed(self.history):
            if isinstance(entry, Attachment) and entry.source == "todo_reminder":
                break
            if isinstance(entry, Message) and entry.role == "assistant":
                if any(call["name"] == "TodoWrite" for call in entry.tool_calls):
                    break
                distance += 1
        return distance

    def _take_answer(self, answer: Answer, step: Step) -> None:
        content: str | list[Json] = answer.text
        if answer.reasoning:
            content = [{"type": "reasoning", "text": answer.reasoning}]
            content += [{"type": "text", "text": answer.text}] if answer.text else []
        assistant = Message("assistant", content, tool_calls=answer.calls)
        model = self.profile.model
        if self.profile.name_models:
            ids = (model.provider_id, model.model_id)
            assistant = replace(assistant, provider_id=ids[0], model_id=ids[1])
        self.history.append(assistant)
        start = self.world.clock.now
        for call, sent in zip(step.calls, answer.calls, strict=True):
            if call.child:
                with self.world.clock.overlapping(start):
                    self.history.append(self._run_tool(call, sent["id"]))
            else:
                self.history.append(self._run_tool(call, sent["id"]))
        for call in step.calls:
            self._notice_repetition(call)
        if step.steer:
            self._steers.append(step.steer)

    def _run_tool(self, call: Call, call_id: str) -> Message:
        self._tool_calls += 1
        self.world.clock.advance(call.duration_ms + self.world.ids.number("tool", 1, 60))
        result = self._spawn(call.child, call, call_id) if call.child else call.result
        source, body = call.inline or (None, "")
        if source:
            result = f"{result}\n\n{wrap(source, body)}"
        return Message(
            "tool",
            result,
            tool_call_id=call_id,
            tool_name=call.name,
            is_error=call.is_error,
            inline=source,
        )

    def _notice_repetition(self, call: Call) -> None:
        wanted, count = (call.name, compact_json(call.input)), 0
        for entry in reversed(self.history):
            if isinstance(entry, Message) and entry.role == "user":
                break
            calls = entry.tool_calls if isinstance(entry, Message) else ()
            count += sum((c["name"], compact_json(c["input"])) == wanted for c in calls)
        if count >= ANOMALY_THRESHOLD and self._warnings < MAX_WARNINGS:
            self._warnings += 1
            body = prose.ANOMALY.format(tool=call.name, count=count)
            self.history.append(Attachment("model_anomaly", body))

    def _spawn(self, task: ChildTask, call: Call, call_id: str) -> str:
        world = self.world
        agent_id = f"agent_{world.ids.uuid('agent')}"
        ids = {"agentId": agent_id, "agentType": task.agent_type, "parentToolCallId": call_id}
        trace = replace(self._turn, tool_call_id=call_id)
        self._log_helper("spawned", ids, "started", trace)
        world.clock.advance(30)
        profile = replace(self.profile, variant="subagent", tools=task.tools)
        session = f"sess_subagent_{agent_id}"
        child = Agent(
            world,
            profile,
            session_id=session,
            trace=self._turn,
            attributes=ids,
            query_source="subagent",
        )
        text = child.run(Turn(call.input["prompt"], task.steps))
        done = ids | {"totalToolUseCount": sum(len(step.calls) for step in task.steps)}
        self._log_helper("completed", done, "completed", trace)
        return text

    def _log_helper(self, what: str, context: Json, status: str, trace: Trace) -> None:
        event, message = f"subagent.{what}", f"Subagent {what}"
        module = "core.subagent"
        self._log("info", event, message, context, module=module, status=status, trace=trace)

    def _compact(self, compaction: Compaction, index: int) -> None:
        budget: Json = {
            "compactReason": "above_threshold",
            "phase": "pre_request",
            "modelStepIndex": index,
            "contextWindow": CONTEXT_WINDOW,
            "effectiveContextWindow": EFFECTIVE_WINDOW,
            "threshold": EFFECTIVE_WINDOW * THRESHOLD_PERCENT // 100,
            "thresholdPercent": THRESHOLD_PERCENT,
            "estimatedTokenCount": self._estimated_size(),
        }
        self._log("info", "compact.auto.started", "Auto compact started", budget, status="started")
        kept = self.history[len(self.history) - compaction.keep :]
        older = self.history[: len(self.history) - compaction.keep]
        request = [*self._prefix, *older, Message("user", prose.COMPACT_PROMPT)]
        messages = project(request, mcs=self.profile.mcs, marker_from_end=2)
        self._send("compact", messages, Step(compaction.summary))
        summary = Message("user", f"Summary of the conversation so far:\n\n{compaction.summary}")
        notes = [_read_again(path, text) for path, text in compaction.read_again]
        self.history = [summary, *notes, *kept]
        done = budget | {"tokensSaved": budget["estimatedTokenCount"] - self._estimated_size()}
        message = "Auto compact completed"
        self._log("info", "compact.auto.completed", message, done, status="completed")
        self.world.clock.advance(12)

    def _estimated_size(self) -> int:
        messages = project([*self._prefix, *self.history], mcs=self.profile.mcs)
        blocks = rendered_prompt(schemas(self.profile.tools), messages)
        return sum(estimate_tokens(block) for block in blocks)

    def _variant(self) -> str:
        if self.profile.custom_prompt is not None:
            return "custom"
        return {"workflow": "workflow_actor"}.get(self.profile.variant, self.profile.variant)

    def steer(self, text: str) -> None:
        """Let a message of the person arrive before the next prompt."""
        self.history.append(Message("user", text, presentation="user_steer"))

    def rewind(self, entries: int, notice: str) -> None:
        """Take back the last entries of the history; the next request is told."""
        del self.history[-entries:]
        self.history.append(Attachment("rewind_notice", notice))

    def branch(self, source: str, notice: str) -> "Agent":
        """Return a new session that begins with a copy of this one's history and a notice."""
        other = Agent(self.world, self.profile)
        other.history = [*self.history, Attachment(source, notice)]
        return other

    def resume(self) -> None:
        """Start a new process on this session: notes that are not stored are lost (section 8)."""
        self.history = [
            entry
            for entry in self.history
            if not isinstance(entry, Attachment)
            or KINDS.get(entry.source, LOST).persistence != "no"
        ]
        self.world.io.restart()
        count = {"appliedMessageCount": len(self.history)}
        self._log("info", "session.resumed", "Session resumed", count, status="completed")
        self.world.clock.advance(90)

    def _log(
        self,
        level: str,
        event: str | None,
        message: str,
        context: Json,
        *,
        module: str = "core.runtime",
        status: str | None = None,
        trace: Trace | None = None,
        duration_ms: int | None = None,
        error: Json | None = None,
    ) -> None:
        query = {"queryId": self._query_id} if self._query_id else {}
        self.world.log.write(
            self.world.clock.now,
            level,
            event,
            message,
            module=module,
            trace=trace or self._current_trace(),
            duration_ms=duration_ms,
            status=status,
            context=query | self._attributes | context,
            error=error,
        )

    def _current_trace(self) -> Trace:
        return self._turn if self._turn.session_id else Trace(session_id=self.session_id)


def _read_again(path: str, text: str | None) -> Attachment:
    if text is None:
        body = f"Note: `{path}` was read before the summary and is too long to repeat here."
    else:
        body = f"Called the Read tool with {compact_json({'file_path': path})}\n{text}"
    return Attachment("resume_referenced_session_context", body)
