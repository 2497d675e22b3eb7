"""The addresses of pages and fragments, and the state of a session page that they carry."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from web.filters import segment
from web.layout.window import Window


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything that the address of a session page can say."""

    session_id: str
    request: str = ""
    first: int | None = None
    last: int | None = None
    scale: str = "window"

    @property
    def query(self) -> str:
        """The query with its question mark; empty in the default state."""
        pairs: list[tuple[str, str | int]] = []
        if self.request:
            pairs.append(("request", self.request))
        if self.first is not None:
            pairs.append(("from", self.first))
        if self.last is not None:
            pairs.append(("to", self.last))
        if self.scale != "window":
            pairs.append(("scale", self.scale))
        return "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""

    @property
    def path(self) -> str:
        """The page's path."""
        return f"/sessions/{segment(self.session_id)}"

    @property
    def page(self) -> str:
        """The page in this state."""
        return self.path + self.query

    @property
    def panel(self) -> str:
        """The fragment of the panel in this state."""
        return f"/fragments{self.path}/panel{self.query}"

    @property
    def timeline(self) -> str:
        """The fragment of the timeline; the selection is sent beside it."""
        return f"/fragments{self.path}/timeline{replace(self, request='').query}"

    def selecting(self, key: str) -> "SessionState":
        """The same window with another request selected; none for an empty key."""
        return replace(self, request=key)

    def showing(self, window: Window) -> "SessionState":
        """The same selection in another window."""
        if not window.pinned:
            return replace(self, first=None, last=None)
        return replace(self, first=window.first, last=window.last)

    def scaled(self, scale: str) -> "SessionState":
        """The same window on another scale."""
        return replace(self, scale=scale)


def request_url(key: str, blocks_from: int = 0, block: int | None = None) -> str:
    """A request's page, from a block on, with one block unfolded and in view."""
    pairs: list[tuple[str, int]] = []
    if blocks_from:
        pairs.append(("blocks_from", blocks_from))
    if block is not None:
        pairs.append(("block", block))
    query = "?" + urlencode(pairs) if pairs else ""
    anchor = "" if block is None else f"#b{block}"
    return f"/requests/{segment(key)}{query}{anchor}"
