"""Builders of verdicts, and the part of a stand-in that judges."""

from collections.abc import Mapping
from dataclasses import replace

from tests.comparisons import ComparingFake
from tracer.errors import NotFoundError
from tracer.model.compare_views import RequestChoice
from tracer.model.comparison import Line
from tracer.model.prompt import Tier
from tracer.model.verdict import (
    Certainty,
    Fault,
    FoundCause,
    ReadStop,
    Result,
    Verdict,
    VerdictBrief,
)
from tracer.model.verdict_views import (
    CauseTotal,
    FirstChange,
    Misses,
    MissView,
    VerdictView,
)
from tracer.model.views import RequestSummary
from tracer.service.verdicts import LaneCache, Rate, SessionCache

SENTENCE = "The instruction file AGENTS.md was edited before this request."


def a_cause(**changes: object) -> FoundCause:
    """An edited instruction file in message 4."""
    made = FoundCause(
        code="SYSTEM_CHANGED",
        subtype="instructions",
        certainty=Certainty.CERTAIN,
        summary=SENTENCE,
        fix="Edit instruction files between sessions.",
        tier=Tier.MESSAGES,
        block_index=3,
        message_index=4,
        section="request_user_context",
        char_offset=1_906,
        token_offset=38_020,
        before="Run the whole suite",
        after="Run only the tests",
        evidence=("compared byte by byte",),
        tokens=87_296,
        fault=Fault.CLIENT,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_verdict(result: Result = Result.HIT, **changes: object) -> Verdict:
    """A verdict; a miss of 87,296 tokens unless `changes` say otherwise."""
    made = Verdict(
        result=result,
        one_line="Everything that could be read was read.",
        baseline_key="r1",
        baseline_reason="the request before it in the same lane",
        expected_read_tokens=36_992,
        actual_read_tokens=36_992,
        checked_equal=("model", "41 tools"),
        convention="inclusive",
        method="blocks of 64",
    )
    if made.is_miss:
        made = replace(
            made,
            one_line=SENTENCE + " 87,296 tokens that were cached before were billed again.",
            expected_read_tokens=124_288,
            missed_tokens=0,
            avoidable_tokens=87_296,
            rebilled_tokens=87_296,
            noise_tokens=1_024,
            causes=(a_cause(),),
            not_verifiable=("messages 0 to 3",),
            read_stop=ReadStop(36_992, 3, Tier.MESSAGES, 4, "message 4", 38_000, -1_008, True,
                               "The read stopped in message 4."),
        )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def a_brief(verdict: Verdict) -> VerdictBrief:
    """The verdict in short."""
    cause = verdict.causes[0] if verdict.causes else None
    return VerdictBrief(
        result=verdict.result,
        code=cause.code if cause else "",
        subtype=cause.subtype if cause else "",
        certainty=cause.certainty.value if cause else "",
        one_line=verdict.one_line,
        baseline_key=verdict.baseline_key,
        expected_read_tokens=verdict.expected_read_tokens,
        actual_read_tokens=verdict.actual_read_tokens,
        missed_tokens=verdict.missed_tokens,
        avoidable_tokens=verdict.avoidable_tokens,
        rebilled_tokens=verdict.rebilled_tokens,
    )


def a_change(**changes: object) -> FirstChange:
    """One edited line with what stands around it."""
    made = FirstChange(
        op="changed",
        place="message 4, block 1",
        a_index=3,
        b_index=3,
        lines=(
            Line(" ", 1, 1, "## Testing"),
            Line("-", 2, None, "Run the whole suite before every commit.", ((4, 19),)),
            Line("+", None, 2, "Run only the tests before every commit.", ((4, 18),)),
        ),
        more_hunks=0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_verdict_view(
    request: RequestSummary, verdict: Verdict | None = None, **changes: object
) -> VerdictView:
    """The verdict on a request, with what stands around it."""
    made = VerdictView(
        key=request.key,
        seq=request.seq,
        session_id=request.session_id,
        lane=request.lane,
        model=request.model_id,
        provider="Z.ai / GLM",
        verdict=verdict or a_verdict(),
        baseline=None,
        chosen=False,
        choices=(),
        change=None,
        usage=request.usage,
        diagnostics=(),
        rules_version=1,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_choice(request: RequestSummary) -> RequestChoice:
    """A request as a baseline."""
    return RequestChoice(
        request.key, request.seq, request.started_at_ms, request.model_id,
        request.query_source, request.side_call, True,
    )  # fmt: skip


def a_miss(request: RequestSummary, verdict: Verdict, title: str = "") -> MissView:
    """A row of the ranking."""
    cause = verdict.causes[0]
    return MissView(
        key=request.key,
        seq=request.seq,
        session_id=request.session_id,
        session_title=title,
        lane=request.lane,
        model=request.model_id,
        started_at_ms=request.started_at_ms,
        brief=a_brief(verdict),
        fault=cause.fault.value,
        tier=cause.tier.value if cause.tier else "",
        block_index=cause.block_index,
        message_index=cause.message_index,
        section=cause.section,
        reminder=cause.reminder,
    )


def some_misses(*rows: MissView, total: int | None = None) -> Misses:
    """These misses as a ranking, `total` in all."""
    causes: dict[tuple[str, str], CauseTotal] = {}
    for row in rows:
        key = row.brief.code, row.brief.subtype
        had = causes.get(key) or CauseTotal(*key, 0, 0, 0, 0)
        causes[key] = replace(
            had,
            requests=had.requests + 1,
            missed_tokens=had.missed_tokens + row.brief.missed_tokens,
            avoidable_tokens=had.avoidable_tokens + row.brief.avoidable_tokens,
            rebilled_tokens=had.rebilled_tokens + row.brief.rebilled_tokens,
        )
    sums = causes.values()
    return Misses(
        misses=rows,
        total=len(rows) if total is None else total,
        causes=tuple(sums),
        missed_tokens=sum(c.missed_tokens for c in sums),
        avoidable_tokens=sum(c.avoidable_tokens for c in sums),
        rebilled_tokens=sum(c.rebilled_tokens for c in sums),
    )


def a_session_cache(requests: int = 6, **changes: object) -> SessionCache:
    """A session without losses."""
    rate = Rate(911, 1_000, "Σ read ÷ Σ prompt = 911 ÷ 1,000 = 91.1 %")
    corrected = Rate(968, 1_000, "Σ read ÷ Σ min(prompt before, prompt) = 968 ÷ 1,000 = 96.8 %")
    none = Rate(0, 0, "")
    lane = LaneCache("main_turn@zai/GLM-5.3", requests, rate, corrected, 512, 0, ())
    made = SessionCache(
        requests=requests, judged=requests, misses=0, expected_rebuilds=0, no_usage=0,
        not_reported=0, rate=rate, first_of_turn=none, inner=none,
        corrected=corrected, missed_tokens=0, avoidable_tokens=0, rebilled_tokens=0,
        rewrite_factor=None, rewrite_formula="no writes were reported",
        excess_write_tokens=0, lanes=(lane,), causes=(), expired_pauses=0,
        survived_pauses=0, in_flight=(), patterns=(), naive="",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


class JudgingFake(ComparingFake):
    """The part of a stand-in that judges: the given verdicts, else a hit."""

    verdicts: Mapping[str, Verdict]

    def explain(self, key: str, against: str = "") -> VerdictView:
        """A given verdict, with the requests before it as baselines."""
        request = self.request(key, block_limit=0).request
        earlier = [r for r in self.requests(request.session_id) if r.seq < request.seq]
        known = {r.key: a_choice(r) for r in reversed(earlier)}
        if against and against not in known:
            raise NotFoundError(f"Request {against!r} is not in the session of {key}.")
        verdict = self.verdicts.get(key) or a_verdict()
        return a_verdict_view(
            request,
            verdict,
            baseline=known.get(against) or next(iter(known.values()), None),
            chosen=bool(against),
            choices=tuple(known.values()),
            change=a_change() if verdict.causes else None,
        )

    def misses(
        self, session_id: str = "", *, code: str = "", limit: int = 100, offset: int = 0
    ) -> Misses:
        """The misses among the given verdicts."""
        found = [self.request(key, block_limit=0) for key in self.verdicts]
        rows = [
            a_miss(d.request, self.verdicts[d.request.key], d.session.title)
            for d in found
            if self.verdicts[d.request.key].is_miss
            and session_id in ("", d.request.session_id)
            and code in ("", self.verdicts[d.request.key].causes[0].code)
        ]
        made = some_misses(*rows)
        return replace(made, misses=made.misses[offset : offset + limit])

    def session_cache(self, session_id: str) -> SessionCache:
        """That of a session with as many requests."""
        return a_session_cache(self.session(session_id).requests)
