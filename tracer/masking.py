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

MASK = "•"
SHORTEST_CHARS = 8
REACH_CHARS = 500
"""How far around a piece of a text is looked for the beginning of a secret that it was cut from."""

KEY_REACH_CHARS = 8_000
"""The same for private keys, which are long."""

_CACHED_CHARS = 300
_KEY_CHARS = 20_000
_RUN_CHARS = 16
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


_NO_VALUES = frozenset(
    """string required optional password passwd secret token null none true false object number
    boolean undefined example text hidden unknown redacted empty missing invalid expired
    integer array value default process.env os.environ""".split()  # noqa: SIM905
)


def _is_value(value: str) -> bool:
    """Whether a value is one, not a word, a mask or a reference that stands for it."""
    low = value.lower().rstrip("?!*.,;|")
    if not low or low in _NO_VALUES or set(value) <= set(f"*xX.{MASK}-_#?"):
        return False
    return value[0] not in "<$%{[(" and not low.startswith(("your", "env:", "process.", "os."))


def _is_random(value: str) -> bool:
    """Whether a value is no word and no name: its kinds of characters change again and again."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in value if c.isalnum()]
    changes = sum(a != b for a, b in zip(kinds, kinds[1:], strict=False))
    if "d" not in kinds:  # the names of classes change their case at every word
        return len(value) >= 2 * SHORTEST_CHARS and changes * 2.2 >= len(value)
    return len(value) >= SHORTEST_CHARS and changes >= 3 and changes * 8 >= len(value)


def _is_key(value: str) -> bool:
    """Whether what a key or a token is set to is one."""
    return _is_value(value) and (
        _is_random(value) or re.fullmatch(r"[0-9a-fA-F]{16,}", value) is not None
    )


def _is_password(value: str) -> bool:
    """Whether what a password is set to without quotes is one: it has a digit and is no name."""
    has_digit = any(c.isdigit() for c in value)
    return _is_value(value) and has_digit and not re.fullmatch(r"[a-z_.]+\d?|[\d.]+", value)


def _is_credential(value: str) -> bool:
    """Whether what follows the scheme of an authorization header is one."""
    has_digit = any(c.isdigit() for c in value)
    return _is_value(value) and (has_digit or value.endswith("=") or _is_random(value))


_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""Where a word may begin; in JSON a line break ends in a letter."""

_QUOTE = r"\\*[\"'`]"
_IS = rf"(?:{_QUOTE})?[ \t]{{0,4}}(?::=|=>|[:=])[ \t]{{0,4}}"
_QUOTED = rf"{_QUOTE}(?P<s>[^\s\"'`\\]{{6,}})(?={_QUOTE})"
_BARE = r"(?P<s>[A-Za-z0-9_\-+/=.~!@#$%^*]{6,}+)(?![(\[{<])"
_HEADER = rf"(?:{_QUOTE})?[ \t]*[:=,][ \t]*\[?[ \t]*(?:{_QUOTE})?"
_SCHEME = r"(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)[ +]{1,2}"
_KEY_BEFORE = re.compile(
    r"(?:api|app|access|secret|private|signing|encryption|account|master|auth|license)[_\- .]?$",
    re.I,
)
_FLAG_BEFORE = re.compile(r"--[\w-]{0,24}$")
_KEYS, _NAMES, _PASSWORDS = (
    ("key",),
    ("token", "secret", "credential"),
    ("passw", "passphrase", "pwd"),
)
_KEY, _NAME, _PASSWORD = "key", "(?:token|secret|credential)", "(?:passw(?:or)?d|passphrase|pwd)"


def _token(public: str, secret: str, *words: str, back: int = 0, name: str = "API key") -> _Form:
    """A form that its beginning tells. `secret` must not go on in a word before it."""
    pattern = re.compile(rf"{_EDGE}(?:{public})(?P<s>{secret})")
    return _Form(name, words, pattern, back=back)


def _named(
    name: str,
    words: tuple[str, ...],
    word: str,
    value: str,
    real: Callable[[str], bool],
    before: re.Pattern[str] | None = None,
) -> _Form:
    return _Form(name, words, re.compile(f"{word}{value}", re.I), real, before)


_WITH_DIGIT = r"(?=[A-Za-z_-]*\d)"
FORMS: tuple[_Form, ...] = (
    _token(r"sk-(?:ant-|proj-|svcacct-|or-v1-)?", rf"{_WITH_DIGIT}[\w-]{{16,}}", "sk-"),
    _token(r"[sr]k_live_|[sr]k_test_", r"\w{10,}", "k_live_", "k_test_", back=1),
    _token(r"gsk_|hf_|npm_", rf"{_WITH_DIGIT}\w{{20,}}", "gsk_", "hf_", "npm_"),
    _token(r"xai-|glpat-|pypi-", rf"{_WITH_DIGIT}[\w-]{{20,}}", "xai-", "glpat-", "pypi-"),
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
    _named("authorization header", ("authorization",), "authorization",
           rf"{_HEADER}{_SCHEME}(?P<s>[^\s\"'`\\,;<>]{{6,}})", _is_credential),
    _named("authorization header", ("authorization",), "authorization",
           rf"{_HEADER}(?P<s>[^\s\"'`\\,;<>]{{8,}})", _is_key),
    _named("bearer token", ("bearer",), "bearer",
           r"[ +](?P<s>[\w.~+/=-]{8,})", _is_credential),
    _named("cookie", ("cookie",), "cookie",
           rf"{_IS}(?:{_QUOTE})?(?P<s>[\w.-]+=[^\"'`\n\\]{{8,}})", _is_credential),
    _named("key", _KEYS, _KEY, rf"{_IS}{_QUOTED}", _is_value, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, rf"{_IS}{_BARE}", _is_key, _KEY_BEFORE),
    _named("key", _KEYS, _KEY, rf"[ ](?:{_QUOTE})?{_BARE}", _is_key, _FLAG_BEFORE),
    _named("token", _NAMES, _NAME, rf"{_IS}{_QUOTED}", _is_key),
    _named("token", _NAMES, _NAME, rf"{_IS}{_BARE}", _is_key),
    _named("token", _NAMES, _NAME, rf"[ ](?:{_QUOTE})?{_BARE}", _is_key, _FLAG_BEFORE),
    _named("password", _PASSWORDS, _PASSWORD, rf"{_IS}{_QUOTED}", _is_value),
    _named("password", _PASSWORDS, _PASSWORD, rf"{_IS}{_BARE}", _is_password),
    _named("password", _PASSWORDS, _PASSWORD, rf"[ ](?:{_QUOTE})?{_BARE}", _is_password,
           _FLAG_BEFORE),
    _named("credentials in an address", ("://",), "://",
           r"[^\s/:@\"'<>\\]{0,80}:(?P<s>[^\s/@\"'<>\\]{1,200})@", _is_value),
    _named("credentials in an address", ("://",), "://",
           r"(?P<s>[\w-]{20,200})(?::[\w-]*)?@", _is_credential),
)  # fmt: skip
_BY_WORD = {
    word: tuple(form for form in FORMS if word in form.words)
    for word in dict.fromkeys(word for form in FORMS for word in form.words)
}
_PRIVATE_KEY = "private key"
_KEY_HEAD = re.compile(r"private key(?: block)?-----", re.I)
_KEY_BODY = re.compile(r"(?:[\sA-Za-z0-9+/=\\→|>.,:]|-(?!----))*")
_BEGUN = re.compile(
    rf"(?:{_EDGE}(?:sk-(?:ant-|proj-)?|[sr]k_(?:live|test)_|A[KS]IA|gh[opusr]_|github_pat_"
    r"|xox[a-z]-|AIza|eyJ)|://[^\s/:@\"'<>\\]{1,80}:|"
    rf"(?i:authorization{_HEADER}(?:{_SCHEME})?|(?:{_PASSWORD}|{_NAME}|api[_-]?key){_IS}{_QUOTE}))"
    r"(?P<s>[^\s\"'`\\]+?)\\*…?$"
)
_KEY_RUN = re.compile(rf"[A-Za-z0-9+/=]{{{_RUN_CHARS},}}")


def find_secrets(text: str, *, cut: bool = False) -> tuple[Secret, ...]:
    """The secrets of a text in their order; none lies inside another. `cut` tells that the text
    goes on: what looks like the beginning of a secret at its end is taken for one."""
    found: list[Secret] = []
    low = ascii_lower(text)
    words = [word for word in _BY_WORD if word in low]
    if not words:  # one stands in whatever is looked for below, too
        return ()
    for word in words:
        at = low.find(word)
        while at >= 0:
            for form in _BY_WORD[word]:
                secret = _at(text, at, form)
                if secret is not None:
                    found.append(secret)
                    break
            at = low.find(word, at + 1)
    found += _private_keys(text, low, cut=cut)
    if cut and (match := _BEGUN.search(text, max(0, len(text) - REACH_CHARS))):
        found.append(Secret(*match.span("s"), "secret that goes on"))
    return tuple(_merged(sorted(found)))


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
