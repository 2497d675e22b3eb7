"""The token counter's interface, and the agents' own estimate of tokens.

Pure: no files, no clock, no tokenizer. The counter that needs a tokenizer is `tracer.tokens_bpe`.

Everything here is linear in the text and runs at memory speed. The estimate is the rule that agents
log as `zcode.estimateTokens.v1` ("formats/zcode.md section 2.4"): it lets a count that a logger
redacted be computed again, to the token, wherever the text survived.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

DEFAULT_ENCODING = "o200k_base"

VENDORED_ENCODINGS = frozenset({DEFAULT_ENCODING})
"""Encodings whose rank data ships with this package."""

ESTIMATE_NAME = "zcode.estimateTokens.v1"

# U+4E00..U+9FFF are exactly the UTF-16 units whose high byte is 0x4E..0x9F (surrogates are 0xD8..),
# so counting them is counting bytes.
_CJK_HIGH_BYTES = bytes(range(0x4E, 0xA0))

# Old OpenAI models; every other model that can be named here counts with the default.
_CL100K_NAMES = frozenset({"gpt-4", "gpt-3.5", "gpt-35", "text-embedding"})
_CL100K_PREFIXES = ("gpt-4-", "gpt-3.5-", "gpt-35-", "text-embedding-")


class TokenCount(NamedTuple):
    """A number of tokens, and whether it is what the counter's encoding gives for the whole text.

    `exact` speaks of the encoding only: a model with another tokenizer bills another number.
    """

    tokens: int
    exact: bool


class TokenBounds(NamedTuple):
    """The least and the most tokens a text can have, both included."""

    low: int
    high: int


class TokenCounter(Protocol):
    """Counts the tokens of a text; `name` says by which encoding or rule."""

    name: str

    def count(self, text: str) -> TokenCount:
        """Return the tokens of `text`."""
        ...


class BatchTokenCounter(TokenCounter, Protocol):
    """A counter that is also given many texts at once, to count them side by side."""

    def count_many(self, texts: Sequence[str]) -> list[TokenCount]:
        """Return the tokens of each text, in the order given."""
        ...


class EstimateCounter:
    """The agents' own estimate as a counter. It needs no data and is never exact."""

    name: str = ESTIMATE_NAME

    def count(self, text: str) -> TokenCount:
        """Return the estimated tokens of `text`, marked inexact."""
        return TokenCount(estimate_tokens(text), exact=False)

    def count_many(self, texts: Sequence[str]) -> list[TokenCount]:
        """Return the estimated tokens of each text, in the order given."""
        return [self.count(text) for text in texts]


def utf16_length(text: str) -> int:
    """Return the length of `text` in UTF-16 code units, which is what JavaScript calls its length.

    A character beyond U+FFFF counts 2, a lone surrogate 1.
    """
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_tokens(text: str) -> int:
    """Return the agent's own estimate of the tokens of `text`.

    The rule is `zcode.estimateTokens.v1` ("formats/zcode.md section 2.4"), exactly:
    ceil((2 * cjk + (n - cjk)) / 3), where n is the length in UTF-16 code units and cjk the number
    of characters in U+4E00..U+9FFF.
    """
    if text.isascii():
        return (len(text) + 2) // 3
    units = text.encode("utf-16-le", "surrogatepass")
    high_bytes = units[1::2]
    cjk = len(high_bytes) - len(high_bytes.translate(None, _CJK_HIGH_BYTES))
    return (len(high_bytes) + cjk + 2) // 3


def estimate_bounds(chars: int) -> TokenBounds:
    """Return the bounds of the agent's estimate for one text of which only the length survived.

    ceil(chars / 3) <= tokens <= ceil(2 * chars / 3) ("formats/zcode.md section 2.4"): no Chinese
    character, or nothing else. The bounds hold for one text: each text rounds up by itself, so the
    estimates of k texts can add up to k - 1 more than the upper bound of their summed length.

    Args:
        chars: Length of the text in UTF-16 code units, as the agent logs it.

    Raises:
        ValueError: If `chars` is negative.
    """
    if chars < 0:
        raise ValueError(f"a text cannot have {chars} characters")
    return TokenBounds(low=(chars + 2) // 3, high=(2 * chars + 2) // 3)


def clean_surrogates(text: str) -> str:
    """Return `text` as it can be stored and encoded: without surrogate code points.

    A high surrogate followed by a low one becomes the character the two stand for, as JavaScript
    would read them; a lone surrogate becomes U+FFFD. Text without surrogates is returned as it is.
    """
    try:
        text.encode("utf-16-le")  # strict: the fastest way to ask whether there is a surrogate
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encoding_for_model(
    model_id: str | None, available: Collection[str] = VENDORED_ENCODINGS
) -> str:
    """Return the name of the encoding to count a model's tokens with.

    `o200k_base` for every model that does not ask for an encoding among `available`: newer OpenAI
    models use it, and for other vendors' models, whose tokenizers are not public, it is the nearest
    thing at hand. The old OpenAI models (gpt-4, gpt-3.5, text-embedding) ask for `cl100k_base`.

    Args:
        model_id: The model's id as logged; a provider before a slash is ignored.
        available: Encodings that can be loaded.
    """
    name = (model_id or "").strip().lower().rpartition("/")[2]
    old = name in _CL100K_NAMES or name.startswith(_CL100K_PREFIXES)
    return "cl100k_base" if old and "cl100k_base" in available else DEFAULT_ENCODING
