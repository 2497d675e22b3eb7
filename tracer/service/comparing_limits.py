"""What the logs of two requests do not show, in words, and what that blocks in comparing them."""

from collections.abc import Sequence

from tracer.model.compare_views import ComparedSide, HiddenEdit
from tracer.model.comparison import Comparison, Hidden, Op
from tracer.model.views import Evidence
from tracer.words import plural

_LABELS_SHOWN = 3


def limits_of(
    a: ComparedSide,
    b: ComparedSide,
    comparison: Comparison | None,
    edits: Sequence[HiddenEdit] = (),
) -> tuple[Evidence, ...]:
    """The limits of a comparison, most important first; empty where everything is known."""
    found = [*_no_prompt(a, "A"), *_no_prompt(b, "B")]
    if comparison is not None:
        found += map(_edit, edits)
        found += _hidden(comparison)
        found += _carried(comparison)
        found += _carried_changes(comparison)
    asked = [f"{s.request.model_id}, {s.request.provider_id}" for s in (a, b)]
    if asked[0] != asked[1]:
        found.append(
            Evidence(
                "models",
                "They ask different models",
                f"A asks {asked[0]}; B asks {asked[1]}: two models share no cache, however much of "
                "the prompts is equal.",
            )
        )
    uncounted = a.uncounted_blocks + b.uncounted_blocks
    if uncounted:
        found.append(
            Evidence(
                "uncounted",
                f"{plural(uncounted, 'block')} not counted yet",
                "Their tokens are the agent's own estimate until the next ingest counts them.",
            )
        )
    return tuple(found)


def _no_prompt(side: ComparedSide, name: str) -> list[Evidence]:
    if side.blocks:
        return []
    return [
        Evidence(
            "no-prompt",
            f"The log holds no prompt of {name}, request {side.request.seq:,}",
            "Only that it took place: its content is unknown, so nothing can be compared. A model "
            "I/O log would show it; `tracer doctor` says how to switch it on.",
        )
    ]


def _hidden(comparison: Comparison) -> list[Evidence]:
    hidden = comparison.hidden
    if hidden is None:
        return []
    found = []
    if hidden.tools:
        found.append(
            Evidence(
                "no-tools",
                "Tool schemas are not in the record of one of them",
                "They stand at the head of the prompt: a change in them would be the first "
                "difference, and cannot be seen.",
            )
        )
    if hidden.a_messages or hidden.b_messages:
        found.append(
            Evidence(
                "gap",
                f"Messages that were never logged: {hidden.a_messages:,} of A, "
                f"{hidden.b_messages:,} of B",
                "A block of the other side that may be among them is called unknown, neither "
                "added nor removed." + _shift(hidden),
            )
        )
    if comparison.common_at_most.blocks > comparison.common.blocks:
        found.append(
            Evidence(
                "at-most",
                f"The equal beginning may be longer: up to {comparison.common_at_most.tokens:,} "
                "tokens",
                f"{comparison.common.tokens:,} tokens are known to be equal; the rest would be, if "
                "everything hidden is the same in both.",
            )
        )
    return found


def _shift(hidden: Hidden) -> str:
    shift = hidden.shift_messages
    if shift is None:
        return ""
    if not shift:
        return " Behind the gap the same messages have the same numbers, so none came or went."
    more = f"{plural(abs(shift), 'message')} {'more' if shift > 0 else 'fewer'}"
    return f" Behind the gap B has {more} before the same message: something came or went in it."


def _carried(comparison: Comparison) -> list[Evidence]:
    """Equal blocks that are taken over from other records, on either side."""
    runs = [c for c in comparison.changes if c.op is Op.EQUAL and not c.verified]
    if not runs:
        return []
    labels = ", ".join(run.label for run in runs[:_LABELS_SHOWN])
    more = ", and more" if len(runs) > _LABELS_SHOWN else ""
    return [
        Evidence(
            "carried",
            f"{plural(sum(run.count for run in runs), 'equal block')} not proven",
            f"{labels}{more}: a record shows only the end of its prompt, what stands before it is "
            "taken over from earlier records. An edit there would not be seen here.",
        )
    ]


def _carried_changes(comparison: Comparison) -> list[Evidence]:
    """Blocks that differ, of which one text is taken over from other records."""
    made = [c for c in comparison.changes if c.op is Op.CHANGED and not c.verified]
    if not made:
        return []
    labels = ", ".join(change.label for change in made[:_LABELS_SHOWN])
    more = ", and more" if len(made) > _LABELS_SHOWN else ""
    return [
        Evidence(
            "carried-changes",
            f"{plural(len(made), 'changed block')} not proven on both sides",
            f"{labels}{more}: one of the two texts is taken over from an earlier record, so the "
            "change may have come at any request between that record and the other text.",
        )
    ]


def _edit(edit: HiddenEdit) -> Evidence:
    return Evidence(
        "hidden-edit",
        f"An edit of message {edit.message_index:,} is not in these texts",
        f"The verdict on request {edit.seq:,} found it: {edit.one_line} The record shows only the "
        "end of that prompt, so B's text here is from before the edit. "
        f"`tracer explain {edit.key}` says how it is known.",
        edit.key,
    )
