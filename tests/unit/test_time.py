"""Times of logs as UTC epoch milliseconds."""

from typing import Any

import pytest

from tracer.formats._time import epoch_ms

NINE = 1_767_603_600_000  # 2026-01-05 09:00 UTC


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-05T09:00:00Z", NINE),
        ("2026-01-05T09:00:00.120Z", NINE + 120),
        ("2026-01-05T09:00:00.1Z", NINE + 100),
        ("2026-01-05T09:00:00.123999Z", NINE + 123),
        ("2026-01-05T09:00:00,5Z", NINE + 500),
        ("2026-01-05 09:00:00", NINE),
        ("2026-01-05T10:30:00+01:30", NINE),
        ("2026-01-05T04:00:00-0500", NINE),
        (" 2026-01-05T09:00:00Z\n", NINE),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("1970-01-01T00:00:00.001Z", 1),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2016-12-31T23:59:60Z", 1_483_228_799_000),
    ],
)
def test_an_iso_time(text: str, ms: int) -> None:
    assert epoch_ms(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-05",
        "2026-01-05T09:00",
        "2026-13-05T09:00:00Z",
        "2026-02-29T09:00:00Z",
        "2026-01-05T24:00:00Z",
        "2026-01-05T24:00:00.000Z",
        "2026-W02-1T09:00:00.000Z",
        "2026-01-05T09:00:00.1²3Z",
        "2026-01-05T09:60:00Z",
        "2026-01-05T09:00:61Z",
        "2026-01-05T09:00:00+99:00",
        "2026-01-05T09:00:00Zulu",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-01:00",
        "[Redacted]",
    ],
)
def test_a_text_that_is_no_time_is_unknown(text: str) -> None:
    assert epoch_ms(text) is None


@pytest.mark.parametrize(("number", "ms"), [(NINE, NINE), (float(NINE), NINE), (0, 0), (-1, -1)])
def test_a_number_is_taken_as_epoch_milliseconds(number: float, ms: int) -> None:
    assert epoch_ms(number) == ms


@pytest.mark.parametrize("value", [None, True, 1.5, [NINE], {}, 2**62, -(2**62), 1e300])
def test_anything_else_is_unknown(value: Any) -> None:
    assert epoch_ms(value) is None
