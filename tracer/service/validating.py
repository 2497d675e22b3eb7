"""Validating files of the open trace format."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tracer.formats import detect
from tracer.formats.context_trace import FORMAT
from tracer.formats.trace_validation import TraceValidator
from tracer.ingest import find_files
from tracer.ingest.files import open_regular
from tracer.ingest.lines import read_lines
from tracer.ingest.run import DEFAULT_MAX_LINE_BYTES, SNIFF_BYTES
from tracer.model.trace_views import ProblemLevel, TraceFile, TraceProblem

MAX_PROBLEMS = 1_000
"""Of each file, this many are named; all are counted."""


def validate_traces(paths: Sequence[str]) -> tuple[TraceFile, ...]:
    """What is to be said of each file. The files are taken as one trace in their order, so that one
    may refer to what another has written. Raises InputError for a path that names nothing."""
    validator = TraceValidator()
    return tuple(_validated(path, validator) for path in find_files(paths, None))


def _validated(path: Path, validator: TraceValidator) -> TraceFile:
    try:
        with open_regular(path) as file:
            head = file.read(SNIFF_BYTES)
        found = detect(head)
        name = found.name if found else ""
        if not head.strip():
            return TraceFile(str(path), name, failed="The file is empty: nothing to validate.")
        if found is not None and found is not FORMAT:
            failed = f"This is {found.title}, and no trace of the open format."
            return TraceFile(str(path), name, failed=failed)
        return _read(path, name, validator)
    except OSError as error:
        return TraceFile(str(path), "", failed=f"It could not be read: {error.strerror or error}.")


def _read(path: Path, name: str, validator: TraceValidator) -> TraceFile:
    events, requests = validator.events, len(validator.requests)
    validator.sessions.clear()
    validator.begin(str(path))
    lines = errors = notes = 0
    kept: list[TraceProblem] = []
    for number, problems in _lines(path, validator):
        lines = number
        for problem in problems:
            if problem.level is ProblemLevel.ERROR:
                errors += 1
            else:
                notes += 1
            if len(kept) < MAX_PROBLEMS:
                kept.append(problem)
    failed = ""
    if lines and validator.events == events:
        failed = "No line of it is a JSON object: it is no trace."
    return TraceFile(
        str(path),
        name,
        lines,
        validator.events - events,
        len(validator.requests) - requests,
        len(validator.sessions),
        errors,
        notes,
        tuple(kept),
        failed,
    )


def _lines(path: Path, validator: TraceValidator) -> Iterator[tuple[int, list[TraceProblem]]]:
    with open_regular(path) as file:
        for number, line in enumerate(read_lines(file, 0, DEFAULT_MAX_LINE_BYTES), 1):
            if line.data is None:
                validator.unreadable(number)
                what = f"has {line.size_bytes:,} bytes, more than {DEFAULT_MAX_LINE_BYTES:,}"
                fix = "Refer to messages that were written before, instead of repeating them."
                yield number, [TraceProblem(ProblemLevel.ERROR, number, "", what, fix)]
                continue
            events = validator.events
            problems = list(validator.line(number, line.data))
            if line.torn and problems and validator.events == events:
                what = "The last line is not complete: its writer was stopped, or still writes."
                fix = "Nothing to do: the line is read once its rest is there."
                problems = [TraceProblem(ProblemLevel.NOTE, number, "", what, fix)]
            yield number, problems
