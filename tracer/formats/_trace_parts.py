"""The messages and the tools of a `context.built` line, each with the place where it stands."""

from collections.abc import Iterator, Mapping
from typing import Any


def messages_of(value: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages in order, those that are no object left out."""
    for at, segment in enumerate(list_of(value.get("segments"))):
        if isinstance(segment, dict):
            yield from _objects(segment.get("messages"), f"segments[{at}].messages")
    if "segments" not in value:
        yield from _objects(value.get("messages"), "messages")


def tools_of(value: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tools, stable ones first, those that are no object left out."""
    tools = value.get("tools")
    if isinstance(tools, dict):
        for group in ("stable", "dynamic"):
            yield from _objects(tools.get(group), f"tools.{group}")


def list_of(value: Any) -> list[Any]:
    """A list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def _objects(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, item in enumerate(list_of(value)):
        if isinstance(item, dict):
            yield f"{where}[{index}]", item
