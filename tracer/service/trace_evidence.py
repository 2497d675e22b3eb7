"""For each session of the open trace format: what its traces tell, and what else an agent could
write (docs/formats/context-trace.md). Nothing of such a trace is ever rotated away by the format.
"""

from tracer.model.doctor_views import DoctorFinding
from tracer.store.session_reading import TraceKinds
from tracer.words import plural

_WRITE_PROMPTS = (
    "Write a `context.built` line before each call, and ingest every file that the session was "
    "traced to. `tracer doctor FILE` names the lines that could not be used."
)
_WRITE_ANSWERS = "Write a `request.completed` line with the usage once a call has ended."
_WRITE_ENDS = "Write a `run.completed` line when a run ends."


def trace_evidence(kinds: TraceKinds) -> list[DoctorFinding]:
    """The findings, prompts first. Calls are counted, not their attempts, which share a prompt."""
    return [_prompts(kinds), *_gaps(kinds), _answers(kinds), _runs(kinds), *_estimates(kinds)]


def _prompts(kinds: TraceKinds) -> DoctorFinding:
    if kinds.calls and kinds.prompts == kinds.calls:
        return DoctorFinding(
            "ok", "Prompts", f"The trace holds the prompts of all model calls: {kinds.calls:,}."
        )
    if kinds.prompts:
        return DoctorFinding(
            "note",
            "Some prompts are not in the trace",
            f"{kinds.prompts:,} of {plural(kinds.calls, 'model call')} have a `context.built` "
            "line. The others are known from other lines only.",
            _WRITE_PROMPTS,
        )
    return DoctorFinding(
        "missing",
        "No prompts",
        "No `context.built` line of this session was read. What a prompt contained, and which "
        "block changed, cannot be known.",
        _WRITE_PROMPTS,
    )


def _gaps(kinds: TraceKinds) -> list[DoctorFinding]:
    if not kinds.with_gaps:
        return []
    return [
        DoctorFinding(
            "note",
            "References without a message",
            f"The prompts of {plural(kinds.with_gaps, 'request')} refer to messages that no file "
            "that was read holds; they are shown as gaps.",
            "Ingest the other files of the session: gaps are filled then.",
        )
    ]


def _answers(kinds: TraceKinds) -> DoctorFinding:
    told = (
        f"{kinds.answered:,} of {plural(kinds.requests, 'request')} (each attempt is one) have a "
        f"`request.completed` line, {kinds.reported:,} report usage."
    )
    if kinds.answered == kinds.requests:
        return DoctorFinding("ok", "Ends and usage", told)
    level = "note" if kinds.answered else "missing"
    return DoctorFinding(level, "Not every request has an end", told, _WRITE_ANSWERS)


def _runs(kinds: TraceKinds) -> DoctorFinding:
    times = "The format has no times of tool calls: calls and results are taken from the prompts."
    told = f"{plural(kinds.runs, 'run')}, {kinds.ended_runs:,} with a `run.completed` line. {times}"
    if kinds.ended_runs >= kinds.runs:
        return DoctorFinding("ok", "Runs and tool calls", told)
    return DoctorFinding("note", "Not every run has an end", told, _WRITE_ENDS)


def _estimates(kinds: TraceKinds) -> list[DoctorFinding]:
    if not kinds.estimates:
        return []
    return [
        DoctorFinding(
            "ok",
            "Context usage",
            f"{plural(kinds.estimates, '`context_usage_snapshot` line')}: the agent's own "
            "estimates.",
        )
    ]
