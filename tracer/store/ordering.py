"""The order of the requests of a session, for every statement that lists or numbers them."""

_COLUMNS = (
    "{0}started_at_ms NULLS LAST, iif({0}started_at_ms IS NULL, {0}attempt, {0}line), {0}attempt, "
    "{0}completed_at_ms, {0}line, {0}key"
)


def in_order(alias: str = "") -> str:
    """What follows ORDER BY: by start; those of one moment by their place in the file; those whose
    start is unknown last, by attempt and end. `alias` names the table of the requests."""
    return _COLUMNS.format(f"{alias}." if alias else "")
