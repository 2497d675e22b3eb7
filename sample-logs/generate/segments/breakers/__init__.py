"""Every way to break one rule of the layout, and only that one."""

from generate.segments.breakers import history, structure, tail
from generate.segments.breakers.base import Break, Broken

__all__ = ["BREAKS", "Break", "Broken"]

BREAKS: tuple[Break, ...] = (*structure.BREAKS, *history.BREAKS, *tail.BREAKS)
