"""Exit codes of the command line. Scripts rely on them: documented in docs/cli.md."""

from enum import IntEnum

from tracer.errors import InputError, NotFoundError, StoreError, TracerError, UsageError


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    INPUT = 3
    FAULT = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS: dict[ExitCode, str] = {
    ExitCode.FINE: "Fine. Skipped lines and `--watch` ended by Ctrl-C count as fine.",
    ExitCode.FINDINGS: "Findings above a threshold that was asked for.",
    ExitCode.USAGE: "Wrong use: an unknown option, session or request, or an ambiguous one.",
    ExitCode.INPUT: "Input that could not be read: nothing of a named path, or the database.",
    ExitCode.FAULT: "A fault of tracer itself: the traceback on stderr is worth a report.",
    ExitCode.INTERRUPTED: "Stopped by Ctrl-C. What was stored is kept.",
    ExitCode.BROKEN_PIPE: "Whatever read the output ended first, as in a pipe to `head`.",
}


def exit_code_of(error: TracerError) -> ExitCode:
    """The exit code for an error whose message is meant for the user."""
    match error:
        case UsageError() | NotFoundError():
            return ExitCode.USAGE
        case InputError() | StoreError():
            return ExitCode.INPUT
        case _:
            return ExitCode.INPUT
