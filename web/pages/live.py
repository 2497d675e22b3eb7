"""The dot that says whether the page follows, and that tells the page when something is new."""

from dataclasses import dataclass
from typing import ClassVar

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
    """204 while the revision is still `since`; else the dot, and the event `revision`."""
    since = whole_number(request, "since")
    following = request.query_params.get("following")
    now = service_of(request).revision()
    frame = chrome(request, "", revision=now)
    state = "1" if frame.follow.following else "0"
    if now == since and following in (None, state):
        return Response(status_code=204)
    headers = {"HX-Trigger": "revision"} if now != since else {}
    return render(request, LiveFragment(chrome=frame), headers=headers)


ROUTES = (Route("/fragments/revision", revision, name="revision"),)
