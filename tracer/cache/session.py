"""What a session's cache did as a whole: rates, floors, losses by cause (cache-rules.md 4).

Rates are sums over sums, never means of rates, and each comes with its formula. Calls that failed,
or did not report a read, are in no rate.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracer.cache.patterns import Pattern, cold_subagents, floor_of, lane_patterns
from tracer.cache.wording import percent
from tracer.model.verdict import CallFacts, Purpose, Result, Verdict

PAUSED = "TTL_EXPIRED/"
"""The signal of a verdict whose request came after more than the lifetime of an entry."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A call and its verdict."""

    call: CallFacts
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its two sums, and the formula with the numbers put in."""

    read_tokens: int
    of_tokens: int
    formula: str

    @property
    def value(self) -> float | None:
        """The rate, 0 to 1, or None where nothing was counted."""
        return self.read_tokens / self.of_tokens if self.of_tokens else None


@dataclass(frozen=True, slots=True)
class CauseSum:
    """What one cause cost: `before` tokens were identical and not read, `after` were put out of
    reach. `expected` ones were meant to happen and are no misses."""

    code: str
    subtype: str
    requests: int
    before_tokens: int
    after_tokens: int
    expected: bool

    @property
    def tokens(self) -> int:
        """Both."""
        return self.before_tokens + self.after_tokens


@dataclass(frozen=True, slots=True)
class InFlight:
    """Calls that started while `others` other calls were still unanswered, and how many missed."""

    others: int
    calls: int
    misses: int


@dataclass(frozen=True, slots=True)
class LaneCache:
    """One lane. `floor_tokens` is the read that low calls have in common."""

    lane: str
    requests: int
    rate: Rate
    corrected: Rate
    floor_tokens: int | None
    excess_write_tokens: int
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class SessionCache:
    """A session's cache. `rate` is that of all calls, `first_of_turn` of those that open a turn,
    `inner` of the others whose place in a turn is known. Of the pauses beyond the
    lifetime of an entry (from start to start in a lane) `expired_pauses` count those that a miss
    was put down to, `survived_pauses` those after which all was read. `rewrite_formula` and `naive`
    are sentences; `naive` is empty where no count would be doubled."""

    requests: int
    judged: int
    misses: int
    expected_rebuilds: int
    no_usage: int
    not_reported: int
    rate: Rate
    first_of_turn: Rate
    inner: Rate
    corrected: Rate
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int
    rewrite_factor: float | None
    rewrite_formula: str
    excess_write_tokens: int
    lanes: tuple[LaneCache, ...]
    causes: tuple[CauseSum, ...]
    expired_pauses: int
    survived_pauses: int
    in_flight: tuple[InFlight, ...]
    patterns: tuple[Pattern, ...]
    naive: str


def session_cache(judged: Iterable[Judged]) -> SessionCache:
    """The sums of a session, from its verdicts in any order."""
    rows = sorted(judged, key=lambda j: j.call.order)
    calls = [j.call for j in rows]
    results = [j.verdict.result for j in rows]
    lanes = _by_lane(rows)
    excess = sum(lane.excess_write_tokens for lane in lanes)
    factor, formula = _rewrite(calls)
    firsts = [
        next(iter(sorted((c for c in calls if c.lane == lane), key=lambda c: c.order)))
        for lane in sorted({c.lane for c in calls if c.purpose is Purpose.SUBAGENT})
    ]
    cold = cold_subagents(firsts)
    paused = _after_pauses(rows)
    return SessionCache(
        requests=len(rows),
        judged=sum(1 for r in results if r not in (Result.NO_USAGE, Result.NOT_REPORTED)),
        misses=sum(1 for j in rows if j.verdict.is_miss),
        expected_rebuilds=results.count(Result.EXPECTED_REBUILD),
        no_usage=results.count(Result.NO_USAGE),
        not_reported=results.count(Result.NOT_REPORTED),
        rate=hit_rate(calls),
        first_of_turn=hit_rate([c for c in calls if c.step == 1]),
        inner=hit_rate([c for c in calls if c.step is not None and c.step > 1]),
        corrected=_joined(
            [lane.corrected for lane in lanes], "Σ read ÷ Σ min(prompt before, prompt)"
        ),
        missed_tokens=sum(j.verdict.missed_tokens for j in rows if j.verdict.is_miss),
        avoidable_tokens=sum(j.verdict.avoidable_tokens for j in rows if j.verdict.is_miss),
        rebilled_tokens=sum(j.verdict.rebilled_tokens for j in rows if j.verdict.is_miss),
        rewrite_factor=factor,
        rewrite_formula=formula,
        excess_write_tokens=excess,
        lanes=lanes,
        causes=cause_sums(rows),
        expired_pauses=sum(any(c.code == "TTL_EXPIRED" for c in v.causes) for v in paused),
        survived_pauses=sum(v.result is Result.HIT for v in paused),
        in_flight=_in_flight(rows),
        patterns=(cold,) if cold else (),
        naive=double_count(calls),
    )


def hit_rate(calls: Sequence[CallFacts]) -> Rate:
    """Σ read ÷ Σ prompt over the calls that reported a read, weighted by tokens."""
    rows = [c for c in calls if _counts(c)]
    read = sum(c.read_tokens or 0 for c in rows)
    total = sum(_billed(c) for c in rows)
    return Rate(read, total, f"Σ read ÷ Σ prompt = {read:,} ÷ {total:,} = {percent(read, total)}")


def corrected_rate(calls: Sequence[CallFacts]) -> Rate:
    """Σ read ÷ Σ min(prompt before, prompt) of one lane: new tokens are not in the denominator. A
    read beyond the prompt before counts as all of it."""
    rows = [c for c in sorted(calls, key=lambda c: c.order) if _counts(c)]
    could = [min(_billed(a), _billed(b)) for a, b in zip(rows, rows[1:], strict=False)]
    reads = [min(b.read_tokens or 0, c) for b, c in zip(rows[1:], could, strict=True)]
    read, total = sum(reads), sum(could)
    return Rate(
        read,
        total,
        f"Σ read ÷ Σ min(prompt before, prompt) = {read:,} ÷ {total:,} = {percent(read, total)}",
    )


def double_count(calls: Sequence[CallFacts]) -> str:
    """What adding reads to an input that contains them would show, and the right rate; empty where
    the question does not arise (cache-rules.md 0, finding 1)."""
    rows = [c for c in calls if _counts(c) and c.usage and c.usage.convention.value == "inclusive"]
    read = sum(c.read_tokens or 0 for c in rows)
    total = sum(_billed(c) for c in rows)
    if not read:
        return ""
    return (
        f"Input already contains the read here: {read:,} ÷ {total:,} = {percent(read, total)}. "
        f"{read:,} ÷ ({total:,} + {read:,}) = {percent(read, total + read)} would count it twice."
    )


def cause_sums(judged: Iterable[Judged]) -> tuple[CauseSum, ...]:
    """What each cause cost, the costliest first. Shares add up to the rebilled tokens."""
    before: dict[tuple[str, str, bool], int] = defaultdict(int)
    after: dict[tuple[str, str, bool], int] = defaultdict(int)
    requests: dict[tuple[str, str, bool], int] = defaultdict(int)
    for row in sorted(judged, key=lambda j: j.call.order):
        verdict = row.verdict
        rebuilt = verdict.result is Result.EXPECTED_REBUILD
        if not verdict.is_miss and not rebuilt:
            continue
        for position, cause in enumerate(verdict.causes):
            name = (cause.code, cause.subtype, rebuilt)
            share = cause.tokens or 0
            early = min(share, verdict.missed_tokens) if len(verdict.causes) == 1 else 0
            if len(verdict.causes) > 1 and cause.share.value == "before":
                early = share
            before[name] += early
            after[name] += share - early
            if position == 0 or share:
                requests[name] += 1
    sums = [
        CauseSum(code, subtype, found, before[name], after[name], rebuilt)
        for name, found in requests.items()
        for code, subtype, rebuilt in [name]
    ]
    return tuple(sorted(sums, key=lambda s: (-s.tokens, s.code, s.subtype)))


def _counts(call: CallFacts) -> bool:
    return call.read_tokens is not None and call.usage is not None and bool(_billed(call))


def _billed(call: CallFacts) -> int:
    return (call.usage.input_tokens or 0) if call.usage else 0


def _joined(rates: Sequence[Rate], words: str) -> Rate:
    read, total = sum(r.read_tokens for r in rates), sum(r.of_tokens for r in rates)
    return Rate(read, total, f"{words} = {read:,} ÷ {total:,} = {percent(read, total)}")


def _by_lane(rows: Sequence[Judged]) -> tuple[LaneCache, ...]:
    lanes: dict[str, list[CallFacts]] = defaultdict(list)
    for row in rows:
        lanes[row.call.lane].append(row.call)
    return tuple(_lane(name, calls) for name, calls in sorted(lanes.items()))


def _lane(name: str, calls: Sequence[CallFacts]) -> LaneCache:
    return LaneCache(
        lane=name,
        requests=len(calls),
        rate=hit_rate(calls),
        corrected=corrected_rate(calls),
        floor_tokens=floor_of(calls),
        excess_write_tokens=_excess_writes(calls),
        patterns=lane_patterns(calls),
    )


def _rewrite(calls: Sequence[CallFacts]) -> tuple[float | None, str]:
    """Σ write ÷ the largest prompt: 1.00 is ideal, for one growing conversation."""
    written = sum(c.write_tokens or 0 for c in calls)
    largest = max((_billed(c) for c in calls), default=0)
    if not written or not largest:
        return None, "no writes were reported"
    factor = written / largest
    return (
        factor,
        f"Σ write ÷ largest prompt = {written:,} ÷ {largest:,} = {factor:.2f} (ideal 1.00)",
    )


def _excess_writes(calls: Sequence[CallFacts]) -> int:
    """Σ max(0, write − growth): tokens that were written although they were not new."""
    rows = [c for c in sorted(calls, key=lambda c: c.order) if _counts(c)]
    return sum(
        max(0, (b.write_tokens or 0) - max(0, _billed(b) - _billed(a)))
        for a, b in zip(rows, rows[1:], strict=False)
    )


def _after_pauses(rows: Sequence[Judged]) -> list[Verdict]:
    """The verdicts of the calls before which a lane paused for longer than an entry lives."""
    last: dict[str, CallFacts] = {}
    found = []
    for row in rows:
        before = last.get(row.call.lane)
        last[row.call.lane] = row.call
        timed = before is not None and before.started_at_ms is not None
        if timed and row.call.started_at_ms is not None and PAUSED in row.verdict.signals:
            found.append(row.verdict)
    return found


def _in_flight(rows: Sequence[Judged]) -> tuple[InFlight, ...]:
    """Misses by the number of other calls in flight at the start (cache-rules.md 4)."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    timed = [r for r in rows if r.call.started_at_ms is not None]
    running: list[int] = []
    for row in timed:
        start = row.call.started_at_ms or 0
        running = [end for end in running if end > start]
        bucket = counts[len(running)]
        bucket[0] += 1
        bucket[1] += row.verdict.is_miss
        if row.call.completed_at_ms is not None:
            running.append(row.call.completed_at_ms)
    return tuple(InFlight(n, calls, misses) for n, (calls, misses) in sorted(counts.items()))
