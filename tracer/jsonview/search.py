"""The JSON of searches (`search` in docs/json.md)."""

from tracer.jsonview.core import SCHEMA, JsonObject, iso_time, known, source_ref
from tracer.model.search_views import FoundText, SearchPage, TextUse


def search_json(found: SearchPage) -> JsonObject:
    """What `tracer search --json` prints: one hit for each text and session that has it."""
    asked = found.asked
    return {
        "schema": SCHEMA,
        "query": asked.query,
        "exact": asked.exact,
        "session_id": known(asked.session_id),
        "kind": known(asked.kind),
        "section": known(asked.section),
        "source": known(asked.source),
        "offset": asked.offset,
        "texts": found.total,
        "at_least": found.at_least,
        "unsearched": found.unsearched,
        "hits": [_hit(text, use) for text in found.texts for use in text.uses],
    }


def _hit(text: FoundText, use: TextUse) -> JsonObject:
    place, piece = text.place, text.piece
    return {
        "session_id": known(use.session_id),
        "session_title": known(use.session_title),
        "first_key": known(use.first_key),
        "first_seq": use.first_seq,
        "first_index": use.first_index,
        "last_key": known(use.last_key),
        "last_seq": use.last_seq,
        "last_index": use.last_index,
        "times_sent": use.times_sent,
        "answered_key": known(use.answered_key),
        "at": iso_time(use.at_ms),
        "where": {
            "kind": place.kind,
            "tier": known(place.tier),
            "role": known(place.role),
            "message_index": place.message_index,
            "block_index": place.block_index,
            "index": place.index,
            "section": known(place.section),
            "reminder": known(place.reminder),
            "name": known(place.name),
        },
        "snippet": piece.text,
        "snippet_matches": [list(match) for match in piece.matches],
        "snippet_start": piece.cut_before,
        "matches": text.matches,
        "chars": text.chars,
        "more_sessions": text.more_uses,
        "wire_hash": known(text.wire_hash),
        "source_ref": source_ref(text.source),
    }
