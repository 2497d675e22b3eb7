"""The ruler of a replay: every request of a session as a notch, turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.events import Status
from tracer.model.verdict import Result
from tracer.model.views import RequestOutline, RequestSummary
from web.layout.scale import bucket_size
from web.layout.words import place_words
from web.verdict_words import brief_words

MOST_NOTCHES, MOST_LABELS = 200, 40
_MARKS = (
    ("failed", lambda r: r.status == Status.FAILED),
    ("miss", lambda r: r.result is Result.MISS),
    ("partial", lambda r: r.result is Result.PARTIAL),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notch:
    """A run of requests of one turn, `requests` of them, from number `seq` on. `css` tells turns
    apart, `mark` names the worst that happened in it, `label` is the turn's number where it
    begins and has room."""

    seq: int
    key: str
    requests: int
    css: str
    mark: str
    label: str
    title: str
    current: bool


def ruler(
    requests: Sequence[RequestOutline], seq: int, whole: Sequence[RequestSummary]
) -> tuple[Notch, ...]:
    """The notches, the one with number `seq` being current. No more than MOST_NOTCHES. `whole` are
    the same requests: what became of one is told where it has a notch of its own."""
    each = bucket_size(len(requests), MOST_NOTCHES)
    apart = len(requests) / each / MOST_LABELS
    notches: list[Notch] = []
    last = -apart
    turn: int | None = None
    for start in range(0, len(requests), each):
        run = requests[start : start + each]
        own = next((r.turn_number for r in run if r.turn_number is not None), turn)
        begins = own is not None and own != turn
        turn = own
        labelled = begins and len(notches) - last >= apart
        last = len(notches) if labelled else last
        notches.append(
            Notch(
                seq=run[0].seq,
                key=run[0].key,
                requests=len(run),
                css="side"
                if all(r.side_call for r in run)
                else "odd"
                if (own or 0) % 2
                else "even",
                mark=next((name for name, met in _MARKS if any(map(met, run))), ""),
                label=str(own) if labelled else "",
                title=_title(run, whole),
                current=run[0].seq <= seq <= run[-1].seq,
            )
        )
    return tuple(notches)


def _title(run: Sequence[RequestOutline], whole: Sequence[RequestSummary]) -> str:
    first = run[0]
    if len(run) > 1:
        return f"Requests {first.seq} to {run[-1].seq}, from {place_words(first)} on"
    words = [f"Request {first.seq}, {place_words(first)}", str(first.status)]
    verdict = whole[first.seq - 1].verdict
    if verdict is not None:
        words.append(brief_words(verdict))
    return "; ".join(words)
