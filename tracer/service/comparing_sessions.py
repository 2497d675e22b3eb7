"""What a session's prompts were made of over all its requests, to be compared with another's."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from tracer.model.prompt import Part
from tracer.model.session_comparison import Group, Member, SessionSide, Version
from tracer.model.views import RequestSummary, SessionSummary
from tracer.store.prompts import session_block_rows, session_nodes
from tracer.store.reading import session_requests

_Key = tuple[Group, str]


def session_side(
    connection: sqlite3.Connection,
    row_id: int,
    session: SessionSummary,
    requests: Sequence[RequestSummary],
) -> SessionSide:
    """One side of a comparison. Side calls are left out: titles and the like have prompts of their
    own, which say nothing of the conversation's."""
    own = [r for r in requests if not r.side_call]
    members: dict[_Key, Member] = {}
    members |= _sections(own)
    members |= _tools(connection, row_id, own)
    members |= _reminders(own)
    members |= _models(own)
    return SessionSide(session, sum(r.observed != "metadata" for r in own), members)


class _Collected:
    """The versions of things, in order of appearance."""

    def __init__(self) -> None:
        self._versions: dict[_Key, dict[str, Version]] = {}
        self._requests: Counter[tuple[_Key, str]] = Counter()
        self._seen: dict[_Key, set[int]] = {}

    def add(self, key: _Key, version: Version) -> None:
        """Note that a request holds a version."""
        self._versions.setdefault(key, {}).setdefault(version.content_hash, version)
        self._requests[key, version.content_hash] += 1
        self._seen.setdefault(key, set()).add(version.first_seq)

    def members(self) -> dict[_Key, Member]:
        """What was noted."""
        found = {}
        for key, versions in self._versions.items():
            counted = tuple(
                Version(
                    v.content_hash, self._requests[key, v.content_hash], v.first_seq, v.first_key,
                    v.block_index, v.chars, v.tokens,
                )
                for v in versions.values()
            )  # fmt: skip
            found[key] = Member(len(self._seen[key]), sum(v.requests for v in counted), counted)
        return found


def _sections(requests: Iterable[RequestSummary]) -> dict[_Key, Member]:
    collected = _Collected()
    for request in requests:
        for section in request.sections:
            if section.content_hash and section.verified:
                version = Version(
                    section.content_hash, 0, request.seq, request.key, section.prompt_index,
                    section.chars, section.tokens_estimate,
                )  # fmt: skip
                collected.add((Group.SECTION, section.source), version)
    return collected.members()


def _tools(
    connection: sqlite3.Connection, row_id: int, requests: Iterable[RequestSummary]
) -> dict[_Key, Member]:
    """The tools by name, each with its schemas: every list of tools is looked at once."""
    nodes = {n.id: n for n in session_nodes(connection, row_id)}
    blocks = session_block_rows(connection, [i for i, n in nodes.items() if n.part == Part.TOOLS])
    tips = {row.key: row.node_id for row in session_requests(connection, row_id)}
    collected = _Collected()
    lists: dict[int | None, list[int]] = {None: []}

    def tools_of(tip: int | None) -> list[int]:
        path: list[int] = []
        node = tip
        while node is not None and node not in lists:
            path.append(node)
            node = nodes[node].parent_id
        found = lists[node]
        for step in reversed(path):
            found = [*found, step] if step in blocks else found
            lists[step] = found
        return found

    for request in requests:
        for node in tools_of(tips.get(request.key)):
            block = blocks[node]
            if block.kind == "tool_schema":
                version = Version(
                    block.wire_hash.hex(), 0, request.seq, request.key, block.depth, block.chars,
                    block.bpe_tokens if block.bpe_tokens is not None else block.estimate_tokens,
                )  # fmt: skip
                collected.add((Group.TOOL, block.name), version)
    return collected.members()


def _reminders(requests: Iterable[RequestSummary]) -> dict[_Key, Member]:
    """How many requests carry notes of a source, and how many notes there are in all."""
    seen: Counter[_Key] = Counter()
    count: Counter[_Key] = Counter()
    for request in requests:
        here: Counter[_Key] = Counter(
            (Group.REMINDER, r.source) for r in request.reminders if r.counted
        )
        here.update((Group.MCS, source) for m in request.mcs for source in m.sources)
        seen.update(here.keys())
        count.update(here)
    return {key: Member(seen[key], count[key], ()) for key in seen}


def _models(requests: Iterable[RequestSummary]) -> dict[_Key, Member]:
    found = Counter((Group.MODEL, r.model_id) for r in requests if r.model_id)
    return {key: Member(n, n, ()) for key, n in found.items()}
