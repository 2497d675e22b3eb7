"""`tracer sources`: the files that were read, and the lines that were skipped."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option
from tracer.cli.output import print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, byte_size, moment, number, visible
from tracer.jsonview.core import sources_json
from tracer.model.ingest_views import SourceView
from tracer.service import Service
from tracer.words import plural

_COLUMNS = (
    Column("id", right=True),
    Column("format"),
    Column("status"),
    Column("size", right=True),
    Column("not yet read", right=True),
    Column("records", right=True),
    Column("duplicates", right=True),
    Column("skipped", right=True),
    Column("last read (UTC)"),
    Column("file"),
)
_SKIPPED_COLUMNS = (
    Column("line", right=True),
    Column("byte", right=True),
    Column("kind"),
    Column("reason", flexible=True),
    Column("begins with", flexible=True),
)


@click.command("sources")
@click.option("--skipped", is_flag=True, help="List every skipped line, not the first 5 of a file.")
@reveal_option
@db_option
@json_option
def command(skipped: bool, db_path: Path | None, as_json: bool) -> None:
    """List the files that were read, how far, and what was skipped in them."""
    service = open_service(db_path)
    sources = service.sources()
    if skipped:
        sources = tuple(_with_all_skipped(service, source) for source in sources)
    if as_json:
        print_json(sources_json(sources))
        return
    if not sources:
        click.echo("No file was read yet. Run `tracer ingest` first.")
        return
    print_table(_COLUMNS, map(_row, sources))
    if skipped:
        _print_skipped(sources)
    elif any(source.skipped_total for source in sources):
        click.echo("\nSee the skipped lines with --skipped.")


def _with_all_skipped(service: Service, source: SourceView) -> SourceView:
    if source.skipped_total <= len(source.skipped):
        return source
    return replace(source, skipped=service.source(source.source_id).skipped)


def _row(source: SourceView) -> list[str]:
    segment = f" (segment {source.segment})" if source.segment > 1 else ""
    return [
        str(source.source_id),
        source.format or UNKNOWN,
        source.status,
        byte_size(source.size_bytes),
        byte_size(source.pending_bytes) if source.pending_bytes else UNKNOWN,
        number(source.records),
        number(source.duplicates),
        number(source.skipped_total),
        moment(source.last_read_at_ms),
        f"{source.path}{segment}",
    ]


def _print_skipped(sources: Iterable[SourceView]) -> None:
    for source in sources:
        if not source.skipped_total:
            continue
        print_heading(f"{visible(source.path)}: {plural(source.skipped_total, 'skipped line')}")
        print_table(
            _SKIPPED_COLUMNS,
            (
                [number(s.line), number(s.offset_bytes), s.kind, s.reason, s.excerpt]
                for s in source.skipped
            ),
        )
        more = source.skipped_total - len(source.skipped)
        if more > 0:
            click.echo(f"and {plural(more, 'more line')}.")
