"""Words that every layer uses."""


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 file`, `1,200 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
