"""A sequence whose items are made when they are asked for, and kept."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Lazy(Sequence[T], Generic[T]):
    """`count` items, each what `make` gives for its index. Two threads may make the same item at
    once: they make equals."""

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._make = make
        self._made: list[T | None] = [None] * count

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self._item(i) for i in range(*index.indices(len(self))))
        return self._item(range(len(self))[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._item, range(len(self)))

    def _item(self, index: int) -> T:
        made = self._made[index]
        if made is None:
            made = self._made[index] = self._make(index)
        return made
