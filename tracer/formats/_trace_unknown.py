"""What a line of a trace says in words that the format does not know."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tracer.formats._json import text_of
from tracer.formats._trace_events import (
    ENVELOPE,
    EVENTS,
    KINDS,
    LAYOUTS,
    LIFETIMES,
    MESSAGE_KEYS,
    REFERENCE_KEYS,
    TOOL_KEYS,
    USAGE_KEYS,
)
from tracer.formats._trace_names import nearest
from tracer.formats._trace_parts import list_of, messages_of, tools_of
from tracer.formats._trace_shapes import Misfit

_KEPT = "Nothing to do: it is kept and shown as it is."
_MARKER = "cacheControl"


class Unknown(NamedTuple):
    """Something that is not known, with a name under which it is told once. `error` is set where it
    loses what the line was written for."""

    name: str
    misfit: Misfit
    error: bool = False


def unknown_parts(value: Mapping[str, Any]) -> Iterator[Unknown]:
    """What the format does not know."""
    event = text_of(value.get("event"))
    shape = EVENTS.get(event)
    if shape is None:
        if event:
            fix = _fix(event, EVENTS)
            yield Unknown(
                f"event {event}", Misfit("event", f"`{event}` is no event of the format", fix)
            )
        return
    known = ENVELOPE.keys() | shape.keys()
    for key in value:
        if key not in known:
            misfit = Misfit(key, f"is no key of `{event}`", _fix(key, known - value.keys()))
            yield Unknown(f"{event} {key}", misfit)
    if event == "request.completed":
        yield from _usage(value.get("usage"))
    if event == "context.built":
        yield from _layout(value)
        yield from _messages(value)
        yield from _tools(value)


def _usage(usage: Any) -> Iterator[Unknown]:
    """A count under another name is lost, so a slip is an error here."""
    if not isinstance(usage, dict):
        return
    for key in usage.keys() - USAGE_KEYS:
        meant = nearest(key, USAGE_KEYS - usage.keys())
        misfit = Misfit(
            f"usage.{key}", "is no key of `usage`, and is not read",
            f"Did you mean `{meant}`?" if meant else _KEPT,
        )  # fmt: skip
        yield Unknown(f"usage {key}", misfit, error=bool(meant))


def _layout(value: Mapping[str, Any]) -> Iterator[Unknown]:
    layout = text_of(value.get("layout"))
    if layout and layout not in LAYOUTS:
        fix = _fix(layout, LAYOUTS)
        yield Unknown(f"layout {layout}", Misfit("layout", f"`{layout}` is no known layout", fix))
    if "segments" in value and not layout:
        fix = "Name it `segments-14` if it is that one: its rules are then checked."
        yield Unknown("no layout", Misfit("layout", "is not named", fix))


def _messages(value: Mapping[str, Any]) -> Iterator[Unknown]:
    for where, message in messages_of(value):
        kind = text_of(message.get("kind"))
        if kind and kind not in KINDS:
            misfit = Misfit(f"{where}.kind", f"`{kind}` is no known kind", _fix(kind, KINDS))
            yield Unknown(f"kind {kind}", misfit)
        yield from _marker(where, message)
        if "ref" in message:
            for key in sorted(message.keys() - REFERENCE_KEYS):
                yield Unknown(
                    f"reference {key}",
                    Misfit(
                        f"{where}.{key}", "stands beside `ref`, and is not read",
                        "Write the message in full, or only `ref` and `cacheControl`.",
                    ),
                )  # fmt: skip
            continue
        for key in sorted(message.keys() - MESSAGE_KEYS):
            fix = _fix(key, MESSAGE_KEYS - message.keys())
            yield Unknown(f"message {key}", Misfit(f"{where}.{key}", "is no key of a message", fix))
        for index, block in enumerate(list_of(message.get("content"))):
            yield from _marker(f"{where}.content[{index}]", block)


def _tools(value: Mapping[str, Any]) -> Iterator[Unknown]:
    for where, tool in tools_of(value):
        yield from _marker(where, tool)
        for key in sorted(tool.keys() - TOOL_KEYS):
            fix = _fix(key, TOOL_KEYS - tool.keys())
            yield Unknown(f"tool {key}", Misfit(f"{where}.{key}", "is no key of a tool", fix))


def _marker(where: str, holder: Any) -> Iterator[Unknown]:
    """A cache breakpoint of a type or a lifetime that no provider is known to have."""
    marker = holder.get(_MARKER) if isinstance(holder, dict) else None
    if not isinstance(marker, dict):
        return
    kind, ttl = text_of(marker.get("type")), text_of(marker.get("ttl"))
    if kind and kind != "ephemeral":
        yield Unknown(
            f"marker {kind}",
            Misfit(f"{where}.{_MARKER}.type", f"is `{kind}`", "Known is `ephemeral` alone."),
        )
    if ttl and ttl not in LIFETIMES:
        known = " and ".join(f"`{name}`" for name in LIFETIMES)
        yield Unknown(
            f"ttl {ttl}", Misfit(f"{where}.{_MARKER}.ttl", f"is `{ttl}`", f"Known are {known}.")
        )


def _fix(word: str, known: Iterable[str]) -> str:
    meant = nearest(word, known)
    return (
        f"Did you mean `{meant}`? If not, nothing to do: it is kept as it is." if meant else _KEPT
    )
