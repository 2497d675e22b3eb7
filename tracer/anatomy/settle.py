"""What the place of a note settles that its text leaves open (formats/zcode.md 8.1 and 8.2)."""

from dataclasses import replace

from tracer.anatomy.mcs import McsState, Stand
from tracer.anatomy.messages import MessageReading, PlacedSpan, Sort, Spans
from tracer.anatomy.reminder_sources import INCOMING_SOURCE
from tracer.anatomy.reminders import ReminderSpan

_RESUME = "resume_referenced_session_context"
_ATTACHMENT = "prompt_attachment"


def settle(reading: MessageReading, before: Stand, state: McsState) -> Spans:
    """The reminders of a message in a prompt whose MCS state is known.

    `before` is the fold's stand before the message (`tracer.anatomy.mcs.step`). The same message
    can be read in two ways by two requests, if only the later one shows that MCS is on.
    """
    if not reading.spans:
        return ()
    spans = list(reading.spans)
    if reading.sort is Sort.WRAPPED and state is McsState.OFF:
        spans = _collapsed(spans)
    return tuple(PlacedSpan(i, _by_place(s, reading, before, state)) for i, s in spans)


def _collapsed(spans: list[PlacedSpan]) -> list[PlacedSpan]:
    """One body a tag: with MCS off nothing is merged, so what looks like a second body is a
    paragraph of the first that quotes an opening."""
    out: list[PlacedSpan] = []
    for block, span in spans:
        if span.merged and out and out[-1].block_index == block:
            out[-1] = PlacedSpan(block, replace(out[-1].span, end_char=span.end_char))
        else:
            out.append(PlacedSpan(block, replace(span, merged=False)))
    return out


def _by_place(
    span: ReminderSpan, reading: MessageReading, before: Stand, state: McsState
) -> ReminderSpan:
    if span.source == INCOMING_SOURCE:
        return _presented(span, reading, before, state)
    if {_RESUME, _ATTACHMENT} != set(span.candidates):
        return span
    if state is McsState.ON or not before.in_block:
        return replace(span, source=_RESUME, ambiguous_with=())
    return span


def _presented(
    span: ReminderSpan, reading: MessageReading, before: Stand, state: McsState
) -> ReminderSpan:
    """A notification is a message of its own (`task_notification`) where it begins a turn; in the
    middle of one, or merged with other notes, it is a steer."""
    if span.presentation != "task_notification_steer" or span.merged:
        return span
    if reading.sort is not Sort.WRAPPED:
        return span
    if state is McsState.ON or before.stop is not Sort.TOOL:
        return replace(span, presentation="task_notification")
    return span
