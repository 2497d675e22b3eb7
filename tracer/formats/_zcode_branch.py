"""Which messages of a rewound session are still part of it (formats/zcode.md 5, active branch)."""

from collections.abc import Sequence

from tracer.formats import _rows as r
from tracer.model.conversation import ActiveBranch


def active_branch(message_ids: Sequence[str], revert_json: str) -> ActiveBranch:
    """The active and the abandoned messages, both in the order of `message_ids`.

    Active are the kept ones and those after the cut. Where the session names no kept ones, these
    are all before the message that was rewound to.
    """
    revert = r.decoded(revert_json) if revert_json else None
    if revert is None:
        return ActiveBranch(tuple(message_ids), ())
    target = r.inner_text(revert, "messageID") or r.inner_text(revert, "targetMessageID")
    places = {message_id: place for place, message_id in enumerate(message_ids)}
    kept = r.inner(revert, "keptMessageIDs")
    if isinstance(kept, list):
        active = {name for name in kept if isinstance(name, str)}
    elif target in places:
        active = set(message_ids[: places[target]])
    else:
        active = set(message_ids)
    cut = r.inner_text(revert, "branchCutAfterMessageID")
    if cut in places:
        active |= set(message_ids[places[cut] + 1 :])
    active |= {r.inner_text(revert, "createdMessageID")} & places.keys()
    return ActiveBranch(
        tuple(m for m in message_ids if m in active),
        tuple(m for m in message_ids if m not in active),
        target,
    )
