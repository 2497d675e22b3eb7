"""The presence matrix request by request, as tests read it."""

from collections.abc import Iterable, Iterator

from tracer.anatomy.presence import Cell, Fold, Request


def presence_cells(requests: Iterable[Request]) -> Iterator[list[tuple[str, Cell]]]:
    """For each request the cells of the keys that it carries, in order, then of those that are gone
    or unseen. A key that stays away has a cell only where it goes."""
    fold = Fold()
    for request in requests:
        yield fold.cells(request)
