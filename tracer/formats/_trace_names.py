"""A word that is nearly one that is known."""

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.75
_LONGEST = 80


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, empty if there is none: the same letters in another
    spelling (`input_tokens`), or a slip of the pen (`contnet`)."""
    if len(word) > _LONGEST:
        return ""
    by_letters = {_letters(name): name for name in sorted(known)}
    found = get_close_matches(_letters(word), by_letters, 1, _CLOSE)
    return by_letters[found[0]] if found else ""


def _letters(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
