"""For each rule of ZCode a run that breaks it and only it, with the place where it does.

Each takes a healthy run, changes the records as a faulty agent would have written them, and says
at which request and message the rule must be found broken.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from tests.checks import stories
from tests.checks.stories import (
    EPHEMERAL,
    HOOK,
    PROJECT,
    Json,
    Run,
    Setup,
    note,
    plain,
    prose,
    user,
)


class Broken(NamedTuple):
    """A run that breaks one rule, with the record and the message where it does. `counted` tells
    that the log is to tell of as many messages as the records hold."""

    rule: str
    run: Run
    record: Json
    message_index: int | None
    counted: bool = True


Made: TypeAlias = tuple[Run, int, int | None]
"""A run, the number of a main record from 0, and the message in it."""

WAYS: dict[str, Callable[[], Broken]] = {}
"""Every way to break a rule, by the rule and a word."""


def breaks(rule: str, way: str = "") -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Registers a way to break a rule; the first one of a rule needs no word."""

    def register(make: Callable[[], Made]) -> Callable[[], Made]:
        def made() -> Broken:
            run, number, index = make()
            counted = rule != "zcode/message-count"
            return Broken(rule, run, run.main[number], index, counted)

        WAYS[f"{rule} {way}".strip()] = made
        return make

    return register


def _on() -> Run:
    return plain(Setup(mcs=True), name="plain-on")


def _mark(run: Run, number: int, index: int) -> None:
    run.messages(number)[index]["cacheControl"] = dict(EPHEMERAL)


@breaks("zcode/leading-system-messages")
def _bare_system_message() -> Made:
    run = plain()
    del run.messages(2)[1]["cacheControl"]
    return run, 2, 1


@breaks("zcode/conversation-marker")
def _second_marker() -> Made:
    run = plain()
    at = run.find("Please do part 1")
    _mark(run, 2, at)
    return run, 2, at


@breaks("zcode/system-text-unmarked")
def _marked_system_text() -> Made:
    run = _on()
    at = run.find("SessionStart hook")
    _mark(run, 0, at)
    return run, 0, at


@breaks("zcode/system-text-place")
def _system_text_before_a_user() -> Made:
    run = _on()
    at = run.find("SessionStart hook")
    run.insert(at + 1, user("And be quick."))
    return run, 0, at


@breaks("zcode/skills-listing-as-system-text")
def _listing_in_a_tag() -> Made:
    run = _on()
    body = stories.skills_listing(PROJECT.skills)
    run.insert(3, note("skills_listing", body))
    return run, 0, 3


@breaks("zcode/prefix-notes-first")
def _hook_between_the_prefix() -> Made:
    run = plain()
    for number in range(len(run.main)):
        messages = run.messages(number)
        messages[4], messages[5] = messages[5], messages[4]
    return run, 0, 5


@breaks("zcode/note-endings")
def _newline_behind_a_note() -> Made:
    run = plain()
    at = run.find("SessionStart hook")
    run.edit(at, lambda text: text + "\n")
    return run, 0, at


@breaks("zcode/one-tag-pair")
def _tag_inside() -> Made:
    run = plain()
    at = run.find("UserPromptSubmit hook")
    run.edit(at, lambda text: text.replace("open work", "</system-reminder> open work"))
    return run, 0, at


@breaks("zcode/bodies-escaped")
def _other_tag_inside() -> Made:
    run = plain()
    at = run.find("SessionStart hook")
    run.edit(at, lambda text: text.replace("The copy", '<system-reminder kind="x"> The copy'))
    return run, 0, at


@breaks("zcode/tool-results-together")
def _note_between_results() -> Made:
    run = plain()
    at = run.find("quarry/cart.py:1", 1)
    run.insert(at, note("hook_context", HOOK), since=1)
    return run, 1, at


@breaks("zcode/notes-before-user-text")
def _note_behind_the_prompt() -> Made:
    run = plain()
    number = run.first_of_turn(1)
    at = run.find("Please do part 2", number) + 1
    run.insert(at, note("hook_context", HOOK), since=number)
    return run, number, at


@breaks("zcode/tool-result-has-call")
def _result_of_nothing() -> Made:
    run = plain()
    at = run.find("quarry/cart.py:1", 1)
    for number in range(1, len(run.main)):
        run.messages(number)[at] |= {"toolCallId": "call_of_nobody"}
    return run, 1, at


@breaks("zcode/turn-only-grows")
def _result_rewritten() -> Made:
    run = plain()
    at = run.find("step 1.0 is done", 1)
    run.edit(at, lambda text: text.replace("done", "over"), since=2)
    return run, 2, at


@breaks("zcode/message-count")
def _other_count_in_the_log() -> Made:
    run = plain()
    line = [e for e in run.log if e.get("event") == stories.CORE][1]
    line["context"]["messageCount"] += 2
    return run, 1, None


@breaks("zcode/section-order")
def _two_sections_swapped() -> Made:
    run = plain()
    first, second = prose.DYNAMIC_BEHAVIOR, prose.SESSION_GUIDANCE
    run.edit(2, lambda t: t.replace(first, "@").replace(second, first).replace("@", second))
    return run, 0, 2


@breaks("zcode/section-target")
def _date_in_the_system_text() -> Made:
    run = plain()
    run.edit(2, lambda text: f"{text}\n\n# currentDate\nToday's date is 2026-01-12.")
    return run, 0, 2


@breaks("zcode/four-markers")
def _conversation_not_marked() -> Made:
    run = plain()
    last = len(run.messages(1)) - 1
    del run.messages(1)[last]["cacheControl"]
    return run, 1, last


@breaks("zcode/never-system-text")
def _plan_as_system_text() -> Made:
    run = _on()
    at = run.find("SessionStart hook")
    plan = "A plan file exists from plan mode at: .zcode/plans/plan-1.md"
    run.edit(at, lambda text: f"{plan}\n\n{text}")
    return run, 0, at


@breaks("zcode/frozen-snapshot")
def _git_status_moves_on() -> Made:
    run = plain()
    number = run.first_of_turn(1)
    run.edit(2, lambda text: text.replace("quarry/cart.py", "quarry/rail.py"), since=number)
    return run, number, 2


@breaks("zcode/date-change-told")
def _date_not_told() -> Made:
    run = stories.days_later()
    number = run.first_of_turn(1)
    run.remove(run.find("The date has changed", number), since=number)
    return run, number, run.find("# currentDate", number)


@breaks("zcode/model-line")
def _other_model_named() -> Made:
    run = plain()
    run.edit(2, lambda text: text.replace("/glm-5", "/glm-4.5-air"))
    return run, 0, 2


@breaks("zcode/plan-mode-cadence")
def _full_text_too_soon() -> Made:
    run = stories.planning()
    number = run.first_of_turn(5)
    at = run.find(prose.PLAN_MODE_SHORT, number)
    run.edit(at, lambda t: t.replace(prose.PLAN_MODE_SHORT, prose.PLAN_MODE_FULL), since=number)
    return run, number, at


@breaks("zcode/todo-cadence")
def _reminded_too_soon() -> Made:
    run = stories.listing()
    first = next(n for n in range(len(run.main)) if any(_is_reminder(m) for m in run.messages(n)))
    number = first + 4
    at = len(run.messages(number))
    run.insert(at, note("todo_reminder", prose.TODO_REMINDER), since=number)
    # The next regular one would now come too early as well: what counts is the one put in.
    return stories.cut(run, number + 2), number, at


def _is_reminder(message: Json) -> bool:
    return prose.TODO_REMINDER in str(message["content"])


@breaks("zcode/hook-text-limit")
def _hook_not_cut() -> Made:
    run = plain()
    at = run.find("SessionStart hook")
    run.edit(at, lambda text: text.replace("read-only.", "read-only. " + "word " * 6_000))
    return run, 0, at


@breaks("zcode/git-status-limit")
def _status_not_cut() -> Made:
    files = "\n".join(f"?? quarry/new_{n:04}.py" for n in range(200))
    project = replace(PROJECT, status=files)
    return plain(Setup(project=project), name="status"), 0, 2


@breaks("zcode/skills-budget")
def _long_listing() -> Made:
    return plain(Setup(project=stories.many_skills(200)), name="skills"), 0, 3


@breaks("zcode/skill-description-limit")
def _long_description() -> Made:
    run = plain()
    run.edit(3, lambda text: text.replace("way back.", "way back. " + "Again. " * 50))
    return run, 0, 3


@breaks("zcode/instruction-file-limit")
def _long_instructions() -> Made:
    project = replace(PROJECT, agents_md="Keep it short.\n" * 8_000)
    return plain(Setup(project=project), name="instructions"), 0, 4


@breaks("zcode/read-state-after-compaction")
def _six_files() -> Made:
    run = stories.compacted(6)
    number = run.first_of_turn(2)
    return run, number, run.find("file_5.py", number)


@breaks("zcode/custom-prompt-or-actor")
def _both_identities() -> Made:
    run = stories.custom()
    (line,) = [e for e in run.log if e.get("event") == "context.built"]
    actor = dict(line["context"]["sections"][0]) | {
        "source": "workflow_actor_identity",
        "name": "Workflow Actor Identity",
    }
    line["context"]["sections"].insert(2, actor)
    return run, 0, 1


@breaks("zcode/uncounted-notes")
def _hooks_are_counted_nowhere() -> Made:
    run = plain(Setup(debug=True, redacted=False), name="counted")
    return run, 0, run.find("SessionStart hook")


@breaks("zcode/usage-estimates")
def _other_estimate() -> Made:
    run = plain(Setup(debug=True, redacted=False), name="no-notes", hooks=False)
    line = [e for e in run.log if e.get("event") == "context_usage_snapshot"][1]
    line["context"]["categories"][0]["tokens"] += 7
    return run, 1, None


BREAKERS: dict[str, Callable[[], Broken]] = {n: m for n, m in WAYS.items() if " " not in n}
"""The first way of each rule."""
