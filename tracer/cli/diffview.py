"""Two requests compared, as text for people."""

from collections.abc import Iterable, Mapping

import click

from tracer.cli.output import emphasis, print_heading
from tracer.cli.text import moment, visible
from tracer.model.compare_views import ChangeView, ComparedSide, ComparisonView, HunksView
from tracer.model.comparison import Hunk, Line, Op
from tracer.service.comparing_words import (
    counts_words,
    differs_words,
    headline,
    line_pieces,
    prefix_words,
    size_words,
    sized,
    stretches,
    where_words,
)
from tracer.words import plural

HUNKS_SHOWN = 5
"""Hunks of a changed block, unless all are wanted."""

LINES_SHOWN = 12
"""Lines of a block that came or went, unless all are wanted."""

STRETCH_WHOLE, STRETCH_SHOWN = 3, 10
"""Of a longer stretch of blocks that came, went or moved together only the labels are printed, and
of those so many."""

CHANGES_SHOWN = 200
_SIGNS = {
    Op.EQUAL: "=",
    Op.ADDED: "+",
    Op.REMOVED: "-",
    Op.CHANGED: "~",
    Op.MOVED: ">",
    Op.REORDERED: ">",
    Op.UNKNOWN: "?",
}


def changes_shown(view: ComparisonView, everything: bool) -> list[ChangeView]:
    """The changes whose inside is printed."""
    return [
        made
        for stretch in stretches(view.changes)
        if everything or len(stretch) <= STRETCH_WHOLE
        for made in stretch
        if made.change.op is not Op.EQUAL
    ][: None if everything else CHANGES_SHOWN]


def print_comparison(
    view: ComparisonView, inside: Iterable[HunksView], *, everything: bool
) -> None:
    """Print what came of a comparison: the answer, where the two part, then every change."""
    _print_side("A", view.a, view)
    _print_side("B", view.b, view)
    if view.baseline_key == view.a.request.key:
        click.echo(visible(f"A is the baseline of B: {view.baseline_reason}"))
    click.echo()
    click.echo(emphasis(visible(headline(view))))
    if view.comparison is not None:
        click.echo(f"{counts_words(view)} · {prefix_words(view)}")
    if view.divergence is not None:
        print_heading("First difference")
        where = view.divergence.where
        click.echo(visible(where_words(view)))
        for line in view.divergence.lines:
            click.echo(f"  {marked(line)}")
        if not view.divergence.lines:
            click.echo(visible(f"  - {where.before}"))
            click.echo(visible(f"  + {where.after}"))
    if view.limits:
        print_heading("What the logs do not show")
        for limit in view.limits:
            click.echo(visible(f"{limit.title}. {limit.detail}"))
    if view.changes:
        print_heading("Blocks")
        _print_changes(view, {made.change.index: made for made in inside}, everything)


def _print_side(name: str, side: ComparedSide, view: ComparisonView) -> None:
    request = side.request
    click.echo(
        visible(
            f"{name}  request {request.seq} of {request.session_id}  {request.lane}  "
            f"{moment(request.started_at_ms)} UTC  {sized(side.tokens, view)} in "
            f"{plural(side.blocks, 'block')}  {request.key}"
        )
    )


def _print_changes(view: ComparisonView, inside: Mapping[int, HunksView], everything: bool) -> None:
    for stretch in stretches(view.changes):
        shown = len(stretch) if everything or len(stretch) <= STRETCH_WHOLE else STRETCH_SHOWN
        for made in stretch[:shown]:
            click.echo(f"{_SIGNS[made.change.op]} {visible(_change_words(made))}")
            if made.index in inside:
                _print_inside(inside[made.index], everything)
        if len(stretch) > shown:
            op = stretch[0].change.op
            click.echo(f"{_SIGNS[op]} {len(stretch) - shown:,} more {op.value}: --all")


def _change_words(made: ChangeView) -> str:
    change = made.change
    if change.op is Op.EQUAL:
        carried = "" if change.verified else ", not proven"
        return f"{plural(change.count, 'equal block')}: {change.label}{carried}"
    notes = []
    if change.op in (Op.MOVED, Op.REORDERED):
        notes.append(f"from {made.a_place} to {made.b_place}")
    if change.differs:
        notes.append(differs_words(change.differs))
    if change.same_meaning:
        notes.append("same meaning")
    if change.op is Op.UNKNOWN:
        notes.append("the log of the other does not show this place")
    notes.append(size_words(made))
    return f"{change.op.value} {change.label}: {', '.join(notes)}"


def _print_inside(made: HunksView, everything: bool) -> None:
    for changed in made.fields:
        click.echo(visible(f"    {changed.field}: {changed.before!r} -> {changed.after!r}"))
    page = made.page
    if page is None or not page.hunks:
        return
    one_sided = made.change.change.op in (Op.ADDED, Op.REMOVED, Op.UNKNOWN)
    for hunk in page.hunks:
        lines = hunk.lines
        if not one_sided:
            click.echo(f"    {_hunk_words(hunk)}")
        elif not everything:
            lines = lines[:LINES_SHOWN]
        for line in lines:
            click.echo(f"    {marked(line)}")
    rest = page.total - len(page.hunks)
    if one_sided and not everything:
        left_out = (
            page.added_lines + page.removed_lines - min(LINES_SHOWN, len(page.hunks[0].lines))
        )
        if left_out:
            click.echo(f"    {plural(left_out, 'more line')}: --all")
    elif rest:
        click.echo(f"    {plural(rest, 'more hunk')}: --all")


def _hunk_words(hunk: Hunk) -> str:
    return f"@@ -{hunk.a_start},{hunk.a_count} +{hunk.b_start},{hunk.b_count} @@"


def marked(line: Line) -> str:
    """A line with its sign, changed words in `[-...-]` and `{+...+}`, nothing hidden."""
    opening, closing = ("[-", "-]") if line.op == "-" else ("{+", "+}")
    text, inside = "", False
    for piece in line_pieces(line):
        if piece.changed is not inside:
            text += closing if inside else opening
            inside = piece.changed
        code = piece.hidden.partition(" ")[0]
        text += f"<{code}>" if code else visible(piece.text, keep_lines=True)
    text += closing if inside else ""
    before = f"… {line.cut_before:,} characters … " if line.cut_before else ""
    after = f" … {line.cut_after:,} characters" if line.cut_after else ""
    return f"{line.op} {before}{text}{after}"
