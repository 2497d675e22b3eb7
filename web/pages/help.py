"""What the words, colours, glyphs and keys mean."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from web.rendering import Chrome, Crumb, chrome, render, service_of


@dataclass(frozen=True)
class HelpPage:
    """The help page."""

    template: ClassVar[str] = "pages/help.html"
    chrome: Chrome


def help_page(request: Request) -> Response:
    """The help page."""
    revision = service_of(request).revision()
    return render(request, HelpPage(chrome(request, "Help", Crumb("Help"), revision=revision)))


ROUTES = (Route("/help", help_page, name="help"),)
