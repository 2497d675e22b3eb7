"""Texts of realistic kinds and sizes, and the provider's hidden tokenizer.

The texts are made once for a seed and shared by all sessions; a session never uses one twice. The
tokenizer is no published one: the product counts with its own, and so is wrong by a few percent
that differ between prose, code and JSON, as it is in real life.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from tests.simulated.wire import Part

_TOKEN = re.compile(
    r" ?[A-Za-z]{1,8}|\d{1,3}|\n+ *|[\u4e00-\u9fff]|[^\sA-Za-z\d\u4e00-\u9fff]{1,2}|\s+"
)
_WORD_LIST = (
    "retry upload chunk limit queue client total index buffer session cache prefix marker window "
    "request response handler parser token stream worker socket timeout schema column record "
    "migration fixture assert module package release branch commit review failing passing latency "
    "budget owner ticket deploy region shard replica cursor offset digest payload header"
)
_WORDS = tuple(_WORD_LIST.split())
_CHINESE = "上传重试分块队列会话缓存前缀标记窗口请求响应解析令牌流测试失败修复提交分支部署日志索引"
_TOOL_LIST = (
    "Bash Edit Read Write Glob Grep TodoWrite WebFetch WebSearch Skill Task NotebookEdit "
    "mcp__docs__search mcp__docs__open mcp__docs__list mcp__issues__find mcp__issues__comment "
    "mcp__issues__close mcp__web__goto mcp__web__click mcp__web__read mcp__db__query "
    "mcp__db__explain mcp__db__tables"
)
_TOOL_NAMES = tuple(_TOOL_LIST.split())
IMAGE_TOKENS = 1_450


@lru_cache(maxsize=200_000)
def tokens_of(text: str) -> int:
    """The provider's own count of a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


def _sentence(rng: random.Random) -> str:
    words = [rng.choice(_WORDS) for _ in range(rng.randint(6, 16))]
    return " ".join(words).capitalize() + "."


def _prose(rng: random.Random) -> str:
    return " ".join(_sentence(rng) for _ in range(rng.randint(2, 5)))


def _code(rng: random.Random) -> str:
    a, b, c = (rng.choice(_WORDS) for _ in range(3))
    return (
        f"{' ' * 4 * rng.randrange(4)}{a}_{rng.randrange(1000)} = {b}.{c}({rng.random():.5f}, {a})"
    )


def _listing(rng: random.Random) -> str:
    a, b = rng.choice(_WORDS), rng.choice(_WORDS)
    size, minute = rng.randrange(100_000), rng.randrange(60)
    return f"-rw-r--r-- 1 dev dev {size:>7} Jan {rng.randint(1, 28):>2} 09:{minute:02} {a}/{b}.py"


def _json(rng: random.Random) -> str:
    value = {rng.choice(_WORDS): rng.randrange(10_000), rng.choice(_WORDS): rng.choice(_WORDS)}
    return json.dumps(value, separators=(",", ":"))


def _chinese(rng: random.Random) -> str:
    return "".join(rng.choice(_CHINESE) for _ in range(rng.randint(15, 60))) + "。"


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _code, _code, _code, _listing, _json, _prose, _prose, _chinese,
)  # fmt: skip


def _text(rng: random.Random, chars: int, line: Callable[[random.Random], str]) -> str:
    lines: list[str] = []
    size = 0
    while size < chars:
        lines.append(line(rng))
        size += len(lines[-1]) + 1
    return "\n".join(lines)


def _tool(rng: random.Random, name: str) -> Part:
    fields = rng.sample(_WORDS, rng.randint(3, 6))
    properties = {f: {"type": "string", "description": _sentence(rng)} for f in fields}
    schema = {
        "name": name,
        "description": _text(rng, rng.randint(500, 1_800), _prose),
        "input_schema": {"type": "object", "properties": properties, "required": fields[:2]},
    }
    return Part("tool", json.dumps(schema, separators=(",", ":")), name)


class Library:
    """All texts of a seed: short (some 500 characters), medium (2,500) and long (9,000)."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.short = [_text(rng, rng.randint(150, 900), _prose) for _ in range(160)]
        self.prose = [_text(rng, rng.randint(1_200, 3_500), _prose) for _ in range(60)]
        self.medium = [
            _text(rng, rng.randint(1_400, 4_200), rng.choice(_KINDS)) for _ in range(220)
        ]
        self.long = [_text(rng, rng.randint(6_000, 13_000), rng.choice(_KINDS)) for _ in range(90)]
        self.tools = [_tool(rng, name) for name in _TOOL_NAMES]


class Shelf:
    """A session's texts: each of the library's at most once."""

    def __init__(self, library: Library, rng: random.Random) -> None:
        self._rng = rng
        self._texts: dict[str, Iterator[str]] = {
            "short": self._shuffled(library.short),
            "prose": self._shuffled(library.prose),
            "medium": self._shuffled(library.medium),
            "long": self._shuffled(library.long),
        }
        self.tools = list(library.tools)

    def take(self, size: str) -> str:
        """The next text of a size."""
        return next(self._texts[size])

    def take_any(self, *sizes: str) -> str:
        """The next text of any of the sizes."""
        return self.take(self._rng.choice(sizes))

    def _shuffled(self, texts: list[str]) -> Iterator[str]:
        return iter(self._rng.sample(texts, len(texts)))
