"""All texts of a result, found fast: most results hold no secret, and are left as they are.

Each type is looked at once: which of its fields can hold texts. Ids, keys and hashes are names, and
links are made of them: they are left out.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, cast, get_type_hints

from tracer.service.lazy import Lazy

CUT = frozenset({"preview", "excerpt", "title", "session_title", "one_line", "words"})
"""Fields whose texts may end in the middle of a longer one."""

_NAMES = re.compile(
    r"(?:^|_)(?:id|ids|key|keys|hash|hashes|lane|lanes|kind|kinds|role|status|tier|op|agent|format|"
    r"query_source|via|trust|ttl|scope|target|cache_hint|how|observed|carry|presentation)$"
)
_Values: TypeAlias = list[Any]


class Looked:
    """The objects that were looked into, by their ids: they must live as long as this does. What
    stands in a field of CUT is looked at apart from the rest."""

    def __init__(self) -> None:
        self.whole: set[int] = set()
        self.cut: set[int] = set()

    def add(self, other: "Looked") -> None:
        """Take what another one holds."""
        self.whole |= other.whole
        self.cut |= other.cut


class Texts:
    """The texts of a value. `whole` are those that end where they end, `cut` those of the fields in
    CUT; `is_lazy` tells that there are values which are still to be made."""

    def __init__(self, value: Any, name: str, known: Looked) -> None:
        """`name` is that of the field with the value; what is `known` is left out. Raises TypeError
        for a type that is not known to be looked into."""
        self.whole: list[str] = []
        self.cut: list[str] = []
        self.is_lazy = False
        whole: _Values = []
        cut: _Values = []
        (cut if name in CUT else whole).append(value)
        self.looked = Looked()
        while whole or cut:
            self._look(whole, (whole, cut), self.whole, known.whole, self.looked.whole)
            self._look(cut, (whole, cut), self.cut, known.cut, self.looked.cut)

    def _look(
        self,
        todo: _Values,
        fields_to: tuple[_Values, _Values],
        texts: list[str],
        known: set[int],
        looked: set[int],
    ) -> None:
        """Look into the values `todo`; what stands in fields of its own goes to `fields_to`."""
        inside_of = _INSIDE.get
        whole, cut = fields_to
        while todo:
            value = todo.pop()
            kind = type(value)
            if kind is str:
                texts.append(value)
                continue
            inside = inside_of(kind)
            if inside is None:
                inside = _INSIDE[kind] = _inside(kind)
            if inside is _nothing:
                continue
            place = id(value)
            if place in looked or place in known:
                continue
            looked.add(place)
            if inside is _items:
                todo += value
            elif inside is _lazy:
                self.is_lazy = True
            else:
                inside(value, whole, cut)


_Inside: TypeAlias = Callable[[Any, _Values, _Values], None]


def _nothing(value: Any, whole: _Values, cut: _Values) -> None:
    """What holds no text."""


def _items(value: Iterable[Any], whole: _Values, cut: _Values) -> None:
    """What holds items without names: they are in the place of what they stand in."""


def _lazy(value: Any, whole: _Values, cut: _Values) -> None:
    """What is made when it is asked for."""


def _by_name(value: Mapping[Any, Any], whole: _Values, cut: _Values) -> None:
    for key, item in value.items():
        (cut if str(key) in CUT else whole).append(item)


_INSIDE: dict[type, _Inside] = {}


def _inside(kind: type) -> _Inside:
    """How to look into values of a type."""
    if issubclass(kind, (int, float, bytes, Enum, type(None))):
        return _nothing
    if issubclass(kind, Lazy):
        return _lazy
    if hasattr(kind, "_fields") and issubclass(kind, tuple):
        return _of_fields(text_items(kind))
    if issubclass(kind, (tuple, list)):
        return _items
    if issubclass(kind, Mapping):
        return _by_name
    if is_dataclass(kind):
        return _of_fields(text_fields(kind))
    raise TypeError(f"{kind.__name__} cannot leave a service: its texts are not known.")


def _of_fields(names: tuple[str, ...]) -> _Inside:
    whole_of, cut_of = (
        _getter([name for name in names if (name in CUT) is is_cut]) for is_cut in (False, True)
    )

    def inside(value: Any, whole: _Values, cut: _Values) -> None:
        whole += whole_of(value)
        cut += cut_of(value)

    return inside if names else _nothing


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        only = attrgetter(names[0])
        return lambda value: (only(value),)
    return lambda value: ()


@cache
def text_fields(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that can hold texts: no ids, and nothing that is made of numbers
    and of values of enums only."""
    return tuple(
        field.name
        for field in fields(kind)
        if field.init
        and not _NAMES.search(field.name)
        and not _is_textless(cast(Hashable, field.type))
    )


@cache
def text_items(kind: type) -> tuple[str, ...]:
    """The same of a named tuple."""
    return tuple(
        name
        for name, annotation in get_type_hints(kind).items()
        if not _NAMES.search(name) and not _is_textless(annotation)
    )


@cache
def _is_textless(annotation: Any) -> bool:
    """Whether what an annotation names cannot hold a text."""
    if annotation in (None, type(None), Ellipsis):
        return True
    parts = getattr(annotation, "__args__", ())
    if parts:
        return all(map(_is_textless, parts))
    if not isinstance(annotation, type):
        return False
    if issubclass(annotation, (int, float, bytes, Enum)):
        return True
    return is_dataclass(annotation) and not text_fields(annotation)
