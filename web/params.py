"""Query parameters, checked: what is wrong becomes a UsageError with a sentence."""

from starlette.requests import Request

from tracer.errors import UsageError

LONGEST = 12


def whole_number(request: Request, name: str, least: int = 0) -> int | None:
    """A parameter as a whole number of at least `least`; None where it is absent or empty."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST) or int(text) < least:
        raise UsageError(f"“{name}” must be a whole number of {least} or more, not “{text[:40]}”.")
    return int(text)


def one_of(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """A parameter that must be one of the choices; the first where it is absent."""
    text = request.query_params.get(name, "") or choices[0]
    if text not in choices:
        raise UsageError(f"“{name}” must be one of {', '.join(choices)}, not “{text[:40]}”.")
    return text
