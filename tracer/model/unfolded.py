"""Which texts of a prompt are asked for."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Unfolded:
    """The blocks and the messages of a prompt that are shown with their texts, by their indexes.
    Blocks that hold a section have theirs, too: its beginning is shown in any case."""

    blocks: Collection[int] = ()
    messages: Collection[int] = ()


Texts: TypeAlias = bool | Unfolded
"""All of them, none, or those that are shown."""
