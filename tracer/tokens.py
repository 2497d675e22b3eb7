"""What a count of tokens is, and the agents' own estimate of one.

Pure: no files, no clock, no tokenizer. The counter that needs a tokenizer is `tracer.tokens_bpe`.

Everything here is linear in the text and runs at memory speed. The estimate is the rule that agents
log as `zcode.estimateTokens.v1` ("formats/zcode.md section 2.4"): it lets a count that a logger
redacted be computed again, to the token, wherever the text survived.
"""

from typing import NamedTuple

DEFAULT_ENCODING = "o200k_base"

ESTIMATE_NAME = "zcode.estimateTokens.v1"

# U+4E00..U+9FFF are exactly the UTF-16 units whose high byte is 0x4E..0x9F (surrogates are 0xD8..),
# so counting them is counting bytes.
_CJK_HIGH_BYTES = bytes(range(0x4E, 0xA0))


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
