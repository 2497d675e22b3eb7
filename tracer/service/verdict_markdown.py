"""A verdict as Markdown, to be pasted into a bug report.

Texts of prompts stand in code blocks and code spans whose fences are longer than any in them:
nothing of a prompt is read as Markdown.
"""

import re
from collections.abc import Iterable, Iterator

from tracer.model.comparison import Line
from tracer.model.verdict import FoundCause, Verdict
from tracer.model.verdict_views import FirstChange, VerdictView
from tracer.words import CERTAINTY_WORDS, FAULT_WORDS, RESULT_WORDS

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_TICKS = re.compile(r"`+")


def verdict_markdown(view: VerdictView) -> str:
    """The verdict: the answer, the numbers, the place, the causes, what was and was not checked."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: VerdictView) -> Iterator[str]:
    verdict = view.verdict
    result = RESULT_WORDS[verdict.result]
    yield f"### Prompt cache: {result}, request {view.seq} of {code(view.session_id)}"
    yield ""
    if verdict.one_line:
        yield f"**{plain(verdict.one_line)}**"
        yield ""
    yield from _numbers(view)
    yield from _place(verdict, view.change)
    for cause in verdict.causes:
        yield from _cause(cause)
    yield from _list("Also true, but not what was paid for", (c.summary for c in verdict.also))
    yield from _list("Checked and equal", verdict.checked_equal)
    yield from _list("Could not be verified", verdict.not_verifiable)
    yield from _list("The provider or the agent says", (d.sentence for d in view.diagnostics))
    yield f"Rules of {plain(view.provider)}, version {view.rules_version}. Key {code(view.key)}."


def _numbers(view: VerdictView) -> Iterator[str]:
    verdict, usage = view.verdict, view.usage
    rows = [("Model", code(view.model) if view.model else "not logged"), ("Lane", code(view.lane))]
    if view.baseline is not None:
        why = "chosen by hand" if view.chosen else verdict.baseline_reason
        compared = f"request {view.baseline.seq} ({code(view.baseline.key)}): {plain(why)}"
        rows.append(("Compared with", compared))
    if usage is not None:
        rows.append(("Input, billed", _count(usage.input_tokens)))
        rows.append(("Cache read", _count(usage.cache_read_tokens)))
        rows.append(("Cache write", _count(usage.cache_write_tokens)))
        rows.append(("Fresh", _count(usage.fresh_tokens)))
    if verdict.expected_read_tokens is not None:
        method = f" ({plain(verdict.method)})" if verdict.method else ""
        rows.append(("Expected read", f"{_count(verdict.expected_read_tokens)}{method}"))
    if verdict.rebilled_tokens:
        rows.append(("Billed again", f"{_count(verdict.rebilled_tokens)} tokens"))
    if verdict.cost is not None:
        cost = verdict.cost
        rows.append(("Cost", f"{cost.amount:.4f} {plain(cost.currency)}, {plain(cost.formula)}"))
    yield "| | |"
    yield "| --- | --- |"
    for name, value in rows:
        yield f"| {name} | {value} |"
    yield ""


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else f"{tokens:,}"


def _place(verdict: Verdict, change: FirstChange | None) -> Iterator[str]:
    if verdict.read_stop is not None:
        yield plain(verdict.read_stop.sentence)
        yield ""
    if change is not None:
        yield f"First difference, {change.op}: {plain(change.place)}"
        yield ""
        if change.seen:
            yield change.seen
            yield ""
        yield from block("\n".join(_diff_line(line) for line in change.lines), "diff")
        yield ""


def _diff_line(line: Line) -> str:
    before = f"… {line.cut_before:,} characters … " if line.cut_before else ""
    after = f" … {line.cut_after:,} characters" if line.cut_after else ""
    return f"{line.op}{before}{line.text}{after}"


def _cause(cause: FoundCause) -> Iterator[str]:
    name = " ".join(part for part in (cause.code, cause.subtype) if part)
    sure, side = CERTAINTY_WORDS[cause.certainty], FAULT_WORDS[cause.fault]
    yield f"**Why: {code(name)}** ({sure}; {side})"
    yield ""
    yield plain(cause.summary)
    yield from (f"- {plain(item)}" for item in cause.evidence)
    yield ""
    if cause.fix:
        yield f"To do: {plain(cause.fix)}"
        yield ""


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    found = [f"- {plain(item)}" for item in items]
    if found:
        yield f"{title}:"
        yield ""
        yield from found
        yield ""


def plain(text: str) -> str:
    """A text on one line in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A text as a code span, on one line."""
    flat = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (_longest(flat) + 1)
    space = " " if fence != "`" or flat.startswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}"


def block(text: str, language: str = "") -> list[str]:
    """A text as the lines of a fenced block."""
    fence = "`" * max(3, _longest(text) + 1)
    return [fence + language, *text.splitlines(), fence]


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
