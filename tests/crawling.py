"""Walks the pages as somebody without JavaScript: along links and forms, from the first page on."""

from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from starlette.routing import Match, Route

from web.app import all_routes

Fetch = Callable[[str], tuple[str, int, str, str]]
"""From a path to where it led, the status, the media type and the text."""


class Elements(HTMLParser):
    """All start tags of a page in order, with their attributes, and the text of its title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def links(self) -> list[str]:
        """Where links lead, and forms as they stand."""
        found = [a["href"] for tag, a in self.found if tag == "a" and a.get("href")]
        return found + self._forms()

    def _forms(self) -> list[str]:
        forms: list[tuple[str, dict[str, str]]] = []
        chosen = ""
        for tag, a in self.found:
            if tag == "form" and "action" in a:
                forms.append((a["action"], {}))
            elif tag == "input" and forms and a.get("name") and a.get("type") != "checkbox":
                forms[-1][1][a["name"]] = a.get("value", "")
            elif tag == "select" and forms:
                chosen = a.get("name", "")
            elif (
                tag == "option"
                and forms
                and chosen
                and ("selected" in a or chosen not in forms[-1][1])
            ):
                forms[-1][1][chosen] = a.get("value", "")
        return [f"{action}?{urlencode(values)}" for action, values in forms]


@dataclass(frozen=True)
class Visited:
    """One page that was walked to. `route` is the name of its route."""

    path: str
    route: str
    status: int
    media_type: str
    text: str


def route_of(path: str) -> str:
    """The name of the route that answers a path; empty for none."""
    scope = {"type": "http", "path": urlsplit(path).path, "method": "GET"}
    for route in all_routes():
        if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL:
            return route.name
    return ""


def crawl(fetch: Fetch, per_route: int, starts: tuple[str, ...] = ("/",)) -> list[Visited]:
    """Every kind of page that can be reached, `per_route` pages of each kind."""
    todo, known = list(starts), set(starts)
    counts: dict[str, int] = {}
    visited: list[Visited] = []
    while todo:
        path = todo.pop(0)
        route = route_of(path)
        if route in ("", "static") or counts.get(route, 0) >= per_route:
            continue
        counts[route] = counts.get(route, 0) + 1
        final, status, media_type, text = fetch(path)
        visited.append(Visited(path, route, status, media_type, text))
        if media_type.startswith("text/html"):
            for link in Elements(text).links():
                target = urlsplit(urljoin(final, link))
                address = target.path + (f"?{target.query}" if target.query else "")
                if not target.netloc and address not in known:
                    known.add(address)
                    todo.append(address)
    return visited


def page_routes() -> set[str]:
    """The names of all routes that are pages of their own."""
    return {
        route.name
        for route in all_routes()
        if isinstance(route, Route)
        and not route.path.startswith(("/fragments/", "/static/", "/data/"))
    }
