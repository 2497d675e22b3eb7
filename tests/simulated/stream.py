"""A prompt as a provider sees it: pieces in cache order, with their tokens."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.simulated.texts import IMAGE_TOKENS, tokens_of
from tests.simulated.wire import MESSAGES, SYSTEM, TOOLS, Part, Sent


class Pricing(NamedTuple):
    """How a provider's tokenizer and template differ from the plain count: a factor, one for
    tools, which are rendered anew, and what every message costs."""

    factor: float = 1.0
    tools_factor: float = 1.0
    message_tokens: int = 4


class Atom(NamedTuple):
    """A piece of a prompt. `text` is all that makes it what it is; `place` is (tier, index in the
    tier, part), `run` the kind of a piece that may form a run (`call`, `result`)."""

    text: str
    tokens: int
    place: tuple[str, int, int]
    run: str = ""


Stream = tuple[Atom, ...]


def stream_of(sent: Sent, pricing: Pricing, *, shapes: bool, strips: bool = False) -> Stream:
    """Tools, system, messages. `shapes`: the provider tells a string from an array of one text.
    `strips`: it drops the reasoning before the last plain message of the user."""
    found = [
        _atom(part, "", (TOOLS, i, 0), pricing, shapes=shapes) for i, part in enumerate(sent.tools)
    ]
    found += [
        _atom(part, "system", (SYSTEM, i, 0), pricing, shapes=False)
        for i, part in enumerate(sent.system)
    ]
    last_user = _last_plain_user(sent) if strips else -1
    for i, message in enumerate(sent.messages):
        for j, part in enumerate(message.parts):
            if part.kind == "reasoning" and i < last_user:
                continue
            place = (MESSAGES, i, j)
            found.append(_atom(part, message.role, place, pricing, shapes=shapes))
    return tuple(found)


def reply_of(sent: Sent, pricing: Pricing, *, shapes: bool) -> Stream:
    """The answer as it will stand in the next prompt, if the client sends it back as it was."""
    where = len(sent.messages)
    return tuple(
        _atom(part, "assistant", (MESSAGES, where, j), pricing, shapes=shapes)
        for j, part in enumerate(sent.reply)
    )


def total_of(stream: Iterable[Atom]) -> int:
    """The tokens of a stream."""
    return sum(atom.tokens for atom in stream)


def common_tokens(a: Sequence[Atom], b: Sequence[Atom], pricing: Pricing) -> int:
    """The longest common prefix of two streams, in tokens, into the first differing piece."""
    total = 0
    for x, y in zip(a, b, strict=False):
        if x.text == y.text:
            total += x.tokens
            continue
        inside = tokens_of(_common_text(x.text, y.text)) - 1
        factor = pricing.tools_factor if x.place[0] == TOOLS else pricing.factor
        return total + max(0, min(round(inside * factor), x.tokens - 1, y.tokens - 1))
    return total


def is_prefix(a: Sequence[Atom], b: Sequence[Atom]) -> bool:
    """Whether stream A is the beginning of stream B; A's last piece may be the beginning of B's."""
    if not a or len(a) > len(b):
        return False
    *whole, last = a
    same = all(x.text == y.text for x, y in zip(whole, b, strict=False))
    return same and b[len(whole)].text.startswith(last.text)


def cut(stream: Sequence[Atom], tokens: int, other: Sequence[Atom], pricing: Pricing) -> Stream:
    """The first `tokens` tokens of a stream that it has in common with another one."""
    kept: list[Atom] = []
    left = tokens
    for x, y in zip(stream, other, strict=False):
        if x.text != y.text or x.tokens > left:
            text = _common_text(x.text, y.text)
            if left > 0 and text:
                kept.append(Atom(text, left, x.place, x.run))
            break
        kept.append(x)
        left -= x.tokens
    return tuple(kept)


def _common_text(x: str, y: str) -> str:
    shortest = min(len(x), len(y))
    low, high = 0, shortest
    while low < high:
        middle = (low + high + 1) // 2
        if x[:middle] == y[:middle]:
            low = middle
        else:
            high = middle - 1
    return x[:low]


def _atom(
    part: Part, role: str, place: tuple[str, int, int], pricing: Pricing, *, shapes: bool
) -> Atom:
    shape = f"|{part.shape}" if shapes and role == "user" else ""
    head = f"<|{role}|{part.kind}|{part.name}|{part.call_id}{shape}>"
    if part.kind == "image":
        return Atom(head + part.text, IMAGE_TOKENS, place)
    factor = pricing.tools_factor if place[0] == TOOLS else pricing.factor
    tokens = round(tokens_of(part.text) * factor) + pricing.message_tokens
    return Atom(head + part.text, tokens, place, part.kind if part.call_id else "")


def _last_plain_user(sent: Sent) -> int:
    plain = [
        i
        for i, message in enumerate(sent.messages)
        if message.role == "user" and any(part.kind == "text" for part in message.parts)
    ]
    return plain[-1] if plain else -1
