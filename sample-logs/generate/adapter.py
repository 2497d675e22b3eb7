"""The model adapter: attempts, retries, provider answers, and the lines it leaves behind."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from generate.cache import Usage, rendered_prompt, tokens_of
from generate.entries import Projected
from generate.logfile import Trace
from generate.modelio import Attempt
from generate.project import Model
from generate.script import Failure, Step
from generate.sections import Section
from generate.text import Json, compact_json, weight
from generate.world import World

BASE_URL = "https://models.example.invalid/api/anthropic"
MAX_RETRIES = 10


@dataclass(frozen=True)
class Request:
    """One logical model call."""

    query_source: str
    model: Model
    messages: Sequence[Projected]
    tools: Sequence[Json]
    sections: Sequence[Section]
    trace: Trace
    query_id: str
    attributes: Json
    variant: str = "none"
    mcs_on: bool | None = None


@dataclass(frozen=True)
class Answer:
    """What the model said, with the ids its tool calls got."""

    text: str
    reasoning: str | None
    calls: tuple[Json, ...]


class Adapter:
    """Sends requests to the simulated provider."""

    def __init__(self, world: World) -> None:
        self._world = world

    def send(self, request: Request, step: Step) -> Answer | None:
        """Make the attempts of one call; return the answer, None when the last attempt failed."""
        number, request_id = 1, None
        for failure in step.failures:
            failed_id = self._fail(request, failure, number, request_id)
            if failure.delay_ms is None:
                return None
            self._world.clock.advance(failure.delay_ms)
            number += 1
            request_id = failed_id if failure.keep_request_id else None
        return self._succeed(request, step, number, request_id)

    def _succeed(self, request: Request, step: Step, number: int, request_id: str | None) -> Answer:
        world = self._world
        calls = tuple(
            {"id": f"call_{world.ids.short('call')}", "name": call.name, "input": call.input}
            for call in step.calls
        )
        answer = Answer(step.text, step.reasoning, calls)
        request_id = self._start(request, number, request_id)
        started = world.clock.now
        output = _output_tokens(answer)
        blocks = rendered_prompt(request.tools, request.messages)
        usage = world.cache.charge(request.model.model_id, blocks, output, started)
        first_ms = 420 + (usage.input - usage.cache_read) // 40
        self._log_first_content(request, request_id, number, first_ms)
        jitter = world.ids.number("jitter", 5, 180)
        world.clock.advance(first_ms + output * 14 + jitter + step.extra_ms)
        response = _response(request, answer, usage, world.ids.short("response", 20))
        attempt = self._attempt(request, request_id, number, started, response)
        self._write(attempt, "completed", usage, request)
        self._log(
            "info",
            "model.request.completed",
            "Model request completed",
            request,
            self._context(request, request_id, number) | {"finishReason": response["finishReason"]},
            "completed",
            attempt.duration_ms,
        )
        return answer

    def _fail(self, request: Request, failure: Failure, number: int, request_id: str | None) -> str:
        world = self._world
        request_id = self._start(request, number, request_id)
        started = world.clock.now
        if failure.reaches_provider:
            blocks = rendered_prompt(request.tools, request.messages)
            world.cache.charge(request.model.model_id, blocks, 0, started)
        world.clock.advance(failure.duration_ms)
        hollow: Json = {"headers": {}, "toolCalls": list(failure.partial_calls), "usage": {}}
        attempt = self._attempt(request, request_id, number, started, hollow, failure)
        status = "cancelled" if failure.cancelled else "failed"
        self._write(attempt, status, None, request)
        context = self._context(request, request_id, number)
        code = {} if failure.status_code is None else {"statusCode": failure.status_code}
        trouble = {"reason": failure.reason, **code, "statusMessage": failure.message}
        self._log(
            "warn",
            "model.request.failed",
            "Model request failed",
            request,
            context | {"retryable": failure.delay_ms is not None} | trouble,
            status,
            attempt.duration_ms,
        )
        if failure.delay_ms is not None:
            retry = {"delayMs": failure.delay_ms, "nextAttempt": number + 1}
            self._log(
                "warn",
                "model.retry.scheduled",
                "Model retry scheduled",
                request,
                context | retry | trouble,
                "waiting",
            )
        return request_id

    def _start(self, request: Request, number: int, request_id: str | None) -> str:
        request_id = request_id or self._world.ids.uuid("request")
        context = self._context(request, request_id, number)
        started = "Model request started"
        self._log("debug", "model.request.started", started, request, context, "started")
        return request_id

    def _attempt(
        self,
        request: Request,
        request_id: str,
        number: int,
        started: datetime,
        response: Json,
        failure: Failure | None = None,
    ) -> Attempt:
        world, model = self._world, request.model
        error: Json | None = None
        if failure is not None:
            stack = f"{failure.name}: {failure.message}\n    at send (adapter.js:1:1)"
            error = {"name": failure.name, "message": failure.message, "stack": stack}
        aux = request.query_source == "session_title"
        extra = {"thinking": {"type": "disabled"}} if aux else {}
        return Attempt(
            request_id=request_id,
            number=number,
            started_at=started,
            completed_at=world.clock.now,
            model={"modelId": model.model_id, "providerId": model.provider_id},
            model_id=model.model_id,
            messages=request.messages,
            tools=request.tools,
            response=response,
            headers=_headers(request, request_id),
            query_source=request.query_source,
            session_id=request.trace.session_id,
            trace_id=request.trace.trace_id,
            turn_id=request.trace.turn_id,
            error=error,
            wire_body_known=failure is None or failure.wire_body_known,
            max_output_tokens=512 if aux else 32000,
            body_extra=extra,
        )

    def _write(self, attempt: Attempt, status: str, usage: Usage | None, request: Request) -> None:
        cut = self._world.io.write(attempt)
        self._world.truth.record(
            attempt,
            cut,
            status,
            usage,
            request.model,
            request.sections,
            {"variant": request.variant, "mcs_on": request.mcs_on},
        )

    def _context(self, request: Request, request_id: str, number: int) -> Json:
        return {
            **request.attributes,
            "attempt": number,
            "baseURL": BASE_URL,
            "maxAttempts": MAX_RETRIES + 1,
            "maxRetries": MAX_RETRIES,
            "modelId": request.model.model_id,
            "providerId": request.model.provider_id,
            "providerKind": "anthropic",
            "queryId": request.query_id,
            "querySource": request.query_source,
            "requestId": request_id,
            "transport": "sse",
        }

    def _log_first_content(
        self, request: Request, request_id: str, number: int, elapsed_ms: int
    ) -> None:
        context = self._context(request, request_id, number) | {"elapsedMs": elapsed_ms}
        event = "model_first_content"
        at = self._world.clock.now + timedelta(milliseconds=elapsed_ms)
        self._log("debug", event, "Model first content", request, context, at=at)

    def _log(
        self,
        level: str,
        event: str,
        message: str,
        request: Request,
        context: Json,
        status: str | None = None,
        duration_ms: int | None = None,
        at: datetime | None = None,
    ) -> None:
        self._world.log.write(
            at or self._world.clock.now,
            level,
            event,
            message,
            module="zcode",
            trace=request.trace,
            duration_ms=duration_ms,
            status=status,
            context=context,
        )


def _output_tokens(answer: Answer) -> int:
    size = weight(answer.text) + weight(answer.reasoning or "")
    size += sum(weight(compact_json(call)) for call in answer.calls)
    return max(2, tokens_of(size))


def _headers(request: Request, request_id: str) -> Json:
    return {
        "content-type": "application/json",
        "authorization": "[redacted]",
        "x-zcode-trace-id": request.trace.trace_id,
        "x-session-id": request.trace.session_id,
        "x-query-id": request.query_id,
        "x-request-id": request_id,
    }


def _response(request: Request, answer: Answer, usage: Usage, response_id: str) -> Json:
    fresh = usage.input - usage.cache_read
    raw = {"input_tokens": fresh, "output_tokens": usage.output}
    raw |= {"cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": 0}
    finish = "tool-calls" if answer.calls else "stop"
    content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [{"type": "tool_use", **call} for call in answer.calls]
    stop = "tool_use" if answer.calls else "end_turn"
    body = {"id": f"msg_{response_id}", "type": "message", "role": "assistant"}
    out: Json = {
        "body": {**body, "content": content, "stop_reason": stop, "usage": raw},
        "finishReason": finish,
        "headers": {"content-type": "text/event-stream"},
        "modelId": request.model.model_id,
        "providerMetadata": {"anthropic": {"usage": raw, "cacheCreationInputTokens": 0}},
    }
    if answer.reasoning:
        out["reasoningText"] = answer.reasoning
    out |= {"responseId": f"msg_{response_id}", "text": answer.text}
    out["toolCalls"] = list(answer.calls)
    out["usage"] = {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadTokens": usage.cache_read,
        "cacheWriteTokens": usage.cache_write,
    }
    return out
