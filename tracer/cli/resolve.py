"""What a user may type for a session or a request."""

from tracer.errors import NotFoundError, UsageError
from tracer.model.views import RequestDetail
from tracer.service import Service

_PAGE = 200
_MOST_CANDIDATES = 8


def session_id_of(service: Service, given: str) -> str:
    """The id of the one session that `given` names or begins.

    Raises NotFoundError if there is none, UsageError with the candidates if there are several.
    """
    try:
        return service.session(given).session_id
    except NotFoundError:
        found = _beginning_with(service, given) if given else []
        if not found:
            raise
    if len(found) > 1:
        shown = ", ".join(found[:_MOST_CANDIDATES])
        more = ", ..." if len(found) > _MOST_CANDIDATES else ""
        raise UsageError(f"Several sessions begin with {given!r}: {shown}{more}. Give more of it.")
    return found[0]


def _beginning_with(service: Service, prefix: str) -> list[str]:
    """At most one more session id than an error message lists."""
    found: list[str] = []
    offset = 0
    while len(found) <= _MOST_CANDIDATES:
        page = service.sessions(prefix, limit=_PAGE, offset=offset)
        ids = (session.session_id for session in page.sessions)
        found += [session_id for session_id in ids if session_id.startswith(prefix)]
        offset += len(page.sessions)
        if not page.sessions or offset >= page.total:
            break
    return found


def request_of(
    service: Service, given: str, *, block_from: int, block_limit: int | None, text: bool
) -> RequestDetail:
    """The request with the key `given`, or the one that `SESSION:NUMBER` names.

    NUMBER counts from 1 in the session; SESSION may be a unique beginning. Raises NotFoundError,
    and UsageError where SESSION is ambiguous.
    """
    try:
        return service.request(given, block_from=block_from, block_limit=block_limit, text=text)
    except NotFoundError:
        session, colon, seq = given.rpartition(":")
        if not (session and colon and seq.isascii() and seq.isdigit()):
            raise
    key = _key_of(service, session_id_of(service, session), int(seq))
    return service.request(key, block_from=block_from, block_limit=block_limit, text=text)


def _key_of(service: Service, session_id: str, seq: int) -> str:
    requests = service.requests(session_id)
    for request in requests:
        if request.seq == seq:
            return request.key
    raise NotFoundError(
        f"Session {session_id} has no request {seq}: its requests are numbered 1 to "
        f"{len(requests)}."
        if requests
        else f"Session {session_id} has no requests."
    )
