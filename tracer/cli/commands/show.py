"""`tracer show`: what one request contained."""

from pathlib import Path

import click

from tracer.cli import showview
from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_json
from tracer.jsonview.request import detail_json
from tracer.service.naming import request_of

BLOCKS_SHOWN_TO_PEOPLE = 200


@click.command("show")
@click.argument("key", callback=utf8)
@click.option("--text", is_flag=True, help="With the whole text of each block.")
@click.option(
    "--blocks-from",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Begin with this block.",
)
@click.option(
    "--blocks-limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"At most so many blocks. Default: all with --json, else {BLOCKS_SHOWN_TO_PEOPLE}.",
)
@reveal_option
@db_option
@json_option
def command(
    key: str,
    text: bool,
    blocks_from: int,
    blocks_limit: int | None,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Show what the request KEY contained, block by block.

    KEY is a request's key or a unique beginning of one, or SESSION:NUMBER: `sess_x:41` is request
    41 of the session that begins with `sess_x`.
    """
    if blocks_limit is None and not as_json:
        blocks_limit = BLOCKS_SHOWN_TO_PEOPLE
    service = open_service(db_path)
    detail = request_of(service, key, block_from=blocks_from, block_limit=blocks_limit, text=text)
    if as_json:
        print_json(detail_json(detail, with_text=text))
    else:
        report = service.check_request(detail.request.key, now=False)
        showview.print_detail(detail, report.findings, with_text=text)
