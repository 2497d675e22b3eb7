"""Sections, reminders and usage on the sample logs, against what the generator knew."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from benchmarks.anatomy_accuracy import (
    SAMPLES,
    Report,
    evaluate,
    known_texts,
    log_events,
    prompts_of,
)
from tracer.anatomy.instructions import Scope
from tracer.anatomy.presence import Cell, groups_of, presence_rows
from tracer.anatomy.prompt import AnatomyContext, anatomy_of
from tracer.anatomy.reminder_sources import REMINDER_SOURCES
from tracer.anatomy.sections import SECTION_KINDS
from tracer.anatomy.usage_categories import UsageBreakdown, usage_of
from tracer.model.events import ContextUsage, ModelCall
from tracer.model.prompt import Prompt

FACTS = ("sections", "reminders", "mcs messages", "mcs state", "variant", "demoted", "look-alikes")
CONVERSATIONS = {"main_turn", "subagent", "workflow_child"}


@cache
def report(with_log: bool) -> Report:
    return evaluate(with_log=with_log)


@pytest.mark.parametrize("fact", FACTS)
def test_everything_is_recognised_with_the_logged_sections(fact: str) -> None:
    score = report(True)[fact]
    assert dict(score.misses) == {}
    assert score.share == 1


@pytest.mark.parametrize("fact", FACTS)
def test_nearly_everything_is_recognised_without_them(fact: str) -> None:
    score = report(False)[fact]
    assert score.share >= 0.98, dict(score.misses)


def test_the_samples_hold_every_source_in_every_form_and_every_section() -> None:
    forms: Counter[tuple[str, str]] = Counter()
    sections: set[str] = set()
    for path in SAMPLES.glob("*/expected.json"):
        for session in json.loads(path.read_text("utf-8"))["sessions"]:
            for row in session["requests"]:
                forms.update((r["source"], r["via"]) for r in row["reminders"])
                sections |= set(row["sections"])
    for rule in REMINDER_SOURCES.values():
        if rule.source in ("tool_result_warning", "goal_completion_verification"):
            assert forms[rule.source, "inline"]
        elif rule.base:
            assert forms[rule.source, "reminder"], rule.source
        if rule.mcs and rule.source != "diagnostics":
            assert forms[rule.source, "mcs"], rule.source
    assert sections == {k.source for k in SECTION_KINDS} - {"tools", "vision_guidance"}


def snapshots() -> Iterator[tuple[str, ContextUsage, Prompt]]:
    """Each logged usage report with the prompt of the request that it was written before."""
    for folder in sorted(SAMPLES.iterdir()):
        reports = [e for e in log_events(folder) if e.usage is not None]
        calls: list[tuple[ModelCall, Prompt]] = []
        for path in folder.glob("*/model-io-*.jsonl") if reports else ():
            calls += prompts_of(path)
        for event in reports:
            assert event.usage is not None and event.at_ms is not None
            later = [
                (call.started_at_ms or 0, prompt)
                for call, prompt in calls
                if call.session_id == event.session_id
                and call.attempt == 1
                and call.query_source in CONVERSATIONS
                and (call.started_at_ms or 0) >= event.at_ms
            ]
            yield folder.name, event.usage, min(later, key=lambda pair: pair[0])[1]


def rows(usage: ContextUsage | UsageBreakdown, tokens: bool) -> list[tuple[object, ...]]:
    """The categories: name, chars and, where the log tells them, tokens."""
    return [(c.source, c.chars, c.tokens if tokens else None) for c in usage.categories]


def test_usage_counted_again_is_what_the_agent_logged() -> None:
    """To the token where the log has numbers, Chinese and astral characters included."""
    compared: Counter[str] = Counter()
    for name, logged, prompt in snapshots():
        found = usage_of(prompt, anatomy_of(prompt))
        tokens = not logged.tokens_redacted
        assert rows(found, tokens) == rows(logged, tokens), name
        assert sum(c.chars for c in found.categories) == logged.total_chars
        if tokens:
            assert found.total_tokens == logged.total_tokens
        compared[f"{name} {'tokens' if tokens else 'chars'}"] += 1
        for logged_category, category in zip(logged.categories, found.categories, strict=True):
            if tokens and category.source != "skills":  # those are the skills' own metadata
                top = json.loads(logged_category.contributors_json)
                assert [(c["label"], c["chars"], c["tokens"]) for c in top] == [
                    (c.label, c.chars, c.tokens) for c in category.contributors
                ]
    assert compared["unredacted tokens"] >= 6 and compared["anatomy-numbers tokens"] >= 3
    assert compared["chinese chars"] >= 8


def test_a_rebuilt_prefix_shows_which_section_changed_and_which_stayed() -> None:
    """After a restart with another model, other rules and one more skill."""
    folder = SAMPLES / "anatomy-off"
    path = max(folder.glob("rollout/*.jsonl"), key=lambda p: p.stat().st_size)
    known = known_texts(folder)
    prompts = []
    for call, prompt in prompts_of(path):
        if call.query_source == "main_turn":
            texts = tuple(t for _, line in known[call.session_id] for t in line)
            prompts.append(groups_of(prompt, anatomy_of(prompt, AnatomyContext(texts))))
    sections, tools = ([p.sections for p in prompts], [p.tools for p in prompts])
    rows = (*presence_rows(sections), *presence_rows(tools))
    cells = {row.key: [run.cell for run in row.runs] for row in rows}
    assert Cell.CHANGED in cells["section env_info"]
    assert Cell.CHANGED in cells["section skills"]
    assert Cell.CHANGED in cells["section request_user_context"]
    assert cells["section skills"][-1] is Cell.GONE
    for frozen in ("cli_prefix", "identity", "dynamic_behavior", "system_context"):
        assert cells[f"section {frozen}"] == [Cell.APPEARED, Cell.SAME]
    assert cells["tool Skill"] == [Cell.APPEARED, Cell.SAME]


def test_instruction_files_are_found_in_the_samples() -> None:
    path = next((SAMPLES / "chinese").glob("debug/*.jsonl"))
    _, prompt = list(prompts_of(path))[-1]
    files = anatomy_of(prompt).instruction_files
    assert [f.scope for f in files] == [Scope.USER, Scope.WORKSPACE, Scope.MEMORY]
    assert files[1].path.endswith("/AGENTS.md")
