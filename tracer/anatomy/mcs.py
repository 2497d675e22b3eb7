"""Whether a request ran with mid-conversation system messages (MCS), and from which evidence.

A fold over the messages of a prompt: `step` takes what came before (`Stand`) and one message, and
knows nothing of what follows, so a tree of prompts that share their beginnings is folded once a
node. `verdict` gives the state at the end of a prompt.

Why a wrapped note can prove that MCS is off (formats/zcode.md 9, P3): while MCS is on, a note whose
source is eligible waits for the next user or tool message and becomes system text behind it. It
stays wrapped only where there is none (behind an assistant, before a message with a presentation)
or where what follows forbids it.
"""

from enum import IntEnum, StrEnum
from typing import NamedTuple

from tracer.anatomy.messages import MessageReading, Sort
from tracer.anatomy.reminder_sources import INCOMING_SOURCE, REMINDER_SOURCES, UNKNOWN
from tracer.anatomy.reminders import ReminderSpan


class McsState(StrEnum):
    """On, off, or nothing in the prompt that tells."""

    ON = "on"
    OFF = "off"
    UNDECIDABLE = "undecidable"


class Strength(IntEnum):
    """How much an evidence weighs; the strongest decides, the first of equals."""

    NONE = 0
    OFF_LIKELY = 1
    ON_FALLBACK = 2
    OFF_AFTER_TOOL = 3
    OFF_SKILLS = 4
    ON_SKILLS = 5
    ON_SYSTEM_TEXT = 6


class McsEvidence(NamedTuple):
    """What speaks for a state, and the message in which it stands (None for no evidence)."""

    strength: Strength = Strength.NONE
    message_index: int | None = None


class McsVerdict(NamedTuple):
    """The state of a request, its evidence in words, and the message that shows it."""

    state: McsState
    evidence: str
    message_index: int | None


class Waiting(NamedTuple):
    """A wrapped note that MCS would have moved, and the stop it stands behind."""

    message_index: int
    stop: Sort


class Stand(NamedTuple):
    """Where the fold is: the last stop (rule P2), whether only notes that may float followed it
    (`in_block`), and only notes that surely do (`sure`), a note that may prove that MCS is off, the
    places of a skills listing and a context prefix at the head, the evidence so far."""

    stop: Sort | None = None
    in_block: bool = True
    sure: bool = True
    waiting: Waiting | None = None
    skills_at: int | None = None
    context_at: int | None = None
    evidence: McsEvidence = McsEvidence()


START = Stand()
_STEERS = frozenset({"user_steer", "coordinator_steer", "subagent_reply_steer"})
STOPS = frozenset({Sort.SYSTEM, Sort.MCS, Sort.ASSISTANT, Sort.TOOL, Sort.REPLY, Sort.GAP})
"""Messages that notes do not move up past."""


def step(stand: Stand, reading: MessageReading, index: int) -> Stand:
    """The stand behind message `index`."""
    sort = reading.sort
    if sort is Sort.WRAPPED:
        return _wrapped(stand, reading, index)
    evidence = stand.evidence
    if sort is Sort.MCS:
        evidence = _stronger(evidence, Strength.ON_SYSTEM_TEXT, index)
    elif sort is Sort.ASSISTANT:
        evidence = _after_tool(stand)
    elif (
        sort is Sort.USER
        and stand.waiting
        and stand.waiting.stop
        in (
            Sort.SYSTEM,
            Sort.ASSISTANT,
        )
    ):
        evidence = _stronger(evidence, Strength.OFF_LIKELY, stand.waiting.message_index)
    if sort in STOPS:
        return Stand(sort, True, True, evidence=evidence)
    return Stand(stand.stop, False, False, evidence=evidence)


def _wrapped(stand: Stand, reading: MessageReading, index: int) -> Stand:
    spans = [placed.span for placed in reading.spans]
    first = spans[0]
    evidence, waiting = _at_the_head(stand, spans, index), stand.waiting
    leading = stand.stop is Sort.SYSTEM and stand.in_block
    skills_at = index if leading and first.source == "skills_listing" else stand.skills_at
    context_at = index if leading and first.source == "context_prefix" else stand.context_at
    if waiting is None and stand.stop is not None and _would_move(stand, spans):
        waiting = Waiting(index, stand.stop)
    if first.source == INCOMING_SOURCE:
        return Stand(Sort.REPLY, True, True, waiting, evidence=evidence)
    floats = any(_floats(source) for source in first.candidates)
    sure = stand.sure and all(s != UNKNOWN and _floats(s) for s in first.candidates)
    in_block = stand.in_block and floats
    return Stand(stand.stop, in_block, sure, waiting, skills_at, context_at, evidence)


def _at_the_head(stand: Stand, spans: list[ReminderSpan], index: int) -> McsEvidence:
    """What a tag with several bodies tells, and the order of the prefix's attachments: the skills
    listing comes first, so behind the context prefix it stands only where MCS held it back."""
    source, evidence = spans[0].source, stand.evidence
    if any(span.merged for span in spans):
        return _stronger(evidence, Strength.ON_FALLBACK, index)
    if source == "skills_listing" and stand.context_at == index - 1:
        return _stronger(evidence, Strength.ON_SKILLS, index)
    if source == "context_prefix" and stand.skills_at == index - 1:
        return _stronger(evidence, Strength.OFF_SKILLS, index - 1)
    return evidence


def _would_move(stand: Stand, spans: list[ReminderSpan]) -> bool:
    """True for one body, surely of an eligible source, right behind a stop."""
    if len(spans) != 1 or not stand.sure or UNKNOWN in spans[0].candidates:
        return False
    span = spans[0]
    if span.source == INCOMING_SOURCE:
        return stand.stop is Sort.TOOL and span.presentation in _STEERS
    return all(REMINDER_SOURCES[s].mcs and REMINDER_SOURCES[s].bubbles for s in span.candidates)


def _floats(source: str) -> bool:
    rule = REMINDER_SOURCES.get(source)
    return rule is None or rule.bubbles


def _after_tool(stand: Stand) -> McsEvidence:
    if stand.waiting and stand.waiting.stop is Sort.TOOL:
        at = stand.waiting.message_index
        return _stronger(stand.evidence, Strength.OFF_AFTER_TOOL, at)
    return stand.evidence


def _stronger(known: McsEvidence, strength: Strength, index: int) -> McsEvidence:
    return McsEvidence(strength, index) if strength > known.strength else known


def verdict(stand: Stand) -> McsVerdict:
    """The state of the prompt that ends here."""
    strength, index = _after_tool(stand)
    words = {
        Strength.ON_SYSTEM_TEXT: f"Message {index} is a system message behind the prefix.",
        Strength.ON_SKILLS: f"Message {index} is the skills listing in a tag behind the context "
        "prefix; with it off, the listing stands before it.",
        Strength.ON_FALLBACK: f"Message {index} holds several notes in one tag, which only a "
        "demoted system text does.",
        Strength.OFF_SKILLS: f"Message {index} is the skills listing in a tag of its own, before "
        "the context prefix; with it on, the listing is system text.",
        Strength.OFF_AFTER_TOOL: f"Message {index} is a note in a tag of its own between a tool's "
        "result and the model's next step; with it on, it would be system text.",
        Strength.OFF_LIKELY: f"Message {index} is a note in a tag of its own before the user's "
        "message; with it on, it would be system text behind that message.",
        Strength.NONE: "No note in this prompt would look different with it on.",
    }[strength]
    state = McsState.UNDECIDABLE
    if strength in (Strength.ON_SYSTEM_TEXT, Strength.ON_SKILLS, Strength.ON_FALLBACK):
        state = McsState.ON
    elif strength is not Strength.NONE:
        state = McsState.OFF
    return McsVerdict(state, words, index)
