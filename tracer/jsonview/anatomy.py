"""The JSON of a prompt's anatomy: what stands where in it, what fills it, how everything lived."""

from collections.abc import Iterable

from tracer.jsonview.core import SCHEMA, JsonObject, known
from tracer.model.anatomy_views import (
    AnatomyView,
    CalibrationView,
    ContextBreakdown,
    McsStateView,
    McsView,
    Presence,
    PresenceRowView,
    ReminderView,
    SectionView,
    UsageCategoryView,
    WireView,
)


def section_json(section: SectionView) -> JsonObject:
    """A section of the prefix."""
    return {
        "source": section.source,
        "name": known(section.name),
        "target": known(section.target),
        "cache_hint": known(section.cache_hint),
        "chars": section.chars,
        "tokens": {"logged": section.tokens_logged, "estimate": section.tokens_estimate},
        "message_index": section.message_index,
        "block_index": section.block_index,
        "prompt_index": section.prompt_index,
        "start_char": section.start_char,
        "end_char": section.end_char,
        "how": known(section.how),
        "content_hash": known(section.content_hash),
        "since_seq": section.since_seq,
        "changed": section.changed,
        "verified": section.verified,
        "proven_seq": section.proven_seq,
    }


def reminder_json(reminder: ReminderView) -> JsonObject:
    """A reminder."""
    value: JsonObject = {
        "source": reminder.source,
        "via": reminder.via,
        "message_index": reminder.message_index,
    }
    if reminder.ambiguous_with:
        value["ambiguous_with"] = list(reminder.ambiguous_with)
    return value | {
        "block_index": reminder.block_index,
        "prompt_index": reminder.prompt_index,
        "start_char": reminder.start_char,
        "end_char": reminder.end_char,
        "presentation": known(reminder.presentation),
        "trust": known(reminder.trust),
        "counted": reminder.counted,
        "merged": reminder.merged,
        "chars": reminder.chars,
        "tokens": {"estimate": reminder.tokens_estimate},
        "content_hash": known(reminder.content_hash),
        "verified": reminder.verified,
    }


def mcs_json(message: McsView) -> JsonObject:
    """A mid-conversation system message."""
    return {
        "message_index": message.message_index,
        "sources": list(message.sources),
        "prompt_index": message.prompt_index,
        "chars": message.chars,
        "content_hash": known(message.content_hash),
        "verified": message.verified,
    }


def mcs_state_json(state: McsStateView | None) -> JsonObject | None:
    """Whether mid-conversation system messages were on."""
    if state is None:
        return None
    return {
        "state": state.state,
        "evidence": state.evidence,
        "message_index": state.message_index,
    }


def wire_json(wire: WireView | None) -> JsonObject | None:
    """The message list of the logged request body beside the canonical one."""
    if wire is None:
        return None
    return {
        "form": wire.form,
        "window": wire.window,
        "messages": wire.messages,
        "logged": wire.logged,
        "roles": dict(wire.roles),
        "blocks": wire.blocks,
        "markers": wire.markers,
        "canonical": {"messages": wire.canonical_messages, "markers": wire.canonical_markers},
        "digest": wire.digest,
        "words": wire.words,
    }


def anatomy_json(anatomy: AnatomyView | None) -> JsonObject | None:
    """What is known of a prompt beside its sections, reminders and messages."""
    if anatomy is None:
        return None
    return {
        "variant": anatomy.variant,
        "variant_evidence": anatomy.variant_evidence,
        "mcs_state": mcs_state_json(anatomy.mcs_state),
        "instruction_files": [
            {
                "path": file.path,
                "scope": file.scope,
                "message_index": file.message_index,
                "block_index": file.block_index,
                "prompt_index": file.prompt_index,
                "start_char": file.start_char,
                "end_char": file.end_char,
                "chars": file.chars,
                "truncated": file.truncated,
                "truncation_note": known(file.truncation_note),
            }
            for file in anatomy.instruction_files
        ],
        "demoted": [
            {
                "message_index": note.message_index,
                "prompt_index": note.prompt_index,
                "sources": list(note.sources),
                "reason": note.reason,
            }
            for note in anatomy.demoted
        ],
        "unverified": [
            {
                "message_index": tag.message_index,
                "block_index": tag.block_index,
                "prompt_index": tag.prompt_index,
                "start_char": tag.start_char,
                "end_char": tag.end_char,
                "why": tag.why,
            }
            for tag in anatomy.unverified
        ],
        "usage": _breakdown(anatomy.usage),
        "calibration": _calibration(anatomy.calibration),
    }


def _breakdown(usage: ContextBreakdown | None) -> JsonObject | None:
    if usage is None:
        return None
    return {
        "categories": [_category(category) for category in usage.categories],
        "leftovers": [
            {
                "kind": left.kind,
                "count": left.count,
                "chars": left.chars,
                "tokens": left.tokens,
                "sources": list(left.sources),
            }
            for left in usage.leftovers
        ],
        "estimate_tokens": usage.estimate_tokens,
        "bpe_tokens": usage.bpe_tokens,
        "billed_tokens": usage.billed_tokens,
        "complete": usage.complete,
        "logged_strength": known(usage.logged_strength),
    }


def _category(category: UsageCategoryView) -> JsonObject:
    return {
        "name": category.name,
        "source": category.source,
        "chars": category.chars,
        "tokens": category.tokens,
        "method": category.method,
        "logged": {"chars": category.logged_chars, "tokens": category.logged_tokens},
        "recomputed": {"chars": category.recomputed_chars, "tokens": category.recomputed_tokens},
        "redacted": category.redacted,
        "complete": category.complete,
        "contributor_count": category.contributor_count,
        "contributors": [
            {
                "kind": one.kind,
                "label": one.label,
                "source": one.source,
                "chars": one.chars,
                "tokens": one.tokens,
                "count": one.count,
            }
            for one in category.contributors
        ],
    }


def _calibration(scale: CalibrationView | None) -> JsonObject | None:
    if scale is None:
        return None
    return {
        "lane": scale.lane,
        "factor": scale.factor,
        "low": scale.low,
        "high": scale.high,
        "deviation": scale.deviation,
        "samples": scale.samples,
        "method": scale.method,
        "remainder_tokens": scale.remainder_tokens,
    }


def presence_json(presence: Presence) -> JsonObject:
    """What `tracer presence --json` prints."""
    return {
        "schema": SCHEMA,
        "session_id": presence.session_id,
        "requests": presence.requests,
        "lanes": [
            {"lane": lane.lane, "seqs": list(lane.seqs), "rows": _rows(lane.rows)}
            for lane in presence.lanes
        ],
    }


def _rows(rows: Iterable[PresenceRowView]) -> list[JsonObject]:
    return [
        {
            "group": row.group,
            "name": row.name,
            "note": known(row.note),
            "changes": row.changes,
            "runs": [
                {
                    "cell": run.cell,
                    "first_seq": run.first_seq,
                    "last_seq": run.last_seq,
                    "first_key": run.first_key,
                    "prompt_index": run.block_index,
                    "baseline_key": known(run.baseline_key),
                }
                for run in row.runs
            ],
        }
        for row in rows
    ]
