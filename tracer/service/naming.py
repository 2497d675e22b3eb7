"""What a user may type for a session or a request: ids, keys, SESSION:NUMBER, or how they begin."""

from collections.abc import Iterable, Sequence
from os.path import commonprefix

from tracer.errors import NotFoundError, UsageError
from tracer.model.views import RequestDetail
from tracer.service import Service

SHORT_ID_CHARS, WHOLE_ID_CHARS = 13, 24
"""A session id is not shortened below the first (`sess_` and eight digits), nor at all if it is no
longer than the second."""


def session_id_of(service: Service, given: str) -> str:
    """The id of the one session that `given` names or begins.

    Raises NotFoundError if there is none, UsageError with the candidates if there are several.
    """
    try:
        return service.session(given).session_id
    except NotFoundError:
        found = _the_only(given, service.session_ids_like(given)) if given else None
        if found is None:
            raise
    return found


def short_session_ids(service: Service, session_ids: Iterable[str]) -> dict[str, str]:
    """For each id a beginning of it that no other session has, which `session_id_of` takes; the
    whole id where it is short or there is no other."""
    return {given: _unique_beginning(service, given) for given in set(session_ids)}


def _unique_beginning(service: Service, session_id: str) -> str:
    length = SHORT_ID_CHARS if len(session_id) > WHOLE_ID_CHARS else len(session_id)
    while length < len(session_id):
        found = service.session_ids_like(session_id[:length])
        others = [other for other in found if other != session_id]
        if session_id in found and not others:
            return session_id[:length]
        length = max([length, *(len(commonprefix([session_id, o])) for o in others)]) + 1
    return session_id


def request_of(
    service: Service, given: str, *, block_from: int, block_limit: int | None, text: bool
) -> RequestDetail:
    """The request that `given` names: by its key, by SESSION:NUMBER, or by a beginning of its key.

    NUMBER counts from 1 in the session; SESSION may be a unique beginning. Raises NotFoundError,
    and UsageError where a beginning is ambiguous.
    """
    try:
        return service.request(given, block_from=block_from, block_limit=block_limit, text=text)
    except NotFoundError:
        key = _key_of(service, given) if given else None
        if key is None:
            _refuse_session(service, given)
            raise
    return service.request(key, block_from=block_from, block_limit=block_limit, text=text)


def key_of(service: Service, given: str) -> str:
    """The key of the request that `given` names, as for `request_of`. Raises as it does."""
    if not given:
        raise NotFoundError("No request is named: give a key or SESSION:NUMBER.")
    if given in service.keys_like(given):
        return given
    key = _key_of(service, given)
    if key is None:
        _refuse_session(service, given)
        raise NotFoundError(f"There is no request {given!r} in this database.")
    return key


def _refuse_session(service: Service, given: str) -> None:
    """Raises NotFoundError that says how to go on where a session is named, or several."""
    if given and service.session_ids_like(given):
        raise NotFoundError(
            f"There is no request {given!r}, but a session: name a request of it, as in {given}:1. "
            "`tracer requests` lists them."
        )


def _key_of(service: Service, given: str) -> str | None:
    session, _, number = given.rpartition(":")
    if session and number.isascii() and number.isdigit():
        return _key_by_number(service, session_id_of(service, session), int(number))
    return _the_only(given, service.keys_like(given))


def _key_by_number(service: Service, session_id: str, seq: int) -> str:
    requests = service.requests(session_id)
    for request in requests:
        if request.seq == seq:
            return request.key
    raise NotFoundError(
        f"Session {session_id} has no request {seq}: "
        + (f"its requests are numbered 1 to {len(requests)}." if requests else "it has none.")
    )


def _the_only(given: str, found: Sequence[str]) -> str | None:
    if len(found) > 1:
        raise UsageError(f"Several begin with {given!r}: {', '.join(found)}. Give more of it.")
    return found[0] if found else None
