"""What a request and its output reserve take of the context window, as far as its log says."""

from dataclasses import dataclass

from tracer.model.views import RequestDetail


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """Tokens of a request's context window. `method` says where the estimate of the input comes
    from; `reserve_tokens` is None where the log tells no output reserve."""

    estimate_tokens: int
    method: str
    reserve_tokens: int | None
    window_tokens: int

    @property
    def total_tokens(self) -> int:
        """Input and output reserve."""
        return self.estimate_tokens + (self.reserve_tokens or 0)

    @property
    def over_tokens(self) -> int:
        """How many tokens more than the window holds."""
        return max(0, self.total_tokens - self.window_tokens)


def context_budget(detail: RequestDetail) -> ContextBudget | None:
    """The budget of a request; None where the log does not tell the size of the window."""
    usage = detail.context_usage
    if usage is None or usage.context_window is None or usage.context_window <= 0:
        return None
    estimate, method = usage.total_tokens, "the agent's estimate"
    if estimate is None:
        estimate, method = detail.tokens_estimate, "our estimate: the agent logged none"
    return ContextBudget(estimate, method, usage.output_reserve, usage.context_window)
