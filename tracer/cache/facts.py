"""Reading facts for verdicts out of what logs call them."""

from collections.abc import Mapping

from tracer.model.verdict import Purpose

_PURPOSES = {
    "": Purpose.CONVERSATION,
    "main_turn": Purpose.CONVERSATION,
    "subagent": Purpose.SUBAGENT,
    "workflow_child": Purpose.SUBAGENT,
    "compact": Purpose.COMPACTION,
    "session_title": Purpose.TITLE,
}


def purpose_of(query_source: str) -> Purpose:
    """What a call is for, by the agent's word; a word that is not known is a side call."""
    name = query_source.lower()
    if name in _PURPOSES:
        return _PURPOSES[name]
    if "compact" in name or "summar" in name:
        return Purpose.COMPACTION
    return Purpose.TITLE if "title" in name else Purpose.SIDE


def written_lifetimes(usage: object) -> tuple[int | None, int | None]:
    """Tokens written for five minutes and for an hour, found anywhere in a usage object as the
    provider reported it (`ephemeral_5m_input_tokens`); None where it does not say."""
    short = _find(usage, "ephemeral_5m_input_tokens")
    return short, _find(usage, "ephemeral_1h_input_tokens")


def _find(value: object, name: str) -> int | None:
    if not isinstance(value, Mapping):
        return None
    found = value.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    inner = (_find(item, name) for item in value.values())
    return next((item for item in inner if item is not None), None)
