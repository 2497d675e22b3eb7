"""The JSON of every page, and a verdict as Markdown: the address of the page behind `/data`.

What stands there is what the commands print with `--json` (docs/json.md).
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tracer.jsonview.anatomy import presence_json
from tracer.jsonview.checks import check_json
from tracer.jsonview.compare import comparison_json
from tracer.jsonview.core import JsonObject, session_json, sessions_json, sources_json
from tracer.jsonview.encoding import json_text
from tracer.jsonview.request import detail_json, request_json
from tracer.jsonview.search import search_json
from tracer.jsonview.session_comparison import compare_json
from tracer.jsonview.story import story_json
from tracer.jsonview.verdict import explain_json, misses_json
from tracer.model.compare_views import CONTEXT_LINES, PAGE_HUNKS, HunksAsked
from tracer.model.comparison import Op
from tracer.service.unified import unified_diff
from tracer.service.verdict_markdown import verdict_markdown
from web.params import whole_number
from web.rendering import service_of
from web.search_state import asked_for, paging, search_state
from web.session_filters import list_state

PAGE_ROWS = 100
MOST_HUNKS = 1_000_000


def _json(value: JsonObject) -> Response:
    return Response(json_text(value), media_type="application/json")


def sessions(request: Request) -> Response:
    """`tracer sessions --json`."""
    offset, limit = whole_number(request, "offset"), whole_number(request, "limit", least=1)
    wanted = list_state(request).wanted()
    page = service_of(request).sessions(wanted, limit=limit or PAGE_ROWS, offset=offset or 0)
    return _json(sessions_json(page))


def session(request: Request) -> Response:
    """The session, its requests and its presence matrix in one object."""
    service, session_id = service_of(request), request.path_params["session_id"]
    found = service.session(session_id)
    return _json(
        {
            **session_json(found),
            "requests": [request_json(r) for r in service.requests(session_id)],
            "presence": presence_json(service.presence(session_id)),
        }
    )


def story(request: Request) -> Response:
    """`tracer story --json`."""
    return _json(story_json(service_of(request).story(request.path_params["session_id"])))


def one_request(request: Request) -> Response:
    """`tracer show --json`; with `text=1` the texts of its blocks."""
    texts = request.query_params.get("text", "") not in ("", "0")
    detail = service_of(request).request(request.path_params["key"], block_limit=None, text=texts)
    return _json(detail_json(detail, with_text=texts))


def verdict(request: Request) -> Response:
    """`tracer explain --json`; `against` names another baseline."""
    against = request.query_params.get("against", "")
    return _json(explain_json(service_of(request).explain(request.path_params["key"], against)))


def verdict_as_markdown(request: Request) -> Response:
    """The verdict as Markdown, to be pasted into a bug report."""
    against = request.query_params.get("against", "")
    view = service_of(request).explain(request.path_params["key"], against)
    return PlainTextResponse(verdict_markdown(view))


def block_text(request: Request) -> Response:
    """The text of one block, as it was sent."""
    block = service_of(request).block(request.path_params["key"], request.path_params["index"])
    return PlainTextResponse(block.text or "")


def change_text(request: Request) -> Response:
    """One change of a comparison as a unified diff."""
    a, b, index = (request.path_params[name] for name in ("a", "b", "index"))
    asked = HunksAsked(0, MOST_HUNKS, CONTEXT_LINES, None)
    (inside,) = service_of(request).many_hunks(a, b, {index: asked})
    return PlainTextResponse(unified_diff(inside, a, b))


def compare(request: Request) -> Response:
    """`tracer diff --json`."""
    service, keys = service_of(request), request.path_params
    view = service.compare(keys["a"], keys["b"])
    asked = HunksAsked(0, PAGE_HUNKS, CONTEXT_LINES)
    shown = {c.index: asked for c in view.changes if c.change.op is not Op.EQUAL}
    inside = service.many_hunks(keys["a"], keys["b"], shown)
    return _json(comparison_json(view, inside))


def compare_sessions(request: Request) -> Response:
    """`tracer compare --json`."""
    asked = request.query_params
    found = service_of(request).compare_sessions(asked.get("a", ""), asked.get("b", ""))
    return _json(compare_json(found))


def misses(request: Request) -> Response:
    """`tracer misses --json`."""
    asked = request.query_params
    session_id, offset = asked.get("session", ""), whole_number(request, "offset") or 0
    found = service_of(request).misses(
        session_id, code=asked.get("cause", ""), limit=PAGE_ROWS, offset=offset
    )
    return _json(misses_json(found, session_id, None))


def checks(request: Request) -> Response:
    """`tracer check --json`."""
    session_id = request.query_params.get("session", "")
    report = service_of(request).check(session_id, now=False)
    return _json(check_json(report, session_id, "never"))


def search(request: Request) -> Response:
    """`tracer search --json`."""
    found = service_of(request).search(asked_for(search_state(request), paging(request)))
    return _json(search_json(found))


def sources(request: Request) -> Response:
    """`tracer sources --json`."""
    return _json(sources_json(service_of(request).sources()))


ROUTES = (
    Route("/data/", sessions, name="data.sessions"),
    Route("/data/requests/{key:path}/blocks/{index:int}.txt", block_text, name="data.block"),
    Route("/data/compare/{a}/{b}/{index:int}.diff", change_text, name="data.change"),
    Route("/data/requests/{key:path}/verdict.md", verdict_as_markdown, name="data.markdown"),
    Route("/data/requests/{key:path}/verdict", verdict, name="data.verdict"),
    Route("/data/requests/{key:path}", one_request, name="data.request"),
    Route("/data/sessions/{session_id:id}/story", story, name="data.story"),
    Route("/data/sessions/{session_id:id}", session, name="data.session"),
    Route("/data/compare/sessions", compare_sessions, name="data.compare.sessions"),
    Route("/data/compare/{a}/{b}", compare, name="data.compare"),
    Route("/data/misses", misses, name="data.misses"),
    Route("/data/checks", checks, name="data.checks"),
    Route("/data/search", search, name="data.search"),
    Route("/data/sources", sources, name="data.sources"),
)
