"""The one place where texts leave for people: every result of a use case passes here, and the
secrets in its texts are masked unless the service reveals them.

Masks are as long as what they hide: offsets, counts and hashes in a result stay true. A result
without a secret is returned as it is, nothing is copied. Ids, keys and hashes are names, and links
are made of them: they are left alone. Pieces that are cut out of a text in the middle are masked
where they are cut (`tracer.masking.mask_piece`), since a piece may no longer show what it is.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from enum import Enum
from functools import wraps
from inspect import isfunction
from threading import Lock
from typing import Any, TypeVar

from tracer.masking import SHORTEST_CHARS, find_secrets, mask_spans
from tracer.service.lazy import Lazy
from tracer.service.texts import CUT, Looked, Texts, text_fields, text_items

T = TypeVar("T")
C = TypeVar("C", bound=type)
COUNT_FIELD = "masked_secrets"
"""A result with this field is told how many different secrets were masked in it."""

_KEPT_SPANS = 20_000
_KEPT_RESULTS = 8
_LARGE = ("timeline", "presence", "requests", "outline", "story", "compare")
"""Use cases whose results the service keeps: what was masked of them is kept, too."""


class Outgoing:
    """Masks results. Safe in threads."""

    def __init__(self) -> None:
        self._spans: OrderedDict[tuple[int, int, bool], tuple[tuple[int, int], ...]] = OrderedDict()
        self._results: OrderedDict[int, tuple[object, object]] = OrderedDict()
        self._lock = Lock()

    def result(self, value: T, *, keep: bool = False) -> T:
        """The result with its secrets masked; `keep` where the same object will come again."""
        if keep:
            known = self._results.get(id(value))
            if known is not None and known[0] is value:
                return known[1]  # type: ignore[return-value]
        walk = _Walk(self)
        made: T = walk.value(value, "")
        if walk.found and hasattr(made, COUNT_FIELD):
            made = replace(made, **{COUNT_FIELD: len(walk.found)})  # type: ignore[type-var]
        if keep:
            with self._lock:
                self._results[id(value)] = value, made
                while len(self._results) > _KEPT_RESULTS:
                    self._results.popitem(last=False)
        return made

    def stays(self, value: object, name: str, known: Looked) -> bool:
        """Whether no secret stands in a value, and nothing in it is still to be made; `name` is
        that of the field with the value. What is `known` to stay is not looked at, and added to."""
        texts = Texts(value, name, known)
        if (
            texts.is_lazy
            or self._hold_secrets(texts.whole, cut=False)
            or self._hold_secrets(texts.cut, cut=True)
        ):
            return False
        known.add(texts.looked)
        return True

    def _hold_secrets(self, texts: Iterable[str], *, cut: bool) -> bool:
        spans = self.spans
        return any(
            spans(text, cut=cut or text[-1] == "…") for text in texts if len(text) >= SHORTEST_CHARS
        )

    def spans(self, text: str, *, cut: bool) -> tuple[tuple[int, int], ...]:
        """Where the secrets of a text are. Kept by the text's hash: pages show the same again."""
        key = hash(text), len(text), cut
        found = self._spans.get(key)
        if found is None:
            found = tuple((s.start, s.end) for s in find_secrets(text, cut=cut))
            with self._lock:
                self._spans[key] = found
                while len(self._spans) > _KEPT_SPANS:
                    self._spans.popitem(last=False)
        return found


class _Walk:
    """Goes through one result; `found` are the secrets that were masked. What stands in it several
    times, as the sections of a session's requests do, is looked at once."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._done: dict[tuple[int, bool], Any] = {}
        self._known = Looked()
        self.found: set[str] = set()

    def value(self, value: Any, name: str) -> Any:
        """The value masked; the same object where nothing in it was."""
        kind = type(value)
        if kind is str:
            return self._text(value, name)
        if value is None or kind is int or kind is bool or kind is float:
            return value
        place = id(value), name in CUT
        made = self._done.get(place)
        if made is None:
            made = self._done[place] = self._inside(value, name)
        return made

    def _inside(self, value: Any, name: str) -> Any:
        if self._outgoing.stays(value, name, self._known):  # mostly
            return value
        if isinstance(value, Lazy):
            return self._lazy(value, name)
        if isinstance(value, tuple):
            return self._tuple(value, name)
        if isinstance(value, list):
            made = [self.value(item, name) for item in value]
            return made if _differ(made, value) else value
        if isinstance(value, Mapping):
            items = {key: self.value(item, str(key)) for key, item in value.items()}
            return items if _differ(items.values(), value.values()) else value
        if is_dataclass(value) and not isinstance(value, type):
            changes = {}
            for field in text_fields(type(value)):
                old = getattr(value, field)
                new = self.value(old, field)
                if new is not old:
                    changes[field] = new
            return replace(value, **changes) if changes else value
        if isinstance(value, (int, float, bytes, Enum)):
            return value
        raise TypeError(f"{type(value).__name__} cannot leave a service: its texts are not known.")

    def _lazy(self, value: Lazy[Any], name: str) -> Lazy[Any]:
        """The same, masked item by item: the items are kept, so what they share is looked at once,
        too."""
        walk, whole = _Walk(self._outgoing), self._outgoing.result

        def item(index: int) -> Any:
            made = value[index]
            return whole(made) if hasattr(made, COUNT_FIELD) else walk.value(made, name)

        return Lazy(len(value), item)

    def _tuple(self, value: tuple[Any, ...], name: str) -> tuple[Any, ...]:
        if hasattr(value, "_fields"):
            changes = {}
            for field in text_items(type(value)):
                old = getattr(value, field)
                new = self.value(old, field)
                if new is not old:
                    changes[field] = new
            return value._replace(**changes) if changes else value  # type: ignore[attr-defined]
        made = tuple(self.value(item, name) for item in value)
        return made if _differ(made, value) else value

    def _text(self, text: str, name: str) -> str:
        if len(text) < SHORTEST_CHARS:
            return text
        spans = self._outgoing.spans(text, cut=name in CUT or text.endswith("…"))
        if not spans:
            return text
        self.found |= {text[start:end] for start, end in spans}
        return mask_spans(text, spans)


def masked(service: C) -> C:
    """A class of use cases whose public methods mask what they return, unless `reveals_secrets`.
    Methods that other classes bring in are among them."""
    for name in dir(service):
        method = getattr(service, name)
        if not name.startswith("_") and isfunction(method):
            setattr(service, name, _masking(method, keep=name in _LARGE))
    return service


def _masking(method: Callable[..., Any], *, keep: bool) -> Callable[..., Any]:
    @wraps(method)
    def use_case(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        return result if self.reveals_secrets else self.outgoing.result(result, keep=keep)

    return use_case


def masked_result(function: Callable[..., T]) -> Callable[..., T]:
    """The same for a function."""

    @wraps(function)
    def use_case(*args: Any, **kwargs: Any) -> T:
        return Outgoing().result(function(*args, **kwargs))

    return use_case


def _differ(new: Any, old: Any) -> bool:
    return any(a is not b for a, b in zip(new, old, strict=True))
