"""Builders of the views that the service returns, and a service made of them.

Everything has a default, so that a test names only what it is about.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.anatomy_factories import a_presence
from tests.check_factories import CheckingFake
from tests.judging_fakes import JudgingFake
from tests.listing_fakes import ListingFake
from tests.outlines import outline_of
from tracer.errors import NotFoundError
from tracer.model.anatomy_views import McsView, Presence, ReminderView, SectionView
from tracer.model.events import Status, WindowKind
from tracer.model.ingest_views import SkippedLine, SourceView
from tracer.model.prompt import Kind, Marker, Part, Tier
from tracer.model.source import SourceRef
from tracer.model.surroundings import Surroundings
from tracer.model.unfolded import Texts
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import Verdict
from tracer.model.views import (
    BlockView,
    ContextCategory,
    ContextUsageView,
    Evidence,
    JoinedLogLine,
    PartSize,
    RequestDetail,
    RequestOutline,
    RequestSummary,
    SessionSummary,
    SparkPoint,
    Timeline,
    TimelineColumn,
    TimelineEvent,
    TurnSpan,
    UsageTotals,
)
from tracer.service.comparing import Compared
from tracer.service.surroundings import cache_clocks

START_MS = 1_768_208_531_000  # 2026-01-12 09:02:11 UTC
SESSION = "sess_4f2a"
MODEL = "GLM-5.3"
LOG = "/logs/rollout/model-io-sess_4f2a.jsonl"


def a_ref(line: int = 1, path: str = LOG) -> SourceRef:
    """A line of a log."""
    return SourceRef(path, line, line * 4096)


def a_usage(
    read: int | None = 36_992, fresh: int = 88_448, write: int | None = None, output: int = 512
) -> Usage:
    """Usage that adds up; `read` None leaves the cache unreported."""
    known = read is not None
    return Usage(
        input_tokens=fresh + (read or 0) + (write or 0),
        fresh_tokens=fresh if known else None,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_tokens=output,
        reasoning_tokens=None,
        convention=Convention.INCLUSIVE if known else Convention.UNKNOWN,
        reason="The format says that inputTokens includes the cache counts."
        if known
        else "The log reports no cache counts.",
        raw_json='{"inputTokens":125440,"outputTokens":512}',
    )


def a_request(seq: int = 1, **changes: object) -> RequestSummary:
    """A completed request of the conversation; `changes` are fields."""
    made = RequestSummary(
        key=f"r{seq}",
        seq=seq,
        session_id=SESSION,
        request_id=f"req_{seq:04}",
        attempt=1,
        attempts=1,
        call_key=f"r{seq}",
        trace_id="trace_1",
        turn_id="turn_1",
        turn_number=1,
        step=seq,
        query_source="main_turn",
        lane=f"main_turn@zai/{MODEL}",
        side_call=False,
        provider_id="zai",
        model_id=MODEL,
        started_at_ms=START_MS + seq * 60_000,
        completed_at_ms=START_MS + seq * 60_000 + 8_200,
        duration_ms=8_200,
        status=Status.COMPLETED,
        error="",
        finish_reason="stop",
        observed="full",
        verified_from=0,
        carry="none",
        window_kind=WindowKind.FULL,
        message_count=12,
        roles={"user": 5, "assistant": 6, "system": 1},
        usage=a_usage(),
        markers=(),
        tools=("read_file", "run_command"),
        sections=(),
        reminders=(),
        mcs=(),
        source=a_ref(seq),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def some_parts(history: int = 80_000, new: int = 1_152) -> tuple[PartSize, ...]:
    """The parts of a usual prompt; `new` tokens of the history are new."""
    return (
        PartSize(Part.TOOLS, 41, 96_000, 27_800, 0, True),
        PartSize(Part.SYSTEM, 3, 32_000, 9_220, 0, True),
        PartSize(Part.CONTEXT, 2, 13_000, 3_900, 0, True),
        PartSize(Part.HISTORY, 60, 4 * history, history, new, True),
        PartSize(Part.REMINDER, 4, 5_600, 1_400, 0, True),
    )


def a_column(
    seq: int = 1, parts: Sequence[PartSize] | None = None, **changes: object
) -> TimelineColumn:
    """A request on the timeline; `changes` are fields of the request."""
    sizes = some_parts() if parts is None else tuple(parts)
    total = sum(size.tokens for size in sizes)
    return TimelineColumn(a_request(seq, **changes), sizes, total)


def totals(requests: Sequence[RequestSummary]) -> UsageTotals:
    """The sums over requests."""
    found = [r.usage for r in requests if r.usage is not None]
    reads = [u for u in found if u.cache_read_tokens is not None]
    return UsageTotals(
        input_tokens=sum(u.input_tokens or 0 for u in found),
        fresh_tokens=sum(u.fresh_tokens or 0 for u in found),
        cache_read_tokens=sum(u.cache_read_tokens or 0 for u in reads),
        output_tokens=sum(u.output_tokens or 0 for u in found),
        reported_requests=len(found),
        read_reported_input_tokens=sum(u.input_tokens or 0 for u in reads),
    )


def a_session(
    session_id: str = SESSION, requests: Sequence[RequestSummary] = (), **changes: object
) -> SessionSummary:
    """A session of the given requests."""
    step = max(1, len(requests) // 24)
    spark = tuple(
        SparkPoint(t.cache_read_tokens, t.cache_write_tokens or 0, t.fresh_tokens)
        for t in (totals(requests[i : i + step]) for i in range(0, len(requests), step))
    )
    made = SessionSummary(
        session_id=session_id,
        agent="ZCode",
        title="Fix flaky retry in uploader",
        project="uploader",
        started_at_ms=START_MS,
        ended_at_ms=START_MS + 75 * 60_000,
        requests=len(requests),
        turns=len({r.turn_id for r in requests}),
        side_calls=sum(r.side_call for r in requests),
        failed_requests=sum(r.status is Status.FAILED for r in requests),
        models=tuple(dict.fromkeys(r.model_id for r in requests)),
        lanes=tuple(dict.fromkeys(r.lane for r in requests)),
        usage=totals(requests),
        observed_full=sum(r.observed == "full" for r in requests),
        observed_windowed=sum(r.observed == "windowed" for r in requests),
        observed_metadata=sum(r.observed == "metadata" for r in requests),
        spark=spark,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def turns_of(columns: Sequence[TimelineColumn]) -> tuple[TurnSpan, ...]:
    """The turns of columns, by turn number."""
    spans: dict[int, list[int]] = {}
    for column in columns:
        spans.setdefault(column.request.turn_number or 0, []).append(column.request.seq)
    return tuple(TurnSpan(f"turn_{n}", n, min(s), max(s)) for n, s in spans.items())


def a_timeline(
    requests: int = 6,
    columns: Sequence[TimelineColumn] | None = None,
    events: Sequence[TimelineEvent] = (),
    **changes: object,
) -> Timeline:
    """A session of `requests` equal requests, or of the given columns; `changes` are fields of
    its session."""
    made = tuple(a_column(seq) for seq in range(1, requests + 1)) if columns is None else columns
    session = a_session(requests=[c.request for c in made], **changes)  # type: ignore[arg-type]
    outline = tuple(map(outline_of, made))
    return Timeline(session, tuple(made), turns_of(made), tuple(events), outline=outline)


def a_block(index: int = 0, **changes: object) -> BlockView:
    """A text block of the conversation."""
    made = BlockView(
        index=index,
        tier=Tier.MESSAGES,
        tier_index=index,
        message_index=index,
        block_index=0,
        role="user" if index % 2 else "assistant",
        kind=Kind.TEXT,
        part=Part.HISTORY,
        name="",
        call_id="",
        chars=420,
        bytes=431,
        tokens_bpe=104,
        tokens_bpe_exact=True,
        tokens_estimate=105,
        tokens_calibrated=108,
        wire_hash=f"{index:064x}",
        marker=None,
        verified=True,
        new=False,
        preview=f"Block {index}: the uploader retries three times, then gives up.",
        first_seen=a_ref(index + 1),
        text=f"Block {index}: the uploader retries three times, then gives up.\nSecond line.",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def some_blocks(count: int = 12) -> tuple[BlockView, ...]:
    """Blocks in the provider's order: two tools, a system block, context, the conversation."""
    head = (
        a_block(0, tier=Tier.TOOLS, message_index=None, role="tool", kind=Kind.TOOL_SCHEMA,
                part=Part.TOOLS, name="read_file", tokens_bpe=640),
        a_block(1, tier=Tier.TOOLS, message_index=None, tier_index=1, role="tool",
                kind=Kind.TOOL_SCHEMA, part=Part.TOOLS, name="run_command", tokens_bpe=910,
                marker=Marker(Tier.TOOLS, 1, 0, "5m")),
        a_block(2, tier=Tier.SYSTEM, message_index=0, role="system", part=Part.SYSTEM,
                tokens_bpe=2_300),
        a_block(3, message_index=1, role="user", part=Part.CONTEXT, tokens_bpe=900),
    )  # fmt: skip
    tail = tuple(
        a_block(i, message_index=i - 2, new=i >= count - 2, tokens_bpe=60 + i * 37 % 400)
        for i in range(4, count)
    )
    return (*head, *tail)[:count]


def sum_parts(blocks: Sequence[BlockView]) -> tuple[PartSize, ...]:
    """The part sizes of blocks."""
    sizes = []
    for part in Part:
        found = [b for b in blocks if b.part is part]
        if found:
            tokens = sum(b.tokens_bpe or b.tokens_estimate for b in found)
            new = sum(b.tokens_bpe or b.tokens_estimate for b in found if b.new)
            chars = sum(b.chars for b in found)
            sizes.append(PartSize(part, len(found), chars, tokens, new, True))
    return tuple(sizes)


def a_detail(
    blocks: Sequence[BlockView] | None = None,
    request: RequestSummary | None = None,
    session: SessionSummary | None = None,
    **changes: object,
) -> RequestDetail:
    """A request in full, with all of its blocks on one page."""
    made_blocks = some_blocks() if blocks is None else tuple(blocks)
    made_request = request or a_request()
    made = RequestDetail(
        request=made_request,
        session=session or a_session(requests=[made_request]),
        blocks=made_blocks,
        block_from=0,
        block_total=len(made_blocks),
        part_sizes=sum_parts(made_blocks),
        tokens_bpe=sum(b.tokens_bpe or 0 for b in made_blocks) if made_blocks else None,
        tokens_estimate=sum(b.tokens_estimate for b in made_blocks),
        uncounted_blocks=0,
        calibration=1.042 if made_blocks else None,
        response=(a_block(0, role="assistant", preview="I will look at the retry loop first."),),
        response_provisional=True,
        log=(a_log_line(),),
        context_usage=None,
        evidence=(),
        params_json='{"temperature":0.2,"max_tokens":8192}',
        headers_json='{"content-type":"application/json"}',
        sources=(made_request.source,),
        attempts=((made_request.key, 1, made_request.status),),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_log_line(**changes: object) -> JoinedLogLine:
    """A line of the structured log, joined exactly."""
    made = JoinedLogLine(
        at_ms=START_MS + 60_000,
        level="info",
        event="model.request.completed",
        message="model request completed",
        duration_ms=8_200,
        status="ok",
        strength="exact",
        join="requestId and attempt",
        context_json='{"attempt":1}',
        error_json="",
        source=a_ref(7, "/logs/log/zcode-2026-01-12.jsonl"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_context_usage() -> ContextUsageView:
    """The agent's own account, with one redacted category."""
    return ContextUsageView(
        model=MODEL,
        total_chars=500_000,
        total_tokens=None,
        categories=(
            ContextCategory("System prompt", "system", 32_000, 9_000, False),
            ContextCategory("Messages", "messages", 300_000, None, True, 74_000, 76_000),
        ),
        strength="heuristic",
        source=a_ref(9),
    )


def an_event(kind: str = "compaction", after_seq: int = 3, **changes: object) -> TimelineEvent:
    """Something that happened between two requests."""
    made = TimelineEvent(
        kind, after_seq, START_MS + after_seq * 60_000 + 30_000, f"{kind} happened",
        "128,440 tokens became 18,200.", a_ref(3),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def an_evidence(**changes: object) -> Evidence:
    """A sentence about what the log does not tell."""
    made = Evidence(
        "windowed",
        "The record shows only the last 64 messages.",
        "Messages 0 to 117 are taken over from earlier records and not proven by this one.",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_section(source: str = "env_info", **changes: object) -> SectionView:
    """A section of the prefix."""
    made = SectionView(source, source, "meta_user", "per_session", 1_906, None, 480, 3)
    return replace(made, **changes)  # type: ignore[arg-type]


def a_reminder(source: str = "todo_reminder", **changes: object) -> ReminderView:
    """A reminder in the conversation."""
    return replace(ReminderView(source, "reminder", 7), **changes)  # type: ignore[arg-type]


def an_mcs(*sources: str) -> McsView:
    """A mid-conversation system message."""
    return McsView(9, sources or ("runtime_mode", "date_change"))


def a_skipped(line: int = 17, **changes: object) -> SkippedLine:
    """A line that did not become a record."""
    made = SkippedLine(
        line, 81_920, "not-json", "The line ends in the middle of a string.", '{"type":"mod'
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_source(source_id: int = 1, **changes: object) -> SourceView:
    """A file that was read to its end."""
    made = SourceView(
        source_id=source_id,
        path=LOG,
        segment=1,
        format="zcode-model-io",
        size_bytes=5_242_880,
        offset_bytes=5_242_880,
        lines=65,
        records=64,
        duplicates=0,
        skipped_total=0,
        skipped=(),
        status="current",
        last_read_at_ms=START_MS + 80 * 60_000,
        sessions=(SESSION,),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


class FakeService(ListingFake, JudgingFake, CheckingFake):
    """Answers from memory. Details are made from the columns unless given by key."""

    def __init__(
        self,
        *timelines: Timeline,
        details: dict[str, RequestDetail] | None = None,
        sources: Sequence[SourceView] = (),
        revision: int = 1,
        presences: dict[str, Presence] | None = None,
        comparisons: dict[tuple[str, str], Compared] | None = None,
        verdicts: dict[str, Verdict] | None = None,
        around: dict[str, Surroundings] | None = None,
    ) -> None:
        super().__init__(Path("fake.db"))
        self.comparisons = dict(comparisons or {})
        self.verdicts = dict(verdicts or {})
        self.presences = dict(presences or {})
        self.around = dict(around or {})
        self.timelines = {t.session.session_id: t for t in timelines}
        self.details = dict(details or {})
        self.all_sources = tuple(sources)
        self.current_revision = revision

    def session(self, session_id: str) -> SessionSummary:
        """One session."""
        return self.timeline(session_id).session

    def requests(self, session_id: str) -> tuple[RequestSummary, ...]:
        """The requests of a session."""
        return tuple(c.request for c in self.timeline(session_id).columns)

    def outline(self, session_id: str) -> Sequence[RequestOutline]:
        """The requests of a session in short."""
        return self.timeline(session_id).outline

    def timeline(self, session_id: str) -> Timeline:
        """The timeline of a session."""
        if session_id not in self.timelines:
            raise NotFoundError(f"There is no session {session_id}.")
        return self.timelines[session_id]

    def presence(self, session_id: str) -> Presence:
        """A given matrix, or that of usual rows."""
        return self.presences.get(session_id) or a_presence(self.timeline(session_id))

    def surroundings(self, session_id: str, first_seq: int, last_seq: int) -> Surroundings:
        """Given ones, or what the requests themselves tell."""
        own = self.around.get(session_id)
        requests = self.requests(session_id)
        return own or Surroundings(
            clocks=cache_clocks(requests[first_seq - 1 : last_seq], {r.key: r for r in requests})
        )

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: Texts = False
    ) -> RequestDetail:
        """A given detail, or one made from its column."""
        detail = self.details.get(key) or self._made(key)
        end = None if block_limit is None else block_from + block_limit
        blocks = detail.blocks[block_from:end]
        if not text:
            blocks = tuple(replace(block, text=None) for block in blocks)
        return replace(detail, blocks=blocks, block_from=block_from)

    def _made(self, key: str) -> RequestDetail:
        for timeline in self.timelines.values():
            for i, column in enumerate(timeline.columns):
                if column.request.key == key:
                    keys = ["", *(c.request.key for c in timeline.columns), ""]
                    return a_detail(
                        request=column.request, session=timeline.session,
                        previous_key=keys[i], next_key=keys[i + 2],
                        part_sizes=column.parts, tokens_bpe=column.prompt_tokens,
                    )  # fmt: skip
        raise NotFoundError(f"There is no request {key}.")

    def block(self, key: str, index: int) -> BlockView:
        """A block with its text."""
        blocks = (self.details.get(key) or self._made(key)).blocks
        if not 0 <= index < len(blocks):
            raise NotFoundError(f"Request {key} has no block {index}.")
        return blocks[index]

    def sources(self) -> tuple[SourceView, ...]:
        """All files."""
        return tuple(replace(s, skipped=s.skipped[:5]) for s in self.all_sources)

    def source(self, source_id: int) -> SourceView:
        """One file."""
        for found in self.all_sources:
            if found.source_id == source_id:
                return found
        raise NotFoundError(f"There is no source {source_id}.")

    def revision(self) -> int:
        """The number that a test sets."""
        return self.current_revision
