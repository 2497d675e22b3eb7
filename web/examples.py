"""Fixed views for the patterns page: one session, made up, with one of everything in it.

`Examples` answers what the builders of the board and the panel ask a service, from memory.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tracer.errors import NotFoundError
from tracer.model.anatomy_views import Presence, PresenceLane, PresenceRowView, PresenceRun
from tracer.model.check_views import CheckReport, FindingView, RuleView
from tracer.model.compare_views import RequestChoice
from tracer.model.comparison import Line
from tracer.model.events import Status, WindowKind
from tracer.model.findings import Finding, Level
from tracer.model.prompt import Marker, Part, Tier
from tracer.model.source import SourceRef
from tracer.model.surroundings import CacheClock, ChildRequest, ChildSession, Surroundings
from tracer.model.unfolded import Texts
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import Certainty, FoundCause, ReadStop, Result, Verdict, VerdictBrief
from tracer.model.verdict_views import FirstChange, VerdictView
from tracer.model.views import (
    Evidence,
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
from tracer.service import Service

SESSION = "example"
COUNT = 32
START_MS = 1_768_208_531_000
MODEL, OTHER_MODEL = "model-y", "model-y-mini"
MISS, PARTIAL, REBUILD, FAILED, RETRIED, LATE = 12, 18, 23, 26, 27, 30
SIDE = {1: "session_title", 22: "compact"}
_PREFIX = ((Part.TOOLS, 41, 27_800), (Part.SYSTEM, 3, 9_220), (Part.CONTEXT, 2, 3_900))
_RESULTS = {
    1: Result.FIRST, 2: Result.FIRST, MISS: Result.MISS, PARTIAL: Result.PARTIAL,
    22: Result.NOT_REPORTED, REBUILD: Result.EXPECTED_REBUILD, FAILED: Result.NO_USAGE,
    LATE: Result.MISS,
}  # fmt: skip
_WORDS = {
    Result.FIRST: "The first request of its lane: nothing could be read.",
    Result.HIT: "Everything that could be read was read.",
    Result.MISS: "The instruction file AGENTS.md was edited before this request. Everything after"
    " it was billed again.",
    Result.PARTIAL: "A reminder moved: what stands behind its old place was billed again.",
    Result.EXPECTED_REBUILD: "The conversation was compacted: a new prefix had to be written.",
    Result.NO_USAGE: "The call failed without usage: nothing is counted, and it is no miss.",
    Result.NOT_REPORTED: "The provider did not report how much it read.",
}


def _ref(seq: int) -> SourceRef:
    return SourceRef("/logs/model-io-example.jsonl", seq, seq * 4096)


def _tokens(seq: int) -> int:
    """The size of a prompt: growing, small after the compaction."""
    if seq == 1:
        return 2_400
    return 42_000 + (seq if seq < REBUILD else seq - REBUILD + 1) * 3_900


def _read(seq: int) -> int:
    result = _RESULTS.get(seq, Result.HIT)
    whole = _tokens(seq - 1) if seq > 1 else 0
    shares = {Result.FIRST: 0.0, Result.MISS: 0.3, Result.PARTIAL: 0.7, Result.NO_USAGE: 0.0}
    return int(min(whole, _tokens(seq)) * shares.get(result, 1.0)) // 64 * 64


def usage(seq: int) -> Usage:
    """The billed tokens of a request."""
    total, read = _tokens(seq), _read(seq)
    return Usage(total, total - read, read, 0, 420, None, Convention.INCLUSIVE,
                 "The format says that input includes the cache counts.")  # fmt: skip


def verdict(seq: int) -> Verdict:
    """The verdict on a request."""
    result = _RESULTS.get(seq, Result.HIT)
    could = min(_tokens(seq), _tokens(seq - 1)) // 64 * 64 if seq > 2 else 0
    lost = could - _read(seq) if result in (Result.MISS, Result.PARTIAL) else 0
    cause = FoundCause(
        "SYSTEM_CHANGED", Certainty.CERTAIN, _WORDS[result],
        "Edit instruction files between sessions.", "instructions", Tier.MESSAGES, 1, 4,
        "request_user_context", char_offset=1_906, token_offset=38_020,
    )  # fmt: skip
    return Verdict(
        result, _WORDS[result], f"e{seq - 1}" if seq > 2 else "", "the request before it",
        could, _read(seq), lost, 0, lost, 64, causes=(cause,) if lost else (),
        checked_equal=("model", "endpoint", "41 tools", "system, 3 blocks"),
        method="64-token blocks of the request before",
        read_stop=ReadStop(
            _read(seq), 46, Tier.MESSAGES, 4, "the end of block 46", _read(seq), 0, True,
            "The read ended where the first change begins.",
        ) if lost else None,
    )  # fmt: skip


def request(seq: int) -> RequestSummary:
    """One request of the session."""
    result, side = _RESULTS.get(seq, Result.HIT), SIDE.get(seq, "")
    model = OTHER_MODEL if seq >= REBUILD else MODEL
    failed = seq == FAILED
    made = verdict(seq)
    cause = made.causes[0] if made.causes else None
    started = START_MS + seq * 21_000 + (2_900_000 if seq >= LATE else 0)
    turn = 1 if seq < 9 else 2 if seq < 20 else 3
    return RequestSummary(
        key=f"e{seq}", seq=seq, session_id=SESSION, request_id=f"req_{seq:04}",
        attempt=2 if seq == RETRIED else 1, attempts=2 if seq == RETRIED else 1,
        call_key=f"e{seq}", trace_id="trace_1", turn_id=f"turn_{turn}", turn_number=turn,
        step=seq, query_source=side or "main_turn", lane=f"{side or 'main_turn'}@provider/{model}",
        side_call=bool(side), provider_id="provider", model_id=model, started_at_ms=started,
        completed_at_ms=started + 8_200, duration_ms=8_200,
        status=Status.FAILED if failed else Status.COMPLETED,
        error="429 Too Many Requests" if failed else "", finish_reason="" if failed else "stop",
        observed="full", verified_from=0, carry="none", window_kind=WindowKind.FULL,
        message_count=2 + seq, roles={"user": seq, "assistant": seq},
        usage=None if failed else usage(seq), markers=(Marker(Tier.SYSTEM, 2, 0, "5m"),),
        tools=("Read", "Bash", "Edit"), sections=(), reminders=(), mcs=(), source=_ref(seq),
        variant="main",
        verdict=VerdictBrief(
            result, cause.code if cause else "", cause.subtype if cause else "",
            Certainty.CERTAIN, made.one_line, made.baseline_key, made.expected_read_tokens,
            made.actual_read_tokens, made.missed_tokens, 0, made.rebilled_tokens,
        ),
    )  # fmt: skip


def parts(seq: int) -> tuple[PartSize, ...]:
    """The parts of a prompt."""
    if seq == 1:
        return (PartSize(Part.SYSTEM, 1, 6_000, 1_900, 0, True),
                PartSize(Part.HISTORY, 1, 1_600, 500, 500, True))  # fmt: skip
    history = _tokens(seq) - sum(size for _, _, size in _PREFIX) - 1_400
    prefix = [PartSize(part, n, size * 4, size, 0, True) for part, n, size in _PREFIX]
    return (*prefix, PartSize(Part.HISTORY, 2 * seq, history * 4, history, 3_600, True),
            PartSize(Part.REMINDER, 4, 5_600, 1_400, 0, True))  # fmt: skip


@cache
def session() -> SessionSummary:
    """The session in sums."""
    found = [r.usage for r in map(request, range(1, COUNT + 1)) if r.usage]
    total = sum(u.input_tokens or 0 for u in found)
    read = sum(u.cache_read_tokens or 0 for u in found)
    lost = sum(verdict(seq).rebilled_tokens for seq in range(1, COUNT + 1))
    return SessionSummary(
        SESSION, "Example agent", "Fix flaky retry in uploader", "uploader", START_MS,
        START_MS + 62 * 60_000, COUNT, 3, 2, 1, (MODEL, OTHER_MODEL), ("main_turn@provider/x",),
        UsageTotals(total, total - read, read, 0, 12_800, len(found), total), COUNT, 0, 0,
        spark=tuple(SparkPoint(_read(s), 0, _tokens(s) - _read(s)) for s in range(1, COUNT + 1)),
        misses=3, missed_tokens=lost, avoidable_tokens=0, rebilled_tokens=lost,
        corrected_rate=0.914,
    )  # fmt: skip


@cache
def timeline() -> Timeline:
    """The session as columns, with an event of each kind."""
    columns = tuple(
        TimelineColumn(request(seq), sizes, sum(s.tokens for s in sizes))
        for seq in range(1, COUNT + 1)
        for sizes in (() if seq == FAILED else parts(seq),)
    )
    events = tuple(
        TimelineEvent(kind, after, START_MS + after * 21_000 + 9_000, title, "", _ref(after))
        for kind, after, title in (
            ("subagent", 14, "Subagent started"), ("compaction", 22, "Compacted"),
            ("model", 22, "Model switched"), ("reset", 28, "The log file was overwritten"),
        )
    )  # fmt: skip
    turns = (TurnSpan("1", 1, 1, 8), TurnSpan("2", 2, 9, 19), TurnSpan("3", 3, 20, COUNT))
    return Timeline(session(), columns, turns, events, outline=tuple(map(_outline, columns)))


def _outline(column: TimelineColumn) -> RequestOutline:
    r, used = column.request, column.request.usage
    return RequestOutline(
        r.seq, r.key, r.lane, r.side_call, r.turn_id, r.turn_number, r.attempt, r.status,
        r.started_at_ms, used.input_tokens if used else None,
        used.cache_read_tokens if used else None, used.cache_write_tokens if used else None,
        column.prompt_tokens, len(r.markers), r.verdict.result if r.verdict else None,
        r.verdict.baseline_key if r.verdict else "",
    )  # fmt: skip


def _row(group: str, name: str, note: str, cells: str) -> PresenceRowView:
    """A row from its cells, one letter a request from the second on: a appeared, s same, c changed,
    m moved, g gone, u unseen, a dot for nothing."""
    words = {"a": "appeared", "s": "same", "c": "changed", "m": "moved", "g": "gone", "u": "unseen"}
    runs = []
    for i, letter in enumerate(cells):
        if letter in words and (letter in "acmg" or cells[i - 1 : i] != letter or not i):
            end = i
            while letter in "su" and end + 1 < len(cells) and cells[end + 1] == letter:
                end += 1
            runs.append(PresenceRun(words[letter], i + 2, end + 2, f"e{i + 2}", None, f"e{i + 1}"))
    return PresenceRowView(group, name, note, tuple(runs), cells.count("c"))


@cache
def presence() -> Presence:
    """Rows with every kind of cell."""
    rows = (
        _row("section", "identity", "system", "a" + "s" * 30),
        _row("section", "request_user_context", "messages", "a" + "s" * 9 + "c" + "s" * 20),
        _row("section", "skills", "messages", "a" + "s" * 12 + "u" * 6 + "s" * 12),
        _row("reminder", "todo_reminder", "tagged", "....a" + "s" * 11 + "m" + "s" * 5 + "g"),
        _row("mcs", "message 24", "system", "." * 21 + "a" + "s" * 9),
        _row("tool", "Read", "", "a" + "s" * 30),
    )
    lane = PresenceLane("main_turn@provider/x", tuple(range(2, COUNT + 1)), rows)
    return Presence(SESSION, COUNT, (lane,))


@cache
def around() -> Surroundings:
    """Clocks, tool calls and a subagent."""
    child = replace(session(), session_id="example-child", title="Run the tests", requests=2,
                    started_at_ms=START_MS + 14 * 21_000 + 9_000)  # fmt: skip
    asked = tuple(
        ChildRequest(f"c{i}", i, START_MS + (14 * 21 + 9 + 3 * i) * 1000, Status.COMPLETED, result)
        for i, result in ((1, Result.FIRST), (2, Result.MISS))
    )
    minute = 60_000
    return Surroundings(
        clocks={
            f"e{s}": CacheClock(2_921_000 if s == LATE else 21_000 * (1 + s % 4), s - 1,
                                5 * minute, 5 * minute, "asked for by a marker: 5m")
            for s in range(3, COUNT + 1) if s not in SIDE
        },
        calls={f"e{s}": (("Read", 1 + s % 3), ("Bash", s % 2)) for s in range(2, COUNT) if s % 5},
        children=(ChildSession(child, asked),),
        has_calls=True,
        findings={"e9": {Level.ERROR: 1}, f"e{MISS}": {Level.WARNING: 1}},
    )  # fmt: skip


class Examples(Service):
    """A service of the one session; it opens no database."""

    def __init__(self) -> None:
        super().__init__(Path("example.db"))

    def requests(self, session_id: str) -> tuple[RequestSummary, ...]:
        """All requests."""
        return tuple(column.request for column in timeline().columns)

    def outline(self, session_id: str) -> Sequence[RequestOutline]:
        """All requests in short."""
        return timeline().outline

    def presence(self, session_id: str) -> Presence:
        """The matrix."""
        return presence()

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: Texts = False
    ) -> RequestDetail:
        """One request, without its blocks."""
        seq = _seq(key)
        sizes, made = parts(seq), request(seq)
        total = sum(size.tokens for size in sizes)
        told = (Evidence("wire", "The body was not logged", "Parameters are those of the record."),)
        return RequestDetail(
            made, session(), (), 0, sum(size.blocks for size in sizes), sizes, total, total, 0,
            1.02, (), False, (), None, told, "", "", (made.source,), (), baseline_key=f"e{seq - 1}",
        )  # fmt: skip

    def check_request(self, key: str, *, now: bool = True) -> CheckReport:
        """One broken rule."""
        rule = RuleView("example/fresh-notes", Level.WARNING, "Notes stay fresh",
                        "A note is repeated every ten requests at least.", "")  # fmt: skip
        told = "The last todo note is 14 requests old."
        found = Finding(rule.name, rule.level, key, told, 4, (("requests since", "14"),))
        view = FindingView(found, SESSION, "Fix flaky retry in uploader", _seq(key))
        return CheckReport((view,), (rule.name,), (), (rule,))

    def explain(self, key: str, against: str = "") -> VerdictView:
        """The verdict, with the lines that changed where something was lost."""
        seq = _seq(key)
        made, own = verdict(seq), request(seq)
        lines = (
            Line(" ", 41, 41, "## Testing"),
            Line("-", 42, None, "Run the whole suite before every commit.", ((4, 19),)),
            Line("+", None, 42, "Run only the tests of the module you touched before every"
                 " commit.", ((4, 44),)),
        )  # fmt: skip
        change = FirstChange("changed", "message 4, block 1", 47, 47, lines, 0)
        before = request(max(1, seq - 1))
        base = RequestChoice(before.key, before.seq, before.started_at_ms, before.model_id,
                             before.query_source, before.side_call, True)  # fmt: skip
        return VerdictView(
            key, seq, SESSION, own.lane, own.model_id, "Example provider", made,
            base if made.baseline_key else None, False, (), change if made.causes else None,
            own.usage, (), 1,
        )  # fmt: skip


def _seq(key: str) -> int:
    seq = int(key[1:]) if key[1:].isdigit() else 0
    if not 1 <= seq <= COUNT:
        raise NotFoundError(f"There is no request {key!r} among the examples.")
    return seq
