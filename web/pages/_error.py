"""The page of an error: one sentence that says what happened and what to do."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response

from web.rendering import Chrome, Crumb, chrome, render


@dataclass(frozen=True)
class ErrorPage:
    """A whole page that shows an error."""

    template: ClassVar[str] = "pages/error.html"
    chrome: Chrome
    status: int
    reason: str
    message: str


@dataclass(frozen=True)
class ErrorFragment:
    """An error in place of a fragment."""

    template: ClassVar[str] = "partials/_error.html"
    status: int
    reason: str
    message: str


def error_response(request: Request, status: int, message: str) -> Response:
    """The error as a page, or as a fragment where a fragment was asked for."""
    reason = HTTPStatus(status).phrase
    if request.url.path.startswith("/fragments/"):
        return render(request, ErrorFragment(status=status, reason=reason, message=message), status)
    page = ErrorPage(
        chrome=chrome(request, reason, Crumb(reason)),
        status=status,
        reason=reason,
        message=message,
    )
    return render(request, page, status)
