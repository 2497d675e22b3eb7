"""Verdicts for tests of texts and JSON: one with everything in it, one with next to nothing."""

from dataclasses import replace

from tests.judging_fakes import a_brief as brief_of
from tests.judging_fakes import a_cause, a_change, a_verdict
from tracer.model.compare_views import RequestChoice
from tracer.model.prompt import Tier
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import (
    Certainty,
    Cost,
    Fault,
    ReadStop,
    Result,
    Verdict,
    VerdictBrief,
)
from tracer.model.verdict_views import (
    CauseTotal,
    DiagnosticView,
    Misses,
    MissView,
    VerdictView,
)

START_MS = 1_768_208_531_000


def a_whole_verdict() -> Verdict:
    """A partial hit with causes, a price and a place."""
    second = a_cause(
        code="TTL_EXPIRED", subtype="", certainty=Certainty.MEDIUM, tier=None, block_index=None,
        message_index=None, section="", char_offset=None, token_offset=None, before="", after="",
        fault=Fault.USER, tokens=None,
    )  # fmt: skip
    return a_verdict(
        Result.PARTIAL,
        causes=(a_cause(reminder="context_prefix"), second),
        also=(replace(second, code="MODEL_CHANGED", expected=True),),
        cost=Cost(0.0123, "USD", "87,296 × (0.60 − 0.11) / 1 M", "the price list, 2026-01-02"),
    )


def a_brief() -> VerdictBrief:
    """That verdict in short."""
    return brief_of(a_whole_verdict())


def a_verdict_view() -> VerdictView:
    """A verdict with everything that can stand around it."""
    baseline = RequestChoice("k1", 1, START_MS, "glm-5", "main_turn", False, True)
    return VerdictView(
        key="k2",
        seq=2,
        session_id="sess_demo",
        lane="main_turn@zai/glm-5",
        model="glm-5",
        provider="Z.ai / GLM",
        verdict=a_whole_verdict(),
        baseline=baseline,
        chosen=True,
        choices=(baseline,),
        change=a_change(),
        usage=Usage(125_440, 88_448, 36_992, None, 512, None, Convention.INCLUSIVE, "as logged"),
        diagnostics=(
            DiagnosticView("anthropic", "system_changed", 87_000, "agree", "It says the same."),
            DiagnosticView("openai", "", None, "silent", "It says nothing of it."),
        ),
        rules_version=1,
    )


def a_bare_verdict_view() -> VerdictView:
    """A call of which nothing is known."""
    return VerdictView(
        key="k0",
        seq=1,
        session_id="sess_bare",
        lane="",
        model="",
        provider="unknown",
        verdict=Verdict(
            Result.NO_USAGE,
            "",
            read_stop=ReadStop(0, None, None, None, "", None, None, None, ""),
        ),
        baseline=None,
        chosen=False,
        choices=(),
        change=None,
        usage=None,
        diagnostics=(),
        rules_version=1,
    )


def some_misses() -> Misses:
    """A ranking of two misses, the second without a place."""
    first = MissView(
        key="k2", seq=2, session_id="sess_demo", session_title="Fix the uploader",
        lane="main_turn@zai/glm-5", model="glm-5", started_at_ms=START_MS, brief=a_brief(),
        fault="client", tier=Tier.MESSAGES.value, block_index=3, message_index=4,
        section="request_user_context", reminder="context_prefix",
    )  # fmt: skip
    bare = replace(
        first, key="k3", seq=3, session_title="", model="", started_at_ms=None, fault="", tier="",
        block_index=None, message_index=None, section="", reminder="",
        brief=VerdictBrief(Result.MISS, "", "", "", "", "", None, None, 4_864, 0, 4_864),
    )  # fmt: skip
    return Misses(
        misses=(first, bare),
        total=2,
        causes=(
            CauseTotal("SYSTEM_CHANGED", "instructions", 1, 0, 87_296, 87_296),
            CauseTotal("UNKNOWN", "", 1, 4_864, 0, 4_864),
        ),
        missed_tokens=4_864,
        avoidable_tokens=87_296,
        rebilled_tokens=92_160,
    )


def no_misses() -> Misses:
    """Nothing was lost."""
    return Misses((), 0, (), 0, 0, 0)
