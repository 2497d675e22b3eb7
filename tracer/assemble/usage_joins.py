"""Tying the rows of a session database to requests, messages, tools and children, and how strong
each tie is (formats/zcode.md 11).

A model I/O record and a usage row share no id: they are tied by session, turn, trace, purpose and
time, and confirmed by their token counts. One request known from several files is one request;
where two files disagree, both values are kept and shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracer.assemble.joins import Strength
from tracer.model.usage import Convention, ReportedUsage
from tracer.model.usage_rows import UsageRow

# The adapter waits this long for the last words of a stream that failed (formats/zcode.md 13).
SLACK_MS = 1_000
# A row that never ended (a crash) reaches this far: the longest idle window of a stream.
OPEN_MS = 600_000
_COUNTS = ("input_tokens", "cache_read_tokens", "output_tokens")


class CallFacts(NamedTuple):
    """What joining needs of a request (one attempt), or of a usage row (all attempts of a call).

    `name` is a request's key or a usage row's id. Unknown counts and times are None.
    """

    name: str
    turn_id: str
    trace_id: str
    query_source: str
    model_id: str
    status: str
    started_at_ms: int | None
    completed_at_ms: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None


class Conflict(NamedTuple):
    """Two files say different things of one fact."""

    fact: str
    request: str
    row: str


class UsageJoin(NamedTuple):
    """A usage row's request (its key), or none. `key` says in words what the tie rests on."""

    usage_id: str
    request_key: str
    strength: Strength
    key: str
    conflicts: tuple[Conflict, ...] = ()


def known_usage(row: UsageRow) -> ReportedUsage | None:
    """The counts that a row really knows: the agent writes 0 where it has nothing.

    A call that did not complete and counts nothing reported no usage. A cache count of 0 is a
    count only where the provider's own usage, if it was kept, speaks of caching.
    """
    counts = (row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens)
    if not any(counts):
        return None
    raw = row.usage_json.lower()
    silent = bool(raw) and "cach" not in raw
    return ReportedUsage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        total_tokens=row.computed_total_tokens,
        cache_read_tokens=None if silent and not row.cache_read_tokens else row.cache_read_tokens,
        cache_write_tokens=None
        if silent and not row.cache_write_tokens
        else row.cache_write_tokens,
        reasoning_tokens=row.reasoning_tokens,
        declared=Convention.INCLUSIVE,
        raw_json=row.usage_json,
    )


def usage_facts(row: UsageRow) -> CallFacts:
    """What joining needs of a usage row."""
    usage = known_usage(row)
    return CallFacts(
        row.usage_id, row.turn_id, row.trace_id, row.query_source, row.model_id, row.status,
        row.started_at_ms, row.completed_at_ms,
        usage.input_tokens if usage else None, usage.cache_read_tokens if usage else None,
        usage.output_tokens if usage else None,
    )  # fmt: skip


def join_usage(requests: Sequence[CallFacts], rows: Iterable[CallFacts]) -> list[UsageJoin]:
    """The request of each usage row of one session. A request has one row at the most, and the
    answer does not depend on the order of either list.

    Pairs whose token counts agree come first, then those where one side knows none, the nearest in
    time before others. A pair whose counts differ is taken only where neither side could mean
    anything else; it carries its conflicts.
    """
    rows = sorted(rows)
    by_start = _ByStart(requests)
    pairs = sorted(
        (_rank(request, row), row.name, request.name, request, row)
        for row in rows
        for request in by_start.near(row)
        if _may_be(request, row)
    )
    chosen: dict[str, UsageJoin] = {}
    taken: set[str] = set()
    for rank, row_name, key, request, row in pairs:
        if row_name in chosen or key in taken:
            continue
        if rank[0] == _DIFFERENT and _has_other(pairs, row_name, key):
            continue
        chosen[row_name] = _join(request, row, rank)
        taken.add(key)
    none = (Strength.SESSION, "no request of this time and turn is known from another file")
    return [chosen.get(row.name) or UsageJoin(row.name, "", *none) for row in rows]


_SAME, _UNKNOWN, _DIFFERENT = 0, 1, 2
_Rank = tuple[int, int, int]
_Pair = tuple[_Rank, str, str, CallFacts, CallFacts]


class _ByStart:
    """Requests by time, so that a long session is not compared pair by pair."""

    def __init__(self, requests: Sequence[CallFacts]) -> None:
        spans = []
        for request in requests:
            ends = [t for t in (request.started_at_ms, request.completed_at_ms) if t is not None]
            if ends:
                spans.append((min(ends), max(ends), request))
        spans.sort(key=lambda span: span[:2])
        self._starts = [start for start, _, _ in spans]
        self._requests = [request for _, _, request in spans]
        self._longest_ms = max((end - start for start, end, _ in spans), default=0)

    def near(self, row: CallFacts) -> Sequence[CallFacts]:
        """The requests that may overlap a row in time."""
        start, end = row.started_at_ms, row.completed_at_ms
        if start is None and end is None:
            return ()
        first = start if start is not None else end or 0
        last = end if end is not None else first + OPEN_MS
        low = bisect_left(self._starts, min(first, last) - SLACK_MS - self._longest_ms)
        return self._requests[low : bisect_right(self._starts, max(first, last) + SLACK_MS)]


def _may_be(request: CallFacts, row: CallFacts) -> bool:
    """True where nothing speaks against it: shared ids are equal where both have them, and the
    attempt lies in the time of the call."""
    same = (
        (request.turn_id, row.turn_id),
        (request.trace_id, row.trace_id),
        (request.query_source, row.query_source),
        (request.model_id, row.model_id),
    )
    if any(a and b and a != b for a, b in same):
        return False
    return _overlap(request, row)


def _overlap(request: CallFacts, row: CallFacts) -> bool:
    row_end, request_end = row.completed_at_ms, request.completed_at_ms
    if row.started_at_ms is None or request.started_at_ms is None:
        if row_end is None or request_end is None:
            return False
        return abs(row_end - request_end) <= SLACK_MS
    row_end = row_end if row_end is not None else row.started_at_ms + OPEN_MS
    request_end = request_end if request_end is not None else request.started_at_ms
    starts = row.started_at_ms <= request_end + SLACK_MS
    return starts and request.started_at_ms <= row_end + SLACK_MS


def _rank(request: CallFacts, row: CallFacts) -> _Rank:
    """The smaller, the likelier: counts, outcome, distance in time of the ends."""
    compared = [_compare(request, row, name) for name in _COUNTS]
    known = [same for same in compared if same is not None]
    counts = _UNKNOWN if not known else (_SAME if all(known) else _DIFFERENT)
    outcome = int(_ended_well(request.status) != _ended_well(row.status))
    return counts, outcome, _distance(request, row)


def _distance(request: CallFacts, row: CallFacts) -> int:
    for a, b in (
        (request.completed_at_ms, row.completed_at_ms),
        (request.started_at_ms, row.started_at_ms),
    ):
        if a is not None and b is not None:
            return abs(a - b)
    return OPEN_MS


def _ended_well(status: str) -> bool:
    return status == "completed"


def _compare(request: CallFacts, row: CallFacts, name: str) -> bool | None:
    a, b = getattr(request, name), getattr(row, name)
    return None if a is None or b is None else a == b


def _has_other(pairs: Sequence[_Pair], row_name: str, key: str) -> bool:
    """True where the row or the request has another possible partner."""
    return any(
        (pair[1] == row_name) != (pair[2] == key)
        for pair in pairs
        if pair[1] == row_name or pair[2] == key
    )


def _join(request: CallFacts, row: CallFacts, rank: _Rank) -> UsageJoin:
    shared = [
        word
        for word, a, b in (
            ("turn", request.turn_id, row.turn_id),
            ("trace", request.trace_id, row.trace_id),
            ("purpose", request.query_source, row.query_source),
        )
        if a and a == b
    ]
    agreement = {
        _SAME: "its token counts agree",
        _UNKNOWN: "one side has no token counts",
        _DIFFERENT: "its token counts differ",
    }[rank[0]]
    key = ", ".join(["session", *shared, "time"]) + f"; {agreement}"
    return UsageJoin(row.name, request.name, Strength.HEURISTIC, key, conflicts(request, row))


def conflicts(request: CallFacts, row: CallFacts) -> tuple[Conflict, ...]:
    """The counts in which a request's own record and a usage row disagree."""
    return tuple(
        Conflict(name, f"{getattr(request, name):,}", f"{getattr(row, name):,}")
        for name in _COUNTS
        if _compare(request, row, name) is False
    )


def total_conflict(row: UsageRow) -> Conflict | None:
    """The provider's total beside the agent's own sum, where a row holds both and they differ."""
    given, computed = row.provider_total_tokens, row.computed_total_tokens
    if given is None or computed is None or given == computed or not computed:
        return None
    return Conflict("total_tokens", f"{given:,}", f"{computed:,}")
