"""What was billed, request by request, as points of a chart."""

from collections.abc import Iterator, Mapping, Sequence

from tracer.model.story import SessionStory, UsageRowView
from tracer.model.views import RequestOutline
from tracer.words import plural
from web.filters import duration, num
from web.layout.usage_chart import UsagePoint
from web.layout.words import counts_words, place_words
from web.urls import replay_url


def usage_points(story: SessionStory, requests: Sequence[RequestOutline]) -> tuple[UsagePoint, ...]:
    """A point a request, by start."""
    rows = {row.request_key: row for row in story.usage_rows if row.request_key}
    return tuple(
        _point(story.session_id, request, row, row.retries if row else _retries(request, rows))
        for request in requests
        for row in (rows.get(request.key),)
    )


def _retries(request: RequestOutline, rows: Mapping[str, UsageRowView]) -> int:
    """Whether a request is itself a retry: counted where no usage row counts the retries."""
    return 0 if rows else int(request.attempt > 1)


def _point(
    session_id: str, request: RequestOutline, row: UsageRowView | None, retries: int
) -> UsagePoint:
    split = request.cache_read_tokens is not None
    return UsagePoint(
        read_tokens=request.cache_read_tokens or 0,
        write_tokens=request.cache_write_tokens or 0,
        fresh_tokens=(request.fresh_tokens or 0) if split else 0,
        unsplit_tokens=0 if split else request.input_tokens or 0,
        output_tokens=request.output_tokens,
        first_token_ms=row.first_token_ms if row else None,
        context_used=row.context_used if row else None,
        context_window=row.context_window if row else None,
        retries=retries,
        title="; ".join(_words(request, row, retries)),
        href=replay_url(session_id, request.key),
    )


def _words(request: RequestOutline, row: UsageRowView | None, retries: int) -> Iterator[str]:
    yield f"Request {request.seq}, {place_words(request)}, {request.status}"
    yield counts_words(request)
    if request.output_tokens is not None:
        yield f"output {num(request.output_tokens)}"
    if row and row.first_token_ms is not None:
        yield f"first token after {duration(row.first_token_ms)}"
    if row and row.context_used is not None:
        yield f"context {num(row.context_used)} of {num(row.context_window)}"
    if retries:
        yield plural(retries, "retry", "retries")
