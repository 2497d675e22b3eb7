"""`tracer explain`: why a request read from the cache what it read."""

from pathlib import Path

import click

from tracer.cli.explainview import print_verdict
from tracer.cli.options import (
    db_option,
    json_option,
    open_service,
    prices_option,
    reveal_option,
    utf8,
)
from tracer.cli.output import print_json
from tracer.cli.text import visible
from tracer.jsonview.verdict import explain_json
from tracer.service.naming import key_of
from tracer.service.verdict_markdown import verdict_markdown


@click.command("explain")
@click.argument("key", callback=utf8)
@click.option(
    "--against",
    callback=utf8,
    default="",
    metavar="KEY",
    help="Compare with this request of the session instead of the usual baseline.",
)
@click.option("--markdown", is_flag=True, help="Print it as Markdown, to paste into a bug report.")
@prices_option
@reveal_option
@db_option
@json_option
def command(
    key: str,
    against: str,
    markdown: bool,
    prices: Path | None,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Explain the cache of request KEY: what it could have read, what it read, and why.

    KEY is a request's key or a unique beginning of one, or SESSION:NUMBER, as for `tracer show`.
    """
    service = open_service(db_path, prices)
    baseline = key_of(service, against) if against else ""
    view = service.explain(key_of(service, key), baseline)
    if as_json:
        print_json(explain_json(view))
    elif markdown:
        click.echo(visible(verdict_markdown(view), keep_lines=True), nl=False)
    else:
        print_verdict(view)
