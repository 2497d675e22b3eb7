"""The JSON of two requests compared (`diff` of docs/json.md)."""

from collections.abc import Iterable

from tracer.jsonview.core import SCHEMA, JsonObject, known
from tracer.jsonview.request import marker_json
from tracer.model.compare_views import ComparisonView, HunksView
from tracer.model.comparison import Common, Divergence, Hunk, Line, MarkerChange


def comparison_json(view: ComparisonView, inside: Iterable[HunksView]) -> JsonObject:
    """What `tracer diff --json` prints. `inside` has the hunks of changes that are not equal."""
    found = view.comparison
    hunks = {made.change.index: made for made in inside}
    return {
        "schema": SCHEMA,
        "a": view.a.request.key,
        "b": view.b.request.key,
        "baseline": known(view.baseline_key),
        "baseline_reason": known(view.baseline_reason),
        "relation": None if found is None else str(found.relation),
        "common": None if found is None else _common(found.common),
        "common_at_most": None if found is None else _common(found.common_at_most),
        "first_divergence": None if found is None else _divergence(found.first_divergence),
        "changes": [
            {
                "op": str(made.change.op),
                "tier": str(made.change.tier),
                "a_index": made.change.a_index,
                "b_index": made.change.b_index,
                "count": made.change.count,
                "label": made.change.label,
                "a_tokens": made.a_tokens,
                "b_tokens": made.b_tokens,
                "differs": list(made.change.differs),
                "same_meaning": made.change.same_meaning,
                "verified": made.change.verified,
                **_inside(hunks.get(made.index)),
            }
            for made in view.changes
        ],
        "marker_changes": [_marker_change(m) for m in found.marker_changes] if found else [],
        "hidden": None
        if found is None or found.hidden is None
        else {
            "a_messages": found.hidden.a_messages,
            "b_messages": found.hidden.b_messages,
            "tools": found.hidden.tools,
            "shift_messages": found.hidden.shift_messages,
        },
        "limits": [
            {
                "code": limit.code,
                "title": limit.title,
                "detail": limit.detail,
                "key": known(limit.key),
            }
            for limit in view.limits
        ],
    }


def _common(common: Common) -> JsonObject:
    return {
        "blocks": common.blocks,
        "chars": common.chars,
        "tokens": common.tokens,
        "verified_blocks": common.verified_blocks,
    }


def _divergence(found: Divergence | None) -> JsonObject | None:
    if found is None:
        return None
    return {
        "tier": str(found.tier),
        "index": found.index,
        "a_index": found.a_index,
        "tier_index": found.tier_index,
        "message_index": found.message_index,
        "block_index": found.block_index,
        "char_offset": found.char_offset,
        "message_char_offset": found.message_char_offset,
        "token_offset": found.token_offset,
        "label": found.label,
        "differs": list(found.differs),
        "before": found.before,
        "after": found.after,
        "snippet_start": found.snippet_start,
        "after_gap": found.after_gap,
        "verified": found.verified,
    }


def _inside(made: HunksView | None) -> JsonObject:
    if made is None or made.page is None:
        return {"fields": [], "hunks": [], "hunk_total": 0, "pretty": False}
    return {
        "fields": [
            {"field": f.field, "before": known(f.before), "after": known(f.after)}
            for f in made.fields
        ],
        "hunks": [_hunk(hunk) for hunk in made.page.hunks],
        "hunk_total": made.page.total,
        "pretty": made.page.pretty,
    }


def _hunk(hunk: Hunk) -> JsonObject:
    return {
        "a_start": hunk.a_start,
        "a_count": hunk.a_count,
        "b_start": hunk.b_start,
        "b_count": hunk.b_count,
        "folded_before": hunk.folded_before,
        "continued": hunk.continued,
        "lines": [line_json(line) for line in hunk.lines],
    }


def line_json(line: Line) -> JsonObject:
    """One line of a hunk."""
    return {
        "op": line.op,
        "a_line": line.a_line,
        "b_line": line.b_line,
        "text": line.text,
        "spans": [list(span) for span in line.spans],
        "invisible": [{"offset": char.offset, "name": char.name} for char in line.invisible],
        "cut_before": line.cut_before,
        "cut_after": line.cut_after,
    }


def _marker_change(change: MarkerChange) -> JsonObject:
    return {
        "a_index": change.a_index,
        "b_index": change.b_index,
        "before": None if change.before is None else marker_json(change.before),
        "after": None if change.after is None else marker_json(change.after),
    }
