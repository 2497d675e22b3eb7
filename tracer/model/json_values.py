"""Values of decoded JSON that another program wrote: of the type that is wanted, or unknown."""


def text_of(value: object) -> str:
    """A string as it is; empty for anything else."""
    return value if isinstance(value, str) else ""


def whole_of(value: object) -> int | None:
    """A whole number as it is; None for anything else, true and false among it."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
