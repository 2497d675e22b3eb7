"""What the whole of a session shows of its requests, made from their columns."""

from tracer.model.views import RequestOutline, TimelineColumn


def outline_of(column: TimelineColumn) -> RequestOutline:
    """A request in short."""
    request, usage, verdict = column.request, column.request.usage, column.request.verdict
    return RequestOutline(
        seq=request.seq,
        key=request.key,
        lane=request.lane,
        side_call=request.side_call,
        turn_id=request.turn_id,
        turn_number=request.turn_number,
        attempt=request.attempt,
        status=request.status,
        started_at_ms=request.started_at_ms,
        input_tokens=usage.input_tokens if usage else None,
        cache_read_tokens=usage.cache_read_tokens if usage else None,
        cache_write_tokens=usage.cache_write_tokens if usage else None,
        prompt_tokens=column.prompt_tokens,
        markers=len(request.markers),
        result=verdict.result if verdict else None,
        baseline_key=verdict.baseline_key if verdict else "",
    )
