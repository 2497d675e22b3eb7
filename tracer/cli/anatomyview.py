"""What a prompt is made of, as text for people: sections, reminders, messages, context usage."""

import click

from tracer.cli.output import print_heading, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, number, visible
from tracer.model.anatomy_views import (
    AnatomyView,
    ContextBreakdown,
    ReminderView,
    SectionView,
    UsageCategoryView,
)
from tracer.model.views import RequestDetail, RequestSummary
from tracer.words import plural

_SECTION_COLUMNS = (
    Column("message", right=True),
    Column("source"),
    Column("target"),
    Column("cache hint"),
    Column("chars", right=True),
    Column("found by"),
    Column("the same since"),
)
_REMINDER_COLUMNS = (
    Column("message", right=True),
    Column("source"),
    Column("via"),
    Column("chars", right=True),
    Column("notes"),
)
_MCS_COLUMNS = (
    Column("message", right=True),
    Column("chars", right=True),
    Column("sources", flexible=True),
    Column("notes"),
)
NOT_PROVEN = "carried over, not proven by this record"
_FILE_COLUMNS = (
    Column("message", right=True),
    Column("scope"),
    Column("chars", right=True),
    Column("path", flexible=True),
    Column("notes"),
)
_USAGE_COLUMNS = (
    Column("category"),
    Column("chars", right=True),
    Column("tokens", right=True),
    Column("method"),
    Column("as logged", right=True),
)


def prefix_facts(request: RequestSummary) -> list[tuple[str, str]]:
    """The kind of prefix, and whether mid-conversation system messages were on; of a trace that
    lays its prompts out itself, how it does."""
    if request.segments is not None:
        return [("prefix", f"{request.segments.layout or 'no segments'}, named by the trace")]
    state = request.mcs_state
    return [
        ("prefix", request.variant),
        ("mid-conversation", f"{state.state}. {state.evidence}" if state else ""),
    ]


def print_anatomy(detail: RequestDetail) -> None:
    """Print what stands in a prompt beside its history, and what fills it."""
    request = detail.request
    if request.sections:
        print_heading("Sections")
        print_table(_SECTION_COLUMNS, map(_section_row, request.sections))
    if detail.anatomy and detail.anatomy.instruction_files:
        print_heading("Instruction files")
        print_table(_FILE_COLUMNS, _file_rows(detail.anatomy))
    if request.reminders:
        print_heading("Reminders")
        print_table(_REMINDER_COLUMNS, map(_reminder_row, request.reminders))
    if request.mcs:
        print_heading("Mid-conversation system messages")
        rows = [
            [number(m.message_index), number(m.chars), _list(m.sources)]
            + ["" if m.verified else NOT_PROVEN]
            for m in request.mcs
        ]
        print_table(_MCS_COLUMNS, rows)
    if detail.anatomy:
        _print_doubts(detail.anatomy)
        if detail.anatomy.usage:
            _print_usage(detail.anatomy.usage)


def _section_row(section: SectionView) -> list[str]:
    return [
        number(section.message_index),
        section.source,
        section.target or UNKNOWN,
        section.cache_hint or UNKNOWN,
        number(section.chars),
        section.how,
        _since(section),
    ]


def _since(section: SectionView) -> str:
    """Since when a section is the same, as far as records prove it."""
    since = "" if section.since_seq is None else f"request {section.since_seq:,}"
    if section.changed:
        return "changed here"
    if section.verified or section.message_index is None:
        return since
    proven = section.proven_seq
    shown = f"request {proven:,} was the last to show it" if proven else "no earlier one shows it"
    return f"{since + '; ' if since else ''}carried over, not proven by this record: {shown}"


def _reminder_row(reminder: ReminderView) -> list[str]:
    notes = [reminder.presentation] if reminder.presentation else []
    if reminder.ambiguous_with:
        notes.append(f"may also be {_list(reminder.ambiguous_with)}")
    if not reminder.counted:
        notes.append("not counted: a tool may have printed it")
    if not reminder.verified:
        notes.append(NOT_PROVEN)
    return [
        number(reminder.message_index),
        reminder.source,
        reminder.via,
        number(reminder.chars),
        ", ".join(notes),
    ]


def _file_rows(anatomy: AnatomyView) -> list[list[str]]:
    return [
        [number(f.message_index), f.scope, number(f.chars), f.path]
        + [f.truncation_note or "truncated" if f.truncated else ""]
        for f in anatomy.instruction_files
    ]


def _print_doubts(anatomy: AnatomyView) -> None:
    """Notes that were put elsewhere than meant, and tags that nobody vouches for."""
    if anatomy.demoted:
        print_heading("Notes that stayed in a tag although mid-conversation messages were on")
        for note in anatomy.demoted:
            line = f"message {note.message_index}: {_list(note.sources)}. {note.reason}"
            click.echo(visible(line))
    if anatomy.unverified:
        print_heading(f"Unverified origin: {plural(len(anatomy.unverified), 'look-alike tag')}")
        counts: dict[tuple[int, str], int] = {}
        for tag in anatomy.unverified:
            counts[tag.message_index, tag.why] = counts.get((tag.message_index, tag.why), 0) + 1
        for (message, why), count in counts.items():
            click.echo(visible(f"message {message}: {plural(count, 'tag')}. {why}"))


def _print_usage(usage: ContextBreakdown) -> None:
    if not usage.categories:
        return
    print_heading("Context usage, as the agent counts it")
    print_table(_USAGE_COLUMNS, map(_usage_row, usage.categories))
    for left in usage.leftovers:
        what = f"{left.kind.replace('_', ' ')}: {left.chars:,} chars, {left.tokens:,} tokens"
        click.echo(visible(f"In no category: {what} ({_list(left.sources)})"))
    click.echo(
        f"The agent's estimate {number(usage.estimate_tokens)}, counted "
        f"{number(usage.bpe_tokens)}, billed {number(usage.billed_tokens)}"
        + ("" if usage.complete else "; the log does not show all of the prompt")
    )


def _usage_row(category: UsageCategoryView) -> list[str]:
    logged = "redacted" if category.redacted else number(category.logged_tokens)
    tokens = number(category.tokens)
    return [
        category.name,
        number(category.chars),
        tokens if category.complete or category.tokens is None else f"{tokens}+",
        category.method,
        logged,
    ]


def _list(values: tuple[str, ...]) -> str:
    return ", ".join(values)
