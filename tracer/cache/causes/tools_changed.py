"""The list of tools changed. Tools stand at the head of the prompt, so everything behind is lost.

Tools come and go with the servers that offer them, lists built from unordered maps change their
order, and a schema written by another serialiser has the same meaning in other bytes.
"""

from collections.abc import Sequence

from tracer.cache.case import Case
from tracer.cache.causes._capability import SWITCHED_FIX, switches_of, told
from tracer.cache.ordering import place_of
from tracer.cache.wording import duration, excerpt, names, times
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Change, Fault, FoundCause

CODE = "TOOLS_CHANGED"
TITLE = "tools changed"
ORDER = 8
FIX = (
    "Sort the tools by name, freeze the list for a session, and wait for tool servers before the "
    "first request; add late tools in-band where the provider can."
)
_KINDS = ("added", "removed", "reordered", "schema", "description", "key order")
_FIXES = {
    "key order": "Serialise schemas with sorted keys.",
    "reordered": "Sort the tools by name before sending them.",
}


def detect(case: Case) -> FoundCause | None:
    """The first change among the tools, and of what kind it is (cache-rules.md 2.3, 8)."""
    changes = case.changes_in(Tier.TOOLS)
    if not changes:
        return None
    kinds = {kind: [c for c in changes if _kind(c) == kind] for kind in _KINDS}
    shuffled_only = not kinds["added"] and not kinds["removed"]
    first = changes[0]
    subtype = _kind(first)
    if subtype == "reordered" and not shuffled_only:
        # Additions and removals move the tools behind them; they are the reason, not the order.
        first = (kinds["added"] + kinds["removed"])[0]
        subtype = _kind(first)
    # What stands behind a tool that came or went moves with it.
    switches = switches_of(case, [c for c in changes if _kind(c) != "reordered"])
    starts = [c.token_offset for c in changes if c.token_offset is not None]
    changed, known = case.changed_before(Tier.TOOLS)
    return FoundCause(
        code=CODE,
        subtype=subtype,
        certainty=Certainty.CERTAIN,
        summary=" ".join(filter(None, (told(switches), _summary(subtype, kinds[subtype])))),
        fix=SWITCHED_FIX if switches else _FIXES.get(subtype, FIX),
        tier=Tier.TOOLS,
        block_index=min(place_of(c) for c in changes),
        char_offset=first.char_offset,
        token_offset=min(starts) if starts else case.expected.common if case.expected else None,
        before=first.before,
        after=first.after,
        fault=Fault.USER if switches else Fault.CLIENT,
        expected=bool(switches),
        evidence=(
            *(_count(kind, found) for kind, found in kinds.items() if found),
            f"first difference at tool {min(place_of(c) for c in changes)}",
            *_servers(changes),
            *_connections(case),
            *((f"the tools changed {times(changed)} in {known} requests",) if changed > 1 else ()),
        ),
    )


def _kind(change: Change) -> str:
    hinted = next((h.replace("_", " ") for h in change.hints if h.replace("_", " ") in _KINDS), "")
    if hinted:
        return hinted
    if change.op is Op.ADDED:
        return "added"
    if change.op is Op.REMOVED:
        return "removed"
    if change.op in (Op.MOVED, Op.REORDERED):
        return "reordered"
    if change.canonical_equal:
        return "key order"
    at_top = change.path.rpartition(".")[2] == "description"
    return "description" if at_top else "schema"


def _summary(subtype: str, changes: Sequence[Change]) -> str:
    found = sorted({c.label for c in changes if c.label}) or ["a tool"]
    which = names(found)
    return {
        "added": f"The list of tools grew: {which}.",
        "removed": f"The list of tools shrank: {which} no longer there.",
        "reordered": f"The tools come in another order ({which}); none was added or removed.",
        "schema": f"The schema of {which} changed.",
        "description": f"The description of {which} changed.",
        "key order": (
            f"The schema of {which} means the same and is written with its keys in another order."
        ),
    }[subtype]


def _count(kind: str, changes: Sequence[Change]) -> str:
    found = sorted({c.label for c in changes if c.label})
    first = changes[0]
    text = f"{kind}: {len(changes)} ({names(found)})"
    if first.before or first.after:
        text += f": “{excerpt(first.before)}” → “{excerpt(first.after)}”"
    return text


def _servers(changes: Sequence[Change]) -> tuple[str, ...]:
    """The tool servers concerned: `mcp__server__tool`."""
    found = {c.label.split("__")[1] for c in changes if c.label.count("__") >= 2}
    return (f"tool servers: {names(sorted(found))}",) if found else ()


def _connections(case: Case) -> tuple[str, ...]:
    events = case.events_since_baseline("mcp", "capability_on", "capability_off")
    start = case.call.started_at_ms
    if not events or start is None or events[-1].at_ms is None:
        return ()
    return (f"{duration(start - events[-1].at_ms)} before this request: {events[-1].text}",)
