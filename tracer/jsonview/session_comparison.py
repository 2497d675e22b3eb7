"""The JSON of two sessions compared (`compare` in docs/json.md)."""

from tracer.jsonview.core import SCHEMA, JsonObject, session_json
from tracer.model.session_comparison import Member, SessionComparison, SessionSide, Version

_SESSION_KEYS = (
    "session_id",
    "title",
    "started_at",
    "requests",
    "turns",
    "failed_requests",
    "models",
    "usage",
    "hit_rate",
    "corrected_rate",
    "misses",
    "missed_tokens",
    "avoidable_tokens",
    "rebilled_tokens",
)


def compare_json(compared: SessionComparison) -> JsonObject:
    """What `tracer compare --json` prints."""
    return {
        "schema": SCHEMA,
        "a": _side(compared.a),
        "b": _side(compared.b),
        "rows": [
            {
                "group": row.group.value,
                "name": row.name,
                "state": row.state.value,
                "a": _member(row.a),
                "b": _member(row.b),
            }
            for row in compared.rows
        ],
    }


def _side(side: SessionSide) -> JsonObject:
    session = session_json(side.session)
    return {key: session[key] for key in _SESSION_KEYS} | {"prompts": side.prompts}


def _member(member: Member | None) -> JsonObject | None:
    if member is None:
        return None
    return {
        "requests": member.requests,
        "count": member.count,
        "versions": [_version(version) for version in member.versions],
    }


def _version(version: Version) -> JsonObject:
    return {
        "content_hash": version.content_hash,
        "requests": version.requests,
        "first_seq": version.first_seq,
        "first_key": version.first_key,
        "block_index": version.block_index,
        "chars": version.chars,
        "tokens": version.tokens,
    }
