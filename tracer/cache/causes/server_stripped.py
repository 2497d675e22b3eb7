"""The provider itself took reasoning out of the history: its prompt is not the one that was sent.

Some models drop earlier reasoning when a plain user message arrives after tool use. Nothing differs
in what the client sent, and yet everything behind the first dropped block is new.
"""

from tracer.cache.case import Case
from tracer.model.prompt import Kind
from tracer.model.verdict import Boundary, Certainty, Fault, FoundCause, Share

CODE = "SERVER_STRIPPED"
TITLE = "the provider dropped a part"
ORDER = 21
FIX = "Use a model that keeps reasoning, or expect this once per user message."


def detect(case: Case) -> FoundCause | None:
    """An identical payload, a model that strips reasoning, and a plain user message after tool use
    (cache-rules.md 2.3, 21)."""
    rule = case.provider.strips_thinking.of(case.call.model)
    difference = case.difference
    if not rule.value or difference is None or not difference.append_only:
        return None
    old = [b for b in difference.boundaries if b.index < difference.common_blocks]
    new = [b for b in difference.boundaries if b.index >= difference.common_blocks]
    reasoning = next((b for b in old if b.kind is Kind.REASONING), None)
    tools = any(b.kind is Kind.TOOL_RESULT for b in old)
    if reasoning is None or not tools or not any(_plain_user(b) for b in new):
        return None
    return FoundCause(
        code=CODE,
        certainty=Certainty.MEDIUM,
        summary=(
            f"{case.call.model} drops earlier reasoning when a plain user message follows tool "
            "use, and everything behind it is read anew."
        ),
        fix=FIX,
        tier=reasoning.tier,
        block_index=reasoning.tier_index,
        message_index=reasoning.message_index,
        token_offset=reasoning.end_tokens,
        share=Share.BEFORE,
        fault=Fault.PROVIDER,
        evidence=(
            f"first reasoning ends at about token {reasoning.end_tokens:,}",
            "the prompt as sent was only appended to",
            f"rule: {rule.source}",
        ),
    )


def _plain_user(boundary: Boundary) -> bool:
    return boundary.role == "user" and boundary.kind is Kind.TEXT
