"""The table of prices: a TOML file that users can edit (its format is in the shipped one)."""

import os
import tomllib
from pathlib import Path

import tracer.cache
from tracer.cache.prices import PriceTable, parse_table
from tracer.errors import InputError

PRICES_VARIABLE = "TRACER_PRICES"
SHIPPED = Path(tracer.cache.__file__).with_name("prices.toml")


def load_prices(path: Path | None = None) -> PriceTable:
    """The prices of a file: the one that is named, else that of TRACER_PRICES, else the shipped
    one. Raises InputError with a sentence that says what is wrong with it."""
    named = os.environ.get(PRICES_VARIABLE)
    chosen = path or (Path(named) if named else SHIPPED)
    try:
        document = tomllib.loads(chosen.read_text(encoding="utf-8"))
        return parse_table(document)
    except OSError as error:
        raise InputError(
            f"The price table {chosen} cannot be read: {error.strerror or error}. Check --prices "
            f"or {PRICES_VARIABLE}."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The price table {chosen} is no valid TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"The price table {chosen} is nested too deep to be read.") from error
    except InputError as error:
        raise InputError(f"{chosen}: {error}") from error
