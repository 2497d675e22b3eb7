"""A verdict's values in words: results, certainties, causes, faults, places, as filters.

A result has one glyph, one colour and one word, the same on every page.
"""

from tracer.model.prompt import Tier
from tracer.model.verdict import FoundCause, Result, VerdictBrief
from tracer.model.verdict_views import MissView
from tracer.service import cause_names
from tracer.words import CERTAINTY_WORDS, FAULT_WORDS, RESULT_WORDS, TIER_WORDS, capital
from web.filters import num, one_line

_AGREEMENTS = {"agree": "agrees", "conflict": "conflicts", "silent": "says nothing of it"}


def result_words(result: str) -> str:
    """A result in words: partial hit."""
    return RESULT_WORDS[result]


def certainty_words(certainty: str) -> str:
    """How sure a cause is, in words; empty for none."""
    return CERTAINTY_WORDS.get(certainty, one_line(certainty))


def fault_words(fault: str) -> str:
    """Whose doing a cause is, in words; empty for none."""
    return FAULT_WORDS.get(fault, one_line(fault))


def cause_words(code: str, subtype: str = "") -> str:
    """A cause in words: history rewritten, tool result cleared."""
    return cause_names.cause_words(one_line(code), one_line(subtype))


def agreement_words(agreement: str) -> str:
    """Whether a diagnostic of the provider says what we say."""
    return _AGREEMENTS.get(agreement, one_line(agreement))


def heading(result: Result, missed: int, rebilled: int) -> str:
    """The verdict in a few words: Missed 87,296 tokens."""
    if result is Result.MISS and missed and missed == rebilled:
        return f"Missed {num(missed)} tokens"
    if result in (Result.MISS, Result.PARTIAL):
        return f"{capital(RESULT_WORDS[result])}: {num(rebilled)} tokens billed again"
    return capital(RESULT_WORDS[result])


def brief_words(brief: VerdictBrief) -> str:
    """A verdict in one line for a column: miss, 4,864 tokens billed again: expired (likely)."""
    result = f"cache: {RESULT_WORDS[brief.result]}"
    if not brief.is_miss:
        return result
    sure = certainty_words(brief.certainty)
    why = f": {cause_words(brief.code, brief.subtype)} ({sure})" if brief.code else ""
    return f"{result}, {num(brief.rebilled_tokens)} tokens billed again{why}"


def cause_place(cause: FoundCause) -> str:
    """Where a cause lies: message 4, character 1,906; empty where it has no place."""
    place = _place(cause.tier, cause.block_index, cause.message_index)
    if place and cause.char_offset is not None:
        place += f", character {num(cause.char_offset)}"
    return place


def miss_place(miss: MissView) -> str:
    """Where the primary cause of a miss lies: env_info, message 1."""
    names = (one_line(name) for name in (miss.section, miss.reminder))
    place = _place(miss.tier, miss.block_index, miss.message_index)
    return ", ".join(part for part in dict.fromkeys((*names, place)) if part)


def _place(tier: str | None, block: int | None, message: int | None) -> str:
    if message is not None:
        return f"message {num(message)}"
    if block is None or tier not in (Tier.TOOLS, Tier.SYSTEM):
        return ""
    return f"{TIER_WORDS[tier]} {num(block)}"


VERDICT_WORDS = {
    "agreement_words": agreement_words,
    "cause_place": cause_place,
    "cause_words": cause_words,
    "certainty_words": certainty_words,
    "fault_words": fault_words,
    "miss_place": miss_place,
    "result_words": result_words,
}
"""The filters of this module, by name."""
