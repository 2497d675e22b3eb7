"""A verdict as text for people: the answer first, then where, how much, why, and what to do."""

from collections.abc import Iterable

import click

from tracer.cache.causes import cause_words
from tracer.cache.checks import CHECKED
from tracer.cache.rank import HARMLESS
from tracer.cli.diffview import marked
from tracer.cli.output import emphasis, print_heading
from tracer.cli.text import number, visible
from tracer.model.verdict import Certainty, FoundCause, Result, Verdict
from tracer.model.verdict_views import FirstChange, VerdictView
from tracer.words import CERTAINTY_WORDS, FAULT_WORDS, RESULT_WORDS, capital

_MEANING = {
    Certainty.CERTAIN: ": the log shows it",
    Certainty.ELIMINATION: ": everything else that the log can show was ruled out",
}


def print_verdict(view: VerdictView) -> None:
    """Print a verdict and what it rests on."""
    verdict = view.verdict
    click.echo(visible(f"Request {view.seq} of {view.session_id}  {view.lane}  {view.key}"))
    click.echo()
    result = capital(RESULT_WORDS[verdict.result])
    click.echo(emphasis(f"{result}."))
    if verdict.one_line:
        text = verdict.one_line.removeprefix(f"{result}: ")
        click.echo(visible(capital(text)))
    _print_numbers(view)
    _print_where(verdict, view.change)
    for at, cause in enumerate(verdict.causes):
        if verdict.result not in (Result.HIT, Result.FIRST):
            _print_cause(cause, "Why" if not at else "And why")
    _list("Also true, but not what was paid for", map(_also_words, verdict.also))
    _list("Checked and equal", verdict.checked_equal)
    _list("Could not be verified", verdict.not_verifiable)
    _list("What the provider or the agent says", (said.sentence for said in view.diagnostics))


def _print_numbers(view: VerdictView) -> None:
    verdict, usage = view.verdict, view.usage
    print_heading("Numbers")
    if view.baseline is not None:
        why = "chosen by you" if view.chosen else verdict.baseline_reason
        _line("compared with", f"request {view.baseline.seq} ({view.baseline.key}): {why}")
    if usage is not None and usage.input_tokens is not None:
        _line(
            "billed",
            f"{usage.input_tokens:,} input: {number(usage.cache_read_tokens)} read, "
            f"{number(usage.cache_write_tokens)} written, {number(usage.fresh_tokens)} fresh",
        )
    if verdict.expected_read_tokens is not None:
        _line("expected read", f"{verdict.expected_read_tokens:,}: {verdict.method}")
        _line("actual read", number(verdict.actual_read_tokens))
    if verdict.rebilled_tokens:
        _line("missed", f"{verdict.missed_tokens:,}: identical and reachable, but not read")
        _line("avoidable", f"{verdict.avoidable_tokens:,}: put out of reach by the request itself")
        _line("billed again", f"{verdict.rebilled_tokens:,} tokens")
        _line("cost", _cost_words(verdict))
    if verdict.noise_tokens:
        _line("tolerance", f"less than {verdict.noise_tokens:,} tokens counts as rounding")
    if verdict.convention:
        _line("usage is", verdict.convention)
    _line("rules of", view.provider)


def _cost_words(verdict: Verdict) -> str:
    cost = verdict.cost
    if cost is None:
        return "not known: no price for this model at this provider (see --prices)"
    return f"{cost.amount:.4f} {cost.currency} = {cost.formula}, by {cost.source}"


def _print_where(verdict: Verdict, change: FirstChange | None) -> None:
    if verdict.read_stop is None and change is None:
        return
    print_heading("Where")
    if verdict.read_stop is not None:
        click.echo(visible(f"  {verdict.read_stop.sentence}"))
    if change is None:
        return
    click.echo(visible(f"  First difference, {change.op}: {change.place}"))
    if change.seen:
        click.echo(f"  {change.seen}")
    for line in change.lines:
        click.echo(f"    {marked(line)}")
    if change.more_hunks:
        click.echo(f"    {change.more_hunks:,} more places of it changed: tracer diff")


def _print_cause(cause: FoundCause, heading: str) -> None:
    sure = CERTAINTY_WORDS[cause.certainty] + _MEANING.get(cause.certainty, "")
    name = cause_name(cause.code, cause.subtype)
    tokens = f"{cause.tokens:,} tokens, " if cause.tokens else ""
    print_heading(visible(f"{heading}: {name}"))
    click.echo(visible(f"  {cause.summary}"))
    click.echo(f"  {tokens}{sure}; {FAULT_WORDS[cause.fault]}")
    for item in cause.evidence:
        if not item.startswith(CHECKED):  # listed below, once
            click.echo(visible(f"  - {item}"))
    click.echo(visible(f"  Fix: {cause.fix}"))


def cause_name(code: str, subtype: str) -> str:
    """A cause in words, with the code that options and JSON know it by."""
    return f"{cause_words(code, subtype)} ({code})" if code else cause_words(code)


def _also_words(cause: FoundCause) -> str:
    """What else is true, and why it is not the cause where that is known."""
    why = [item for item in cause.evidence if item.startswith(HARMLESS)]
    return " ".join((cause.summary, *(f"{capital(item)}." for item in why)))


def _list(heading: str, items: Iterable[str]) -> None:
    found = list(items)
    if found:
        print_heading(heading)
        for item in found:
            click.echo(visible(f"  - {item}"))


def _line(name: str, text: str) -> None:
    click.echo(visible(f"  {name + ':':<15} {text}"))
