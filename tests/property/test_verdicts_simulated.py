"""Verdicts on simulated sessions whose truth is known (`tests/simulated`).

`benchmarks/verdict_accuracy.py` measures the same on more of them, and prints the matrix.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from tests.simulated import houses
from tests.simulated.agent import Agent
from tests.simulated.houses import House, house_named
from tests.simulated.judged import answers_of
from tests.simulated.scenes import all_scenes, library_of, play, stories
from tests.simulated.score import Score, score
from tests.simulated.wire import MESSAGES, SYSTEM, TOOLS, Mark, Sent, Step, Story, healthy
from tracer.model.verdict import Result

SEED = 20
LEAST_LOSS = 1_400
"""What a labelled miss loses at least, in tokens: well above every noise."""

_UNSEEN = frozenset({"REPORTING_GAP"})
EVERY_HOUSE = pytest.mark.parametrize("house", houses.ALL, ids=lambda house: house.name)


@cache
def told() -> tuple[Story, ...]:
    """Every scene on one of its providers."""
    return tuple(stories(SEED, 1))


@cache
def scored() -> Score:
    """The verdicts on them."""
    return score(told())


def failures() -> str:
    return "\n".join(row.line for row in scored().disagreements())


def test_there_is_enough_of_everything() -> None:
    rows = scored().rows
    assert len(rows) >= 600 and sum(row.label.miss for row in rows) >= 100
    assert len({row.label.code for row in rows if row.label.miss}) >= 20
    assert {row.story.house for row in rows} == {house.name for house in houses.ALL}


def test_what_is_a_miss() -> None:
    assert scored().precision >= 0.99, failures()
    assert scored().recall >= 0.99, failures()


def test_the_primary_cause() -> None:
    assert scored().cause >= 0.95, failures()
    assert scored().subtype >= 0.95, failures()


def test_the_block() -> None:
    assert scored().block >= 0.98, failures()


def test_the_result_of_what_is_no_miss() -> None:
    assert scored().result >= 0.98, failures()


def test_labels_agree_with_the_bills() -> None:
    """A label says what the scene did; the bill, which another part made, has to show it."""
    for story in told():
        before: dict[str, Step] = {}
        for step in story.steps:
            last = before.get(step.sent.lane)
            if step.billed is None:
                continue
            before[step.sent.lane] = step
            if last is None or last.billed is None or step.label.code in _UNSEEN:
                continue
            lost = min(last.billed.total, step.billed.total) - step.billed.read
            where = (story.name, story.house, step.sent.key, lost)
            if step.label.miss:
                assert lost >= LEAST_LOSS, where
            elif step.label.kind == "append":
                assert lost <= 1_024, where


def test_the_same_seed_gives_the_same_sessions() -> None:
    scene = all_scenes()[0]
    house = scene.houses[0]
    assert play(scene, house, 3) == play(scene, house, 3)
    assert play(scene, house, 3) != play(scene, house, 4)


@EVERY_HOUSE
@pytest.mark.parametrize("seed", range(3))
def test_appending_is_never_a_miss(house: House, seed: int) -> None:
    agent = Agent(house, library_of(SEED), f"append {seed} {house.name}", thinks=False)
    agent.warm(2)
    rng = random.Random(seed)
    for _ in range(10):
        if rng.random() < 0.3:
            agent.ask(size=rng.choice(("short", "medium", "long")))
        else:
            agent.work(calls=rng.randint(1, 4), size=rng.choice(("short", "medium")))
        agent.send(healthy())
    found = answers_of(agent.story("append"))
    results = [answer.verdict.result for answer in found]
    assert results == [Result.FIRST] + [Result.HIT] * (len(found) - 1)


@EVERY_HOUSE
def test_permuting_markers_is_never_a_change(house: House) -> None:
    """Where markers stand is no content: no difference, and where nothing is cached by them, the
    same verdicts."""
    scenes = [scene for scene in all_scenes() if scene.name in ("edited", "noted")]
    for scene in scenes:
        plain = play(scene, house, SEED)
        rng = random.Random(SEED)
        moved = replace(plain, steps=tuple(_marked_anew(step, rng) for step in plain.steps))
        for one, other in zip(answers_of(plain), answers_of(moved), strict=True):
            a, b = one.difference, other.difference
            assert (a.changes if a else ()) == (b.changes if b else ())
            assert (a.common_blocks if a else 0) == (b.common_blocks if b else 0)
            if not house_named(plain.house).marks:
                assert one.verdict.result is other.verdict.result
                assert one.verdict.missed_tokens == other.verdict.missed_tokens


def test_verdicts_do_not_depend_on_the_order_of_input() -> None:
    rng = random.Random(SEED)

    def shuffled(items: Sequence[object]) -> Sequence[object]:
        return rng.sample(list(items), len(items))

    for story in rng.sample(told(), 15):
        straight = [answer.verdict for answer in answers_of(story)]
        assert [answer.verdict for answer in answers_of(story, shuffled)] == straight, story.name


def _marked_anew(step: Step, rng: random.Random) -> Step:
    """The same request with markers in other places."""
    sent = step.sent
    places = [
        *(Mark(TOOLS, i, 0, "5m") for i in range(len(sent.tools))),
        *(Mark(SYSTEM, i, 0, "5m") for i in range(len(sent.system))),
        *(Mark(MESSAGES, i, 0, "5m") for i in range(_messages(sent))),
    ]
    marks = tuple(rng.sample(places, min(4, len(places))))
    return replace(step, sent=replace(sent, marks=marks))


def _messages(sent: Sent) -> int:
    return len(sent.messages)
