"""An example to copy: a page that says how many sessions there are.

To add a page: copy this file to `pages/NAME.py` and its template to `templates/pages/NAME.html`,
change the address and the names. The application finds `ROUTES` by itself.
"""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from web.rendering import Chrome, Crumb, chrome, render, service_of


@dataclass(frozen=True)
class SkeletonPage:
    """Every field is a name in the template, and the template uses no other."""

    template: ClassVar[str] = "pages/_skeleton.html"
    chrome: Chrome
    total: int


def skeleton(request: Request) -> Response:
    """The page. Parameters, one call of the service, the dataclass, `render`."""
    revision = service_of(request).revision()
    found = service_of(request).sessions(limit=1)
    frame = chrome(request, "Skeleton", Crumb("Skeleton"), revision=revision)
    return render(request, SkeletonPage(chrome=frame, total=found.total))


ROUTES = (Route("/skeleton", skeleton, name="skeleton"),)
