"""For each session of the open trace format: what its traces tell, and what else an agent could
write (docs/formats/context-trace.md). Nothing of such a trace is ever rotated away by the format.
"""

from tracer.model.doctor_views import DoctorLine
from tracer.store.session_reading import TraceKinds
from tracer.words import plural

_WRITE_PROMPTS = (
    "Write a `context.built` line before each call, and ingest every file that the session was "
    "traced to. `tracer doctor FILE` names the lines that could not be used."
)
_WRITE_ANSWERS = "Write a `request.completed` line with the usage once a call has ended."
_WRITE_ENDS = "Write a `run.completed` line when a run ends."


def trace_evidence(kinds: TraceKinds) -> list[DoctorLine]:
    """The lines, prompts first. Calls are counted, not their attempts, which share a prompt."""
    return [_prompts(kinds), *_gaps(kinds), _answers(kinds), _runs(kinds), *_estimates(kinds)]


def _prompts(kinds: TraceKinds) -> DoctorLine:
    if kinds.calls and kinds.prompts == kinds.calls:
        return DoctorLine(
            "ok", "Prompts", f"The trace holds the prompts of all model calls: {kinds.calls:,}."
        )
    if kinds.prompts:
        return DoctorLine(
            "note",
            "Some prompts are not in the trace",
            f"{kinds.prompts:,} of {plural(kinds.calls, 'model call')} have a `context.built` "
            "line. The others are known from other lines only.",
            _WRITE_PROMPTS,
        )
    return DoctorLine(
        "missing",
        "No prompts",
        "No `context.built` line of this session was read. What a prompt contained, and which "
        "block changed, cannot be known.",
        _WRITE_PROMPTS,
    )


def _gaps(kinds: TraceKinds) -> list[DoctorLine]:
    if not kinds.with_gaps:
        return []
    return [
        DoctorLine(
            "note",
            "References without a message",
            f"The prompts of {plural(kinds.with_gaps, 'request')} refer to messages that no file "
            "that was read holds; they are shown as gaps.",
            "Ingest the other files of the session: gaps are filled then.",
        )
    ]


def _answers(kinds: TraceKinds) -> DoctorLine:
    told = (
        f"{kinds.answered:,} of {plural(kinds.requests, 'request')} (each attempt is one) have a "
        f"`request.completed` line, {kinds.reported:,} report usage."
    )
    if kinds.answered == kinds.requests:
        return DoctorLine("ok", "Ends and usage", told)
    level = "note" if kinds.answered else "missing"
    return DoctorLine(level, "Not every request has an end", told, _WRITE_ANSWERS)


def _runs(kinds: TraceKinds) -> DoctorLine:
    times = "The format has no times of tool calls: calls and results are taken from the prompts."
    told = f"{plural(kinds.runs, 'run')}, {kinds.ended_runs:,} with a `run.completed` line. {times}"
    if kinds.ended_runs >= kinds.runs:
        return DoctorLine("ok", "Runs and tool calls", told)
    return DoctorLine("note", "Not every run has an end", told, _WRITE_ENDS)


def _estimates(kinds: TraceKinds) -> list[DoctorLine]:
    if not kinds.estimates:
        return []
    return [
        DoctorLine(
            "ok",
            "Context usage",
            f"{plural(kinds.estimates, '`context_usage_snapshot` line')}: the agent's own "
            "estimates.",
        )
    ]
