"""The simulated sessions as the product sees them, and its verdicts.

The only file of this folder that imports the product, and only its pure parts: prompts are
compared, a baseline is chosen, the difference is put into billed tokens, and the request is
explained. Nothing of a label, of a simulated server or of the provider's tokens goes in, but what a
log would hold: the prompt, the times, and the usage as the provider reports it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tests.simulated.houses import House, house_named
from tests.simulated.wire import Part, Step, Story
from tracer.anatomy.messages import BlockCache
from tracer.anatomy.prompt import AnatomyContext, anatomy_of
from tracer.assemble.usage import normalise
from tracer.cache import explain, provider_for
from tracer.cache.baseline import choose_baseline
from tracer.cache.difference import Names, difference_of
from tracer.cache.facts import purpose_of
from tracer.cache.session import Judged
from tracer.compare import compare, text_changes
from tracer.hashing import ROOT_HASH, digest, node_hash, norm_hash, wire_hash
from tracer.model.comparison import Comparison, Op
from tracer.model.events import Status
from tracer.model.prompt import Block, Kind, Marker, PlacedBlock, Prompt, Tier
from tracer.model.usage import Convention, ReportedUsage, Usage
from tracer.model.verdict import (
    CallFacts,
    Difference,
    Earlier,
    HashLadder,
    History,
    LoggedEvent,
    PastVerdict,
    Verdict,
)
from tracer.tokens_bpe import BpeCounter

_KINDS = {
    "tool": Kind.TOOL_SCHEMA,
    "text": Kind.TEXT,
    "reasoning": Kind.REASONING,
    "call": Kind.TOOL_CALL,
    "result": Kind.TOOL_RESULT,
    "image": Kind.IMAGE,
}
_counter = BpeCounter(threads=1)

Shuffle = Callable[[Sequence[object]], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as the product knows it. `prompt` is None where the log has none."""

    step: Step
    facts: CallFacts
    prompt: Prompt | None
    chain: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A request, what it was compared with, and the verdict."""

    seen: Seen
    verdict: Verdict
    difference: Difference | None


def answers_of(story: Story, shuffle: Shuffle | None = None) -> list[Answer]:
    """The verdict of every request of a story. `shuffle` puts everything that is handed over as a
    collection into another order."""
    mix = shuffle or (lambda items: items)
    house = house_named(story.house)
    seen = list(seen_of(story, house))
    judged: dict[str, list[Judged]] = {}
    answers = []
    for position, now in enumerate(seen):
        verdict, difference = _judge(now, position, seen, judged, story, mix)
        judged.setdefault(now.facts.lane, []).append(Judged(now.facts, verdict))
        answers.append(Answer(now, verdict, difference))
    return answers


def seen_of(story: Story, house: House) -> Iterator[Seen]:
    """The requests with their prompts, windows filled from what earlier records showed."""
    known: dict[str, list[tuple[Block, ...]]] = {}
    for step in story.steps:
        prompt = prompt_of(step, known) if step.prompt_logged else None
        chain = tuple(_chain(prompt)) if prompt else ()
        yield Seen(step, _facts(step, house, prompt, chain), prompt, chain)


def _judge(
    now: Seen,
    position: int,
    seen: Sequence[Seen],
    judged: dict[str, list[Judged]],
    story: Story,
    mix: Shuffle,
) -> tuple[Verdict, Difference | None]:
    before = {s.facts.key: s for s in seen[:position]}
    earlier: list[Earlier] = list(mix([_earlier(s, now) for s in before.values()]))  # type: ignore[arg-type]
    chosen = choose_baseline(now.facts, earlier)
    difference = None
    if chosen is not None:
        difference = _difference(before[chosen.call.key], now)
    history = _history(now, seen, earlier, judged, story, mix)
    facts = now.facts
    verdict = explain(
        facts,
        chosen.call if chosen else None,
        difference,
        history,
        provider_for(facts.provider_id, facts.model_id, facts.endpoint),
        None,
    )
    return verdict, difference


def _history(
    now: Seen,
    seen: Sequence[Seen],
    earlier: Sequence[Earlier],
    judged: dict[str, list[Judged]],
    story: Story,
    mix: Shuffle,
) -> History:
    lane = now.facts.lane
    later = next(
        (s for s in seen if s.facts.lane == lane and s.facts.order > now.facts.order), None
    )
    others = [
        s.facts
        for s in seen
        if s is not now and (s.facts.lane != lane or not _same_cache(s.facts, now.facts))
    ]
    events = [LoggedEvent(e.at_ms, e.kind, e.text) for e in story.events]
    reads = [
        s.facts.read_tokens
        for s in seen
        if s.facts.lane == lane and s.facts.read_tokens is not None
    ]
    past = [
        PastVerdict(j.call.key, j.verdict.signals, j.verdict.is_miss)
        for j in judged.get(lane, [])
        if j.call.order < now.facts.order
    ]
    return History(
        earlier=tuple(e for e in earlier if _same_cache(e.facts, now.facts)),
        others=tuple(mix(others)),  # type: ignore[arg-type]
        later=later.facts if later else None,
        later_extends=bool(later and now.chain and later.chain[: len(now.chain)] == now.chain),
        past=tuple(mix(past)),  # type: ignore[arg-type]
        lane_reads=tuple(mix(reads)),  # type: ignore[arg-type]
        events=tuple(mix(events)),  # type: ignore[arg-type]
    )


def _same_cache(a: CallFacts, b: CallFacts) -> bool:
    """Model and place are the same: what a history calls earlier calls on the same cache."""
    return a.model == b.model and (a.provider_id, a.endpoint) == (b.provider_id, b.endpoint)


def _difference(a: Seen, b: Seen) -> Difference | None:
    if a.prompt is None or b.prompt is None:
        return None
    found = compare(a.prompt, b.prompt)
    old, new = (s.facts.usage.input_tokens if s.facts.usage else None for s in (a, b))
    return difference_of(found, a.prompt, b.prompt, old, new, _names(a.prompt, b.prompt, found))


def _names(a: Prompt, b: Prompt, found: Comparison) -> Names:
    pairs = [
        (c.a_index, c.b_index)
        for c in found.changes
        if c.op is Op.CHANGED and c.a_index is not None and c.b_index is not None
    ]
    changed = any(c.op is not Op.EQUAL for c in found.changes)
    return Names(
        a_reminders=_reminders(a) if changed else {},
        b_reminders=_reminders(b) if changed else {},
        texts={
            (i, j): text_changes(a.blocks[i].block.text, b.blocks[j].block.text) for i, j in pairs
        },
    )


def _reminders(prompt: Prompt) -> dict[int, str]:
    found = anatomy_of(prompt, AnatomyContext((), BlockCache())).reminders
    places = {(r.message_index, r.block_index): r.source for r in found}
    return {
        p.index: places[p.message_index, p.block_index]
        for p in prompt.blocks
        if p.message_index is not None and (p.message_index, p.block_index) in places
    }


def _earlier(other: Seen, now: Seen) -> Earlier:
    if other.prompt is None or now.prompt is None:
        return Earlier(other.facts)
    common = 0
    for x, y in zip(other.chain, now.chain, strict=False):
        if x != y:
            break
        common += 1
    counts = [p.tokens for p in now.prompt.blocks]
    total = sum(counts)
    billed = now.facts.prompt_tokens or total
    tokens = round(sum(counts[:common]) * billed / total) if total else 0
    return Earlier(other.facts, tokens, common, common == len(other.chain))


# ---- a request ----------------------------------------------------------------------------------


def prompt_of(step: Step, known: dict[str, list[tuple[Block, ...]]]) -> Prompt:
    """The prompt as the log shows it. Messages that this record does not show are those of the
    session's earlier records, and not proven; where there are none they are a gap."""
    sent = step.sent
    placed: list[PlacedBlock] = []
    marks = {(m.tier, m.index, m.part): m for m in sent.marks}

    def put(block: Block, at: int, message: int | None, part: int, *, proven: bool = True) -> None:
        tier = str(block.tier)
        mark = marks.get((tier, at, part)) if proven else None
        ttl = mark.ttl if mark and mark.ttl != "5m" else ""
        marker = Marker(block.tier, at, part, ttl, "", message) if mark else None
        place = at if block.tier is Tier.TOOLS else part
        hashes = _hashes(block)
        placed.append(
            PlacedBlock(
                len(placed), at, message, place, block, *hashes, _count(block.text), marker, proven
            )
        )

    for i, part in enumerate(sent.tools):
        put(block_of(part, Tier.TOOLS, ""), i, None, 0)
    for i, part in enumerate(sent.system):
        put(block_of(part, Tier.SYSTEM, "system"), i, i, 0)
    first = max(0, len(sent.messages) - step.shown) if step.shown is not None else 0
    held = known.setdefault(sent.lane, [])[: len(sent.messages)]
    if first > len(held):
        gap = Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=first - len(held))
        held += [()] * (first - len(held))
        put(gap, 0, len(sent.system), 0, proven=False)
    for i, message in enumerate(sent.messages):
        shown = tuple(block_of(part, Tier.MESSAGES, message.role) for part in message.parts)
        held[i : i + 1] = [shown if i >= first else held[i]]
        for j, block in enumerate(held[i]):
            put(block, i, len(sent.system) + i, j, proven=i >= first)
    known[sent.lane] = held
    return Prompt(tuple(placed))


@lru_cache(maxsize=100_000)
def block_of(part: Part, tier: Tier, role: str) -> Block:
    """A piece of content as a block."""
    shape = {"call": "call", "result": "string"}.get(part.kind, part.shape)
    if tier is Tier.SYSTEM:
        shape = "string"
    return Block(tier, role, _KINDS[part.kind], part.text, shape, part.name, part.call_id)


@lru_cache(maxsize=100_000)
def _hashes(block: Block) -> tuple[bytes, bytes]:
    return wire_hash(block), norm_hash(block)


@lru_cache(maxsize=100_000)
def _count(text: str) -> int:
    return _counter.count(text).tokens


def _chain(prompt: Prompt) -> Iterator[bytes]:
    node = ROOT_HASH
    for placed in prompt.blocks:
        node = node_hash(node, placed.wire_hash, placed.block_index == 0)
        yield node


def _facts(step: Step, house: House, prompt: Prompt | None, chain: tuple[bytes, ...]) -> CallFacts:
    sent, billed = step.sent, step.billed
    hidden = step.shown is not None and step.shown < len(sent.messages)
    observed = "windowed" if hidden else "full"
    offset = len(sent.system) + len(sent.messages) - (step.shown or 0) if hidden else 0
    markers = tuple(p.marker for p in prompt.blocks if p.marker) if prompt else None
    return CallFacts(
        key=sent.key,
        provider_id=house.provider_id,
        model_id=sent.model,
        returned_model_id=sent.answered_by if billed else "",
        lane=sent.lane,
        endpoint=sent.endpoint,
        session_id=sent.session,
        query_source=sent.source,
        purpose=purpose_of(sent.source),
        attempt=sent.attempt,
        step=sent.step,
        started_at_ms=sent.start_ms,
        first_token_at_ms=sent.first_ms if billed else None,
        completed_at_ms=sent.end_ms,
        status=Status.COMPLETED if billed else Status.FAILED,
        http_status=sent.fails or 200,
        error=f"APIError: {sent.fails}" if sent.fails else "",
        response_id=f"msg_{sent.key}" if billed else "",
        usage=_usage(step, house),
        write_5m_tokens=billed.write_5m if billed and house.writes else None,
        write_1h_tokens=billed.write_1h if billed and house.writes else None,
        markers=markers,
        message_count=len(sent.system) + len(sent.messages),
        observed=observed if prompt else "metadata",
        verified_from=offset if prompt else None,
        params=sent.params,
        headers=sent.headers,
        hashes=_ladder(prompt, chain),
        prompt_tokens_estimate=sum(p.tokens for p in prompt.blocks) if prompt else None,
        client_version=sent.client_version,
    )


def _usage(step: Step, house: House) -> Usage | None:
    billed = step.billed
    if billed is None:
        return None
    read = billed.read if step.reported_read is None else step.reported_read
    given = billed.total - (read + billed.write if house.exclusive else 0)
    return normalise(
        ReportedUsage(
            input_tokens=given,
            output_tokens=billed.output,
            total_tokens=None if house.exclusive else given + billed.output,
            cache_read_tokens=read if step.read_reported else None,
            cache_write_tokens=billed.write if house.writes else None,
            declared=Convention.EXCLUSIVE if house.exclusive else Convention.INCLUSIVE,
        )
    )


def _ladder(prompt: Prompt | None, chain: tuple[bytes, ...]) -> HashLadder:
    if prompt is None:
        return HashLadder()
    return HashLadder(
        tools=_tier_hash(prompt, Tier.TOOLS),
        system=_tier_hash(prompt, Tier.SYSTEM),
        prompt=chain[-1].hex() if chain else "",
    )


def _tier_hash(prompt: Prompt, tier: Tier) -> str:
    found = [p.wire_hash for p in prompt.blocks if p.block.tier is tier]
    return digest(b"".join(found)).hex()


def place_of(verdict: Verdict) -> tuple[str, int] | None:
    """Where the primary cause of a verdict stands: (tier, index inside the tier)."""
    cause = verdict.causes[0] if verdict.causes else None
    if cause is None or cause.tier is None or cause.block_index is None:
        return None
    return str(cause.tier), cause.block_index
