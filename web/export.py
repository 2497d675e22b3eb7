"""A session or a comparison as one HTML file that opens without a server.

Its pieces are the pages' own, made to stand alone by `web.offline`: what the pages learn to show,
the file shows as well. It holds no script; nothing in it asks the network for anything.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from tracer.model.comparison import Op
from tracer.model.new_blocks import RequestAdditions
from tracer.model.views import RequestSummary
from tracer.service import Service
from web.app import create_app
from web.assets import assets
from web.compare_state import CompareState
from web.crawl import crawling
from web.filters import one_line
from web.layout.presence import FOLDS
from web.offline import piece
from web.rendering import html_of
from web.urls import SessionState

_END = "</div>\n{}</body>\n</html>\n"
_LATER = re.compile(r'<a id="later" href="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a file says. `policy` is its Content-Security-Policy."""

    title: str
    kind: str
    written_at_ms: int
    note: str
    policy: str


@dataclass(frozen=True)
class FileHead:
    """Up to the style, which is no template's."""

    template: ClassVar[str] = "export/head.html"
    head: Head


@dataclass(frozen=True)
class FileTop:
    """From behind the style to the first piece."""

    template: ClassVar[str] = "export/top.html"
    head: Head


@dataclass(frozen=True)
class AddedBlocks:
    """What a request added to the prompts before it."""

    template: ClassVar[str] = "export/blocks.html"
    added: RequestAdditions


@dataclass(frozen=True)
class Glyphs:
    """The glyphs and patterns that all pieces share."""

    template: ClassVar[str] = "partials/_glyphs.html"


def session_file(
    service: Service,
    session_id: str,
    *,
    now_ms: int,
    note: str = "",
    done: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[str]:
    """The pieces of a session's file: the timeline over all requests, then every request with its
    verdict and what it added to the prompt. `done` is told how many requests are written. Raises
    NotFoundError."""
    session = service.session(session_id)
    requests = service.requests(session_id)
    title = one_line(session.title) or session_id
    yield from _head(title, "Session", now_ms, note)
    target = _session_target(session_id, requests)
    state = SessionState(session_id, "", 1 if requests else None, len(requests) or None)
    for name in FOLDS:
        state = state.folding(name)
    with crawling(create_app(service)) as page_of:
        yield piece(page_of(state.page), "", target, only="content")
        for number, added in enumerate(service.additions(session_id, texts=True), 1):
            yield f'<article class="request" id="r{added.seq}">\n'
            panel = SessionState(session_id, added.key).panel
            yield piece(page_of(panel), f"r{added.seq}-", target)
            yield html_of(AddedBlocks(added))
            yield "</article>\n"
            done(number, len(requests))
    yield _END.format(html_of(Glyphs()))


def comparison_file(
    service: Service, a_key: str, b_key: str, *, now_ms: int, note: str = ""
) -> Iterator[str]:
    """The pieces of a comparison's file, every change unfolded. Raises NotFoundError."""
    view = service.compare(a_key, b_key)
    changed = [made.index for made in view.changes if made.change.op is not Op.EQUAL]
    yield from _head(f"Compare {a_key} and {b_key}", "Comparison", now_ms, note)
    address: str | None = CompareState(a_key, b_key, opened=frozenset(changed)).page
    prefix, only = "", "content"
    with crawling(create_app(service)) as page_of:
        while address is not None:
            html = page_of(address)
            yield piece(html, prefix, lambda href: None, only=only)
            later = _LATER.search(html)
            address = unescape(later[1]) if later else None
            prefix, only = f"{prefix}n", "changes"
    yield _END.format(html_of(Glyphs()))


def _head(title: str, kind: str, now_ms: int, note: str) -> Iterator[str]:
    style = "".join(assets()[name].content.decode("utf-8") for name in ("app.css", "export.css"))
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"
    head = Head(title, kind, now_ms, note, policy)
    yield html_of(FileHead(head))
    yield f"<style>{style}</style>\n"
    yield html_of(FileTop(head))


def _session_target(
    session_id: str, requests: Sequence[RequestSummary]
) -> Callable[[str], str | None]:
    """Where links to the session's requests lead in its file."""
    seqs = {request.key: request.seq for request in requests}
    numbers = [request.seq for request in requests]

    def target(href: str) -> str | None:
        parts = urlsplit(href)
        place, _, rest = parts.path.lstrip("/").partition("/")
        asked = parse_qs(parts.query)
        if place == "requests":
            return _anchor(seqs.get(unquote(rest)))
        if parts.path != SessionState(session_id).path:
            return None
        if "request" in asked:
            return _anchor(seqs.get(asked["request"][0]))
        first = asked.get("from", [""])[0]
        if first.isdigit() and 0 < int(first) <= len(numbers):
            return _anchor(numbers[int(first) - 1])
        return "content"

    return target


def _anchor(seq: int | None) -> str | None:
    return None if seq is None else f"r{seq}"
