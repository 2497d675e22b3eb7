"""The JSON of validated traces."""

from collections.abc import Sequence

from tracer.jsonview.core import SCHEMA, JsonObject, known
from tracer.model.trace_views import TraceFile, TraceProblem


def traces_json(files: Sequence[TraceFile]) -> JsonObject:
    """What `tracer doctor FILE --json` prints."""
    return {"schema": SCHEMA, "traces": [_file(file) for file in files]}


def _file(file: TraceFile) -> JsonObject:
    return {
        "path": file.path,
        "format": known(file.format),
        "failed": known(file.failed),
        "lines": file.lines,
        "events": file.events,
        "requests": file.requests,
        "sessions": file.sessions,
        "errors": file.errors,
        "notes": file.notes,
        "problems": [_problem(problem) for problem in file.problems],
    }


def _problem(problem: TraceProblem) -> JsonObject:
    return {
        "level": problem.level.value,
        "line": problem.line,
        "where": known(problem.where),
        "what": problem.what,
        "fix": problem.fix,
    }
