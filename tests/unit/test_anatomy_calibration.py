"""Parts plus remainder are the total; a lane's factor shows its spread."""

import pytest

from tracer.anatomy.calibration import (
    Calibration,
    Method,
    Sample,
    apportion,
    calibrate,
    calibrated_parts,
)


def test_a_lane_has_a_median_and_a_spread() -> None:
    found = calibrate([Sample(100, 110), Sample(100, 120), Sample(100, 150), Sample(0, 5)])
    assert found is not None
    assert (found.factor, found.low, found.high, found.samples) == (1.2, 1.1, 1.5, 3)
    assert found.deviation == pytest.approx(0.1)
    assert calibrate([Sample(0, 10), Sample(10, 0)]) is None


def test_the_largest_remainders_get_what_is_left() -> None:
    assert apportion([1, 1, 1], 10) == (4, 3, 3)
    assert apportion([10, 20, 30], 61) == (10, 20, 31)
    assert apportion([0, 0], 7) == (0, 0)
    assert apportion([], 7) == ()
    for weights, total in (([-1], 1), ([1], -1)):
        with pytest.raises(ValueError, match="negative"):
            apportion(weights, total)


LANE = Calibration(1.5, 1.4, 1.6, 0.05, 9)


def test_a_whole_prompt_is_scaled_to_its_own_bill() -> None:
    found = calibrated_parts([100, 50], 160, whole=True, lane=LANE)
    assert (found.parts, found.remainder, found.total) == ((107, 53), 0, 160)
    assert found.method is Method.OWN and found.factor == pytest.approx(160 / 150)


def test_a_part_of_a_prompt_is_scaled_by_the_lane_and_the_rest_is_the_remainder() -> None:
    found = calibrated_parts([100, 50], 1000, whole=False, lane=LANE)
    assert (found.parts, found.remainder, found.method) == ((150, 75), 775, Method.LANE)
    unbilled = calibrated_parts([100, 50], None, whole=True, lane=LANE)
    assert (unbilled.parts, unbilled.remainder, unbilled.total) == ((150, 75), 0, None)
    assert calibrated_parts([100], 90, whole=False, lane=LANE).remainder == -60


def test_without_a_factor_everything_remains() -> None:
    found = calibrated_parts([100], 90, whole=False)
    assert (found.parts, found.remainder, found.factor) == ((0,), 90, None)
    assert calibrated_parts([], None, whole=True, lane=LANE).method is Method.NONE


@pytest.mark.parametrize("billed", [0, -98])
def test_a_bill_of_nothing_or_less_scales_no_part(billed: int) -> None:
    found = calibrated_parts([100, 50], billed, whole=True)
    assert (found.parts, found.total, found.method) == ((0, 0), billed, Method.NONE)
