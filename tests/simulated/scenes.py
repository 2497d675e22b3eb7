"""All scenes, with the providers on which each can happen, and the stories made of them."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from tests.simulated import houses as h
from tests.simulated import scenes_content as content
from tests.simulated import scenes_healthy as fine
from tests.simulated import scenes_mixed as mixed
from tests.simulated import scenes_provider as provider
from tests.simulated.agent import Agent
from tests.simulated.houses import House
from tests.simulated.sections import CHANGES, NONCES
from tests.simulated.texts import Library
from tests.simulated.wire import Story

Play = Callable[[Agent], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene and where it can be played. `thinks`: answers hold reasoning, where they can."""

    name: str
    play: Play
    houses: tuple[House, ...]
    thinks: bool = True


USUAL = tuple(house for house in h.ALL if house is not h.CLAUDE_OLD)
"""All but the model that strips reasoning by itself, which has a scene of its own."""
_TIMED = tuple(house for house in USUAL if house.idle_s is not None)
_THINKING = (h.CLAUDE, h.DEEPSEEK, h.GLM)
_RENDERED = (h.CLAUDE, h.BEDROCK, h.GPT, h.GPT_NEW, h.GLM, h.VLLM, h.SGLANG, h.LLAMACPP)
"""Where the order of keys reaches the rendered prompt: not on DeepSeek, not known for Gemini."""
_PARAMS: dict[str, tuple[House, ...]] = {
    "effort": (h.CLAUDE,),
    "thinking": (h.CLAUDE, h.BEDROCK),
    "tool_choice": (h.CLAUDE, h.BEDROCK),
    "speed": (h.CLAUDE,),
    "reasoning": (h.GPT, h.GPT_NEW),
    "verbosity": (h.GPT, h.GPT_NEW),
    "service_tier": (h.GPT, h.GPT_NEW),
    "prompt_cache_key": (h.GPT, h.GPT_NEW),
    "template": (h.VLLM, h.LLAMACPP),
}


def _content() -> Iterator[Scene]:
    for play in (
        content.tools_added,
        content.tools_removed,
        content.tools_reordered,
        content.tools_schema,
        content.tools_description,
    ):
        yield Scene(play.__name__, play, USUAL)
    yield Scene("tools_key_order", content.tools_key_order, _RENDERED)
    for subtype in CHANGES:
        play_it = partial(content.system_changed, subtype=subtype)
        yield Scene(f"system_{subtype}", play_it, USUAL)
    for subtype in NONCES:
        play_it = partial(content.system_always_new, subtype=subtype)
        yield Scene(f"system_always_{subtype}", play_it, USUAL)
    for play in (
        content.results_cleared,
        content.image_stripped,
        content.reminder_removed,
        content.reminder_inserted,
        content.reminder_message_removed,
        content.reminder_moved,
        content.role_hoisted,
        content.reordered,
        content.edited,
        content.repaired,
        content.tail_window,
    ):
        yield Scene(play.__name__, play, USUAL)
    yield Scene("thinking_stripped", content.thinking_stripped, _THINKING)
    yield Scene("shape_changed", content.shape_changed, (h.CLAUDE, h.BEDROCK))
    yield Scene("arguments_reserialised", content.arguments_reserialised, _RENDERED)


def _provider() -> Iterator[Scene]:
    yield Scene("fallback", provider.fallback, USUAL)
    yield Scene("endpoint", provider.endpoint, USUAL)
    for case, where in _PARAMS.items():
        yield Scene(f"param_{case}", partial(provider.parameter, case=case), where)
    yield Scene("expired", provider.expired, _TIMED)
    yield Scene("both", provider.both, _TIMED)
    yield Scene("expired_hour", provider.expired_hour, (h.CLAUDE, h.BEDROCK))
    yield Scene("downgraded", provider.downgraded, (h.CLAUDE, h.BEDROCK))
    yield Scene("caching_off", provider.caching_off, (h.CLAUDE, h.BEDROCK))
    yield Scene("caching_off_once", provider.caching_off_once, (h.CLAUDE, h.BEDROCK))
    yield Scene("explicit_without", provider.explicit_without, (h.GPT_NEW,))
    yield Scene("below_minimum", provider.below_minimum, (h.CLAUDE_OLD, h.GEMINI), thinks=False)
    yield Scene("breakpoint_missing", provider.breakpoint_missing, (h.CLAUDE, h.BEDROCK))
    yield Scene("lookback", provider.lookback, (h.CLAUDE, h.BEDROCK))
    yield Scene("lookback_calls", provider.lookback_calls, (h.BEDROCK,))
    yield Scene("unreachable", provider.unreachable, (h.CLAUDE, h.BEDROCK))
    yield Scene("concurrent_subagents", provider.concurrent_subagents, (h.CLAUDE, h.BEDROCK))
    yield Scene("concurrent_question", provider.concurrent_question, (h.CLAUDE, h.BEDROCK))
    yield Scene("slot_taken", provider.slot_taken, (h.LLAMACPP,))
    yield Scene("memory_pressure", provider.memory_pressure, (h.VLLM, h.SGLANG))
    yield Scene("affinity_header", provider.affinity_header, (h.GLM,))
    yield Scene("affinity_absent", provider.affinity_absent, (h.GLM,))
    yield Scene("stripped", provider.stripped, (h.CLAUDE_OLD,))
    yield Scene("lost", provider.lost, USUAL)
    yield Scene("gateway", provider.gateway, (h.CLAUDE, h.GPT, h.GLM, h.DEEPSEEK))


def _healthy() -> Iterator[Scene]:
    for play in (
        fine.appended,
        fine.retried,
        fine.failed,
        fine.switched,
        fine.rewound,
        fine.noted,
        fine.small_change,
        fine.windowed,
        fine.log_begins_late,
        fine.hidden_edit,
    ):
        yield Scene(play.__name__, play, USUAL)
    many = tuple(house for house in USUAL if house is not h.LLAMACPP)
    for play in (fine.compacted, fine.compacted_apart, fine.titled, fine.subagents):
        yield Scene(play.__name__, play, many)
    yield Scene("kept_alive", fine.kept_alive, (h.CLAUDE, h.BEDROCK))
    yield Scene("prewarmed", fine.prewarmed, (h.CLAUDE, h.BEDROCK))
    yield Scene("markers_moved", fine.markers_moved, (h.CLAUDE, h.BEDROCK))
    yield Scene("tool_choice_kept", fine.tool_choice_kept, (h.GPT, h.GPT_NEW))
    unreported = (h.GPT, h.GLM, h.GEMINI, h.VLLM, h.SGLANG)
    yield Scene("not_reported", fine.not_reported, unreported)
    yield Scene("reporting_gap", fine.reporting_gap, (h.GPT, h.GLM, h.VLLM, h.DEEPSEEK))
    yield Scene("unknown", fine.unknown, USUAL)


def _mixed() -> Iterator[Scene]:
    for play in (
        mixed.tools_and_instructions,
        mixed.cleared,
        mixed.compacted_silently,
        mixed.windowed_tools,
        mixed.worded_anew,
        mixed.many_rounds,
    ):
        yield Scene(play.__name__, play, USUAL)
    yield Scene("tools_after_pause", mixed.tools_after_pause, _TIMED)
    yield Scene("pause_without_prompts", mixed.pause_without_prompts, _TIMED)
    yield Scene("effort_after_pause", mixed.effort_after_pause, (h.CLAUDE,))
    yield Scene("kept_a_day", mixed.kept_a_day, (h.GPT,))
    yield Scene("no_promise", mixed.no_promise, (h.GEMINI,))
    for play in (mixed.long_answer, mixed.just_in_time, mixed.first_image):
        yield Scene(play.__name__, play, (h.CLAUDE, h.BEDROCK))
    for play in (mixed.workspace, mixed.betas):
        yield Scene(play.__name__, play, (h.CLAUDE,))


@cache
def all_scenes() -> tuple[Scene, ...]:
    """Every scene, in a fixed order."""
    return (*_content(), *_provider(), *_healthy(), *_mixed())


@cache
def library_of(seed: int) -> Library:
    """The texts of a seed."""
    return Library(seed)


def play(scene: Scene, house: House, seed: int) -> Story:
    """A scene on a provider."""
    agent = Agent(house, library_of(seed), f"{seed} {scene.name} {house.name}", thinks=scene.thinks)
    scene.play(agent)
    return agent.story(scene.name)


def stories(seed: int, most: int | None = None) -> list[Story]:
    """A story for every scene, on `most` of its providers each (all of them where None)."""
    rng = random.Random(seed)
    return [
        play(scene, house, seed)
        for scene in all_scenes()
        for house in _some(rng, scene.houses, most)
    ]


def _some(rng: random.Random, found: Sequence[House], most: int | None) -> Sequence[House]:
    return found if most is None or most >= len(found) else rng.sample(found, most)
