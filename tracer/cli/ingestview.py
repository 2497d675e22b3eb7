"""What an ingest did, as text for people."""

import glob
import os
from collections.abc import Callable, Iterable, Sequence

import click

from tracer.cli.output import print_heading, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, byte_size, duration, number, visible
from tracer.model.ingest_views import FileResult, IngestResult, SkippedLine
from tracer.words import plural

_FILE_COLUMNS = (
    Column("format"),
    Column("size", right=True),
    Column("records", right=True),
    Column("new", right=True),
    Column("duplicates", right=True),
    Column("skipped", right=True),
    Column("file"),
)
_SKIP_COLUMNS = (
    Column("lines", right=True),
    Column("kind"),
    Column("for example"),
    Column("reason", flexible=True),
)


def unread_paths(paths: Iterable[str], result: IngestResult) -> list[str]:
    """The named paths of which no file could be read; an empty folder is one."""
    read = [os.path.abspath(file.path) for file in result.files if file.status != "not-read"]
    return [path for path in paths if not any(map(_covered_by(path), read))]


def _covered_by(named: str) -> Callable[[str], bool]:
    """Tells whether a file is the named one, lies below the named folder or fits the glob."""
    path = os.path.expanduser(named)
    found = [path] if os.path.exists(path) else glob.glob(path, recursive=True) or [path]
    roots = [os.path.abspath(root) for root in found]
    return lambda file: any(
        file == root or file.startswith(root.rstrip(os.sep) + os.sep) for root in roots
    )


def print_summary(result: IngestResult) -> None:
    """Print what was read, and everything that was skipped, with the reasons."""
    by_status: dict[str, list[FileResult]] = {}
    for file in result.files:
        by_status.setdefault(file.status, []).append(file)
    unchanged, not_read = by_status.pop("unchanged", []), by_status.pop("not-read", [])
    read = [file for files in by_status.values() for file in files]
    if not result.files:
        click.echo("No log files were found. `tracer doctor` tells where they should be.")
        return
    if read:
        print_table(_FILE_COLUMNS, map(_file_row, read))
        click.echo()
    click.echo(_headline(result, len(read)))
    if unchanged:
        click.echo(f"Unchanged since the last time: {plural(len(unchanged), 'file')}.")
    if not_read:
        click.echo(f"Not read: {plural(len(not_read), 'file')}.")
        for file in not_read:
            click.echo(f"  {visible(file.path)}: {visible(file.detail or 'no reason given')}")
    if result.left_out_total:
        others = plural(result.left_out_total, "other file")
        click.echo(f"Left out, since they are no logs by their names: {others} (see --json).")
    _print_faults(result)
    if result.unjudged_sessions:
        sessions = plural(result.unjudged_sessions, "session")
        click.echo(
            f"{sessions} without prompts have no verdicts yet: they are worked out when you open "
            "one. `tracer ingest --all-verdicts` gives them now."
        )
    _print_skipped([*read, *unchanged])


def print_round(result: IngestResult) -> None:
    """Print a line for each file that grew while it was watched, and what could not be judged."""
    for file in result.files:
        if file.new_records or file.skipped:
            skipped = f", {plural(file.skipped_total, 'line')} skipped" if file.skipped else ""
            records = plural(file.new_records, "new record")
            click.echo(f"{records}{skipped}  {visible(file.path)}")
    _print_faults(result)


def _print_faults(result: IngestResult) -> None:
    if result.count_error:
        click.echo(visible(result.count_error))
    for problem in result.verdict_errors:
        click.echo(f"Not judged, by a fault of tracer worth a report: {visible(problem)}")


def _headline(result: IngestResult, files: int) -> str:
    took = duration(result.elapsed_ms)
    if not files:
        return f"Nothing new ({took})."
    rate = ""
    if result.elapsed_ms > 0:
        rate = f", {byte_size(round(result.read_bytes * 1000 / result.elapsed_ms))}/s"
    counted = f"; tokens of {plural(result.counted_blocks, 'block')} counted"
    return (
        f"Read {byte_size(result.read_bytes)} of {plural(files, 'file')} in {took}{rate}: "
        f"{plural(result.new_records, 'new record')}{counted if result.counted_blocks else ''}."
    )


def _file_row(file: FileResult) -> list[str]:
    return [
        file.format or UNKNOWN,
        byte_size(file.bytes),
        number(file.records),
        number(file.new_records),
        number(file.duplicates),
        number(file.skipped_total),
        file.path,
    ]


def _print_skipped(files: Sequence[FileResult]) -> None:
    total = sum(file.skipped_total for file in files)
    if not total:
        return
    groups: dict[str, list[tuple[FileResult, SkippedLine]]] = {}
    for file in files:
        for skipped in file.skipped:
            groups.setdefault(skipped.kind, []).append((file, skipped))
    print_heading(f"Skipped: {plural(total, 'line')}, kept with their reasons")
    rows = []
    for kind, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        file, first = members[0]
        place = f"{os.path.basename(file.path)}:{first.line}"
        rows.append([number(len(members)), kind, place, first.reason])
    unlisted = total - sum(map(len, groups.values()))
    if unlisted > 0:
        rows.append([number(unlisted), UNKNOWN, UNKNOWN, "not listed here"])
    print_table(_SKIP_COLUMNS, rows)
    click.echo("See all of them with `tracer sources --skipped`.")
