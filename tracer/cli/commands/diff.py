"""`tracer diff`: what differs between the prompts of two requests."""

from pathlib import Path

import click

from tracer.cli import diffview
from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_json
from tracer.errors import UsageError
from tracer.jsonview.compare import comparison_json
from tracer.model.compare_views import CONTEXT_LINES, PAGE_HUNKS, HunksAsked
from tracer.service import Service
from tracer.service.naming import key_of

MOST_HUNKS = 1_000_000


def _optional_utf8(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else utf8(ctx, parameter, value)


@click.command("diff")
@click.argument("a", metavar="A", callback=utf8)
@click.argument("b", metavar="[B]", required=False, callback=_optional_utf8)
@click.option(
    "--context",
    type=click.IntRange(min=0, max=10_000),
    default=CONTEXT_LINES,
    show_default=True,
    metavar="N",
    help="Equal lines around changed ones.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Everything: all hunks of all changes, and long lines whole.",
)
@reveal_option
@db_option
@json_option
def command(
    a: str,
    b: str | None,
    context: int,
    everything: bool,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Compare the prompts of the requests A and B, block by block.

    With one request it is compared with its baseline: the request that its
    verdict is judged against, or else the one before it in its lane. A and B
    are keys or unique beginnings of them, or SESSION:NUMBER, as for `tracer show`.

    Changed words stand in [-...-] and {+...+}. `=` equal, `~` changed, `+` added, `-` removed,
    `>` moved, `?` unknown: the other log does not show where the block would have to be.
    """
    service = open_service(db_path)
    a_key, b_key = _pair(service, a, b)
    view = service.compare(a_key, b_key)
    most = PAGE_HUNKS if as_json else diffview.HUNKS_SHOWN
    shown = diffview.changes_shown(view, everything or as_json)
    asked = HunksAsked(0, MOST_HUNKS, context, None) if everything else HunksAsked(0, most, context)
    inside = service.many_hunks(a_key, b_key, {made.index: asked for made in shown})
    if as_json:
        print_json(comparison_json(view, inside))
    else:
        diffview.print_comparison(view, inside, everything=everything)


def _pair(service: Service, a: str, b: str | None) -> tuple[str, str]:
    """The keys of what is compared. Raises NotFoundError; UsageError where there is no baseline."""
    key = key_of(service, a)
    if b is not None:
        return key, key_of(service, b)
    baseline = service.baseline(key)
    if not baseline:
        raise UsageError(
            f"Request {key} has no baseline: no request of its lane with a prompt stands before "
            "it. Name two requests."
        )
    return baseline, key
