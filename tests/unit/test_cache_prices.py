"""Money with a price table, and the vendors' own diagnostics beside our verdict."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

import pytest

from tests.unit.test_cache_facts import CLAUDE, GLM, appended, call, judge, marker
from tracer.cache.diagnostics import Agreement, compare, parse_diagnostics
from tracer.cache.prices import PriceTable, miss_cost, parse_table
from tracer.errors import InputError
from tracer.model.prompt import Tier
from tracer.model.verdict import Result, Verdict

SHIPPED = parse_table(
    tomllib.loads(files("tracer.cache").joinpath("prices.toml").read_text("utf-8"))
)
ENTRY: dict[str, object] = {
    "provider": "anthropic", "model": "opus-5", "currency": "USD", "input": 5,
    "cache_read": 0.5, "cache_write_5m": 6.25, "cache_write_1h": 10.0,
    "source": "a page", "dated": "2026-11-30",
}  # fmt: skip


def table(**changes: object) -> PriceTable:
    return parse_table({"schema": 1, "price": [{**ENTRY, **changes}]})


def miss(prices: PriceTable | None, of: tuple[str, str] = CLAUDE) -> Verdict:
    before = call("a", 0, 60_000, 55_000, 5_000, of, markers=(marker(Tier.MESSAGES, 7),))
    now = call("b", 9, 61_000, 0, 61_000, of, markers=(marker(Tier.MESSAGES, 8),))
    return judge(now, before, appended(60_000, 61_000), prices=prices)


def test_a_miss_costs_what_a_write_costs_more_than_a_read() -> None:
    cost = miss(table()).cost
    assert cost is not None and cost.currency == "USD"
    assert cost.amount == pytest.approx(60_000 * (6.25 - 0.5) / 1e6)
    assert cost.formula == "60,000 × (6.25 − 0.5) ÷ 1,000,000" and "2026-11-30" in cost.source


def test_the_shipped_prices_are_sourced_and_dated() -> None:
    assert SHIPPED.prices
    for price in SHIPPED.prices:
        assert price.source.startswith("https://") and len(price.dated) == len("2026-01-31")
        assert price.cache_read is not None and price.cache_read <= 0.2 * price.input
        if price.provider == "anthropic":
            assert price.cache_write_5m == pytest.approx(1.25 * price.input)
            assert price.cache_write_1h == pytest.approx(2 * price.input)
    assert SHIPPED.of("deepseek", "deepseek-v4") is None


@pytest.mark.parametrize(
    ("provider", "model", "price"),
    [
        ("anthropic", "claude-opus-5", 5.0),
        ("anthropic", "claude-opus-5-20260801", 5.0),
        ("anthropic", "claude-opus-5-5", None),
        ("anthropic", "claude-opus-4-8", 5.0),
        ("anthropic", "claude-opus-4-5-20251101", 5.0),
        ("anthropic", "claude-opus-4-1", None),
        ("anthropic", "claude-fable-5-1", 10.0),
        ("anthropic", "claude-sonnet-4-20250514", 3.0),
        ("anthropic", "claude-sonnet-4-6", 3.0),
        ("anthropic", "claude-sonnet-4-8", None),
        ("glm", "glm-5", 1.0),
        ("glm", "z-ai/glm-4.7", 0.6),
        ("glm", "glm-5.3", None),
        ("glm", "glm-4.7-flash", None),
    ],
)
def test_which_models_have_a_price(provider: str, model: str, price: float | None) -> None:
    found = SHIPPED.of(provider, model)
    assert (found and found.input) == price


def test_a_read_of_the_newest_models_has_a_price_of_its_own() -> None:
    reads = [SHIPPED.of("anthropic", f"claude-fable-{v}") for v in ("5-1", "5")]
    assert [price and price.cache_read for price in reads] == [0.25, 1.0]


def test_a_plan_has_no_price_per_token() -> None:
    assert SHIPPED.of("glm", "glm-5", "builtin:zai-coding-plan") is None
    assert SHIPPED.of("glm", "glm-5", "zai") is not None


def test_no_money_is_made_up() -> None:
    assert miss(None).cost is None
    assert miss(table(), GLM).cost is None
    assert miss(parse_table({"schema": 1})).cost is None
    assert miss(table(cache_read=None)).cost is None


def test_an_hour_and_a_fresh_read_have_their_own_price() -> None:
    price = table().of(*CLAUDE)
    assert price is not None
    hour, fresh = (
        miss_cost(1_000_000, price, wrote=True, hour=True),
        miss_cost(1_000_000, price, wrote=False),
    )
    assert hour is not None and hour.amount == pytest.approx(9.5)
    assert fresh is not None and fresh.amount == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({}, "schema"),
        ({"schema": 1, "price": 3}, r"\[\[price\]\]"),
        ({"schema": 1, "price": ["x"]}, "not a table"),
        ({"schema": 1, "price": [{**ENTRY, "model": ""}]}, "no model"),
        ({"schema": 1, "price": [{**ENTRY, "input": None}]}, "no input price"),
        ({"schema": 1, "price": [{**ENTRY, "input": "5"}]}, "input that is no price"),
        ({"schema": 1, "price": [{**ENTRY, "cache_read": -1}]}, "cache_read that is no price"),
        ({"schema": 1, "price": [{**ENTRY, "model": "("}]}, "valid pattern"),
    ],
)
def test_a_wrong_table_is_refused_with_a_sentence(
    document: Mapping[str, object], word: str
) -> None:
    with pytest.raises(InputError, match=word):
        parse_table(document)


@pytest.mark.parametrize(
    ("found", "source", "category", "count"),
    [
        (
            {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 9}},
            "Anthropic", "tools_changed", 9,
        ),
        ({"diagnostics": {"cache_miss_reason": None}}, "Anthropic", "pending", None),
        (
            {"cache_miss": {"reason": "input_changed", "cache_missed_tokens": 7}},
            "OpenAI", "input_changed", 7,
        ),
        ({"type": "unavailable"}, "OpenAI", "unavailable", None),
        (
            {"prompt_cache": {"last_miss_cause": {"causes": ["ttl_expired_5m"]}}},
            "Claude Code", "ttl_expired_5m", None,
        ),
    ],
)  # fmt: skip
def test_diagnostics_are_read(
    found: Mapping[str, object], source: str, category: str, count: int | None
) -> None:
    (diagnostic,) = parse_diagnostics(found)
    assert (diagnostic.source, diagnostic.category, diagnostic.missed_tokens) == (
        source,
        category,
        count,
    )


def test_nothing_to_read() -> None:
    assert parse_diagnostics({}) == ()
    assert parse_diagnostics({"diagnostics": 3, "prompt_cache": 4}) == ()


def says(kind: str, verdict: Verdict) -> Agreement:
    (diagnostic,) = parse_diagnostics({"cache_miss_reason": {"type": kind}})
    return compare(diagnostic, verdict).agreement


def test_agreement_and_conflict() -> None:
    lost = miss(None)
    assert lost.causes[0].code == "SERVER_SIDE"
    assert says("tools_changed", lost) is Agreement.CONFLICT
    for silent in ("unavailable", "previous_message_not_found", "something new"):
        assert says(silent, lost) is Agreement.SILENT
    before = call("a", 0, 60_000, 55_000, 5_000, CLAUDE, markers=None)
    now = call("b", 9, 61_000, 0, 61_000, ("anthropic", "claude-opus-4-8"), markers=None)
    switched = judge(now, before, appended(60_000, 61_000))
    assert says("model_changed", switched) is Agreement.AGREE


def test_a_late_change_that_cost_nothing_is_no_conflict() -> None:
    before, now = call("a", 0, 60_000, 0), call("b", 9, 61_000, 59_968)
    hit = judge(now, before, appended(60_000, 61_000))
    assert hit.result is Result.HIT and says("messages_changed", hit) is Agreement.SILENT
    (said,) = parse_diagnostics({"type": "cache_hit"})
    assert compare(said, hit).agreement is Agreement.AGREE
    assert compare(said, miss(None)).agreement is Agreement.CONFLICT
