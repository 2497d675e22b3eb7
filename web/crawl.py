"""Asking the application for a page without a server, a port or a network."""

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.applications import Starlette

from tracer.errors import NotFoundError, TracerError


class PageError(TracerError):
    """A page could not be made."""


@contextmanager
def crawling(app: Starlette) -> Iterator[Callable[[str], str]]:
    """Gives a function that asks for the page or fragment at an address such as
    `/sessions/s1?request=k`, and returns its HTML. It raises NotFoundError, PageError."""
    with start_blocking_portal() as portal:  # a loop in a thread: the caller may be in one already
        yield lambda address: _page_of(portal, app, address)


def _page_of(portal: BlockingPortal, app: Starlette, address: str) -> str:
    parts = urlsplit(address)
    sent: list[MutableMapping[str, Any]] = []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
        "root_path": "", "path": unquote(parts.path), "raw_path": parts.path.encode("ascii"),
        "query_string": parts.query.encode("ascii"), "headers": [(b"host", b"127.0.0.1")],
        "state": {},
    }  # fmt: skip

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    portal.call(app, scope, receive, send)
    status = next(m["status"] for m in sent if m["type"] == "http.response.start")
    body = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
    if status == 404:
        raise NotFoundError(f"There is no page {address}.")
    if status != 200:
        raise PageError(f"The page {address} could not be made: it answered {status}.")
    return body.decode("utf-8")
