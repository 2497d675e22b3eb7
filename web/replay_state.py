"""Everything that the address of a replay can say, and the addresses made of it."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request

from web.filters import segment
from web.params import one_of, whole_number


@dataclass(frozen=True, slots=True)
class ReplayState:
    """`request` is a key, or a number in the session; empty for the first. `opened` tells that the
    prompt is unfolded, from block `blocks_from` on (None: its end), and `messages` in it."""

    session_id: str
    request: str = ""
    opened: bool = False
    blocks_from: int | None = None
    messages: frozenset[int] = frozenset()

    @property
    def query(self) -> str:
        """The query with its question mark; empty in the default state."""
        pairs: list[tuple[str, str | int]] = []
        if self.request:
            pairs.append(("request", self.request))
        if self.opened:
            pairs.append(("prompt", "1"))
        if self.blocks_from is not None:
            pairs.append(("blocks_from", self.blocks_from))
        pairs += [("message", index) for index in sorted(self.messages)]
        return "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""

    @property
    def path(self) -> str:
        """The page's path."""
        return f"/sessions/{segment(self.session_id)}/replay"

    @property
    def page(self) -> str:
        """The page in this state."""
        return self.path + self.query

    @property
    def fragment(self) -> str:
        """The page without its frame, in this state."""
        return "/fragments" + self.page

    def at(self, key: str) -> "ReplayState":
        """Another step; a prompt that is unfolded stays so."""
        return ReplayState(self.session_id, key, self.opened)

    @property
    def unfolded(self) -> "ReplayState":
        """With the prompt unfolded."""
        return replace(self, opened=True)

    @property
    def folded(self) -> "ReplayState":
        """With the prompt folded."""
        return ReplayState(self.session_id, self.request)

    def from_block(self, block: int) -> "ReplayState":
        """With another page of the prompt."""
        return replace(self, blocks_from=block, messages=frozenset())

    def with_messages(self, messages: frozenset[int]) -> "ReplayState":
        """With these messages unfolded, and the prompt, too."""
        return replace(self, opened=True, messages=messages)

    def toggling(self, message: int) -> "ReplayState":
        """With a message unfolded that was folded, or the reverse."""
        return replace(self, messages=self.messages ^ {message})

    def message_fragment(self, message: int, *, folded: bool) -> str:
        """One message's row after it is toggled; `folded`: it will be."""
        query = self.query + ("&folded=1" if folded else "")
        return f"/fragments{self.path}/messages/{message}{query}"


def replay_state(request: Request) -> ReplayState:
    """The state that an address says. Raises UsageError with a sentence."""
    asked = request.query_params
    numbers = [t for t in asked.getlist("message") if t.isascii() and t.isdigit() and len(t) < 9]
    return ReplayState(
        session_id=request.path_params["session_id"],
        request=asked.get("request", ""),
        opened=one_of(request, "prompt", ("", "1")) == "1" or bool(numbers),
        blocks_from=whole_number(request, "blocks_from"),
        messages=frozenset(map(int, numbers)),
    )
