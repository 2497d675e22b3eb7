"""What the log did not tell about a request, in words, and what that blocks."""

from collections.abc import Sequence

from tracer.model.events import Status
from tracer.model.prompt import Kind, Tier
from tracer.model.views import ContextUsageView, Evidence, RequestSummary
from tracer.store.prompts import BlockRow
from tracer.store.reading import RequestRow
from tracer.store.records import FILLED, FROM_DATABASE, FROM_EVENT, FROM_LOG, SHARED

_CARRY = {
    "sequence": "They are carried over from the record right before, which ended where this one "
    "begins; the log's writer compares samples only, so an edit in the middle can hide there.",
    "earlier": "They are carried over from an earlier record of the file that ended where this "
    "one begins: another process or another kind of call had written in between.",
    "overlap": "They are carried over from an earlier record whose last messages agree with the "
    "ones shown here; an edit further up would be invisible.",
    "lost": "No earlier record fits, so their content is unknown.",
}
_ROLES = frozenset({"system", "user", "assistant", "tool"})


def evidence_of(
    request: RequestSummary,
    row: RequestRow,
    blocks: Sequence[BlockRow],
    uncounted: int,
    usage: ContextUsageView | None,
) -> tuple[Evidence, ...]:
    """The gaps in what is known, most important first; empty where nothing is missing."""
    found = [*_prompt_gaps(request, row, blocks), *_usage_gaps(request), *_odd_roles(blocks)]
    if uncounted:
        found.append(
            Evidence(
                "uncounted",
                f"{uncounted:,} blocks are not counted yet",
                "Their size is the agent's own estimate until the next ingest has counted them.",
            )
        )
    if usage is not None and any(c.tokens_redacted for c in usage.categories):
        found.append(
            Evidence(
                "redacted",
                "The logger redacted the token numbers",
                "It replaces every key with “token” in its name; ranges are computed from the "
                "characters, which it keeps.",
            )
        )
    return tuple(found)


def _known_elsewhere(bits: int) -> Evidence:
    """Why there is no prompt: who knows the request, if not a record of its own."""
    gone = "Its model I/O record was rotated away or never written: there is no prompt"
    keep = "`tracer doctor` says how to keep such records."
    if bits & FROM_DATABASE:
        return Evidence(
            "database-only",
            "Only a usage row knows this request",
            f"{gone}. The row sums up all attempts of the call. {keep}",
        )
    usage = " and no usage" if not bits & (FILLED | FROM_EVENT) else ""
    if bits & FROM_LOG:
        filled = " Its usage is that of its row in the session database." if bits & FILLED else ""
        return Evidence(
            "log-only",
            "Only the structured log knows this request",
            f"{gone}{usage}.{filled} {keep}",
        )
    return Evidence("events-only", "Only session events know this request", f"{gone}. {keep}")


def _prompt_gaps(
    request: RequestSummary, row: RequestRow, blocks: Sequence[BlockRow]
) -> list[Evidence]:
    if row.from_log and not row.from_log & SHARED:
        return [_known_elsewhere(row.from_log)]
    if request.observed == "metadata":
        return [
            Evidence(
                "metadata",
                "The record carries no messages",
                "Usage and times are known, the prompt is not; nothing can be compared.",
            )
        ]
    found = []
    if request.verified_from:
        found.append(
            Evidence(
                "windowed",
                f"Messages 0 to {request.verified_from - 1:,} are not in this request's own record",
                _CARRY.get(request.carry, ""),
            )
        )
    gaps = sum(b.span_messages for b in blocks if b.kind == Kind.GAP and b.span_messages)
    if gaps:
        found.append(
            Evidence(
                "gap",
                f"{gaps:,} messages were never logged",
                "They are drawn as a gap without a size; sums over the prompt leave them out.",
            )
        )
    if any(b.kind == Kind.GAP and b.tier == "tools" for b in blocks):
        found.append(
            Evidence(
                "no-tools",
                "Tool schemas are not in the record",
                "Only the tools' names were logged; their size and any change in them is unknown.",
            )
        )
    return found


def _why_no_usage(request: RequestSummary) -> str:
    match request.status:
        case Status.FAILED | Status.CANCELLED:
            return "A failed or cancelled attempt reports none."
        case Status.UNKNOWN:
            return "The log does not say how this request ended."
    return "The log says that it was answered, and not what it used."


def _odd_roles(blocks: Sequence[BlockRow]) -> list[Evidence]:
    """Messages of roles that the log formats do not know: they stand as they were written."""
    odd = {b.message_index: b.role for b in blocks if b.tier == Tier.MESSAGES and _is_odd(b)}
    if not odd:
        return []
    roles = ", ".join(sorted({role or "none" for role in odd.values()}))
    return [
        Evidence(
            "unknown-role",
            f"{len(odd):,} {'message has' if len(odd) == 1 else 'messages have'} a role that the "
            f"format does not know: {roles}",
            f"Known are {', '.join(sorted(_ROLES))}. Such a message is shown as it was written; "
            "how the provider was sent it is unknown.",
        )
    ]


def _is_odd(block: BlockRow) -> bool:
    return block.kind != Kind.GAP and block.role not in _ROLES


def _usage_gaps(request: RequestSummary) -> list[Evidence]:
    usage = request.usage
    if usage is None or usage.input_tokens is None:
        return [
            Evidence(
                "no-usage",
                "No usage was reported",
                f"{_why_no_usage(request)} Unknown is not zero, so this request is in no rate.",
            )
        ]
    if usage.cache_read_tokens is None:
        return [
            Evidence(
                "no-read",
                "The cache read was not reported",
                "What the provider read from its cache is unknown for this request.",
            )
        ]
    return []
