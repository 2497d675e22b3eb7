"""What a `request.completed` line says against the lines before it, and against itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from tracer.formats._json import count_of, int_of, text_of
from tracer.formats._time import epoch_ms
from tracer.formats._trace_shapes import Misfit

_SLACK_MS = 100  # of two clocks


class Answers:
    """The attempts of every request as they end: when each one started at the earliest."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], int | None] = {}
        self._attempts: dict[tuple[str, str], set[int]] = {}

    def asked(self, session: str, value: Mapping[str, Any]) -> None:
        """Take a `context.built` line."""
        name = session, text_of(value.get("requestId"))
        self._since[name] = epoch_ms(value.get("timestamp"))
        attempt = int_of(value.get("attempt")) or 1
        self._attempts.setdefault(name, set()).add(attempt - 1)

    def knows(self, session: str, request: str) -> bool:
        """Whether a prompt of the request was seen."""
        return (session, request) in self._since

    def ended(self, session: str, value: Mapping[str, Any]) -> Iterator[Misfit]:
        """Take a `request.completed` line, and tell what is odd about it."""
        name = session, text_of(value.get("requestId"))
        at_ms, duration = epoch_ms(value.get("timestamp")), count_of(value.get("durationMs"))
        since = self._since.get(name)
        if at_ms is not None and duration is not None and since is not None:
            passed = max(at_ms - since, 0)
            if duration > passed + _SLACK_MS:
                yield Misfit(
                    "durationMs",
                    f"is {duration:,}, and only {passed:,} ms passed since the prompt was built or "
                    "the attempt before ended",
                    "Write each line when it happens: an attempt is taken to start no earlier.",
                )
        attempt = int_of(value.get("attempt"))
        seen = self._attempts.setdefault(name, set())
        if attempt is not None and attempt > 1 and attempt - 1 not in seen:
            yield Misfit(
                "attempt", f"is {attempt}, and attempt {attempt - 1} has not ended before",
                "Number the attempts of a request 1, 2, ... and write how each one ended.",
            )  # fmt: skip
        if attempt is not None:
            seen.add(attempt)
        if name in self._since and at_ms is not None:
            self._since[name] = at_ms


def usage_misfits(value: Mapping[str, Any]) -> Iterator[tuple[bool, Misfit]]:
    """Counts that contradict each other; true where that is an error."""
    usage = value.get("usage")
    if not isinstance(usage, dict):
        return
    given, output = count_of(usage.get("inputTokens")), count_of(usage.get("outputTokens"))
    read, write = (count_of(usage.get(f"cache{k}Tokens")) or 0 for k in ("Read", "Write"))
    if given is None:
        return
    if usage.get("inclusive") is True and read + write > given:
        yield (
            True,
            Misfit(
                "usage.inclusive",
                f"is true, and the cache counts ({read + write:,}) are more than `inputTokens` "
                f"({given:,})",
                "Write false if `inputTokens` leaves the cache counts out: it is read like that.",
            ),
        )
    total = count_of(usage.get("totalTokens"))
    sums = () if output is None else (given + output, given + read + write + output)
    if total is not None and sums and total not in sums:
        yield (
            False,
            Misfit(
                "usage.totalTokens",
                f"is {total:,}, and input and output are {sums[0]:,}",
                "Write the total that the provider reports, or leave it out.",
            ),
        )
