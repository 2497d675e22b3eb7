"""A laid-out prompt as text for people: its segments, and what the model knew of its world."""

import click

from tracer.cli.output import print_heading, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, number, visible
from tracer.model.segment_views import (
    CHANGE_WORDS,
    RequestSegments,
    SegmentView,
    StateValue,
    StateView,
    WorldView,
)
from tracer.model.views import RequestDetail
from tracer.service.budget import ContextBudget, context_budget
from tracer.words import plural

_SEGMENT_COLUMNS = (
    Column("n", right=True),
    Column("segment"),
    Column("group"),
    Column("from message", right=True),
    Column("messages", right=True),
    Column("BPE tokens", right=True),
    Column("since the request before"),
    Column("kinds", flexible=True),
)
_CHANGE_COLUMNS = (
    Column("scope"),
    Column("changed"),
    Column("before", flexible=True),
    Column("now", flexible=True),
)
_VALUE_COLUMNS = (Column("  value"), Column("is", flexible=True))
_CAPABILITY_COLUMNS = (
    Column("capability"),
    Column("tools", right=True),
    Column("guide"),
    Column("World State"),
)
_SKILL_COLUMNS = (Column("skill"), Column("its text stands"), Column("message", right=True))
_STEP = " › "


def print_layout(detail: RequestDetail) -> None:
    """Print how a prompt is laid out; nothing where the log does not say."""
    segments = detail.request.segments
    if segments is None:
        return
    if segments.segments:
        print_heading(f"Segments ({segments.layout or 'no known layout'})")
        print_table(_SEGMENT_COLUMNS, map(_segment_row, segments.segments))
    _print_tools(segments)
    if segments.unresolved:
        ids = ", ".join(segments.unresolved)
        count = plural(len(segments.unresolved), "message")
        click.echo(visible(f"{count} not defined by any line read so far: {ids}"))
    _print_world(segments.world)
    _print_about(segments)
    budget = context_budget(detail)
    if budget is not None:
        print_heading("Context window")
        click.echo(_budget_words(budget))


def _segment_row(view: SegmentView) -> list[str]:
    kinds = (f"{kind or 'no kind'}" + f" × {n}" * (n > 1) for kind, n in view.kinds)
    return [
        number(view.n),
        view.name,
        view.group,
        number(view.first_message) if view.messages else UNKNOWN,
        number(view.messages),
        number(view.tokens) if view.counted else f"~{view.tokens:,}",
        CHANGE_WORDS.get(view.change, view.change),
        ", ".join(kinds),
    ]


def _print_tools(segments: RequestSegments) -> None:
    groups: dict[str, list[str]] = {}
    for tool in segments.tools:
        name = f"{tool.name} ({tool.capability})" if tool.capability else tool.name
        groups.setdefault(tool.group or "in no group", []).append(name)
    for group, names in groups.items():
        click.echo(visible(f"Tools, {group}: {', '.join(names)}"))


def _print_world(world: WorldView) -> None:
    states = [state for state in (world.session, world.run) if state is not None]
    if not states:
        return
    print_heading("World State, as the model knew it")
    if world.since_seq is None:
        click.echo("The first request of its lane: there is none to compare with.")
    elif not world.changes:
        click.echo(f"Nothing changed since request {world.since_seq:,}.")
    else:
        click.echo(f"Changed since request {world.since_seq:,}:")
        rows = (
            [c.scope, _STEP.join(c.path), c.before or UNKNOWN, c.after or UNKNOWN]
            for c in world.changes
        )
        print_table(_CHANGE_COLUMNS, rows)
    for state in states:
        click.echo(_state_words(state))
        _print_values(state.values)


def _state_words(state: StateView) -> str:
    whole = (
        "only its diffs are in this prompt"
        if state.full_message is None
        else f"full in message {state.full_message}"
    )
    diffs = f", {plural(state.diffs, 'diff')} applied" if state.diffs else ""
    return f"{state.scope}: {whole}{diffs}" + ("" if state.values else "; empty")


def _print_values(values: tuple[StateValue, ...]) -> None:
    if values:
        print_table(_VALUE_COLUMNS, (["  " + _STEP.join(v.path), v.json] for v in values))


def _print_about(segments: RequestSegments) -> None:
    if segments.capabilities:
        print_heading("Capabilities")
        rows = (
            [c.name, number(c.tools), "there" if c.guide else "none"]
            + ["says nothing" if c.state is None else "on" if c.state else "off"]
            for c in segments.capabilities
        )
        print_table(_CAPABILITY_COLUMNS, rows)
    if segments.skills:
        print_heading("Skills")
        rows = ([s.name or "unnamed", s.where, number(s.message)] for s in segments.skills)
        print_table(_SKILL_COLUMNS, rows)
    summary = segments.summary
    if summary is not None:
        print_heading("Summary")
        ends = f", from {summary.first} to {summary.last}" if summary.first else ""
        stands = plural(summary.covers, "message")
        click.echo(visible(f"Message {summary.message} stands for {stands}{ends}."))
    if segments.transaction:
        print_heading("File transaction, unfinished")
        _print_values(segments.transaction)


def _budget_words(budget: ContextBudget) -> str:
    reserve = (
        "an output reserve that is not logged"
        if budget.reserve_tokens is None
        else f"{budget.reserve_tokens:,} output reserve"
    )
    over = f": {budget.over_tokens:,} more than it holds" if budget.over_tokens else ""
    return (
        f"{budget.estimate_tokens:,} input ({budget.method}) + {reserve} = "
        f"{budget.total_tokens:,} of {budget.window_tokens:,} tokens{over}"
    )
