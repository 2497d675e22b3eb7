"""The JSON of a laid-out prompt, and of what the model knew of its world."""

from tracer.jsonview.core import JsonObject, embedded, known
from tracer.model.segment_views import RequestSegments, StateView, WorldView


def layout_json(segments: RequestSegments | None) -> JsonObject | None:
    """How a prompt was laid out; null where the log does not say."""
    if segments is None:
        return None
    return {
        "name": known(segments.layout),
        "segments": [
            {
                "n": s.n,
                "name": s.name,
                "group": s.group,
                "first_message": s.first_message,
                "messages": s.messages,
                "chars": s.chars,
                "tokens": s.tokens,
                "counted": s.counted,
                "kinds": dict(s.kinds),
                "change": s.change,
            }
            for s in segments.segments
        ],
        "groups": [
            {"group": g.group, "messages": g.messages, "tokens": g.tokens, "counted": g.counted}
            for g in segments.groups
        ],
        "tools": [
            {"name": t.name, "group": known(t.group), "capability": known(t.capability)}
            for t in segments.tools
        ],
        "capabilities": [
            {"name": c.name, "tools": c.tools, "guide": c.guide, "state": c.state}
            for c in segments.capabilities
        ],
        "skills": [
            {"skill": s.name, "where": s.where, "message_index": s.message} for s in segments.skills
        ],
        "summary": {
            "message_index": segments.summary.message,
            "covers": segments.summary.covers,
            "first": known(segments.summary.first),
            "last": known(segments.summary.last),
        }
        if segments.summary
        else None,
        "unresolved": list(segments.unresolved),
        "other_keys": embedded(segments.extra_json),
    }


def world_json(segments: RequestSegments | None) -> JsonObject | None:
    """What the model knew at a request; null where the log has no World State."""
    world = segments.world if segments else None
    if world is None or (world.session is None and world.run is None):
        return None
    return {
        "session": _state(world.session),
        "run": _state(world.run),
        "since_seq": world.since_seq,
        "changes": _changes(world),
    }


def _state(view: StateView | None) -> JsonObject | None:
    if view is None:
        return None
    return {
        "state": dict(view.state),
        "full_message_index": view.full_message,
        "diffs": view.diffs,
    }


def _changes(world: WorldView) -> list[JsonObject]:
    return [
        {
            "scope": change.scope,
            "path": list(change.path),
            "before": embedded(change.before),
            "after": embedded(change.after),
            "removed": not change.after,
        }
        for change in world.changes
    ]
