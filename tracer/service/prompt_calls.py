"""The tool calls of a session of which only its prompts tell.

A call is part of the answer of one request, and stands, beside its result, in the prompt of a later
one. When it ran, and for how long, no prompt says.
"""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from tracer.assemble.tool_calls import ToolFact
from tracer.model.events import Status
from tracer.model.prompt import Kind
from tracer.store.prompt_calls import PromptNode, PromptTip, prompt_nodes, prompt_tips

_NO_ANSWER = (Status.FAILED.value, Status.CANCELLED.value)


class PromptCall(NamedTuple):
    """A call as the prompts tell of it. `asked_key` is the request that was answered with it: the
    last one of its purpose that did not fail, before the first prompt that holds the call; empty
    where there is none. `result_key` is the request in whose prompt its result first stands."""

    fact: ToolFact
    asked_key: str
    result_key: str


def prompt_calls(connection: sqlite3.Connection, row_id: int) -> list[PromptCall]:
    """The calls in the order in which they first stand in a prompt. Those without an id are left
    out: no result can be tied to them."""
    nodes = prompt_nodes(connection, row_id)
    seen: set[int] = set()
    answered: dict[str, PromptTip] = {}
    calls: dict[str, tuple[PromptNode, PromptTip | None]] = {}
    results: dict[str, tuple[PromptNode, str]] = {}
    for tip in prompt_tips(connection, row_id):
        for node in _fresh(nodes, tip.node_id, seen):
            if node.kind == Kind.TOOL_CALL and node.call_id:
                calls.setdefault(node.call_id, (node, answered.get(tip.query_source)))
            elif node.kind == Kind.TOOL_RESULT and node.call_id:
                results.setdefault(node.call_id, (node, tip.key))
        if tip.status not in _NO_ANSWER:
            answered[tip.query_source] = tip
    return [_call(node, asked, results.get(call_id)) for call_id, (node, asked) in calls.items()]


def _fresh(nodes: dict[int, PromptNode], tip: int | None, seen: set[int]) -> Iterator[PromptNode]:
    """The nodes of a prompt that no earlier prompt had, in order."""
    found = []
    while tip is not None and tip not in seen:
        seen.add(tip)
        found.append(nodes[tip])
        tip = nodes[tip].parent_id
    return reversed(found)


def _call(
    node: PromptNode, asked: PromptTip | None, result: tuple[PromptNode, str] | None
) -> PromptCall:
    status = "" if result is None else "error" if _failed(result[0]) else "completed"
    nothing = (None,) * 4
    turn_id = asked.turn_id if asked else ""
    fact = ToolFact("prompt", node.call_id, turn_id, node.tool, status, "", *nothing, "", "")
    return PromptCall(fact, asked.key if asked else "", result[1] if result else "")


def _failed(result: PromptNode) -> bool:
    said = msgspec.json.decode(result.message_json) if result.message_json else {}
    return isinstance(said, dict) and said.get("isError") is True
