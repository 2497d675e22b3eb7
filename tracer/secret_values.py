"""Whether a value behind a name is a secret, or a placeholder, a path, a word or code.

A value counts for what its name promises: behind `password` almost anything does, behind `token`
only what is random.
"""

import re

MASK = "•"
SHORTEST_CHARS = 8
RUN_CHARS = 16

_NO_VALUES = frozenset(
    """string required optional password passwd secret token null none true false object number
    boolean undefined example text hidden unknown redacted empty missing invalid expired
    integer array value default process.env os.environ""".split()  # noqa: SIM905
)
_REFERENCE = re.compile(
    r"[$#]?[{(<%\[].*|\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+|env:.*)|(?i:your|env:|process\.|os\.).*",
    re.S,
)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]")
_NAME_OF_ONE = re.compile(r"key|token|secret|auth|passw|credential|header", re.I)
_INSTRUCTION = re.compile(
    r"passw|minimum|maximum|character|required|^[\"'`+,)=]| [+=&|]+ |^\s|\s$",
    re.I,
)
_PROSE = re.compile(
    r"\b(?:a|an|the|your|you|my|our|this|that|is|are|was|be|must|should|can|may|will|not|no|for|of|"
    r"to|in|on|with|and|or|from|if|at|by|as|enter|please|type|users?|field|string|text|new|old|"
    r"current|optional|invalid|wrong|missing|change|reset|forgot|confirm|min|max|length)\b",
    re.I,
)
"""Words that stand in what is written about passwords rather than in one."""


def is_value(value: str) -> bool:
    """Whether a value is one, not a word, a mask, a path or a reference that stands for it."""
    low = value.lower().rstrip("?!*.,;|")
    if not low or low in _NO_VALUES or MASK in value or set(value) <= set("*xX.-_#?"):
        return False
    return not _REFERENCE.fullmatch(value) and not _is_path(value)


def _is_path(value: str) -> bool:
    """Whether a value is the path of a file; a long random piece makes it a key with slashes."""
    if not _PATH.match(value):
        return False
    return not any(len(p) >= RUN_CHARS and is_random(p) for p in re.split(r"[/\\]", value))


def is_random(value: str) -> bool:
    """Whether a value is no word and no name: its kinds of characters change again and again."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in value if c.isalnum()]
    changes = sum(a != b for a, b in zip(kinds, kinds[1:], strict=False))
    if "d" not in kinds:  # the names of classes change their case at every word
        return len(value) >= 2 * SHORTEST_CHARS and changes * 2.2 >= len(value)
    return len(value) >= SHORTEST_CHARS and changes >= 3 and changes * 8 >= len(value)


def is_key(value: str) -> bool:
    """Whether what a key or a token is set to is one: random, and no short id."""
    if not is_value(value) or re.fullmatch("[0-9a-fA-F]{,15}", value):
        return False
    return is_random(value) or re.fullmatch("[0-9a-fA-F]{16,}", value) is not None


def is_quoted_key(value: str) -> bool:
    """The same in quotes, where it may have fewer digits; the name of a header is none."""
    if len(value) < SHORTEST_CHARS or not is_value(value):
        return is_key(value)
    return any(c.isdigit() for c in value) or not _NAME_OF_ONE.search(value)


def is_secret(value: str) -> bool:
    """The same for a secret: long and in one piece will do, if it has a digit."""
    is_one_piece = len(value) >= 12 and value.isalnum() and any(c.isdigit() for c in value)
    plain = is_one_piece and not _NAME_OF_ONE.search(value) and not value.isdigit()
    return is_key(value) or (plain and is_value(value))


def is_quoted_secret(value: str) -> bool:
    """The same in quotes, where a long row of small letters will do."""
    is_row = len(value) >= RUN_CHARS and value.isalpha() and value.islower()
    return is_secret(value) or (is_row and not _NAME_OF_ONE.search(value))


def is_password(value: str) -> bool:
    """Whether what a password is set to without quotes is one: it has a digit and is no name."""
    has_digit = any(c.isdigit() for c in value)
    is_name = re.fullmatch(r"[a-z_.]+\d?|[\d.]+", value) or _INSTRUCTION.search(value)
    return is_value(value) and has_digit and not is_name


def is_quoted_password(value: str) -> bool:
    """The same in quotes: anything but what one writes about passwords."""
    is_prose = " " in value and _PROSE.search(value)
    return is_value(value) and not is_prose and not _INSTRUCTION.search(value)


def is_set_password(value: str) -> bool:
    """The same behind a name in capitals and `=`: a word will do, the name of a variable not."""
    is_name = re.fullmatch(r"[A-Z_]+", value) or _INSTRUCTION.search(value)
    return is_value(value) and not is_name and not re.fullmatch(r"[\d.]+", value)


def is_pwd(value: str) -> bool:
    """The same for `pwd`, which mostly is the folder one works in."""
    return value[0] not in "/~.\\" and value[1:2] != ":" and is_password(value)


def is_credential(value: str) -> bool:
    """Whether what follows the scheme of an authorization header is one."""
    has_digit = any(c.isdigit() for c in value)
    return is_value(value) and (has_digit or value.endswith("=") or is_random(value))


def is_sent_credential(value: str) -> bool:
    """The same where the name of the header stands, too: a long word will do."""
    is_long = len(value) >= 12 and not _NAME_OF_ONE.search(value)
    return is_credential(value) or (is_long and is_value(value))


def is_user_password(value: str) -> bool:
    """Whether what follows a user and a colon in an address is a password, not a port."""
    return is_value(value) and not re.fullmatch(r"\d{1,5}", value)
