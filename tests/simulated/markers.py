"""A provider that caches at markers, as Anthropic documents it.

An entry is a whole prefix that ends at a marked piece. A request reads the longest entry found by
walking back from one of its markers, at most 20 positions; a run of tool calls, or of tool results,
is one position on the Claude API and as many as it has pieces elsewhere. Below a model's minimum
nothing is written. An entry can be read once the answer of the request that wrote it has begun, and
lives for five minutes or an hour from the start of the request that last wrote or read it.
Parameters belong to the prefix from the tier on that they are said to invalidate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.simulated.stream import Atom, Pricing, Stream, reply_of, stream_of, total_of
from tests.simulated.wire import MESSAGES, SYSTEM, TOOLS, Billed, Sent

MINUTE_MS = 60_000
TTL_MS = {"5m": 5 * MINUTE_MS, "1h": 60 * MINUTE_MS}
LOOKBACK = 20


@dataclass(slots=True)
class _Entry:
    expires_ms: int
    readable_ms: int
    ttl: str


class MarkerServer:
    """One workspace of the provider."""

    def __init__(
        self, pricing: Pricing, minimum: int, *, runs_as_one: bool = True, strips: bool = False
    ) -> None:
        self._pricing = pricing
        self._minimum = minimum
        self._runs_as_one = runs_as_one
        self._strips = strips
        self._entries: dict[int, _Entry] = {}
        self.lose_next = False
        self.downgrades = False

    def answer(self, sent: Sent) -> Billed:
        """Read, write, and what is billed."""
        stream = stream_of(sent, self._pricing, shapes=True, strips=self._strips)
        keys = list(_keys(stream, sent))
        ends = list(_ends(stream))
        marked = self._marked(stream, sent)
        if self.lose_next:
            self._entries, self.lose_next = {}, False
        hits = [hit for mark in marked if (hit := self._walk(stream, keys, mark, sent)) is not None]
        read = max((ends[hit] for hit in hits), default=0)
        for hit in hits:
            entry = self._entries[keys[hit]]
            entry.expires_ms = max(entry.expires_ms, sent.start_ms + TTL_MS[entry.ttl])
        written = self._write(sent, marked, keys, ends, read)
        return Billed(
            total=ends[-1],
            read=read,
            write=sum(written.values()),
            output=self.said(sent),
            write_5m=written["5m"],
            write_1h=written["1h"],
        )

    def said(self, sent: Sent) -> int:
        """The tokens of an answer, which no entry holds."""
        return total_of(reply_of(sent, self._pricing, shapes=True))

    def _marked(self, stream: Stream, sent: Sent) -> dict[int, str]:
        """The marked pieces and their lifetimes."""
        ttl = {(mark.tier, mark.index, mark.part): mark.ttl for mark in sent.marks}
        return {
            i: "5m" if self.downgrades else ttl[atom.place]
            for i, atom in enumerate(stream)
            if atom.place in ttl
        }

    def _walk(self, stream: Stream, keys: Sequence[int], mark: int, sent: Sent) -> int | None:
        """The nearest entry at or before a marker."""
        steps = 0
        for i in range(mark, -1, -1):
            if i < mark and not self._same_position(stream[i], stream[i + 1]):
                steps += 1
            if steps > LOOKBACK:
                return None
            entry = self._entries.get(keys[i])
            if entry and entry.readable_ms <= sent.start_ms < entry.expires_ms:
                return i
        return None

    def _same_position(self, a: Atom, b: Atom) -> bool:
        return self._runs_as_one and bool(a.run) and a.run == b.run

    def _write(
        self,
        sent: Sent,
        marked: Mapping[int, str],
        keys: Sequence[int],
        ends: Sequence[int],
        read: int,
    ) -> dict[str, int]:
        """New entries at every marker behind the read; tokens written, by lifetime."""
        written = {"5m": 0, "1h": 0}
        done = read
        for i, ttl in sorted(marked.items()):
            if ends[i] < self._minimum:
                continue
            live = self._entries.get(keys[i])
            if ends[i] > done or live is None or live.expires_ms <= sent.start_ms:
                self._entries[keys[i]] = _Entry(
                    sent.start_ms + TTL_MS[ttl], sent.first_ms, ttl
                )  # fmt: skip
            if ends[i] > done:
                written[ttl] += ends[i] - done
                done = ends[i]
        return written


def _ends(stream: Stream) -> Iterator[int]:
    total = 0
    for atom in stream:
        total += atom.tokens
        yield total


def _keys(stream: Stream, sent: Sent) -> Iterator[int]:
    """What identifies the prefix up to each piece."""
    body = sent.params.get("body")
    params: Mapping[str, object] = body if isinstance(body, Mapping) else {}
    headers = [str(sent.headers.get(n)) for n in ("anthropic-workspace-id", "anthropic-beta")]
    key = hash((sent.answered_by, sent.endpoint, *headers))
    images = any(part.kind == "image" for message in sent.messages for part in message.parts)
    tier = TOOLS
    for atom in stream:
        if tier == TOOLS and atom.place[0] != TOOLS:
            tier = SYSTEM
            key = hash((key, str(params.get("speed")), str(params.get("citations"))))
        if tier == SYSTEM and atom.place[0] == MESSAGES:
            tier = MESSAGES
            late = [str(params.get(n)) for n in ("tool_choice", "thinking", "output_config")]
            key = hash((key, images, *late))
        key = hash((key, atom.text))
        yield key
