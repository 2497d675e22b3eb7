"""Addresses that name a request or a session by the beginning of its key or id."""

from starlette.requests import Request

from tracer.errors import NotFoundError
from tracer.service.naming import key_of, session_id_of
from web.filters import segment
from web.rendering import service_of

_NAMED = {"key": key_of, "a": key_of, "b": key_of, "session_id": session_id_of}


def whole_address(request: Request) -> str:
    """The address of the page that a request for a shortened one means; empty where it means none.

    A name may be what the command line takes: a unique beginning, or SESSION:NUMBER for a request.
    Raises UsageError with the candidates where several begin so.
    """
    if request.method not in ("GET", "HEAD"):
        return ""
    service, whole = service_of(request), dict[str, str]()
    for parameter, given in request.path_params.items():
        if parameter in _NAMED and given:
            try:
                whole[given] = _NAMED[parameter](service, given)
            except NotFoundError:
                return ""
    steps = request.scope["path"].split("/")
    meant = [whole.get(step, step) for step in steps]
    if meant == steps:
        return ""
    return "/".join(map(segment, meant)) + (f"?{request.url.query}" if request.url.query else "")
