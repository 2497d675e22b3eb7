"""Who may talk to the server, and what a page may do in the browser.

The pages show prompts, which can hold anything, to whoever reaches the port. So: the `Host` must be
ours (a name on the web that resolves to 127.0.0.1 is refused), a request that another site caused
is refused unless it is a plain navigation, and off the loopback a token is demanded. All pages run
under a policy without inline script, inline style, frames or foreign addresses.
"""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
ANY_ADDRESS = "any address"
"""As an allowed host: every IP address. A name can be rebound, an address cannot."""

POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
        "connect-src 'self'", "font-src 'self'", "base-uri 'none'", "form-action 'self'",
        "frame-ancestors 'none'",
    )
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PUBLIC = ("/static/",)

Refuse = Callable[[Request, int, str], Response]
Enter = Callable[[Request, str], Response]


def add_headers(headers: MutableHeaders) -> None:
    """Set the headers that every response carries; pages are not kept by the browser."""
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "no-store")


class SecurityHeaders:
    """ASGI middleware: `add_headers` on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_headers(MutableHeaders(scope=message))
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets, in small letters."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def host_allowed(host: str, allowed: Sequence[str]) -> bool:
    """Whether a Host header names this server."""
    name = host_name(host)
    if name in LOOPBACK_HOSTS or name in (host_name(entry) for entry in allowed):
        return True
    return ANY_ADDRESS in allowed and _is_address(name)


def caused_elsewhere(request: Request) -> bool:
    """Whether another site caused this request, other than by a plain navigation to a page."""
    headers = request.headers
    origin = headers.get("origin")
    foreign_origin = origin is not None and urlsplit(origin).netloc != headers.get("host", "")
    foreign_site = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
    if not foreign_origin and not foreign_site:
        return False
    navigation = (
        request.method in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
    return not navigation


class Guard:
    """ASGI middleware: refuses foreign hosts, foreign causes and, with a token, strangers.

    `?token=` in an address sets a cookie that only this server reads; `enter` then leads to the
    same address without the token, so that it stays out of the history.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None,
        allowed_hosts: Sequence[str],
        refuse: Refuse,
        enter: Enter,
    ) -> None:
        self.app = app
        self._token = token
        self._allowed = tuple(allowed_hosts)
        self._refuse = refuse
        self._enter = enter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._answer(Request(scope))
        target: Callable[[Scope, Receive, Send], Awaitable[None]] = answer or self.app
        await target(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if not host_allowed(host, self._allowed):
            return self._refuse(
                request, 403,
                f"This server does not answer under the name “{host[:80]}”. Open it under the"
                " address that `tracer serve` printed, or name the host with --allow-host.",
            )  # fmt: skip
        if caused_elsewhere(request):
            return self._refuse(
                request, 403, "Another site caused this request, so it was refused."
            )
        if self._token is None or request.url.path.startswith(_PUBLIC):
            return None
        return self._check_token(request, self._token)

    def _check_token(self, request: Request, token: str) -> Response | None:
        name = cookie_name(token)
        if _same(request.cookies.get(name, ""), token):
            return None
        if not _same(request.query_params.get("token", ""), token):
            return self._refuse(
                request, 401,
                "This server needs a token. Open the whole address that `tracer serve` printed;"
                " it ends with ?token=…",
            )  # fmt: skip
        without = request.url.remove_query_params("token")
        response = self._enter(request, without.path + ("?" + without.query) * bool(without.query))
        response.set_cookie(name, token, httponly=True, samesite="strict")
        return response


def cookie_name(token: str) -> str:
    """The name of the cookie: one a token, so that servers on one host do not collide."""
    return "tracer_" + hashlib.sha256(token.encode()).hexdigest()[:8]


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
