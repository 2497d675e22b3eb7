"""The request after a switch-off has neither the tools nor the guide of the capability.

A diff of the World State with a reason stands at the time of the switch, so that the model knows
why it can no longer do what it did; the diff does not carry the guide, which would keep alive what
was switched off.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._capabilities import Diff, View, views
from tracer.checks.layout_14._steps import excerpt, text_of, undecided
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "What is switched off is gone from the next request, and a diff says why"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
EVENTS = "the capability.changed event, or the World State diff, of a capability that is gone"
SHORTEST_LINE = 12


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields findings at the request after a switch-off."""
    yield from undecided(session, REPORT)
    guides: dict[str, str] = {}
    gone: set[str] = set()
    before: View | None = None
    for view in views(session):
        off = {s.name for s in view.switches if not s.enabled}
        gone = (gone - {s.name for s in view.switches}) | off
        told = {name: placed for placed in view.fresh for name in placed[1].capabilities}
        for name in sorted(off):
            yield from _left(view, name)
            if before is not None and any(before.says(name)):
                yield from _diff(view, name, told.get(name))
        for name, (index, diff) in sorted(told.items()):
            if diff.turns_off(name) and before is not None:
                yield from _said(view, name, index, diff, guides.get(name, ""))
        if before is not None and _vanished(before, view) - gone - told.keys():
            yield REPORT.needs(EVENTS, view.step.request)
        guides |= {n: text_of(view.step.messages[i]) for n, i in view.guides.items()}
        before = view


def _left(view: View, name: str) -> Iterator[Found]:
    if name in view.schemas:
        tools = [t.name for t in view.step.request.layout.tools if t.capability == name]
        yield REPORT.found(
            view.step.request,
            f"Capability {name} was switched off, and its tools are still there.",
            None,
            tools=", ".join(tools),
        )
    if name in view.guides:
        index = view.guides[name]
        yield REPORT.found(
            view.step.request,
            f"Capability {name} was switched off, and its guide is still there.",
            index,
            guide=excerpt(view.step.messages[index]),
        )


def _diff(view: View, name: str, told: tuple[int, Diff] | None) -> Iterator[Found]:
    if told is None or not told[1].turns_off(name):
        yield REPORT.found(
            view.step.request,
            f"Capability {name} was switched off, and no new diff of the World State says so.",
            None,
            new_diffs=len(view.fresh),
        )


def _said(view: View, name: str, index: int, diff: Diff, guide: str) -> Iterator[Found]:
    note = diff.message.note
    if not note.reason:
        yield REPORT.found(
            view.step.request,
            f"The diff that switches {name} off gives no reason.",
            index,
            diff=excerpt(diff.message),
        )
    carried = _carried(f"{text_of(diff.message)}\n{note.patch}\n{note.reason}", guide)
    if carried:
        yield REPORT.found(
            view.step.request,
            f"The diff that switches {name} off repeats the guide of {name}.",
            index,
            repeated=carried,
            diff=excerpt(diff.message, 160),
        )


def _carried(text: str, guide: str) -> str:
    """A line of the guide that stands in the text; empty where none does."""
    lines = [line.strip() for line in guide.splitlines()]
    return next((line for line in lines if len(line) >= SHORTEST_LINE and line in text), "")


def _vanished(before: View, view: View) -> set[str]:
    was = before.schemas | before.guides.keys()
    return set(was - view.schemas - view.guides.keys())
