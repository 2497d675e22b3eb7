"""Money, only where a price is known (cache-rules.md 4). Pure: the table is read elsewhere.

Prices are per million tokens. A model that the table does not name has no price, and no cost is
made up for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tracer.errors import InputError
from tracer.model.verdict import Cost

PER_TOKENS = 1_000_000
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs, per million tokens. `model` is a pattern searched in the model's id.

    A price that is None is not known. `dated` is the day on which the source said so. It does not
    hold for providers whose id matches `except_provider`: a plan has no price per token.
    """

    provider: str
    model: str
    currency: str
    input: float
    cache_read: float | None
    cache_write_5m: float | None
    cache_write_1h: float | None
    source: str
    dated: str
    except_provider: str = ""

    @property
    def origin(self) -> str:
        """Source and date, for people."""
        return f"{self.source} ({self.dated})"


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices in order: the first that fits a call counts."""

    prices: tuple[Price, ...] = ()

    def of(self, provider: str, model: str, provider_id: str = "") -> Price | None:
        """The price of a model at a provider family (`tracer.cache.providers`), or None;
        `provider_id` is what the agent calls the provider."""
        name, who = model.lower(), provider_id.lower()
        found = (p for p in self.prices if p.provider == provider and re.search(p.model, name))
        return next(
            (p for p in found if not (p.except_provider and re.search(p.except_provider, who))),
            None,
        )


def parse_table(document: Mapping[str, object]) -> PriceTable:
    """The table of a decoded TOML document; its format is documented in `prices.toml`.

    Raises InputError with a sentence that says which entry is wrong and why.
    """
    if document.get("schema") != SCHEMA:
        raise InputError(f"The price table has to say schema = {SCHEMA}.")
    entries = document.get("price", [])
    if not isinstance(entries, list):
        raise InputError("The price table's prices have to be [[price]] entries.")
    return PriceTable(tuple(_price(number, entry) for number, entry in enumerate(entries, 1)))


def _price(number: int, entry: object) -> Price:
    if not isinstance(entry, Mapping):
        raise InputError(f"Price {number} of the price table is not a table.")
    texts = {name: entry.get(name) for name in ("provider", "model", "currency", "source")}
    for name, value in texts.items():
        if not isinstance(value, str) or not value:
            raise InputError(f"Price {number} of the price table has no {name}.")
    base = _number(number, entry, "input")
    if base is None:
        raise InputError(f"Price {number} of the price table has no input price.")
    excepted = str(entry.get("except_provider", ""))
    for name, pattern in (("model", str(texts["model"])), ("except_provider", excepted)):
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(
                f"Price {number}: its {name} is no valid pattern ({error})."
            ) from error
    return Price(
        provider=str(texts["provider"]),
        model=str(texts["model"]),
        currency=str(texts["currency"]),
        input=base,
        cache_read=_number(number, entry, "cache_read"),
        cache_write_5m=_number(number, entry, "cache_write_5m"),
        cache_write_1h=_number(number, entry, "cache_write_1h"),
        source=str(texts["source"]),
        dated=str(entry.get("dated", "undated")),
        except_provider=excepted,
    )


def _number(number: int, entry: Mapping[str, object], name: str) -> float | None:
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise InputError(f"Price {number} of the price table has a {name} that is no price.")
    return float(value)


def miss_cost(rebilled: int, price: Price, *, wrote: bool, hour: bool = False) -> Cost | None:
    """What reading `rebilled` tokens anew cost more than a cache read: tokens × (paid − read).

    Paid is the price of a write where the request wrote, else of fresh input.
    """
    paid: float | None = price.input
    if wrote:
        paid = price.cache_write_1h if hour else price.cache_write_5m
    if paid is None or price.cache_read is None:
        return None
    amount = rebilled * (paid - price.cache_read) / PER_TOKENS
    formula = f"{rebilled:,} × ({paid:g} − {price.cache_read:g}) ÷ {PER_TOKENS:,}"
    return Cost(amount, price.currency, formula, price.origin)
