"""What each request of a session added to the prompts before it."""

from dataclasses import dataclass

from tracer.model.prompt import Kind, Part, Tier


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block in the request that first carried it at this place. `index` counts over the whole
    prompt, `message_index` over the message list (None for tools); `tokens` is the BPE count, else
    the agent's estimate (`counted` False). `text` is None unless asked for."""

    index: int
    tier: Tier
    message_index: int | None
    role: str
    kind: Kind
    part: Part
    name: str
    chars: int
    tokens: int
    counted: bool
    wire_hash: str
    span_messages: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RequestAdditions:
    """What the prompt of request number `seq` holds behind the longest beginning that it shares
    with an earlier prompt of the session: its first `kept` blocks are those of request `kept_seq`
    (None: it shares none). `total` counts all its blocks; None where the log shows no prompt."""

    key: str
    seq: int
    kept: int
    kept_seq: int | None
    total: int | None
    blocks: tuple[NewBlock, ...]
