"""Shapes of JSON values: what a value must be, said once, for the validator and the JSON Schema.

An object may have any further keys: the format keeps what it does not know.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tracer.formats._json import MAX_INT, kind_of
from tracer.formats._trace_names import nearest

Schema: TypeAlias = dict[str, Any]


class Misfit(NamedTuple):
    """A value that is not what it must be: where it stands, what is wrong, what to do."""

    where: str
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Shape:
    """Any JSON value. `about` tells in words what it means."""

    about: str = ""

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        return "any JSON value"

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        return iter(())

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        return {"description": self.about} if self.about else {}

    def _wrong(self, value: Any, where: str) -> Misfit:
        return Misfit(where, f"is {_short(kind_of(value))}", f"Write {self.words}.")


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A string: one of `choices` if there are any, matching `pattern` (which is explained by
    `form`) if there is one."""

    empty: bool = False
    choices: tuple[str, ...] = ()
    pattern: str = ""
    form: str = ""

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        if self.choices:
            return "one of " + ", ".join(f"`{c}`" for c in self.choices)
        return self.form or ("a string" if self.empty else "a string that is not empty")

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        if not isinstance(value, str):
            yield self._wrong(value, where)
        elif not self._fits(value):
            yield Misfit(where, f"is `{_short(value)}`", f"Write {self.words}.")
        elif not value and not self.empty:
            yield Misfit(where, "is empty", f"Write {self.words}.")

    def _fits(self, value: str) -> bool:
        if self.choices:
            return value in self.choices
        return not self.pattern or re.search(self.pattern, value) is not None

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        made: Schema = Shape.schema(self) | {"type": "string"}
        if self.choices:
            return made | {"enum": list(self.choices)}
        if self.pattern:
            return made | {"pattern": self.pattern}
        return made if self.empty else made | {"minLength": 1}


@dataclass(frozen=True, slots=True)
class Whole(Shape):
    """A whole number from `minimum` to the largest that JavaScript counts with; exactly `only` if
    that is given."""

    minimum: int = 0
    only: int | None = None

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        if self.only is not None:
            return f"the number {self.only}"
        return f"a whole number from {self.minimum} on"

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, float) and value.is_integer():
            whole = True
        if not whole:
            yield self._wrong(value, where)
        elif value > MAX_INT:
            what = f"is {_short(str(value))}, which counts nothing"
            yield Misfit(where, what, f"Write {self.words}, {MAX_INT:,} at the most.")
        elif value < self.minimum or (self.only is not None and value != self.only):
            yield Misfit(where, f"is {_short(str(value))}", f"Write {self.words}.")

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        made: Schema = Shape.schema(self)
        if self.only is not None:
            return made | {"const": self.only}
        return made | {"type": "integer", "minimum": self.minimum, "maximum": MAX_INT}


@dataclass(frozen=True, slots=True)
class Flag(Shape):
    """True or false."""

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        return "true or false"

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        if not isinstance(value, bool):
            yield self._wrong(value, where)

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        return Shape.schema(self) | {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Items(Shape):
    """A list."""

    of: Shape = field(default_factory=Shape)

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        return "a list"

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        if not isinstance(value, list):
            yield self._wrong(value, where)
            return
        for position, item in enumerate(value):
            yield from self.of.misfits(item, f"{where}[{position}]")

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        return Shape.schema(self) | {"type": "array", "items": self.of.schema()}


@dataclass(frozen=True, slots=True)
class Keyed(Shape):
    """An object, in words `form`. `required` and `optional` are its known keys; of each group in
    `one_of` it has at least one key; where it has the value of a `when` (key, value), it is also of
    that shape."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)
    one_of: tuple[tuple[str, ...], ...] = ()
    when: tuple[tuple[str, str, "Keyed"], ...] = ()
    known: tuple[str, ...] = ()
    form: str = ""

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        return self.form or "an object"

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        if not isinstance(value, dict):
            yield self._wrong(value, where)
            return
        yield from self._parts(value, where, self.keys())

    def _parts(self, value: Schema, where: str, known: frozenset[str]) -> Iterator[Misfit]:
        for key, shape in self.required.items():
            if key not in value:
                fix = _meant(value, (key,), known) or f"Add it: {shape.words}."
                yield Misfit(_at(where, key), "is missing", fix)
        for key, shape in (*self.required.items(), *self.optional.items()):
            if key in value:
                yield from shape.misfits(value[key], _at(where, key))
        for group in self.one_of:
            if not any(key in value for key in group):
                names = ", ".join(f"`{key}`" for key in group)
                yield Misfit(
                    where, f"has none of {names}", _meant(value, group, known) or "Add one of them."
                )
        for key, wanted, shape in self.when:
            if value.get(key) == wanted:
                yield from shape._parts(value, where, known)

    def keys(self) -> frozenset[str]:
        """All keys that are known."""
        found = {*self.required, *self.optional, *self.known}
        return frozenset(found.union(*(shape.keys() for _, _, shape in self.when)))

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        made: Schema = Shape.schema(self) | {"type": "object"}
        known = {**self.required, **self.optional}
        if known:
            made["properties"] = {key: shape.schema() for key, shape in known.items()}
        if self.required:
            made["required"] = list(self.required)
        parts: list[Schema] = [
            {"anyOf": [{"required": [k]} for k in group]} for group in self.one_of
        ]
        parts += [
            {
                "if": {"properties": {key: {"const": wanted}}, "required": [key]},
                "then": shape.schema(),
            }
            for key, wanted, shape in self.when
        ]
        return made | {"allOf": parts} if parts else made


@dataclass(frozen=True, slots=True)
class Either(Shape):
    """One of two shapes: `other` for an object that has `key`, or for a value that is a list if
    `key` is empty; else `usual`."""

    key: str = ""
    other: Shape = field(default_factory=Shape)
    usual: Shape = field(default_factory=Shape)

    @property
    def words(self) -> str:
        """What the value must be, in words."""
        return f"{self.usual.words}, or {self.other.words}" if not self.key else self.usual.words

    def misfits(self, value: Any, where: str) -> Iterator[Misfit]:
        """What is wrong with a value, and where."""
        other = self.key in value if isinstance(value, dict) and self.key else False
        if other or (not self.key and isinstance(value, list)):
            yield from self.other.misfits(value, where)
        elif not self.key and not isinstance(value, str):
            yield self._wrong(value, where)
        else:
            yield from self.usual.misfits(value, where)

    def schema(self) -> Schema:
        """The same in JSON Schema."""
        test: Schema = {"type": "array"}
        if self.key:
            test = {"type": "object", "required": [self.key]}
        return Shape.schema(self) | {
            "if": test,
            "then": self.other.schema(),
            "else": self.usual.schema(),
        }


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _meant(value: dict[str, Any], wanted: tuple[str, ...], known: frozenset[str]) -> str:
    """What to do where a key that is not known stands in the place of one that is missing."""
    for key in value.keys() - known:
        meant = nearest(key, wanted)
        if meant:
            return f"There is `{_short(key)}`: did you mean `{meant}`?"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
