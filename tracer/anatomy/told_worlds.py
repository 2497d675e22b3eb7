"""The World State as the model knew it, over a session whose history is compacted on the way.

What a summary covers is no longer in the prompt, but the model was told of it and the summary
stands for it: its diffs still hold. So the states and diffs of a session are taken in the order in
which they were first told, those that the prompt has and those that it covers
(docs/formats/context-trace.md 2).
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypeAlias

from tracer.anatomy.world_state import FULL, NOTHING, WORLD_STATE, World, after
from tracer.model.segments import MessageNote

_Key: TypeAlias = tuple[str, int]
_Entry: TypeAlias = tuple[int, MessageNote, int]
_NOWHERE = -1


class ToldWorlds:
    """To be asked for each prompt of a session, in order. Notes must be the same objects wherever
    they are the same, and live as long as this does. A prompt costs as much as it has World States
    that the last one had not."""

    def __init__(self) -> None:
        self._ranks: dict[_Key, int] = {}
        self._diffs: dict[str, _Entry] = {}
        self._entries: list[_Entry] = []
        self._worlds: list[World] = [NOTHING]

    def at(self, notes: Iterable[tuple[int, MessageNote]], covers: Collection[str]) -> World:
        """What is known at a prompt: `notes` are its World States with their messages, in order,
        `covers` the ids of the messages that its summaries stand for."""
        entries = self._told(notes)
        there = {note.id for _, note, _ in entries if note.id}
        entries += [self._diffs[id] for id in covers if id in self._diffs and id not in there]
        entries.sort(key=lambda entry: entry[0])
        same = 0
        for old, new in zip(self._entries, entries, strict=False):
            if old[1] is not new[1] or (old[2] != new[2] and new[1].mode == FULL):
                break
            same += 1
        del self._worlds[same + 1 :]
        for _, note, message in entries[same:]:
            self._worlds.append(after(self._worlds[-1], note, message))
        self._entries = entries
        return self._worlds[-1]

    def _told(self, notes: Iterable[tuple[int, MessageNote]]) -> list[_Entry]:
        found = []
        nameless: Counter[int] = Counter()
        for message, note in notes:
            if note.kind != WORLD_STATE:
                continue
            # A full state that is written anew is told anew; a diff has happened once.
            if note.id and note.mode != FULL:
                key = (note.id, 0)
            else:
                key = (f"#{id(note)}", nameless[id(note)])
                nameless[id(note)] += 1
            rank = self._ranks.setdefault(key, len(self._ranks))
            found.append((rank, note, message))
            if note.id and note.mode != FULL:
                self._diffs[note.id] = (rank, note, _NOWHERE)
        return found
