"""What the use cases say of verdicts, to the command line and to the web alike.

Tokens are the provider's. None means unknown, never 0.
"""

from dataclasses import dataclass

from tracer.model.compare_views import RequestChoice
from tracer.model.comparison import Line
from tracer.model.usage import Usage
from tracer.model.verdict import Verdict, VerdictBrief


@dataclass(frozen=True, slots=True)
class DiagnosticView:
    """What the provider or the agent itself said of the cache, beside our verdict. `agreement` is
    `agree`, `conflict` or `silent`; `sentence` says so for people."""

    source: str
    category: str
    missed_tokens: int | None
    agreement: str
    sentence: str


@dataclass(frozen=True, slots=True)
class FirstChange:
    """Where two prompts part: the block in words (`place`), the changed lines with what stands
    around them. `op` is `changed`, `added`, `removed` or `moved`; the indexes count over the whole
    prompt, of the baseline (`a_index`) and of this request (`b_index`). `more_hunks` changes of the
    block are not shown. `message_index` counts over the whole message list. `seen_key` and
    `seen_seq` name the earlier request on which the verdict places this change: its own record did
    not show the message, and this request's is the first that does."""

    op: str
    place: str
    a_index: int | None
    b_index: int | None
    lines: tuple[Line, ...]
    more_hunks: int
    message_index: int | None = None
    seen_key: str = ""
    seen_seq: int | None = None

    @property
    def seen(self) -> str:
        """At which request this change was already seen, as a sentence; empty for none."""
        if self.seen_seq is None:
            return ""
        return (
            f"Not new here: the verdict on request {self.seen_seq:,} ({self.seen_key}) places this "
            "change there; this is the first record since that shows the text."
        )


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict on one request, with what stands around it.

    `baseline` is the request that it is compared with, None where there is none; `chosen` tells
    that the user named it. `choices` are other requests that it could be compared with. `change` is
    the first difference of the two prompts with the lines around it, where a difference is a cause.
    `provider` is the family whose rules were applied. `rules_version` is that of the rules.
    """

    key: str
    seq: int
    session_id: str
    lane: str
    model: str
    provider: str
    verdict: Verdict
    baseline: RequestChoice | None
    chosen: bool
    choices: tuple[RequestChoice, ...]
    change: FirstChange | None
    usage: Usage | None
    diagnostics: tuple[DiagnosticView, ...]
    rules_version: int


@dataclass(frozen=True, slots=True)
class MissView:
    """One miss in the ranking. `fault` is `client`, `provider`, `user` or `nobody`; the place is
    that of the primary cause."""

    key: str
    seq: int
    session_id: str
    session_title: str
    lane: str
    model: str
    started_at_ms: int | None
    brief: VerdictBrief
    fault: str
    tier: str
    block_index: int | None
    message_index: int | None
    section: str
    reminder: str


@dataclass(frozen=True, slots=True)
class CauseTotal:
    """What the misses with one primary cause come to."""

    code: str
    subtype: str
    requests: int
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int


@dataclass(frozen=True, slots=True)
class Misses:
    """Misses by rebilled tokens, the costliest first: one page of `total`. `causes` and the sums
    are over all of them, whatever the page. `unjudged_sessions` have no verdicts yet."""

    misses: tuple[MissView, ...]
    total: int
    causes: tuple[CauseTotal, ...]
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int
    unjudged_sessions: int = 0
