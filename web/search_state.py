"""What the address of the search says, read from it and written back into it."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request

from tracer.model.search_views import KINDS, SearchAsked
from web.params import one_of, whole_number

ROWS = 20


@dataclass(frozen=True, slots=True)
class SearchState:
    """Each parameter as it was written."""

    q: str = ""
    session: str = ""
    kind: str = ""
    section: str = ""
    source: str = ""
    exact: str = ""

    def href(self, offset: int = 0) -> str:
        """The page in this state, from a text on."""
        pairs = [(name, value) for name in self.__slots__ if (value := getattr(self, name))]
        if offset:
            pairs.append(("offset", str(offset)))
        query = "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""
        return "/search" + query

    def without(self, name: str) -> str:
        """The page without one of the filters."""
        return self.with_(name, "")

    def with_(self, name: str, value: str) -> str:
        """The page with a filter set to a value."""
        return replace(self, **{name: value}).href()


def paging(request: Request) -> int:
    """From which text on results are asked for."""
    return whole_number(request, "offset") or 0


def asked_for(state: SearchState, offset: int) -> SearchAsked:
    """What an address asks the service for."""
    return SearchAsked(
        state.q, state.session, state.kind, state.section, state.source, bool(state.exact),
        ROWS, offset,
    )  # fmt: skip


def search_state(request: Request) -> SearchState:
    """The query and its filters. Raises UsageError for a kind or a switch that there is not."""
    asked = request.query_params
    return SearchState(
        q=asked.get("q", ""),
        session=asked.get("session", ""),
        kind=one_of(request, "kind", ("", *KINDS)),
        section=asked.get("section", ""),
        source=asked.get("source", ""),
        exact=one_of(request, "exact", ("", "1")),
    )
