"""A summary is shorter than what it replaces; after a compaction that failed the old one stays.

A summary that is no shorter costs the cache of the history and gives no room. One that changes
although the compaction failed says what nobody has checked.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._events import COMPACTIONS, EventsBefore
from tracer.checks.layout_14._steps import SUMMARY, Step, excerpt, named, text_of, undecided, walk
from tracer.checks.layout_14._summaries import NewSummary, new_summaries
from tracer.model.findings import Level
from tracer.tokens import ESTIMATE_NAME, estimate_tokens

LEVEL = Level.ERROR
TITLE = "A summary is shorter than what it replaces, and survives a failed compaction"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
TEXTS = "the text of every message that the summary covers"
FAILED = "compaction.failed"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a summary that is too long, or that should not be, is first sent."""
    yield from undecided(session, REPORT)
    changed = set()
    for found, message in _after_failure(session):
        changed.add(message.wire_hash if message else b"")
        yield found
    for summary in new_summaries(session):
        if summary.message.wire_hash not in changed:
            yield from _length(summary)


def _length(summary: NewSummary) -> Iterator[Found]:
    shown = summary.shown.by_id
    known = [shown[c].message for c in summary.covers if c in shown]
    replaced = sum(estimate_tokens(text_of(m)) for m in known)
    tokens = estimate_tokens(text_of(summary.message))
    before, after = summary.told_before, summary.told_after
    if before is not None and after is not None and after >= before:
        yield REPORT.found(
            summary.step.request,
            f"By the agent's own count the compaction left {after:,} tokens of {before:,}.",
            summary.index,
            before_tokens=before,
            after_tokens=after,
            counted_by="the agent",
        )
    elif tokens < replaced:
        return
    elif len(known) < len(summary.covers):
        yield REPORT.needs(TEXTS, summary.step.request)
    else:
        yield REPORT.found(
            summary.step.request,
            f"The {named(summary.message)} is {tokens:,} tokens long and replaces {replaced:,}.",
            summary.index,
            summary_tokens=tokens,
            replaced_tokens=replaced,
            covered_messages=len(known),
            counted_by=ESTIMATE_NAME,
        )


def _after_failure(session: CheckedSession) -> Iterator[tuple[Found, CheckedMessage | None]]:
    events = EventsBefore(session, COMPACTIONS)
    failed = False
    told: set[bytes] = set()
    kept: list[CheckedMessage] = []
    for step in walk(session):
        names = [event.name for event in events.at(step)]
        if names:
            failed = FAILED in names and all(n == FAILED for n in names)
            if failed and step.before:
                kept = step.before.of(SUMMARY)
        now = step.of(SUMMARY)
        if failed and [m.wire_hash for m in now] != [m.wire_hash for m in kept]:
            name = b"".join(m.wire_hash for m in now)
            if name not in told:
                told.add(name)
                yield _changed(step, kept, now), now[0] if now else None


def _changed(step: Step, kept: list[CheckedMessage], now: list[CheckedMessage]) -> Found:
    indexes = step.indexes(SUMMARY)
    return REPORT.found(
        step.request,
        "The compaction failed, and the summary is no longer the one from before it.",
        indexes[0] if indexes else None,
        before=excerpt(kept[0]) if kept else "none",
        now=excerpt(now[0]) if now else "none",
    )
