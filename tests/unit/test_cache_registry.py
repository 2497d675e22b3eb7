"""Every cause and every provider family keeps the contract of its registry."""

import importlib
import pkgutil
import re
from dataclasses import fields

import pytest

from tests.unit.test_cache_facts import CLAUDE, DEEPSEEK, GLM, GPT
from tracer.cache import all_causes, all_providers, causes, provider_for, providers
from tracer.cache.causes import Cause, cause_named
from tracer.cache.causes._skeleton import detect as skeleton_detect
from tracer.cache.causes.base import Cause as CauseType
from tracer.cache.providers import Provider
from tracer.cache.providers._skeleton import PROVIDER as SKELETON
from tracer.cache.providers.base import ByModel, Match, ParamRule, Value

CODES = {
    "NO_USAGE", "NOT_A_MISS_ROUNDING", "FIRST_IN_SCOPE", "ENDPOINT_CHANGED", "MODEL_CHANGED",
    "CACHING_OFF", "BELOW_MINIMUM", "TOOLS_CHANGED", "SYSTEM_CHANGED", "PARAM_CHANGED",
    "HISTORY_REWRITTEN", "TAIL_WINDOW", "LOG_WINDOWED", "TTL_EXPIRED", "TTL_DOWNGRADED",
    "BREAKPOINT_MISSING", "LOOKBACK_EXCEEDED", "BREAKPOINT_UNREACHABLE", "CONCURRENT",
    "SIDECAR_EVICTION", "AFFINITY", "SERVER_STRIPPED", "SERVER_SIDE", "RETRY_RESEND",
    "REPORTING_GAP", "GATEWAY_REWRITE", "UNKNOWN",
}  # fmt: skip
_MODULES = {
    info.name: importlib.import_module(f"{causes.__name__}.{info.name}")
    for info in pkgutil.iter_modules(causes.__path__)
    if not info.name.startswith("_") and info.name != "base"
}
_FAMILY_FILES = {info.name for info in pkgutil.iter_modules(providers.__path__)}
_BY_NAME = {provider.name: provider for provider in all_providers()}


def test_all_causes_of_the_rules_are_there() -> None:
    assert {cause.code for cause in all_causes()} == CODES
    assert cause_named("NOTHING") is None


def test_a_file_a_cause() -> None:
    assert {name.upper() for name in _MODULES} == CODES
    assert all(name.upper() == module.CODE for name, module in _MODULES.items())


@pytest.mark.parametrize("cause", all_causes(), ids=lambda c: c.code)
def test_a_cause_explains_itself_to_people(cause: Cause) -> None:
    assert isinstance(cause, CauseType)
    paragraphs = cause.explanation.strip().split("\n\n")
    assert 5 < len(cause.title) < 50 and cause.title[0].islower() and "_" not in cause.title
    assert len(paragraphs) >= 2 and paragraphs[0].endswith(".") and len(paragraphs[1]) > 60
    assert cause.fix.endswith(".") and len(cause.fix) > 10
    assert 1 <= cause.order <= 26
    assert re.search(r"\(cache-rules\.md 2\.3, \d+", cause.detect.__doc__ or "") or (
        "cache-rules.md 2.3" in (cause.detect.__doc__ or "")
    )


def test_the_skeletons_are_no_members() -> None:
    assert "SKELETON" not in {c.code for c in all_causes()}
    assert SKELETON not in all_providers() and callable(skeleton_detect)


@pytest.mark.parametrize("provider", all_providers(), ids=lambda p: p.name)
def test_every_value_of_a_provider_has_a_source(provider: Provider) -> None:
    assert provider.name in _FAMILY_FILES
    for field in fields(provider):
        for value in _values(getattr(provider, field.name)):
            assert value.source.strip(), field.name


def _values(found: object) -> list[Value[object]]:
    if isinstance(found, Value):
        return [found]
    if isinstance(found, ByModel):
        return [found.default, *(value for _, value in found.models)]
    if isinstance(found, ParamRule):
        return _values(found.lost)
    if isinstance(found, tuple):
        return [v for item in found for v in _values(item)]
    return []


@pytest.mark.parametrize(
    ("provider_id", "model", "endpoint", "name"),
    [
        (*GLM, "", "glm"),
        (*CLAUDE, "", "anthropic"),
        (*GPT, "", "openai"),
        (*DEEPSEEK, "", "deepseek"),
        ("anthropic", "glm-5", "", "glm"),
        ("custom", "claude-sonnet-5", "https://api.z.ai/api/anthropic", "glm"),
        ("openai-compatible", "deepseek-v4", "", "deepseek"),
        ("vllm", "glm-5", "", "vllm"),
        ("sglang", "qwen", "", "sglang"),
        ("ollama", "qwen3", "", "llamacpp"),
        ("google", "gemini-3-pro", "", "gemini"),
        ("amazon-bedrock", "anthropic.claude-opus-4-5", "", "anthropic"),
        ("somebody", "some-model", "", "unknown"),
        ("", "", "", "unknown"),
    ],
)
def test_how_a_provider_is_recognised(
    provider_id: str, model: str, endpoint: str, name: str
) -> None:
    assert provider_for(provider_id, model, endpoint).name == name


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-5", 512),
        ("claude-fable-5.1", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-4-5", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-haiku-3-5", 2_048),
        ("claude-opus-4-6", 4_096),
        ("claude-opus-4-5-20251101", 4_096),
        ("claude-haiku-4-5", 4_096),
    ],
)
def test_the_minimum_by_model(model: str, least: int) -> None:
    assert _BY_NAME["anthropic"].minimum.of(model).value == least


@pytest.mark.parametrize(
    ("model", "strips"),
    [
        ("claude-opus-5", False),
        ("claude-opus-4-5", False),
        ("claude-opus-4-1", True),
        ("claude-opus-4-20250514", True),
        ("claude-sonnet-4-6", False),
        ("claude-sonnet-4-5", True),
        ("claude-sonnet-4-20250514", True),
        ("claude-haiku-4-5", True),
        ("claude-3-7-sonnet", True),
    ],
)
def test_which_models_drop_reasoning(model: str, strips: bool) -> None:
    assert _BY_NAME["anthropic"].strips_thinking.of(model).value is strips


@pytest.mark.parametrize(
    ("model", "block"), [("gpt-5.5", 128), ("gpt-5.6", 1), ("gpt-5.10", 1), ("gpt-4.1", 128)]
)
def test_openai_rounds_before_5_6_only(model: str, block: int) -> None:
    assert _BY_NAME["openai"].granularity.of(model).value == block


def test_rules_of_matching() -> None:
    assert _BY_NAME["anthropic"].match.default.value is Match.MARKERS
    assert _BY_NAME["deepseek"].match.default.value is Match.UNITS
    assert provider_for("nobody").name == "unknown"
    assert _BY_NAME["glm"].named_lifetime("1h") is None
