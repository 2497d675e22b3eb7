"""Comparisons made of small prompts, as the service makes them of stored ones."""

from collections.abc import Mapping, Sequence

from tests.unit.test_compare_builders import (
    a_call,
    a_note,
    a_prompt,
    a_result,
    a_system,
    a_text,
    a_tool,
)
from tracer.model.compare_views import (
    ComparedSide,
    ComparisonView,
    HunksAsked,
    HunksView,
    RequestChoice,
)
from tracer.model.prompt import Part, Prompt, Tier
from tracer.model.views import RequestSummary
from tracer.service import Service
from tracer.service.baselines import Baseline
from tracer.service.comparing import Compared, KnownPrompt, hunks_of, make_compared

_PARTS = {Tier.TOOLS: Part.TOOLS, Tier.SYSTEM: Part.SYSTEM, Tier.MESSAGES: Part.HISTORY}

HEAD = (a_tool("Read"), a_tool("Bash"), a_system("You are a demo agent.\nModel: small\nBe brief."))
TALK = (
    a_note("# Rules\nRun the whole suite before every commit."),
    a_text("user", "Fix the uploader."),
    a_call("call_1", file="src/up.py"),
    a_result("call_1", "def retry():\n    return 3"),
)


def edited() -> tuple[Prompt, Prompt]:
    """A prompt, and what became of it: an edited rule in front, an answer behind."""
    rule = a_note("# Rules\nRun only the tests of the module before every commit.")
    answer = a_text("assistant", "It retries three times, then gives up.")
    return a_prompt(*HEAD, *TALK), a_prompt(*HEAD, rule, *TALK[1:], answer)


def a_side(
    request: RequestSummary, prompt: Prompt, others: Sequence[RequestSummary] = (), title: str = ""
) -> ComparedSide:
    """One side of a comparison; `others` are the requests around it, itself included."""
    at = next((n for n, other in enumerate(others) if other.key == request.key), 0)
    return ComparedSide(
        request=request,
        session_title=title or request.session_id,
        blocks=len(prompt.blocks),
        chars=sum(len(placed.block.text) for placed in prompt.blocks),
        tokens=sum(placed.tokens for placed in prompt.blocks),
        uncounted_blocks=0,
        choices=tuple(
            RequestChoice(
                o.key, o.seq, o.started_at_ms, o.model_id, o.query_source, o.side_call, True
            )
            for o in others or (request,)
        ),
        previous_key=others[at - 1].key if at else "",
        next_key=others[at + 1].key if at + 1 < len(others) else "",
    )


def a_comparison(
    a: tuple[RequestSummary, Prompt],
    b: tuple[RequestSummary, Prompt],
    *,
    others: Sequence[RequestSummary] = (),
    baseline_key: str = "",
    title: str = "",
) -> Compared:
    """Two requests with these prompts compared."""
    sides = [
        (
            a_side(request, prompt, others, title),
            KnownPrompt(prompt, [_PARTS[placed.block.tier] for placed in prompt.blocks]),
        )
        for request, prompt in (a, b)
    ]
    return make_compared(sides[0], sides[1], Baseline(baseline_key))


class ComparingFake(Service):
    """The part of a stand-in that compares: the given comparisons, else usual prompts."""

    comparisons: dict[tuple[str, str], Compared]

    def baseline(self, key: str) -> str:
        """That of the detail."""
        return self.request(key, block_limit=0).baseline_key

    def compared(self, a_key: str, b_key: str) -> Compared:
        """A given comparison, or one of usual prompts."""
        if (a_key, b_key) not in self.comparisons:
            a, b = (self.request(key, block_limit=0) for key in (a_key, b_key))
            prompts = edited()
            self.comparisons[a_key, b_key] = a_comparison(
                (a.request, prompts[0]),
                (b.request, prompts[1]),
                others=self.requests(b.request.session_id),
                baseline_key=b.baseline_key,
                title=b.session.title,
            )
        return self.comparisons[a_key, b_key]

    def compare(self, a_key: str, b_key: str) -> ComparisonView:
        """Two requests compared."""
        return self.compared(a_key, b_key).view

    def many_hunks(
        self, a_key: str, b_key: str, asked: Mapping[int, HunksAsked]
    ) -> tuple[HunksView, ...]:
        """The inside of changes."""
        compared = self.compared(a_key, b_key)
        return tuple(hunks_of(compared, index, how) for index, how in asked.items())
