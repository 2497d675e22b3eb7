"""The verdicts of a session, in the order in which a cache saw its requests.

A verdict is given anew only where what it is made from has changed: facts of the call, of the calls
around it, events, earlier verdicts. A digest of all that is stored with it.
"""

import sqlite3
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracer.cache import RULES_VERSION, Provider, explain, provider_for
from tracer.cache.baseline import Baseline, choose_baseline, same_cache
from tracer.cache.case import answered
from tracer.cache.expected import noise_tokens
from tracer.cache.providers.base import Match
from tracer.hashing import digest
from tracer.model.verdict import (
    CallFacts,
    Difference,
    Earlier,
    History,
    LoggedEvent,
    PastVerdict,
    Verdict,
)
from tracer.service.judging.appended import (
    KEPT_BLOCKS,
    KEPT_UNMARKED,
    Billed,
    appended,
    proven_blocks,
)
from tracer.service.judging.facts import Call, SessionCalls
from tracer.service.judging.later_proof import (
    LaterProof,
    WholeCalls,
    is_of_the_prefix,
    later_proof,
    with_proof,
)
from tracer.service.judging.paths import Walker
from tracer.service.judging.prompts import Comparing
from tracer.service.judging.reads import LaneReads
from tracer.service.judging.weights import Weights

OWN_EARLIER = 16
"""Earlier calls of the lane that are looked at, beside those whose whole prompt is carried on."""

WHOLE_EARLIER = 3
OTHER_EARLIER = 10
PAST_VERDICTS = 200


class Known(NamedTuple):
    """What is stored of a verdict: the digest of what it was made from, and what later verdicts of
    the lane look at."""

    inputs_hash: bytes
    signals: tuple[str, ...]
    missed: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call's verdict; `verdict` is None where the stored one still holds."""

    call: Call
    inputs_hash: bytes
    verdict: Verdict | None


@dataclass(slots=True)
class _Lane:
    """What is known of a lane while its calls go by."""

    walker: Walker
    calls: deque[Call] = field(default_factory=lambda: deque(maxlen=OWN_EARLIER))
    tips: dict[int, Call] = field(default_factory=dict)
    past: deque[PastVerdict] = field(default_factory=lambda: deque(maxlen=PAST_VERDICTS))
    past_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class Setting:
    """A call and all that its verdict is made from. `path` is the call's own only until the next
    call of the lane is looked at."""

    call: Call
    baseline: Baseline | None
    baseline_call: Call | None
    history: History
    common: int
    weight: float
    path: Sequence[int]
    proof: LaterProof | None
    inputs_hash: bytes


class Judge:
    """Judges the calls of one session. Secrets in excerpts are masked unless `reveal`: what is
    stored is never made with it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        calls: SessionCalls,
        *,
        reveal: bool = False,
    ) -> None:
        self.session = calls
        self._paths = calls.paths
        self._comparing = Comparing(connection, row_id, calls, reveal=reveal)
        self._by_key = {call.facts.key: call for call in calls.calls}
        self._reads = LaneReads(calls.calls)
        self._weights = Weights(calls)
        self._whole = WholeCalls(calls.calls)
        self._next = _next_answered(calls.calls)
        self._event_times = [event.at_ms or 0 for event in calls.events]

    def all(self, known: Mapping[str, Known]) -> Iterator[Outcome]:
        """Every call's outcome, in order. `known` are the stored verdicts by key."""
        lanes: dict[str, _Lane] = {}
        recent: deque[Call] = deque(maxlen=4 * OTHER_EARLIER)
        for call in self.session.calls:
            lane = lanes.setdefault(call.facts.lane, _Lane(Walker(self._paths)))
            setting = self._setting(call, lane, recent)
            old = known.get(call.facts.key)
            verdict = None
            if old is None or old.inputs_hash != setting.inputs_hash:
                verdict = self.verdict(setting)
                old = Known(b"", verdict.signals, verdict.is_miss)
            self._pass(call, lane, recent, old)
            yield Outcome(call, setting.inputs_hash, verdict)

    def one(self, key: str, known: Mapping[str, Known], against: str = "") -> Setting:
        """What the verdict of one call is made from; `against` names another baseline."""
        lanes: dict[str, _Lane] = {}
        recent: deque[Call] = deque(maxlen=4 * OTHER_EARLIER)
        for call in self.session.calls:
            lane = lanes.setdefault(call.facts.lane, _Lane(Walker(self._paths)))
            if call.facts.key == key:
                return self._setting(call, lane, recent, self._by_key.get(against))
            lane.walker.step_if(call.row.node_id)
            self._pass(call, lane, recent, known.get(call.facts.key) or Known(b"", (), False))
        raise KeyError(key)

    def verdict(self, setting: Setting, *, brief: bool = True) -> Verdict:
        """The verdict on a setting; `brief` leaves out ends of blocks that change nothing."""
        facts = setting.call.facts
        provider = provider_of(facts)
        baseline = setting.baseline.call if setting.baseline else None
        difference = self.difference(setting, brief=brief)
        reason = setting.baseline.reason if setting.baseline else ""
        found = explain(facts, baseline, difference, setting.history, provider, None, reason)
        if setting.proof is not None and difference is not None and not difference.append_only:
            found = with_proof(found, setting.proof, self._paths)
        return found

    def _pass(self, call: Call, lane: _Lane, recent: deque[Call], known: Known) -> None:
        """Note a call that has been judged."""
        lane.calls.append(call)
        recent.append(call)
        if call.row.node_id is not None and answered(call.facts):
            lane.tips[call.row.node_id] = call
        if known.signals:
            lane.past.append(PastVerdict(call.facts.key, known.signals, known.missed))
            text = f"{call.facts.key} {known.missed} {' '.join(known.signals)}"
            lane.past_hash = digest(lane.past_hash + text.encode())

    def _setting(
        self, call: Call, lane: _Lane, recent: deque[Call], against: Call | None = None
    ) -> Setting:
        lane.walker.step_if(call.row.node_id)
        earlier = [self._earlier(call, c, lane.walker) for c in self._candidates(call, lane)]
        others = [c for c in recent if c.facts.lane != call.facts.lane]
        elsewhere = [self._earlier(call, c, lane.walker) for c in others[-OTHER_EARLIER:]]
        if against is not None:
            chosen: Baseline | None = Baseline(against.facts, "chosen by you")
        else:
            chosen = choose_baseline(call.facts, [*earlier, *elsewhere])
        baseline = self._by_key[chosen.call.key] if chosen else None
        history = self._history(call, baseline, lane, earlier, elsewhere, others)
        common = lane.walker.common_blocks(baseline.row.node_id) if baseline else 0
        weight = self._weights.of(call.facts)
        stamp = self._digest(call, baseline, history, lane)
        proof = None
        if baseline and baseline.row.node_id is not None and call.row.node_id is not None:
            if common == self._paths.sums[baseline.row.node_id].blocks:
                now = Billed(self._paths, lane.walker.path, _billed(call), weight)
                proof = later_proof(self._paths, call, baseline, self._whole, now)
                stamp = digest(stamp + proof.call.stamp) if proof else stamp
            else:
                stamp = digest(stamp + str(weight).encode())
        path = lane.walker.path
        return Setting(call, chosen, baseline, history, common, weight, path, proof, stamp)

    def _candidates(self, call: Call, lane: _Lane) -> list[Call]:
        """Earlier calls of the lane: the last ones, and the last ones that this prompt carries on
        as a whole."""
        found = {c.facts.key: c for c in lane.calls}
        if call.row.node_id is not None:
            whole = 0
            for node in reversed(lane.walker.path):
                carried = lane.tips.get(node)
                if carried is not None:
                    found.setdefault(carried.facts.key, carried)
                    whole += 1
                    if whole >= WHOLE_EARLIER:
                        break
        return list(found.values())

    def _earlier(self, call: Call, other: Call, walker: Walker) -> Earlier:
        tip = other.row.node_id
        if tip is None or call.row.node_id is None:
            return Earlier(other.facts)
        node = walker.common(tip)
        if node is None:
            return Earlier(other.facts, 0, 0)
        whole = node == tip
        blocks = self._paths.sums[node].blocks
        now, before = call.facts.prompt_tokens, other.facts.prompt_tokens
        if whole and now is not None and before is not None:
            return Earlier(other.facts, min(now, before), blocks, whole)
        weight = self._weights.of(call.facts)
        tokens = Billed(self._paths, walker.path, _billed(call), weight).end(blocks - 1)
        sizes = [size for size in (now, before) if size is not None]
        return Earlier(other.facts, min([tokens, *sizes]), blocks, whole)

    def _history(
        self,
        call: Call,
        baseline: Call | None,
        lane: _Lane,
        earlier: list[Earlier],
        elsewhere: list[Earlier],
        others: list[Call],
    ) -> History:
        facts = call.facts
        same = [e for e in (*earlier, *elsewhere) if same_cache(facts, e.facts)]
        if baseline is not None and not same_cache(facts, baseline.facts):
            same += [
                Earlier(e.facts)
                for e in elsewhere
                if e.facts.purpose is facts.purpose and not same_cache(facts, e.facts)
            ]
        between = [
            c.facts for c in others if baseline is None or c.facts.order > baseline.facts.order
        ]
        later = self._next.get(facts.key)
        return History(
            earlier=tuple(same),
            others=tuple(between[-OTHER_EARLIER:]),
            elsewhere=tuple(_elsewhere(facts, (*lane.calls, *others))[-OTHER_EARLIER:]),
            later=later.facts if later else None,
            later_extends=later is not None and self._extends(call, later),
            past=tuple(lane.past),
            lane_reads=self._reads.of(facts.lane),
            events=self._events(call, baseline),
        )

    def _extends(self, call: Call, later: Call) -> bool:
        tip, next_tip = call.row.node_id, later.row.node_id
        if tip is None or next_tip is None:
            return False
        return self._paths.sums[tip].whole and self._paths.contains(next_tip, tip)

    def _events(self, call: Call, baseline: Call | None) -> tuple[LoggedEvent, ...]:
        since = baseline.facts.started_at_ms if baseline else None
        until = call.facts.started_at_ms
        if since is None or until is None:
            return ()
        low = bisect_left(self._event_times, since)
        high = bisect_left(self._event_times, until + 1)
        return self.session.events[low:high]

    def _digest(self, call: Call, baseline: Call | None, history: History, lane: _Lane) -> bytes:
        parts = [call.stamp, baseline.stamp if baseline else b"-"]
        known = (self._by_key[e.facts.key].stamp for e in history.earlier)
        parts += sorted(known)
        parts += sorted(self._by_key[c.key].stamp for c in history.others)
        parts += sorted(self._by_key[c.key].stamp for c in history.elsewhere)
        parts.append(self._by_key[history.later.key].stamp if history.later else b"-")
        rest = (RULES_VERSION, history.later_extends, history.lane_reads, history.events)
        return digest(b"|".join((*parts, lane.past_hash, repr(rest).encode())))

    def difference(self, setting: Setting, *, brief: bool = True) -> Difference | None:
        """What comparing the two prompts gives; None where the log does not hold them."""
        call, baseline = setting.call, setting.baseline_call
        if baseline is None or call.row.node_id is None or baseline.row.node_id is None:
            return None
        tip = self._paths.sums[baseline.row.node_id]
        if setting.common < tip.blocks:
            return self._comparing.compare(baseline, call, setting.weight)
        if setting.proof is not None:
            found = self._comparing.compare(baseline, call, setting.weight, setting.proof)
            if found is not None and is_of_the_prefix(found):
                return found
        path = setting.path
        now = Billed(self._paths, path, _billed(call), setting.weight)
        proven = min(
            proven_blocks(self._paths, now.tip, path, call.row),
            proven_blocks(self._paths, tip, path, baseline.row),
        )
        read = call.facts.read_tokens
        quiet = brief and _read_all(call.facts, baseline.facts)
        marked = provider_of(call.facts).match.of(call.facts.model).value is Match.MARKERS
        kept = KEPT_BLOCKS if marked else KEPT_UNMARKED
        return appended(now, tip.blocks, proven, read if quiet else None, kept)


def provider_of(facts: CallFacts) -> Provider:
    """The provider family of a call."""
    return provider_for(facts.provider_id, facts.model, facts.endpoint)


def _billed(call: Call) -> int | None:
    return call.facts.usage.input_tokens if call.facts.usage else None


def _read_all(call: CallFacts, baseline: CallFacts) -> bool:
    """True where the read reached the end of the earlier prompt, but for rounding."""
    could = min(baseline.prompt_tokens or 0, call.prompt_tokens or 0)
    return (call.read_tokens or 0) >= could - noise_tokens(could, 1)


def _elsewhere(call: CallFacts, calls: Sequence[Call]) -> list[CallFacts]:
    """The calls that asked the same model through another endpoint, in order."""
    if not call.endpoint:
        return []
    found = (
        c.facts
        for c in calls
        if c.facts.endpoint not in ("", call.endpoint) and c.facts.model == call.model
    )
    return sorted(found, key=lambda facts: facts.order)


def _next_answered(calls: tuple[Call, ...]) -> dict[str, Call]:
    """The next answered call of the same lane, by key."""
    found: dict[str, Call] = {}
    following: dict[str, Call] = {}
    for call in reversed(calls):
        later = following.get(call.facts.lane)
        if later is not None:
            found[call.facts.key] = later
        if answered(call.facts):
            following[call.facts.lane] = call
    return found
