"""The verdict on one request, as the callout on its page and in the panel."""

from dataclasses import dataclass
from os.path import commonprefix

from tracer.errors import InputError
from tracer.model.prompt import Part, Tier
from tracer.model.verdict import FoundCause, Result
from tracer.model.verdict_views import VerdictView
from tracer.model.views import PartSize
from tracer.service import Service
from tracer.words import capital
from web.filters import num
from web.hunks import LineRow, unified_rows
from web.layout.prompt_map import MapPiece
from web.layout.read_marks import Billed, ReadMarks, read_marks
from web.urls import compare_url, request_url, verdict_data_url
from web.verdict_words import heading

MOST_LINES = 24
_QUIET = (Result.HIT, Result.FIRST, Result.NO_USAGE, Result.NOT_REPORTED)

LEAST_OVERLAP = 8


@dataclass(frozen=True, slots=True)
class Amount:
    """A count of tokens with what it means; `css` where it is a loss."""

    name: str
    tokens: int | None
    note: str
    css: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of one side's text, in three: equal, different, equal."""

    css: str
    sign: str
    name: str
    head: str
    middle: str
    tail: str


@dataclass(frozen=True, slots=True)
class Callout:
    """Everything that the callout shows. `quiet`: there is nothing to explain. Addresses are empty
    where there is no such page."""

    view: VerdictView
    quiet: bool
    heading: str
    primary: FoundCause | None
    others: tuple[FoundCause, ...]
    amounts: tuple[Amount, ...]
    lines: tuple[LineRow, ...]
    more_lines: int
    excerpts: tuple[Excerpt, ...]
    own_href: str
    baseline_href: str
    compare_href: str
    default_href: str
    data_href: str
    seen_href: str
    markdown_href: str

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, without the word that the heading says already."""
        text = self.view.verdict.one_line
        return capital(text.removeprefix(f"{self.heading}: "))

    @property
    def evidence(self) -> tuple[str, ...]:
        """What proves the primary cause, without what is listed as checked and equal anyway."""
        found = self.primary.evidence if self.primary else ()
        return tuple(text for text in found if not text.startswith("checked and equal"))

    @property
    def bare(self) -> bool:
        """Whether no text changed, so that the evidence is all there is to see."""
        return not (self.quiet or self.lines or self.excerpts or self.primary is None)

    @property
    def glyph(self) -> str:
        """The id of the glyph and the name of the colour."""
        return self.view.verdict.result.value


@dataclass(frozen=True, slots=True)
class NoCallout:
    """Why there is no verdict, in a sentence."""

    problem: str


def make_callout(service: Service, key: str, against: str = "") -> Callout | NoCallout:
    """The callout of a request, compared with `against` if that is named. Raises NotFoundError."""
    try:
        view = service.explain(key, against)
    except InputError as error:
        return NoCallout(str(error))
    verdict, base = view.verdict, view.baseline
    block = view.change.b_index if view.change else None
    lines = view.change.lines if view.change else ()
    primary = verdict.causes[0] if verdict.causes else None
    seen = view.change.seen_key if view.change else ""
    return Callout(
        view=view,
        quiet=verdict.result in _QUIET,
        heading=heading(verdict.result, verdict.missed_tokens, verdict.rebilled_tokens),
        primary=primary,
        others=verdict.causes[1:],
        amounts=_amounts(view),
        lines=unified_rows(lines[:MOST_LINES]),
        more_lines=max(0, len(lines) - MOST_LINES),
        excerpts=_excerpt(primary.before, primary.after) if primary and not lines else (),
        own_href=request_url(key),
        baseline_href=request_url(base.key) if base else "",
        compare_href=compare_url(base.key, key, block) if base else "",
        default_href=request_url(key) + "#verdict" if view.chosen else "",
        data_href=verdict_data_url(key, against),
        markdown_href=verdict_data_url(key, against, ".md"),
        seen_href=request_url(seen) if seen else "",
    )


def marks_of(
    callout: Callout | NoCallout, pieces: tuple[MapPiece, ...], sizes: tuple[PartSize, ...]
) -> ReadMarks | None:
    """The marks of a verdict on the map of its prompt; None where nothing was lost."""
    if isinstance(callout, NoCallout) or callout.quiet:
        return None
    view = callout.view
    verdict, usage = view.verdict, view.usage
    if usage is None or usage.input_tokens is None or verdict.actual_read_tokens is None:
        return None
    stop = verdict.read_stop
    return read_marks(
        pieces,
        Billed(usage.input_tokens, verdict.actual_read_tokens, verdict.rebilled_tokens),
        stop.index if stop else None,
        _changed_index(callout, sizes),
        stop.sentence if stop else "",
    )


def _changed_index(callout: Callout, sizes: tuple[PartSize, ...]) -> int | None:
    """The changed block over the whole prompt: tools come first, then the system blocks."""
    change, primary = callout.view.change, callout.primary
    if change is not None and change.b_index is not None:
        return change.b_index
    if primary is None or primary.tier is None or primary.block_index is None:
        return None
    blocks = {size.part: size.blocks for size in sizes}
    tools, system = blocks.get(Part.TOOLS, 0), blocks.get(Part.SYSTEM, 0)
    before = {Tier.TOOLS: 0, Tier.SYSTEM: tools, Tier.MESSAGES: tools + system}
    return before[primary.tier] + primary.block_index


def _excerpt(before: str, after: str) -> tuple[Excerpt, ...]:
    """The excerpts of both sides with what differs in them."""
    if not before and not after:
        return ()
    head = len(commonprefix([before, after]))
    gone, came = before[head:], after[head:]
    tails = _common_end(gone, came)
    return tuple(
        Excerpt(
            css, sign, name, text[:head], text[head : len(text) - tail], text[len(text) - tail :]
        )
        for css, sign, name, text, tail in (
            ("gone", "-", "before", before, tails[0]),
            ("came", "+", "after", after, tails[1]),
        )
    )


def _common_end(gone: str, came: str) -> tuple[int, int]:
    """How many characters at the end of each side are no difference.

    Both are cut to a length: where something was only added, the rest of the old text slides out of
    the new excerpt and is not gone, so what overlaps is taken as equal; likewise for a removal.
    """
    same = len(commonprefix([gone[::-1], came[::-1]]))
    if same >= LEAST_OVERLAP:
        return same, same
    for i in range(len(came) - LEAST_OVERLAP):
        if gone.startswith(came[i:]):
            return len(gone), len(came) - i
    for i in range(len(gone) - LEAST_OVERLAP):
        if came.startswith(gone[i:]):
            return len(gone) - i, len(came)
    return same, same


def _amounts(view: VerdictView) -> tuple[Amount, ...]:
    verdict = view.verdict
    rows = [
        Amount("could be read", verdict.expected_read_tokens, verdict.method),
        Amount("read", verdict.actual_read_tokens, "as reported by the provider"),
    ]
    if verdict.is_miss or verdict.rebilled_tokens:
        rows += [
            Amount("missed", verdict.missed_tokens, "identical, and yet not read: could − read"),
            Amount(
                "avoidable",
                verdict.avoidable_tokens,
                "identical, but put out of reach by what this request changed",
            ),
            Amount(
                "billed again",
                verdict.rebilled_tokens,
                f"missed + avoidable; below {num(verdict.noise_tokens)} it would be noise"
                if verdict.noise_tokens
                else "missed + avoidable",
                "bad" if verdict.is_miss else "",
            ),
        ]
    return tuple(rows)
