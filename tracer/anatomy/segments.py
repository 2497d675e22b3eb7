"""The segments of a laid-out prompt: their names and groups (docs/formats/context-trace.md 3)."""

from enum import StrEnum
from typing import NamedTuple

SEGMENTS_14 = "segments-14"
RUN_INPUTS = 8
USER_INPUT = "user_input"


class Group(StrEnum):
    """The three parts of a laid-out prompt, in their order; OTHER: of an unknown layout."""

    PREFIX = "prefix"
    HISTORY = "history"
    TAIL = "tail"
    OTHER = "other"


class SegmentName(NamedTuple):
    """What a segment is called, and which group it belongs to."""

    name: str
    group: Group


_SEGMENTS = {
    1: SegmentName("System prompt", Group.PREFIX),
    2: SegmentName("Skill catalogue", Group.PREFIX),
    3: SegmentName("Collaboration", Group.PREFIX),
    4: SegmentName("Capability guides", Group.PREFIX),
    5: SegmentName("Session World State", Group.PREFIX),
    6: SegmentName("Summary", Group.PREFIX),
    7: SegmentName("History", Group.HISTORY),
    8: SegmentName("Inputs of this run", Group.HISTORY),
    9: SegmentName("Skills active at the start", Group.HISTORY),
    10: SegmentName("Run World State", Group.HISTORY),
    11: SegmentName("Timeline of this run", Group.HISTORY),
    12: SegmentName("Todo reminder", Group.TAIL),
    13: SegmentName("Repair reminder", Group.TAIL),
    14: SegmentName("File transaction", Group.TAIL),
}


def segment_name(layout: str, n: int) -> SegmentName:
    """Name and group of a segment; of an unknown layout or number its number is all that is
    known."""
    known = _SEGMENTS.get(n) if layout == SEGMENTS_14 else None
    return known or SegmentName(f"Segment {n}", Group.OTHER)
