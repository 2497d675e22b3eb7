"""Text measures and JSON renderings that the agent (a JavaScript program) uses."""

import hashlib
import json
import re
from typing import Any

Json = dict[str, Any]

DIGEST_CHARS = 16

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def utf16_len(text: str) -> int:
    """Return the length of `text` in UTF-16 code units, as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, start: int, stop: int) -> str:
    """Return UTF-16 units `start` to `stop`; an end may be half of a surrogate pair."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * stop].decode("utf-16-le", "surrogatepass")


def cjk_count(text: str) -> int:
    """Return how many characters lie in U+4E00..U+9FFF."""
    return sum("\u4e00" <= char <= "\u9fff" for char in text)


def weight(text: str) -> int:
    """Return the agent's size of a text: UTF-16 units, ideographs counted twice (section 2.4)."""
    return utf16_len(text) + cjk_count(text)


def estimate_tokens(text: str) -> int:
    """Return the token estimate `zcode.estimateTokens.v1` (section 2.4)."""
    return -(-weight(text) // 3)


def compact_json(value: object) -> str:
    """Return `value` as JSON.stringify writes it: one line, lone surrogates escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def message_sha256(message: Json) -> str:
    """Return the digest that `expected.json` keeps for one message: the beginning of its SHA-256.

    The cache marker is not part of it. A lone surrogate counts as U+FFFD, since no UTF-8 store can
    hold one.
    """
    bare = {key: value for key, value in message.items() if key != "cacheControl"}
    text = json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(_LONE_SURROGATE.sub("\ufffd", text).encode()).hexdigest()[:DIGEST_CHARS]
