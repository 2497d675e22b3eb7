"""Tokens that add up to what the provider billed.

A BPE count uses another tokenizer than most models; what the provider billed is exact, but only for
the whole. The *calibrated* count scales the first to the second. How well that holds is shown by
the spread of the factor over the requests of a lane, which share a model and a tokenizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import NamedTuple


class Sample(NamedTuple):
    """A request whose whole prompt is counted and whose input was billed."""

    bpe_tokens: int
    billed_input_tokens: int


class Method(StrEnum):
    """Where a factor comes from: the request's own bill, the lane's median, or nowhere."""

    OWN = "own"
    LANE = "lane"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Billed tokens per BPE token over the requests of a lane.

    `factor` is the median; `deviation` the median absolute deviation from it; both, and the least
    and the largest, are plain ratios. `samples` is the number of requests.
    """

    factor: float
    low: float
    high: float
    deviation: float
    samples: int


@dataclass(frozen=True, slots=True)
class CalibratedParts:
    """Whole tokens for each part; `parts` and `remainder` add up to `total`.

    `remainder` is what the known parts do not explain: 0 by construction with the request's own
    factor; with the lane's, the share of what the log does not show (negative where the parts are
    estimated above the bill). `total` is None where the request was not billed: then the remainder
    is 0.
    """

    parts: tuple[int, ...]
    remainder: int
    total: int | None
    factor: float | None
    method: Method


def calibrate(samples: Sequence[Sample]) -> Calibration | None:
    """The factor of a lane and its spread; None without a request that can tell."""
    factors = sorted(
        s.billed_input_tokens / s.bpe_tokens
        for s in samples
        if s.bpe_tokens > 0 and s.billed_input_tokens > 0
    )
    if not factors:
        return None
    middle = median(factors)
    deviation = median(abs(factor - middle) for factor in factors)
    return Calibration(middle, factors[0], factors[-1], deviation, len(factors))


def calibrated_parts(
    bpe_parts: Sequence[int],
    billed_input_tokens: int | None,
    *,
    whole: bool,
    lane: Calibration | None = None,
) -> CalibratedParts:
    """The parts of one request, scaled (design: parts plus remainder equal the total).

    `bpe_parts` are the BPE counts of the known parts. `whole` tells that they are all of the
    prompt, each counted: then the request's own bill is the scale, else the lane's factor.
    """
    known = sum(bpe_parts)
    if whole and known and billed_input_tokens is not None and billed_input_tokens > 0:
        parts = apportion(bpe_parts, billed_input_tokens)
        factor = billed_input_tokens / known
        return CalibratedParts(parts, 0, billed_input_tokens, factor, Method.OWN)
    if lane is None or not known:
        rest = billed_input_tokens or 0
        return CalibratedParts((0,) * len(bpe_parts), rest, billed_input_tokens, None, Method.NONE)
    scaled = round(known * lane.factor)
    parts = apportion(bpe_parts, scaled)
    rest = 0 if billed_input_tokens is None else billed_input_tokens - scaled
    return CalibratedParts(parts, rest, billed_input_tokens, lane.factor, Method.LANE)


def apportion(weights: Sequence[int], total: int) -> tuple[int, ...]:
    """Whole numbers in proportion to `weights` that add up to `total` (largest remainders; of equal
    ones the earlier part gets the unit). All zero where no weight is positive.

    Raises:
        ValueError: If a weight or the total is negative.
    """
    if total < 0 or any(weight < 0 for weight in weights):
        raise ValueError("weights and total must not be negative")
    known = sum(weights)
    if not known:
        return (0,) * len(weights)
    parts = [weight * total // known for weight in weights]
    order = sorted(range(len(weights)), key=lambda i: (-(weights[i] * total % known), i))
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return tuple(parts)
