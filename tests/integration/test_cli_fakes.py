"""Stand-ins for the use cases, and builders of what they return, for the tests of the CLI."""

from dataclasses import replace
from pathlib import Path

from tests.check_factories import CheckingFake
from tests.cli_anatomies import REMINDER, SECTION, a_bare_anatomy, a_presence, an_anatomy
from tests.comparisons import HEAD, ComparingFake, edited
from tests.comparisons import a_comparison as compared
from tests.segment_factories import some_segments
from tests.unit.test_compare_builders import a_gap, a_note, a_prompt, a_system, a_text, a_tool
from tests.verdict_factories import a_brief
from tracer.errors import NotFoundError
from tracer.model.anatomy_views import McsStateView, McsView, Presence, ReminderView, SectionView
from tracer.model.doctor_views import DoctorLine, DoctorReport, SessionEvidence
from tracer.model.events import Status, WindowKind
from tracer.model.ingest_views import FileResult, IngestResult, LeftOut, SkippedLine, SourceView
from tracer.model.prompt import Kind, Marker, Part, Prompt, Tier
from tracer.model.session_list import ANY_SESSION, SessionFilter
from tracer.model.source import SourceRef
from tracer.model.unfolded import Texts
from tracer.model.usage import Convention, Usage
from tracer.model.views import (
    BlockView,
    ContextCategory,
    ContextUsageView,
    Evidence,
    JoinedLogLine,
    PartSize,
    RequestDetail,
    RequestSummary,
    SessionPage,
    SessionSummary,
    UsageTotals,
)
from tracer.service.comparing import Compared

AT_MS = 1_772_356_502_118  # 2026-03-01T09:15:02.118Z
REF = SourceRef("logs/demo.jsonl", 2, 5120)
MARKER = Marker(Tier.SYSTEM, 0, 0, "1h", "org")
SKIPPED = SkippedLine(7, 20114, "not-json", "The line is not valid JSON.", '{"type":"mod')


def a_session(session_id: str = "sess_demo") -> SessionSummary:
    """A session of which everything is known."""
    return SessionSummary(
        session_id=session_id,
        agent="zcode",
        title="Rename a function",
        project="/home/ada/demo",
        started_at_ms=AT_MS,
        ended_at_ms=AT_MS + 60_000,
        requests=2,
        turns=1,
        side_calls=0,
        failed_requests=0,
        models=("demo-large",),
        lanes=("main@demo/demo-large",),
        usage=UsageTotals(120_000, 30_000, 90_000, 12, 4_100, 2, 120_000),
        observed_full=2,
        observed_windowed=0,
        observed_metadata=0,
        parent_session_id="sess_parent",
        child_sessions=2,
        parent_stored=True,
        task_type="subagent_child",
        removed_at_ms=AT_MS + 900_000,
        archived_at_ms=AT_MS + 800_000,
        misses=1,
        missed_tokens=0,
        avoidable_tokens=41_216,
        rebilled_tokens=41_216,
        findings=2,
        corrected_rate=0.97,
    )


def a_bare_session() -> SessionSummary:
    """A session of which the log told nothing."""
    return replace(
        a_session("sess_bare"),
        agent="",
        title="",
        project="",
        started_at_ms=None,
        ended_at_ms=None,
        models=(),
        lanes=(),
        usage=UsageTotals(),
        parent_session_id="",
        misses=None,
        missed_tokens=None,
        avoidable_tokens=None,
        rebilled_tokens=None,
        corrected_rate=None,
    )


def a_request(seq: int = 1, session_id: str = "sess_demo") -> RequestSummary:
    """A request of which everything is known."""
    return RequestSummary(
        key=f"{session_id}-{seq}",
        seq=seq,
        session_id=session_id,
        request_id=f"req_{seq}",
        attempt=1,
        attempts=2,
        call_key=f"{session_id}-{seq}",
        trace_id="trace_1",
        turn_id="turn_1",
        turn_number=1,
        step=seq,
        query_source="main",
        lane="main@demo/demo-large",
        side_call=False,
        provider_id="demo",
        model_id="demo-large",
        started_at_ms=AT_MS,
        completed_at_ms=AT_MS + 1_600,
        duration_ms=1_600,
        status=Status.COMPLETED,
        error="none really",
        finish_reason="stop",
        observed="full",
        verified_from=0,
        carry="none",
        window_kind=WindowKind.FULL,
        message_count=3,
        roles={"system": 1, "user": 1, "tool": 1},
        usage=Usage(1000, 200, 800, 5, 40, 7, Convention.INCLUSIVE, "As declared.", '{"in":1000}'),
        markers=(MARKER,),
        tools=("Read",),
        sections=(SECTION,),
        reminders=(REMINDER, ReminderView("todo", "inline", 2)),
        mcs=(McsView(1, ("date",), 42, "77ab", 1),),
        variant="subagent",
        mcs_state=McsStateView("on", "Message 1 is a system message behind the prefix.", 1),
        source=REF,
        verdict=a_brief(),
        segments=some_segments(),
    )


def a_bare_request(session_id: str = "sess_bare") -> RequestSummary:
    """A failed request of which the log told next to nothing."""
    return replace(
        a_request(1, session_id),
        segments=None,
        request_id="",
        attempts=1,
        trace_id="",
        turn_id="",
        turn_number=None,
        step=None,
        query_source="",
        provider_id="",
        model_id="",
        started_at_ms=None,
        completed_at_ms=None,
        duration_ms=None,
        status=Status.FAILED,
        error="",
        finish_reason="",
        observed="metadata",
        verified_from=None,
        carry="",
        window_kind=WindowKind.ABSENT,
        message_count=None,
        roles={},
        usage=None,
        markers=(),
        tools=(),
        sections=(SectionView("memory", "", "", "", None, None, None, None),),
        reminders=(),
        mcs=(),
        variant="",
        mcs_state=None,
        verdict=None,
    )


def a_block(index: int = 0, text: str | None = "You are a demo agent.") -> BlockView:
    """A block of which everything is known, in message `index`."""
    return BlockView(
        index=index,
        tier=Tier.SYSTEM,
        tier_index=0,
        message_index=index,
        block_index=0,
        role="system",
        kind=Kind.TEXT,
        part=Part.SYSTEM,
        name="Read",
        call_id="call_1",
        chars=410,
        bytes=412,
        tokens_bpe=98,
        tokens_bpe_exact=True,
        tokens_estimate=103,
        tokens_calibrated=101,
        wire_hash="5f0c1e",
        marker=MARKER,
        verified=True,
        new=True,
        preview=(text or "")[:40],
        first_seen=REF,
        extra_json='{"id": "x"}',
        text=text,
        section="identity",
        sections=("identity",),
        reminders=("date",),
    )


def a_bare_block(index: int = 1) -> BlockView:
    """A tool's block that nobody counted."""
    return replace(
        a_block(index, None),
        tier=Tier.TOOLS,
        message_index=None,
        name="",
        call_id="",
        tokens_bpe=None,
        tokens_calibrated=None,
        marker=None,
        verified=False,
        first_seen=None,
        extra_json="",
        span_messages=3,
        section="",
        sections=(),
        reminders=(),
    )


def a_detail(request: RequestSummary | None = None) -> RequestDetail:
    """A request in full, of which everything is known."""
    category = ContextCategory("System prompt", "system_prompt", 410, 99, False, 98, 104)
    return RequestDetail(
        request=request or a_request(2),
        session=a_session(),
        blocks=(a_block(), a_bare_block()),
        block_from=0,
        block_total=2,
        part_sizes=(PartSize(Part.SYSTEM, 1, 410, 98, 8, True),),
        tokens_bpe=970,
        tokens_estimate=1010,
        uncounted_blocks=1,
        calibration=1.031,
        response=(a_block(),),
        response_provisional=True,
        log=(
            JoinedLogLine(
                AT_MS, "info", "model.done", "Done", 9, "ok", "exact", "requestId", '{"a":1}',
                '{"b":2}', REF,
            ),
        ),
        context_usage=ContextUsageView("demo-large", 410, 99, (category,), "turn", REF),
        evidence=(Evidence("windowed", "Windowed", "The first messages are from earlier lines."),),
        params_json='{"maxOutputTokens": 8000}',
        headers_json='{"x-demo": "1"}',
        sources=(REF,),
        attempts=(("sess_demo-2", 1, Status.COMPLETED),),
        previous_key="sess_demo-1",
        next_key="sess_demo-3",
        baseline_key="sess_demo-1",
        common_blocks=2,
        anatomy=an_anatomy(),
    )  # fmt: skip


def a_bare_detail() -> RequestDetail:
    """A request in full, of which the log told next to nothing."""
    line = JoinedLogLine(None, "", "", "m", None, "", "turn", "turnId", "", "", REF)
    category = ContextCategory("Skills", "skills", None, None, True)
    return replace(
        a_detail(a_bare_request()),
        blocks=(),
        block_total=0,
        part_sizes=(),
        tokens_bpe=None,
        calibration=None,
        response=(),
        log=(line,),
        context_usage=ContextUsageView("", None, None, (category,), "turn", REF),
        params_json="",
        headers_json="",
        previous_key="",
        next_key="",
        baseline_key="",
        common_blocks=None,
        anatomy=a_bare_anatomy(),
    )


def a_source(source_id: int = 1) -> SourceView:
    """A file with more skipped lines than one call shows."""
    return SourceView(
        source_id=source_id,
        path=f"logs/demo-{source_id}.jsonl",
        segment=1,
        format="zcode-model-io",
        size_bytes=48_213,
        offset_bytes=48_000,
        lines=14,
        records=12,
        duplicates=0,
        skipped_total=2,
        skipped=(SKIPPED,),
        status="current",
        last_read_at_ms=AT_MS,
        sessions=("sess_demo",),
        pending_bytes=213,
    )


def a_file(path: str = "logs/demo.jsonl", status: str = "read", detail: str = "") -> FileResult:
    """What an ingest did with a file."""
    read = status == "read"
    return FileResult(
        path=path,
        format=None if status == "not-read" else "zcode-model-io",
        bytes=48_213,
        records=12,
        new_records=12 if read else 0,
        duplicates=1,
        skipped=(SKIPPED,) if read else (),
        skipped_total=2 if read else 0,
        status=status,
        detail=detail,
    )


def an_ingest(*files: FileResult) -> IngestResult:
    """What an ingest did."""
    new_records = sum(file.new_records for file in files)
    made = IngestResult(files, 48_213 if new_records else 0, new_records, 31, 240)
    if not files:
        return made
    return replace(made, left_out=(LeftOut("logs/notes.md", "No log."),), left_out_total=1)


def a_report() -> DoctorReport:
    """What the doctor found out."""
    return DoctorReport(
        roots=("/home/ada/.zcode/cli",),
        lines=(
            DoctorLine("ok", "Structured log", "One file."),
            DoctorLine("missing", "No model I/O log", "No prompts.", "Switch it on."),
        ),
        files=(("/home/ada/.zcode/cli/log/a.jsonl", "zcode-log", 9120), ("/home/ada/x", "", 1)),
        sessions=(an_evidence("sess_demo", "Fix it"), an_evidence("sess_other", "")),
        session_total=2,
    )


def an_evidence(session_id: str, title: str) -> SessionEvidence:
    """What is known of a session whose prompts are gone."""
    gone = DoctorLine("missing", "No prompts", "Rotated away.", "Watch.")
    return SessionEvidence(session_id, title, 4, 0, 0, 31, 2, 4, 9, 0, 1, (gone,))


def a_comparison() -> Compared:
    """Two requests of which everything is known: every operation, moved markers, and limits."""
    tail = (a_text("user", "Fix it."), a_note("Todo: one"), a_text("assistant", "Done."))
    a = a_prompt(*HEAD, *tail, a_gap(2), a_text("user", "Go on."), marked=(2,))
    moved = (a_tool("Read"), a_tool("Grep"), a_system("You are a demo agent.\u200b\nModel: large"))
    array = replace(tail[0], shape="array")
    b = a_prompt(
        *moved, array, *reversed(tail[1:]), a_gap(3), a_text("user", "Go on."), marked=(3,)
    )
    other = replace(a_request(2), model_id="demo-other")
    return compared((a_request(1), a), (other, b), baseline_key="sess_demo-1")


def a_bare_comparison() -> Compared:
    """Two requests of which one has no prompt."""
    return compared((a_bare_request(), Prompt(())), (a_request(2), edited()[1]))


class FakeService(CheckingFake, ComparingFake):
    """Two sessions of the builders above. `sources` shows one skipped line, `source` both."""

    def __init__(self, db_path: Path = Path("fake.db")) -> None:
        self.db_path = db_path
        self.comparisons = {
            ("sess_demo-1", "sess_demo-2"): a_comparison(),
            ("sess_bare-1", "sess_demo-2"): a_bare_comparison(),
        }
        self.asked: list[tuple[str, object]] = []

    def sessions(
        self, wanted: SessionFilter | str = ANY_SESSION, *, limit: int = 100, offset: int = 0
    ) -> SessionPage:
        """Those whose id contains the text."""
        text = wanted if isinstance(wanted, str) else wanted.text
        self.asked.append(("sessions", (text, limit)))
        found = [s for s in (a_session(), a_bare_session()) if text in s.session_id]
        return SessionPage(tuple(found[offset : offset + limit]), len(found))

    def session(self, session_id: str) -> SessionSummary:
        """The session of this whole id."""
        for session in (a_session(), a_bare_session()):
            if session.session_id == session_id:
                return session
        raise NotFoundError(f"There is no session {session_id}.")

    def session_ids_like(self, prefix: str) -> tuple[str, ...]:
        """Those of the two that begin with the prefix."""
        return tuple(i for i in ("sess_bare", "sess_demo") if i.startswith(prefix))

    def keys_like(self, prefix: str) -> tuple[str, ...]:
        """Those of the three that begin with the prefix."""
        keys = ("sess_bare-1", "sess_demo-1", "sess_demo-2")
        return tuple(key for key in keys if key.startswith(prefix))

    def requests(self, session_id: str) -> tuple[RequestSummary, ...]:
        """Two requests."""
        return (a_request(1, self.session(session_id).session_id), a_request(2, session_id))

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: Texts = False
    ) -> RequestDetail:
        """The request of this whole key."""
        self.asked.append(("request", (key, block_from, block_limit, text)))
        if key == "sess_bare-1":
            return a_bare_detail()
        if key not in ("sess_demo-1", "sess_demo-2"):
            raise NotFoundError(f"There is no request {key}.")
        return a_detail()

    def presence(self, session_id: str) -> Presence:
        """Two rows in one lane, none in another."""
        self.asked.append(("presence", session_id))
        return a_presence(session_id)

    def sources(self) -> tuple[SourceView, ...]:
        """One file."""
        return (a_source(),)

    def source(self, source_id: int) -> SourceView:
        """The file with all its skipped lines."""
        return replace(a_source(source_id), skipped=(SKIPPED, replace(SKIPPED, line=9)))


def test_the_builders_leave_nothing_known_empty() -> None:
    """A field with an empty value would hide a missing key from the contract tests."""
    for built in (a_session(), a_request(), a_block(), a_source()):
        for name in built.__slots__:
            assert getattr(built, name) not in (None, "", {}) or name in ("text", "spark"), name
