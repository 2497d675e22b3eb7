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
    unfolded: tuple[str, ...] = ()
    x: str = "request"
    off: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    row: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the timeline that are not as usual, the selected request left out."""
        pairs = [(n, str(v)) for n, v in (("from", self.first), ("to", self.last)) if v is not None]
        pairs += [("scale", self.scale)] if self.scale != "window" else []
        pairs += [("x", self.x)] if self.x != "request" else []
        pairs += [(name, "all") for name in self.unfolded]
        pairs += [(n, ",".join(v)) for n, v in (("off", self.off), ("on", self.on)) if v]
        pairs += [("row", self.row)] if self.row else []
        return tuple(pairs)

    @property
    def query(self) -> str:
        """The query with its question mark; empty in the default state."""
        pairs = [("request", self.request)] if self.request else []
        pairs += self.pairs
        return "?" + urlencode(pairs, safe=",:", errors="surrogatepass") if pairs else ""

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
    def bare_panel(self) -> str:
        """The fragment of the panel; the state of the timeline is sent beside it."""
        return f"/fragments{self.path}/panel{SessionState('', self.request).query}"

    @property
    def timeline(self) -> str:
        """The fragment of the timeline; the selected request is sent beside it."""
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

    def along(self, x: str) -> "SessionState":
        """The same window with another x axis."""
        return replace(self, x=x)

    def choosing(self, row: str) -> "SessionState":
        """The same with a row of the presence matrix picked out; none for an empty name."""
        return replace(self, row=row)

    def switching(self, lane: str, *, shown: bool, usual: bool) -> "SessionState":
        """The same with a lane drawn or not; `usual` is what it is unless the address says so."""
        off = tuple(name for name in self.off if name != lane)
        on = tuple(name for name in self.on if name != lane)
        if shown != usual:
            off, on = (off, (*on, lane)) if shown else ((*off, lane), on)
        return replace(self, off=off, on=on)

    def folding(self, name: str) -> "SessionState":
        """The same with rows of the presence matrix shown that were hidden, or the reverse."""
        kept = tuple(other for other in self.unfolded if other != name)
        return replace(self, unfolded=kept if name in self.unfolded else (*kept, name))


def compare_url(a_key: str, b_key: str, block: int | None = None) -> str:
    """The comparison of two requests, A being the baseline, at a block of B."""
    at = "" if block is None else f"?block={block}#b{block}"
    return f"/compare/{segment(a_key)}/{segment(b_key)}{at}"


def against_url(href: str, against: str) -> str:
    """A request's page in the same state, compared with another baseline."""
    if not against:
        return href
    path, mark, anchor = href.partition("#")
    query = urlencode({"against": against}, errors="surrogatepass")
    return f"{path}{'&' if '?' in path else '?'}{query}{mark}{anchor}"


def story_url(session_id: str, turns_from: int = 0) -> str:
    """The turns of a session: the page on which a turn stands."""
    query = f"?from={turns_from}" if turns_from else ""
    return f"/sessions/{segment(session_id)}/story{query}"


def segments_url(session_id: str, start: int = 0) -> str:
    """How the laid-out prompts of a session lived, from its request number `start` (from 0) on."""
    query = f"?from={start}" if start else ""
    return f"/sessions/{segment(session_id)}/segments{query}"


def replay_url(session_id: str, key: str = "", *, message: int | None = None) -> str:
    """A session as the agent lived it, at a request; with one message of its prompt unfolded."""
    pairs: list[tuple[str, str | int]] = [("request", key)] if key else []
    if message is not None:
        pairs.append(("message", message))
    query = "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""
    anchor = "" if message is None else f"#m{message}"
    return f"/sessions/{segment(session_id)}/replay{query}{anchor}"


def verdict_data_url(key: str, against: str = "", form: str = "") -> str:
    """A verdict as JSON, or in the form `.md` as Markdown."""
    query = "?" + urlencode({"against": against}, errors="surrogatepass") if against else ""
    return f"/data/requests/{segment(key)}/verdict{form}{query}"


def misses_url(session_id: str = "", code: str = "", offset: int = 0) -> str:
    """The ranking of misses, of a session or of all, of one cause or of all, from a row on."""
    pairs = [(n, v) for n, v in (("session", session_id), ("cause", code)) if v]
    if offset:
        pairs.append(("offset", str(offset)))
    return "/misses" + ("?" + urlencode(pairs, errors="surrogatepass") if pairs else "")


def checks_url(session_id: str = "", rule: str = "", level: str = "", offset: int = 0) -> str:
    """What the agents' rules found: in a session or in all, by one rule or all, from a row on."""
    named = (("session", session_id), ("rule", rule), ("level", level))
    pairs = [(name, value) for name, value in named if value]
    pairs += [("offset", str(offset))] if offset else []
    return "/checks" + ("?" + urlencode(pairs, safe="/", errors="surrogatepass") if pairs else "")


def request_url(
    key: str, blocks_from: int = 0, block: int | None = None, *, raw: bool = False
) -> str:
    """A request's page, from a block on, with one block unfolded and in view; `raw` with the table
    of all blocks."""
    pairs: list[tuple[str, int]] = []
    if blocks_from:
        pairs.append(("blocks_from", blocks_from))
    if raw:
        pairs.append(("raw", 1))
    if block is not None:
        pairs.append(("block", block))
    query = "?" + urlencode(pairs) if pairs else ""
    anchor = "" if block is None else f"#b{block}"
    return f"/requests/{segment(key)}{query}{anchor}"


def unfolded_url(key: str, what: str, index: int, blocks_from: int = 0) -> str:
    """A request's page with one `section` or `message` unfolded and in view."""
    pairs = [("blocks_from", blocks_from)] if blocks_from else []
    query = urlencode([*pairs, (what, index)])
    return f"/requests/{segment(key)}?{query}#{what[0]}{index}"


def marked_url(key: str, block: int, mark: str) -> str:
    """A request's page with a block unfolded and a part of its text marked and in view: `mark` is
    the name of a section or reminder in it, or its first and last character as `120-340`."""
    if not mark:
        return request_url(key, block=block)
    query = urlencode([("block", block), ("mark", mark)], errors="surrogatepass")
    return f"/requests/{segment(key)}?{query}#mark"


def session_url(session_id: str, request: str = "") -> str:
    """A session's timeline, with a request selected."""
    return SessionState(session_id, request).page


def sessions_compared_url(a: str) -> str:
    """The comparison of a session with one that is still to be named."""
    return f"/compare/sessions?{urlencode({'a': a}, errors='surrogatepass')}"


def session_search_url(session_id: str) -> str:
    """A search of one session's texts."""
    return f"/search?{urlencode({'session': session_id}, errors='surrogatepass')}"


def source_url(source_id: int) -> str:
    """One segment of a file, with its skipped lines."""
    return f"/sources/{source_id}"


def part_fragment(key: str, what: str, index: int) -> str:
    """One of the `sections`, `messages` or `blocks` of a request, as a fragment."""
    return f"/fragments/requests/{segment(key)}/{what}/{index}"


def block_text_url(key: str, index: int) -> str:
    """A block of a request as text."""
    return f"/data/requests/{segment(key)}/blocks/{index}.txt"


def news_url(revision: int, **state: int) -> str:
    """The dot in the header, once something is newer than a revision; `state` is how it looks."""
    return f"/fragments/revision?{urlencode({'since': revision, **state})}"


ADDRESSES = {
    "checks_url": checks_url,
    "misses_url": misses_url,
    "news_url": news_url,
    "replay_url": replay_url,
    "segments_url": segments_url,
    "session_search_url": session_search_url,
    "session_url": session_url,
    "sessions_compared_url": sessions_compared_url,
    "source_url": source_url,
    "story_url": story_url,
}
"""The filters of this module, by name."""
