"""What a request's summary says of its prompt, and how each section lived until then.

Requests that carry the same things share the same objects, so a session of thousands of requests
costs what changes in it.
"""

import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tracer.anatomy.mcs import McsVerdict
from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection
from tracer.anatomy.sections import section_name, section_rule
from tracer.model.anatomy_views import McsStateView, McsView, ReminderView, SectionView
from tracer.service.anatomy import PromptContent
from tracer.service.placing import EVERYTHING, Shown
from tracer.store.events import SectionRow

NOT_OBSERVED = "not observed"
"""How a section is known that the log names, in a message that it does not show."""


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What a summary says of a prompt's content. `sections` is None where the prompt was not read
    for them."""

    roles: dict[str, int]
    tools: tuple[str, ...]
    reminders: tuple[ReminderView, ...]
    mcs: tuple[McsView, ...]
    sections: tuple[SectionView, ...] | None = None
    variant: str = ""
    mcs_state: McsStateView | None = None


NO_PROMPT = PromptFacts({}, (), (), ())


class FactsMaker:
    """Makes the facts of a session's requests. Sections are asked for in order, as how they lived
    until a request is told with them; all else in any order."""

    def __init__(self) -> None:
        self._sections: dict[tuple[int, ...], tuple[SectionView, ...]] = {}
        self._places: dict[int, tuple[list[int], int]] = {}
        self._reminders: dict[tuple[int, bool], ReminderView] = {}
        self._mcs: dict[tuple[int, bool], McsView] = {}
        self._states: dict[McsVerdict, McsStateView] = {}
        self._lives: dict[str, _Lives] = {}

    def sections(
        self,
        anatomy: PromptContent,
        logged: Sequence[SectionRow],
        *,
        purpose: str,
        seq: int,
        shown: Shown = EVERYTHING,
    ) -> tuple[SectionView, ...]:
        """The sections of the request number `seq`, whose prompt is known, and how they lived.
        `logged` are those of the newest line before it; none for a call that is not the
        conversation's. `shown` is what its own record proves."""
        history = self._lives.setdefault(purpose, _Lives())
        if history.goes_on(anatomy, logged, shown, seq):
            return history.now
        places, head = self._section_places(anatomy)
        before = bisect_left(places, shown.from_index)
        carried = before - min(before, head) if shown.system else before
        key = (id(anatomy.sections), id(logged), shown.system, before, anatomy.whole)
        made = self._sections.get(key)
        if made is None:
            made = self._sections[key] = self.unlived(anatomy, logged, shown)
        whole = anatomy.whole and not carried and shown.system
        low = places[before - 1] + 1 if before else 0
        high = places[before] if before < len(places) else sys.maxsize
        asked = _Asked(anatomy, logged, shown.system, low, high)
        return history.next(asked, made, seq, whole=whole)

    @staticmethod
    def unlived(
        anatomy: PromptContent, logged: Sequence[SectionRow], shown: Shown
    ) -> tuple[SectionView, ...]:
        """The same sections without a word on how they lived, in any order of requests."""
        return _sections(anatomy, logged, shown)

    def _section_places(self, anatomy: PromptContent) -> tuple[list[int], int]:
        """The messages of the sections, in order, and how many of them are of the system tier."""
        found = self._places.get(id(anatomy.sections))
        if found is None:
            places = [section.message_index for section in anatomy.sections]
            head = bisect_left(places, anatomy.system_messages)
            found = self._places[id(anatomy.sections)] = places, head
        return found

    def facts(
        self,
        anatomy: PromptContent,
        roles: dict[str, int],
        sections: tuple[SectionView, ...],
        shown: Shown = EVERYTHING,
    ) -> PromptFacts:
        """The facts of a request whose prompt is known."""
        # Notes and messages stand in the order of their place: what is carried over comes first.
        reminders = bisect_left(anatomy.reminders, shown.from_index, key=_message_index)
        mcs = bisect_left(anatomy.mcs, shown.from_index, key=_message_index)
        return PromptFacts(
            roles,
            anatomy.tools,
            tuple(
                self._reminder(r, anatomy, verified=n >= reminders)
                for n, r in enumerate(anatomy.reminders)
            ),
            tuple(self._message(m, anatomy, verified=n >= mcs) for n, m in enumerate(anatomy.mcs)),
            sections,
            anatomy.variant.value,
            self._state(anatomy.verdict),
        )

    def _reminder(
        self, reminder: PlacedReminder, anatomy: PromptContent, *, verified: bool
    ) -> ReminderView:
        found = self._reminders.get((id(reminder), verified))
        if found is None:
            made = reminder_view(reminder, anatomy.first_index, verified=verified)
            found = self._reminders[id(reminder), verified] = made
        return found

    def _message(self, message: McsMessage, anatomy: PromptContent, *, verified: bool) -> McsView:
        found = self._mcs.get((id(message), verified))
        if found is None:
            found = self._mcs[id(message), verified] = McsView(
                message.message_index,
                message.sources,
                message.chars,
                message.content_hash,
                anatomy.first_index.get(message.message_index),
                verified,
            )
        return found

    def _state(self, verdict: McsVerdict) -> McsStateView:
        found = self._states.get(verdict)
        if found is None:
            found = self._states[verdict] = McsStateView(
                verdict.state.value, verdict.evidence, verdict.message_index
            )
        return found


def _message_index(item: PlacedReminder | McsMessage) -> int:
    return item.message_index


def _shows(shown: Shown, message_index: int, anatomy: PromptContent) -> bool:
    """Whether a record proves the section in a message."""
    system = shown.system and message_index < anatomy.system_messages
    return system or message_index >= shown.from_index


class _Asked(NamedTuple):
    """What sections were asked for with; of what a record shows, all beginnings that show the same
    of them."""

    anatomy: PromptContent
    logged: Sequence[SectionRow]
    system: bool
    from_low: int
    from_high: int


class _Lives:
    """How the sections of one purpose lived: of each the text last seen, since when, and in which
    request it was seen last. What a record does not prove was not seen in it."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, int, int]] = {}
        self._away: set[str] = set()
        self._shown: set[str] = set()
        self._seq = 0
        self._asked: _Asked | None = None
        self._before: tuple[tuple[SectionView, ...], bool] | None = None
        self._steady = False
        self.now: tuple[SectionView, ...] = ()

    def goes_on(
        self, anatomy: PromptContent, logged: Sequence[SectionRow], shown: Shown, seq: int
    ) -> bool:
        """Whether the next request has the same sections as the one before it, and nothing had
        changed in that one: then `now` holds its sections, too."""
        last = self._asked
        if not self._steady or last is None:
            return False
        same = last.anatomy is anatomy and last.logged is logged and last.system == shown.system
        if not same or not last.from_low <= shown.from_index <= last.from_high:
            return False
        self._seq = seq
        return True

    def next(
        self, asked: _Asked, sections: tuple[SectionView, ...], seq: int, *, whole: bool
    ) -> tuple[SectionView, ...]:
        """The sections of the next request, with what became of each."""
        self._asked = asked
        same = self._before is not None and self._before[0] is sections and self._before[1] == whole
        if same and self._steady:
            self._seq = seq
            return self.now
        for key in self._shown:
            content, since, _ = self._last[key]
            self._last[key] = content, since, self._seq
        self._shown, self._seq = set(), seq
        counts: dict[str, int] = {}
        seen: set[str] = set()
        made = []
        for view in sections:
            if not view.content_hash:
                made.append(view)
                continue
            counts[view.source] = counts.get(view.source, 0) + 1
            key = f"{view.source} {counts[view.source]}"
            content, since, proven = self._last.get(key, ("", seq, None))
            there = key in self._last and key not in self._away
            same_text = there and content == view.content_hash
            seen.add(key)
            if not view.verified:
                known = since if same_text else None
                made.append(replace(view, since_seq=known, proven_seq=proven))
                continue
            since = since if same_text else seq
            self._last[key] = view.content_hash, since, seq
            self._shown.add(key)
            made.append(replace(view, since_seq=since, changed=there and not same_text))
        if whole:
            self._away.update(self._last.keys() - seen)
        self._away -= seen
        self._before, self.now = (sections, whole), tuple(made)
        self._steady = not any(view.changed for view in made)
        return self.now


def _sections(
    anatomy: PromptContent, logged: Sequence[SectionRow], shown: Shown
) -> tuple[SectionView, ...]:
    """The sections that stand in a prompt, and those of the log that may stand in what it hides, or
    in a beginning that is no known one."""
    by_text: dict[tuple[str, int | None], SectionRow] = {(r.source, r.chars): r for r in logged}
    views = [
        _located(s, anatomy, by_text.get((s.source, s.chars)), shown) for s in anatomy.sections
    ]
    if not (anatomy.whole and views):
        found = {section.source for section in anatomy.sections}
        views += [logged_section(row) for row in logged if row.source not in found]
    return tuple(views)


def _located(
    section: PlacedSection, anatomy: PromptContent, row: SectionRow | None, shown: Shown
) -> SectionView:
    first = anatomy.first_index.get(section.message_index)
    return SectionView(
        source=section.source,
        name=section.name,
        target=section.target,
        cache_hint=section.cache_hint,
        chars=section.chars,
        tokens_logged=row.tokens if row is not None and section.how == "logged" else None,
        tokens_estimate=section.tokens_estimate,
        message_index=section.message_index,
        block_index=section.block_index,
        start_char=section.start_char,
        end_char=section.end_char,
        how=section.how.value,
        content_hash=section.content_hash,
        prompt_index=None if first is None else first + section.block_index,
        verified=_shows(shown, section.message_index, anatomy),
    )


def logged_section(row: SectionRow) -> SectionView:
    """A section that the log names, in no message that is known. The line is written once a process
    and not at every rebuild of the prefix, so the request may have had another text of it."""
    return SectionView(
        source=row.source,
        name=row.name or section_name(row.source),
        target=section_rule(row.source).target,
        cache_hint=section_rule(row.source).cache_hint,
        chars=row.chars,
        tokens_logged=row.tokens,
        tokens_estimate=row.estimate_tokens,
        message_index=None,
        how=NOT_OBSERVED,
        verified=False,
    )


def reminder_view(
    reminder: PlacedReminder, first_index: dict[int, int], *, verified: bool
) -> ReminderView:
    """A reminder at its place; `first_index` gives the place in the prompt of a message."""
    first = first_index.get(reminder.message_index)
    return ReminderView(
        source=reminder.source,
        via=reminder.via.value,
        message_index=reminder.message_index,
        ambiguous_with=reminder.ambiguous_with,
        block_index=reminder.block_index,
        start_char=reminder.start_char,
        end_char=reminder.end_char,
        presentation=reminder.presentation,
        trust=reminder.trust.value,
        counted=reminder.counted,
        merged=reminder.merged,
        chars=reminder.chars,
        tokens_estimate=reminder.tokens_estimate,
        content_hash=reminder.content_hash,
        prompt_index=None if first is None else first + reminder.block_index,
        verified=verified,
    )
