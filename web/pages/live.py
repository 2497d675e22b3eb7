"""The dot that says whether the page follows, and that tells the page when something is new."""

from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from web.params import whole_number
from web.rendering import Chrome, chrome, render, service_of


@dataclass(frozen=True)
class LiveFragment:
    """The dot alone."""

    template: ClassVar[str] = "partials/_live.html"
    chrome: Chrome


def revision(request: Request) -> Response:
    """204 while the revision is still `since`; else the dot, and the event `revision`. `paused` of
    1 gives the dot of a page that stays as it is, of 0 that of one that goes on."""
    since = whole_number(request, "since")
    following, paused = (request.query_params.get(name) for name in ("following", "paused"))
    now = service_of(request).revision()
    frame = chrome(request, "", revision=since or 0 if paused == "1" else now)
    state = "1" if frame.follow.following else "0"
    if paused is None and now == since and following in (None, state):
        return Response(status_code=204)
    other = _address(request, "0" if frame.paused else "1")
    frame = replace(frame, pause_href=other or frame.pause_href)
    headers = {"HX-Trigger": "revision"} if now != since and paused != "1" else {}
    if paused is not None and (address := _address(request, paused)):
        headers["HX-Replace-Url"] = address
    return render(request, LiveFragment(chrome=frame), headers=headers)


def _address(request: Request, paused: str) -> str:
    """The address of the page that asks, with the pause in it or without; empty where no page of
    ours asks."""
    parts = urlsplit(request.headers.get("HX-Current-URL", ""))
    if not parts.path.startswith("/") or parts.path.startswith("//"):
        return ""
    pairs = [(k, v) for k, v in parse_qsl(parts.query) if k not in ("paused", "token")]
    pairs += [("paused", "1")] if paused == "1" else []
    return urlunsplit(("", "", parts.path, urlencode(pairs, safe=",:"), parts.fragment))


ROUTES = (Route("/fragments/revision", revision, name="revision"),)
