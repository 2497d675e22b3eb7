"""What all tests share: the flag that lets the browser tests run, how examples are made up, and
that nothing is left for later on a slow machine."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No example may fail by being slow, and a change is judged by the same examples as the one before
# it. `--hypothesis-profile explore` makes up new ones.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("steady"), derandomize=False)
settings.load_profile("steady")

BROWSER_TESTS = Path(__file__).parent / "browser"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--browser` runs the tests that need a Chromium; CONTEXT_TRACER_BROWSER=1 does the same."""
    parser.addoption(
        "--browser",
        action="store_true",
        default=os.environ.get("CONTEXT_TRACER_BROWSER") == "1",
        help="also run the tests that need a Chromium on the machine",
    )


@pytest.fixture(scope="session", autouse=True)
def time_enough() -> Iterator[None]:
    """Reading and judging end a batch, or put off the rest, after some seconds: never in a test
    that does not say so, for on a slow machine it would find less."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "tracer.ingest.run.BATCH_SECONDS",
            "tracer.service.judging.rounds.PROMPTLESS_SECONDS",
            "tracer.service.judging.storing.BATCH_SECONDS",
        ):
            patch.setattr(name, math.inf)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without the flag the browser tests are not even imported."""
    wanted = config.getoption("--browser")
    return (
        True
        if not wanted and BROWSER_TESTS in (collection_path, *collection_path.parents)
        else None
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test elsewhere that is marked `browser` follows the flag, too."""
    if config.getoption("--browser"):
        return
    marked = [item for item in items if item.get_closest_marker("browser")]
    if marked:
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if item not in marked]
