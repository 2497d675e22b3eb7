"""The order of the requests of a session, for every statement that lists or numbers them."""

_COLUMNS = (
    "{0}started_at_ms NULLS LAST, iif({0}started_at_ms IS NULL, {0}attempt, {0}line), {0}attempt, "
    "{0}completed_at_ms, {0}line, {0}key"
)
_REVERSE = (
    "{0}started_at_ms DESC NULLS FIRST, iif({0}started_at_ms IS NULL, {0}attempt, {0}line) DESC, "
    "{0}attempt DESC, {0}completed_at_ms DESC, {0}line DESC, {0}key DESC"
)
_VALUES = (
    "{0}started_at_ms IS NULL, coalesce({0}started_at_ms, 0), "
    "iif({0}started_at_ms IS NULL, {0}attempt, {0}line), {0}attempt, "
    "{0}completed_at_ms IS NOT NULL, coalesce({0}completed_at_ms, 0), {0}line, {0}key"
)


def in_order(alias: str = "") -> str:
    """What follows ORDER BY: by start; those of one moment by their place in the file; those whose
    start is unknown last, by attempt and end. `alias` names the table of the requests."""
    return _COLUMNS.format(f"{alias}." if alias else "")


def in_reverse(alias: str = "") -> str:
    """The same from the last request to the first."""
    return _REVERSE.format(f"{alias}." if alias else "")


def order_values(alias: str = "") -> str:
    """Eight columns without NULL: rows of them are less or greater as requests are before or
    behind each other."""
    return _VALUES.format(f"{alias}." if alias else "")
