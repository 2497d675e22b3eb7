"""Secrets in texts: where they stand, and the text with them made unreadable.

A mask is as long as what it hides, so that every offset, count and link into a text stays true. The
public beginning of a form (`sk-ant-`, `AKIA`, `Bearer`) stays readable, nothing of the secret does.

First the words that tell the forms are looked for as plain substrings, which costs little on
megabytes; a pattern is only tried where one stands. What has no form is no secret: hashes, ids and
the base64 of images stay as they are.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tracer.matching import ascii_lower
from tracer.secret_values import MASK as MASK
from tracer.secret_values import (
    RUN_CHARS,
    is_credential,
    is_key,
    is_password,
    is_pwd,
    is_quoted_key,
    is_quoted_password,
    is_quoted_secret,
    is_random,
    is_secret,
    is_sent_credential,
    is_set_password,
    is_user_password,
    is_value,
)
from tracer.secret_values import SHORTEST_CHARS as SHORTEST_CHARS

REACH_CHARS = 500
"""How far around a piece of a text is looked for the beginning of a secret that it was cut from."""

KEY_REACH_CHARS = 8_000
"""The same for private keys, which are long."""

_CACHED_CHARS = 300
_KEY_CHARS = 20_000
_REACH_LINES = 80


class Secret(NamedTuple):
    """A piece of a text that is a secret, [start, end) in code points, and what it is."""

    start: int
    end: int
    form: str


class _Form(NamedTuple):
    """One form. `words` in lower case tell it; `pattern` is tried `back` characters before them,
    and its group `s` is the secret. `before` must match the end of what stands before the word,
    `real` tells a value from a placeholder and from code."""

    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    real: Callable[[str], bool] | None = None
    before: re.Pattern[str] | None = None
    back: int = 0


_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=%20)|(?<=%3[Dd]))"
"""Where a word may begin; in JSON a line break ends in a letter."""

_QUOTE = r"\\*[\"'`]"
_GAP = r"(?:[ \t\r\n]|\\+[nrt]){0,12}"
_IS = (
    rf"(?:{_QUOTE})?\]?[ \t]{{0,4}}(?:\*\*)?(?::=|=>|[:=：]|%3[DdAa]|\\+uff1a)(?:\*\*)?[ \t]{{0,4}}"
)
_LOOSE = (
    rf"(?:(?:{_QUOTE})?(?:(?<=[\"'`])[ \t]{{0,4}},|[ \t]{{1,40}}\||\*\*:?|{_IS})?"
    r"(?:[ \t]{1,4}(?:is|was|are)\b:?)?"
    rf"{_GAP}(?:{_QUOTE})?(?:(?<![a-z])|(?<=%3[ad])))"
)
_QUOTED = (
    rf"{_GAP}(?P<q>{_QUOTE})(?!\\)"
    r"(?P<s>(?:[^\s\"'`\\]|\\[^\"'`]|(?!(?P=q))[\"'`]){6,200})(?=(?P=q))"
)
_PHRASE = (
    rf"{_GAP}(?P<q>{_QUOTE})"
    r"(?P<s>(?:[^\n\"'`\\]|(?!(?P=q))(?:[\"'`]|\\.)){6,200}?)(?=(?P=q))"
)
_BARE = r"(?P<s>[A-Za-z0-9_\-+/=.~!@#$%^*]{6,}+)(?![(\[{<])"
_INSIDE = r">(?P<s>[^<>\s]{6,200})</"
_VALUE = (
    rf"(?:{_QUOTE})?,?{_GAP}(?:{_QUOTE})?value(?:{_QUOTE})?[ \t]*[:=][ \t]*(?:{_QUOTE})?{_BARE}"
)
_HEADER = rf"(?:{_QUOTE})?[ \t]*[:=,][ \t]*\[?[ \t]*(?:{_QUOTE})?"
_SCHEME = r"(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)(?:[ +]{1,2}|%20)"
_KEY_BEFORE = re.compile(
    r"(?:api|app|access|secret|private|signing|encryption|account|master|auth|license)[_\- .]?$",
    re.I,
)
_FLAG_BEFORE = re.compile(r"--[\w-]{0,24}$")
_QUERY_BEFORE = re.compile(r"(?:[?&;]|\\u0026|%26|%3[Ff])(?:x-amz-|x-goog-)?$", re.I)
_USER_BEFORE = re.compile(r"(?:login|user|account)\s{1,4}\S{1,40}\s{1,4}$", re.I)
_KEYS, _NAMES, _PASSWORDS = (
    ("key",),
    ("token", "secret", "credential"),
    ("pass",),
)
_CHINESE = ("密", "令", "u5bc6", "u4ee4")
_CHINESE_VALUE = rf"(?:{_IS}|是|\\+u662f)[ ]?(?:{_QUOTE})?{_BARE}"
"""In JSON these may be written as the numbers of their characters."""

_KEY = "key"
_NAME = r"(?<!page)(?<!page[_\- ])(?<!next)(?<!next[_\- ])(?:token|secret|credential)"
_PASS = r"(?:(?:(?<![a-z])|(?<=\\[nrt]))pass|(?-i:(?<=[a-z])Pass))"
_PASSWORD = "(?:passw(?:or)?d|passphrase)"


def _token(
    public: str,
    secret: str,
    *words: str,
    back: int = 0,
    name: str = "API key",
    real: Callable[[str], bool] | None = None,
) -> _Form:
    """A form that its beginning tells. `secret` must not go on in a word before it."""
    pattern = re.compile(rf"{_EDGE}(?:{public})(?P<s>{secret})")
    return _Form(name, words, pattern, real, back=back)


def _named(
    name: str,
    words: tuple[str, ...],
    word: str,
    value: str,
    real: Callable[[str], bool],
    before: re.Pattern[str] | None = None,
) -> _Form:
    return _Form(name, words, re.compile(f"{word}{value}", re.I), real, before)


def _command(word: str, name: str, options: str) -> _Form:
    """A password that is given to a command by an option of one letter."""
    value = rf"{options}(?:{_QUOTE})?(?P<s>[^\s\"'`\\]{{6,}})"
    return _named("password", (word,), name, value, is_value)


_OPTIONS = r"\b[^\n|;]{0,200}?[ ]"
_WITH_DIGIT = r"(?=[A-Za-z_-]*\d)"
FORMS: tuple[_Form, ...] = (
    _token(
        r"sk-(?:ant-|proj-|svcacct-|or-v1-)?", rf"{_WITH_DIGIT}[\w-]{{16,}}", "sk-",
        real=is_random,
    ),
    _token(r"[sr]k_live_|[sr]k_test_", r"\w{10,}", "k_live_", "k_test_", back=1),
    _token(
        r"gsk_|hf_|npm_", rf"{_WITH_DIGIT}\w{{20,}}", "gsk_", "hf_", "npm_", real=is_random
    ),
    _token(r"xai-|glpat-|pypi-", rf"{_WITH_DIGIT}[\w-]{{20,}}", "xai-", "glpat-", "pypi-"),
    _token(r"whsec_|dop_v1_", r"\w{20,}", "whsec_", "dop_v1_"),
    _token(r"SG\.", r"[\w-]{16,}\.[\w-]{16,}", "sg."),
    _token(r"AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}", "age-secret-key-1", name="private key"),
    _token(r"A[KS]IA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", "akia", "asia", name="AWS key id"),
    _token(
        r"gh[opusr]_|github_pat_", r"\w{20,}", "gho_", "ghp_", "ghu_", "ghs_", "ghr_",
        "github_pat_", name="GitHub token",
    ),
    _token(
        r"xox[a-z]-|xapp-", rf"{_WITH_DIGIT}[\w-]{{10,}}", "xox", "xapp-", name="Slack token"
    ),
    _token(r"AIza|ya29\.", r"[\w-]{30,}", "aiza", "ya29.", name="Google key"),
    _token("eyJ", r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}", "eyj", name="JSON web token"),
    _Form("Telegram token", (":aa",), re.compile(r"(?<=\d{8}):(?P<s>AA[\w-]{30,})")),
    _Form("webhook address", ("hooks",),
          re.compile(r"hooks\.slack\.com/\w+/(?P<s>T\w{6,}/B\w{6,}/\w{16,})", re.I)),
    _Form("webhook address", ("hooks",),
          re.compile(r"(?<=/api/web)hooks/\d{10,}/(?P<s>[\w-]{30,})", re.I)),
    _named("authorization header", ("authorization",), "authorization",
           rf"{_HEADER}{_SCHEME}(?P<s>[^\s\"'`\\,;<>]{{6,}})", is_sent_credential),
    _named("authorization header", ("authorization",), "authorization",
           rf"{_HEADER}(?P<s>[^\s\"'`\\,;<>]{{8,}})", is_key),
    _named("bearer token", ("bearer",), "bearer",
           r"(?:[ +]|%20)(?P<s>[\w.~+/=-]{8,})", is_credential),
    _named("credential", ("_auth",), "_auth", rf"{_IS}{_BARE}", is_key),
    _named("cookie", ("cookie",), "cookie",
           rf"{_IS}(?:{_QUOTE})?(?P<s>[\w.-]+=[^\"'`\n\\]{{8,}})", is_credential),
    _named("key", _KEYS, _KEY, rf"{_IS}{_QUOTED}", is_quoted_key, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, rf"{_LOOSE}{_BARE}", is_key, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, _VALUE, is_key, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, _INSIDE, is_key, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, rf"=(?:{_QUOTE})?{_BARE}", is_key, _QUERY_BEFORE),
    _named("key", _KEYS, _KEY, rf"[ ](?:{_QUOTE})?{_BARE}", is_key, _FLAG_BEFORE),
    _named("signature", ("sig=", "signature="), "sig(?:nature)?=", _BARE, is_key, _QUERY_BEFORE),
    _named("secret", ("secret",), "secret", rf"{_IS}{_QUOTED}", is_quoted_secret),
    _named("secret", ("secret",), "secret", rf"{_IS}{_BARE}", is_secret),
    _named("token", _NAMES, _NAME, rf"{_IS}{_QUOTED}", is_key),
    _named("token", _NAMES, _NAME, rf"{_LOOSE}{_BARE}", is_key),
    _named("token", _NAMES, _NAME, _VALUE, is_key),
    _named("token", _NAMES, _NAME, _INSIDE, is_key),
    _named("password", _PASSWORDS, _PASSWORD, rf"{_IS}{_PHRASE}", is_quoted_password),
    _named("password", _PASSWORDS, _PASSWORD, rf"{_IS}{_BARE}", is_password),
    _named("password", _PASSWORDS, _PASSWORD, rf"={_BARE}", is_set_password, _FLAG_BEFORE),
    _named("password", _PASSWORDS, _PASSWORD, _INSIDE, is_quoted_password),
    _named("password", _PASSWORDS, _PASSWORD, _VALUE, is_password),
    _named("password", _PASSWORDS, _PASSWORD, rf"(?:{_QUOTE},{_GAP}{_QUOTE}|[ ](?:{_QUOTE})?)"
           rf"{_BARE}", is_password, _FLAG_BEFORE),
    _named("password", _PASSWORDS, _PASSWORD, rf"[ \t]{{1,4}}{_BARE}", is_password, _USER_BEFORE),
    _named("password", _PASSWORDS, _PASSWORD, rf"{_LOOSE}{_BARE}", is_key),
    _named("password", ("pass",), _PASS, rf"{_IS}{_PHRASE}", is_password),
    _named("password", ("pass",), _PASS, rf"{_IS}{_BARE}", is_password),
    _named("password", ("pass",), r"(?-i:PASS(?:W(?:OR)?D|PHRASE)?)=", _BARE, is_set_password),
    _named("password", ("pwd",), "pwd", rf"{_IS}(?:{_QUOTE})?{_BARE}", is_pwd),
    _named("password", _CHINESE,
           r"(?:密码|(?<=口)令|u5bc6\\+u7801|(?:(?<=u53e3\\)|(?<=u53e3\\\\))u4ee4)",
           _CHINESE_VALUE, is_password),
    _named("key", _CHINESE, r"(?:密钥|令牌|u5bc6\\+u94a5|u4ee4\\+u724c)", _CHINESE_VALUE, is_key),
    _named("password", ("-u",), "-u(?:ser)?",
           rf"(?:[ =]|{_QUOTE},{_GAP})(?:{_QUOTE})?[^\s\"'`:\\]{{1,80}}:(?P<s>[^\s\"'`\\]{{6,}})",
           is_password),
    _command("mysql", "mysql", rf"(?:dump|admin)?{_OPTIONS}-p"),
    _command("pass", "(?<=ssh)pass", rf"{_OPTIONS}-p[ ]?"),
    _command(" login", "(?<=docker|podman) login", rf"{_OPTIONS}-p[ ]?"),
    _named("credentials in an address", ("://",), "://",
           r"[^\s/:@\"'<>\\]{0,80}:(?P<s>[^\s/@\"'<>\\]{1,200})@", is_user_password),
    _named("credentials in an address", ("://",), "://",
           r"(?P<s>[\w-]{20,200})(?::[\w-]*)?@", is_key),
)  # fmt: skip
_ZAI_KEY = re.compile(rf"\.(?<={_EDGE}[0-9a-f]{{32}}\.)(?P<s>[A-Za-z0-9]{{16}})(?![\w-]|\.\w)")
_BY_WORD = {
    word: tuple(form for form in FORMS if word in form.words)
    for word in dict.fromkeys(word for form in FORMS for word in form.words)
}
_NEEDED = {"u5bc6": "\\", "u4ee4": "\\"}
"""A character that must stand in a text beside the word; else one of its own will do."""

_RARE = "_-:=."


def _by_character() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """All words by a rare character without which none of them is looked for; "" for none."""
    found: dict[str, list[str]] = {}
    for word in _BY_WORD:
        own = next((c for c in _RARE if c in word), "")
        found.setdefault(_NEEDED.get(word, own), []).append(word)
    return tuple((character, tuple(words)) for character, words in found.items())


_WORDS = _by_character()
_GATE = frozenset(" \t\r\n\\\"'`]*:=：%>,|")
_GATES = {**dict.fromkeys((*_KEYS, *_NAMES), _GATE), "pass": _GATE | set("wWpP")}
"""What may follow the names of keys: most of what begins like them goes on as another word."""

_PRIVATE_KEY = "private key"
_KEY_HEAD = re.compile(r"private key(?: block)?-----", re.I)
_KEY_BODY = re.compile(r"(?:[\sA-Za-z0-9+/=\\→|>.,:]|-(?!----))*")
_BEGUN = re.compile(
    rf"(?:{_EDGE}(?:sk-(?:ant-|proj-)?|[sr]k_(?:live|test)_|A[KS]IA|gh[opusr]_|github_pat_"
    r"|xox[a-z]-|AIza|eyJ)|://[^\s/:@\"'<>\\]{1,80}:|"
    rf"(?i:authorization{_HEADER}(?:{_SCHEME})?|(?:{_PASSWORD}|{_NAME}|api[_-]?key){_IS}{_QUOTE}))"
    r"(?P<s>[^\s\"'`\\]+?)\\*…?$"
)
_BEGUN_WORDS = frozenset(
    """sk- k_live_ k_test_ akia asia gho_ ghp_ ghu_ ghs_ ghr_ github_pat_ xox aiza eyj ://
    authorization""".split()  # noqa: SIM905
)
_BEGUN_IN_QUOTES = frozenset({*_KEYS, *_NAMES, *_PASSWORDS})
_FOLDED = "\u017f\u212a\u0130\u0131"
"""Letters that patterns take for an s, a k or an i, words do not."""

_KEY_RUN = re.compile(rf"[A-Za-z0-9+/=]{{{RUN_CHARS},}}")


def find_secrets(text: str, *, cut: bool = False) -> tuple[Secret, ...]:
    """The secrets of a text in their order; none lies inside another. `cut` tells that the text
    goes on: what looks like the beginning of a secret at its end is taken for one."""
    low = ascii_lower(text)
    words = _words_in(low)
    found: list[Secret] = []
    for key in _ZAI_KEY.finditer(text):
        if is_random(key["s"]):
            found.append(Secret(key.start() - 32, key.end(), "API key"))
    if not words:  # one stands in whatever is looked for below, too
        return tuple(found)
    for word in words:
        forms, gate, size = _BY_WORD[word], _GATES.get(word), len(word)
        at = low.find(word)
        while at >= 0:
            if gate is None or text[at + size : at + size + 1] in gate:
                for form in forms:
                    secret = _at(text, at, form)
                    if secret is not None:
                        found.append(secret)
                        break
            at = low.find(word, at + 1)
    found += _private_keys(text, low, cut=cut)
    if cut and _may_go_on(text, words):
        match = _BEGUN.search(text, max(0, len(text) - REACH_CHARS))
        if match:
            found.append(Secret(*match.span("s"), "secret that goes on"))
    return tuple(_merged(sorted(found)))


def _words_in(low: str) -> list[str]:
    """The words of forms that stand in a text in lower case, as far as they can tell one there."""
    return [
        word for character, words in _WORDS if character in low for word in words if word in low
    ]


def mask(text: str, *, cut: bool = False) -> str:
    """The text with its secrets hidden, as long as it was. `cut` as for `find_secrets`."""
    if len(text) < SHORTEST_CHARS:
        return text
    return _mask_short(text, cut) if len(text) <= _CACHED_CHARS else _mask(text, cut)


def mask_piece(text: str, start: int, end: int) -> str:
    """`text[start:end]` masked as it is in the whole text: a piece alone may be cut from a secret
    in such a way that its form is gone."""
    start, end = max(0, start), min(len(text), end)
    key_low = max(0, start - KEY_REACH_CHARS)
    has_key = _PRIVATE_KEY in ascii_lower(text[key_low:end])
    low = key_low if has_key else max(0, start - REACH_CHARS)
    high = min(len(text), end + (KEY_REACH_CHARS if has_key else REACH_CHARS))
    return mask(text[low:high])[start - low : end - low]


def mask_lines(lines: Sequence[str], start: int, end: int) -> list[str]:
    """Some lines of a text, masked as they are in the whole text."""
    low, high = max(0, start - _REACH_LINES), min(len(lines), end + _REACH_LINES)
    around = lines[low:high]
    masked = mask("\n".join(around))
    return masked.split("\n")[start - low : end - low]


def mask_spans(
    text: str, spans: Sequence[tuple[int, int]], start: int = 0, end: int | None = None
) -> str:
    """`text[start:end]` with the given spans of the text hidden; they are in order."""
    end = len(text) if end is None else end
    pieces, at = [], start
    for low, high in spans:
        low, high = max(low, at), min(high, end)
        if low < high:
            pieces += [text[at:low], _hidden(text[low:high])]
            at = high
    return "".join((*pieces, text[at:end]))


def _mask(text: str, cut: bool) -> str:
    secrets = find_secrets(text, cut=cut)
    return mask_spans(text, [(s.start, s.end) for s in secrets]) if secrets else text


_mask_short = lru_cache(maxsize=20_000)(_mask)


def _hidden(secret: str) -> str:
    """As many mask characters; what ends a line goes on doing so."""
    return "".join(c if c in "\r\n" else MASK for c in secret)


def _at(text: str, at: int, form: _Form) -> Secret | None:
    if form.before is not None and not form.before.search(text, max(0, at - 30), at):
        return None
    match = form.pattern.match(text, max(0, at - form.back))
    if match is None or (form.real is not None and not form.real(match["s"])):
        return None
    return Secret(*match.span("s"), form.name)


def _may_go_on(text: str, words: Sequence[str]) -> bool:
    """False only where _BEGUN does not match, which takes a while: names need a quote."""
    if not _BEGUN_WORDS.isdisjoint(words) or any(c in text for c in _FOLDED):
        return True
    return not _BEGUN_IN_QUOTES.isdisjoint(words) and any(c in text for c in "\"'`")


def _private_keys(text: str, low: str, *, cut: bool) -> Iterator[Secret]:
    """What stands between the lines that begin and end a private key, or as much of it as there is
    where the end was cut off."""
    at = low.find(_PRIVATE_KEY)
    while at >= 0:
        head = _KEY_HEAD.match(text, at)
        if head is not None and text.rfind("-----", max(0, at - 40), at) >= 0:
            start = head.end()
            end = low.find("-----end", start, start + _KEY_CHARS)
            if end < 0 and (body := _KEY_BODY.match(text, start, start + _KEY_CHARS)):
                end = body.end()
            goes_on = cut and end == len(text)
            if end > start and (goes_on or _KEY_RUN.search(text, start, end)):
                yield Secret(start, end, "private key")
        at = low.find(_PRIVATE_KEY, at + 1)


def _merged(secrets: list[Secret]) -> Iterator[Secret]:
    last: Secret | None = None
    for secret in secrets:
        if last is None or secret.start >= last.end:
            if last is not None:
                yield last
            last = secret
        elif secret.end > last.end:
            last = last._replace(end=secret.end)
    if last is not None:
        yield last
