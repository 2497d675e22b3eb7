"""What is worked out from paths alone is what comparing the prompts gives."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers import SAMPLES, ingest, reader
from tracer.model.verdict import Difference
from tracer.service.judging.facts import load_calls
from tracer.service.judging.judge import Judge
from tracer.service.judging.prompts import Comparing
from tracer.service.judging.weights import Point, head_weight


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples with windows, gaps, reminders and side calls."""
    path = tmp_path_factory.mktemp("paths") / "tracer.db"
    names = ("windowed-long", "mcs-on", "size-reset", "retries-failures", "anatomy-variants")
    ingest(path, *(SAMPLES / name for name in names), count_tokens=True)
    return path


def plain(difference: Difference) -> Difference:
    """Without what only the comparison words differently: labels of blocks."""
    boundaries = tuple(replace(b, label="", end_tokens=0) for b in difference.boundaries)
    return replace(difference, boundaries=boundaries)


def test_an_appended_prompt_needs_no_comparison(db: Path) -> None:
    checked = 0
    with reader(db) as connection:
        for (row_id,) in connection.execute("SELECT id FROM sessions").fetchall():
            calls = load_calls(connection, row_id)
            judge = Judge(connection, row_id, calls)
            comparing = Comparing(connection, row_id, calls)
            for call in calls.calls:
                setting = judge.one(call.facts.key, {})
                baseline = setting.baseline_call
                if baseline is None or setting.proof is not None:
                    continue
                fast = judge.difference(setting, brief=False)
                slow = comparing.compare(baseline, call, setting.weight)
                assert (fast is None) == (slow is None)
                if fast is None or slow is None or not fast.append_only:
                    continue
                # Both round, one the sum of what the other rounds block by block.
                for a, b in zip(fast.boundaries, slow.boundaries, strict=True):
                    assert abs(a.end_tokens - b.end_tokens) <= 40
                same = {"common_tokens": fast.common_tokens}
                same["unverified_from_tokens"] = fast.unverified_from_tokens or 0
                if slow.unverified_from_tokens is None:
                    assert fast.unverified_from_tokens is None
                    same.pop("unverified_from_tokens")
                assert plain(fast) == plain(replace(slow, **same))  # type: ignore[arg-type]
                checked += 1
    assert checked > 80


def test_the_head_is_weighed_by_the_line_that_the_bills_lie_on() -> None:
    points = [Point(10_000, talk, 12_000 + talk) for talk in range(1_000, 9_000, 1_000)]
    assert head_weight(points) == 1.2
    assert head_weight(points[:3]) == 1.0  # too few
    flat = [p._replace(talk=5_000 + i) for i, p in enumerate(points)]
    assert head_weight(flat) == 1.0  # nothing grows
    scattered = [p._replace(billed=p.billed + (i % 2) * 4_000) for i, p in enumerate(points)]
    assert head_weight(scattered) == 1.0
    assert head_weight([]) == 1.0
