"""The format that a user named: it has to be one of log lines."""

from tracer.errors import UsageError
from tracer.formats import all_formats, file_formats, format_named, table_formats


def check_format(name: str | None) -> None:
    """Raises UsageError where no log of lines has this format; None asks for none."""
    if not name or format_named(name) is not None:
        return
    lines = ", ".join(f.name for f in all_formats())
    others = {f.name: "database" for f in table_formats()}
    others |= {f.name: "folder" for f in file_formats()}
    if name in others:
        raise UsageError(
            f"--format {name} is not needed: a {others[name]} of that format is recognised by what "
            f"it holds. Formats of log lines, which can be named: {lines}."
        )
    raise UsageError(
        f"There is no format {name!r}. Formats of log lines: {lines}. Databases and folders "
        f"({', '.join(others)}) are recognised by what they hold, without --format."
    )
