"""A part of the system prompt changed: a date, a nonce, a git status, a list of skills, ...

System text stands before the conversation, so one changed character there costs all of it. The same
goes for the sections that an agent sends as its first user messages.
"""

from tracer.cache.case import Case
from tracer.cache.causes._capability import SWITCHED_FIX, switches_of, told
from tracer.cache.causes._system_text import SUBTYPES, subtype_of
from tracer.cache.changes import HOISTED, SUMMARY_KIND
from tracer.cache.ordering import place_of
from tracer.cache.wording import duration, excerpt, tier_place
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Change, Fault, FoundCause
from tracer.words import capital

CODE = "SYSTEM_CHANGED"
TITLE = "system or context changed"
ORDER = 9
FIX = (
    "Freeze it for a session, or move it behind the cached prefix: to the newest message, after "
    "the marker."
)
_FIXES = {
    "date": "Give the date once a session, in the newest message; day precision is enough.",
    "time": "Leave the time of day out, or give it in the newest message.",
    "iso_timestamp": "Leave the time stamp out, or give it in the newest message.",
    "nonce": "Leave the value out of the prompt, or switch off what adds it.",
    "skills": "Load skills before the first request; announce later ones in the newest message.",
    "capability": SWITCHED_FIX,
    "alternation": "Make both variants the same: put what differs into the newest message.",
}


def detect(case: Case) -> FoundCause | None:
    """The first change in a system block, or in a section of the prefix (cache-rules.md 2.3, 9)."""
    change = _first(case)
    if change is None:
        return None
    switches = switches_of(case, (change,))
    subtype = "alternation" if _alternates(case) else subtype_of(change)
    if switches:
        subtype = "capability"
    index = place_of(change)
    if change.tier is Tier.MESSAGES and change.message_index is not None:
        index = change.message_index  # over the whole list, as pages show it
    place = tier_place(change.tier, index)
    what = SUBTYPES[subtype] if subtype != "text" else _what(change)
    name = f"the section {change.section} in {place}" if change.section else place
    where = f" at character {change.char_offset:,}" if change.char_offset is not None else ""
    evidence = [f"{place}{where}"]
    if change.before or change.after:
        evidence.append(f"“{excerpt(change.before)}” → “{excerpt(change.after)}”")
    if change.detail:
        evidence.append(change.detail)
    changed, known = case.changed_before(Tier.SYSTEM)
    if changed and known > 1:
        evidence.append(
            f"the system prompt changed in {changed} of the {known} requests up to this one"
        )
    return FoundCause(
        code=CODE,
        subtype=subtype,
        certainty=Certainty.CERTAIN,
        summary=_summary(change, what, f"{name}{where}", told(switches)),
        fix=_FIXES.get(subtype, FIX),
        tier=change.tier,
        block_index=place_of(change),
        message_index=change.message_index,
        section=change.section,
        reminder=change.reminder,
        char_offset=change.char_offset,
        token_offset=_offset(case, change),
        before=change.before,
        after=change.after,
        fault=Fault.USER if switches else Fault.CLIENT,
        expected=bool(switches),
        evidence=(
            *evidence,
            *_events(case),
        ),
    )


def _first(case: Case) -> Change | None:
    changes = case.changes_in(Tier.SYSTEM)
    system = [c for c in changes if HOISTED not in c.hints and c.note_kind != SUMMARY_KIND]
    if system:
        return system[0]
    return next((c for c in case.changes_in(Tier.MESSAGES) if c.section), None)


def _summary(change: Change, what: str, where: str, switched: str) -> str:
    """What changed where; a message with a kind by its name."""
    before = f"{switched} " if switched else ""
    if not change.note:
        return f"{before}{capital(what)} changed in {where}."
    verb = {Op.ADDED: "was added as", Op.REMOVED: "is gone, which was"}.get(change.op, "changed in")
    told_as = "" if what in ("a block", "text") or switched else f", {what}"
    return f"{before}The {change.note} {verb} {where}{told_as}."


def _what(change: Change) -> str:
    if change.op in (Op.ADDED, Op.REMOVED):
        return "a block" if not change.section else "the section"
    return "text"


def _offset(case: Case, change: Change) -> int | None:
    if change.token_offset is not None:
        return change.token_offset
    return case.expected.common if case.expected else None


def _alternates(case: Case) -> bool:
    """Two hashes in turn, over at least four requests: A, B, A, B."""
    hashes = [h for e in case.earlier if (h := e.facts.hashes.system)][-5:]
    hashes = [*hashes, case.call.hashes.system] if case.call.hashes.system else hashes
    return (
        len(hashes) >= 4
        and len(set(hashes)) == 2
        and all(a != b for a, b in zip(hashes, hashes[1:], strict=False))
    )


def _events(case: Case) -> tuple[str, ...]:
    events = case.events_since_baseline("mcp", "resume", "model")
    start = case.call.started_at_ms
    if not events or start is None or events[-1].at_ms is None:
        return ()
    return (f"{duration(start - events[-1].at_ms)} before this request: {events[-1].text}",)
