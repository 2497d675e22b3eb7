"""Further ways to break the rules of ZCode: the other halves of them."""

from dataclasses import replace

from tests.checks import stories
from tests.checks.breakers import WAYS, Made, breaks
from tests.checks.stories import EPHEMERAL, HOOK, PROJECT, Run, Setup, note, plain, prose, user

__all__ = ["WAYS"]


def _on() -> Run:
    return plain(Setup(mcs=True), name="plain-on")


def _debug() -> Run:
    return plain(Setup(debug=True, redacted=False), name="no-notes", hooks=False)


@breaks("zcode/leading-system-messages", "five of them")
def _five_system_messages() -> Made:
    run = plain()
    for _ in range(2):
        extra = {"role": "system", "content": "More.", "cacheControl": dict(EPHEMERAL)}
        run.insert(1, extra)
    return run, 0, 5


@breaks("zcode/conversation-marker", "too early")
def _marker_left_behind() -> Made:
    run = plain()
    messages = run.messages(2)
    del messages[-1]["cacheControl"]
    messages[-2]["cacheControl"] = dict(EPHEMERAL)
    return run, 2, len(messages) - 2


@breaks("zcode/system-text-place", "behind the assistant")
def _system_text_behind_the_assistant() -> Made:
    run = _on()
    number = run.first_of_turn(1)
    at = run.find("Please do part 2", number)
    run.insert(at, {"role": "system", "content": HOOK}, since=number)
    return run, number, at


@breaks("zcode/system-text-place", "two in a row")
def _two_system_texts() -> Made:
    run = _on()
    at = run.find("SessionStart hook")
    run.insert(at + 1, {"role": "system", "content": HOOK})
    return run, 0, at


@breaks("zcode/note-endings", "context prefix")
def _context_without_its_newline() -> Made:
    run = plain()
    run.edit(4, lambda text: text.rstrip("\n"))
    return run, 0, 4


@breaks("zcode/one-tag-pair", "opened twice")
def _opened_twice() -> Made:
    run = plain()
    at = run.find("UserPromptSubmit hook")
    run.edit(at, lambda text: text.replace("open work", "<system-reminder> open work"))
    return run, 0, at


@breaks("zcode/tool-results-together", "a user between")
def _user_between_results() -> Made:
    run = plain()
    at = run.find("quarry/cart.py:1", 1)
    run.insert(at, user("Stop, wait."), since=1)
    return run, 1, at


@breaks("zcode/notes-before-user-text", "behind history")
def _note_behind_a_file_that_was_read() -> Made:
    run = stories.compacted()
    number = run.first_of_turn(2)
    at = run.find("file_2.py", number) + 1
    run.insert(at, note("hook_context", HOOK), since=number)
    return run, number, at


@breaks("zcode/tool-result-has-call", "without an id")
def _result_without_an_id() -> Made:
    run = plain()
    at = run.find("quarry/cart.py:1", 1)
    for number in range(1, len(run.main)):
        run.messages(number)[at] |= {"toolCallId": ""}
    return run, 1, at


@breaks("zcode/turn-only-grows", "one taken out")
def _message_taken_out() -> Made:
    run = plain()
    at = run.find("UserPromptSubmit hook")
    run.remove(at, since=2)
    return run, 2, at


@breaks("zcode/section-order", "in the log")
def _log_in_another_order() -> Made:
    run = _debug()
    (line,) = [e for e in run.log if e.get("event") == "context.built"]
    sections = line["context"]["sections"]
    sections[2], sections[3] = sections[3], sections[2]
    return run, 0, None


@breaks("zcode/section-order", "among the stable ones")
def _dynamic_among_the_stable() -> Made:
    run = plain()
    behaviour = prose.DYNAMIC_BEHAVIOR
    run.edit(1, lambda text: f"{text}\n\n{behaviour}")
    run.edit(2, lambda text: text.replace(f"\n\n{behaviour}", "", 1))
    return run, 0, 1


@breaks("zcode/section-target", "skills in the system text")
def _skills_in_the_system_text() -> Made:
    run = plain()
    listing = stories.skills_listing(PROJECT.skills)
    run.edit(2, lambda text: f"{text}\n\n{listing}")
    return run, 0, 2


@breaks("zcode/four-markers", "on a tool")
def _marked_tool() -> Made:
    run = plain()
    run.main[1]["request"]["body"]["tools"][-1]["cache_control"] = dict(EPHEMERAL)
    return run, 1, None


@breaks("zcode/never-system-text", "fork notice")
def _fork_as_system_text() -> Made:
    run = _on()
    at = run.find("SessionStart hook")
    notice = "This session was forked from a previous session: quarry, part 0."
    run.edit(at, lambda text: f"{notice}\n\n{text}")
    return run, 0, at


@breaks("zcode/frozen-snapshot", "date")
def _date_rebuilt() -> Made:
    run = plain()
    number = run.first_of_turn(2)
    run.edit(4, lambda text: text.replace("2026-01-12", "2026-01-13"), since=number)
    return run, number, 4


@breaks("zcode/frozen-snapshot", "instructions")
def _instructions_edited() -> Made:
    run = plain()
    number = run.first_of_turn(1)
    run.edit(4, lambda text: text.replace("functions short", "functions tiny"), since=number)
    return run, number, 4


@breaks("zcode/model-line", "after a switch")
def _old_model_after_a_switch() -> Made:
    run = stories.switched()
    number = run.first_of_turn(1)
    run.edit(2, lambda text: text.replace("/glm-4.7", "/glm-5"), since=number)
    return run, number, 2


@breaks("zcode/plan-mode-cadence", "missing")
def _reminder_of_plan_mode_missing() -> Made:
    run = stories.planning()
    number = run.first_of_turn(5)
    run.remove(run.find(prose.PLAN_MODE_SHORT, number), since=number)
    run = stories.cut(run, run.first_of_turn(6))
    return run, number, len(run.messages(number)) - 1


@breaks("zcode/plan-mode-cadence", "too early")
def _reminder_of_plan_mode_too_early() -> Made:
    run = stories.planning()
    number = run.first_of_turn(3)
    at = run.find("Please do part 4", number)
    run.insert(at, note("runtime_mode", prose.PLAN_MODE_SHORT), since=number)
    run = stories.cut(run, run.first_of_turn(5))
    return run, number, at


@breaks("zcode/todo-cadence", "missing")
def _reminder_of_the_list_missing() -> Made:
    run = stories.listing()
    texts = [[str(m["content"]) for m in run.messages(n)] for n in range(len(run.main))]
    number, at = next(
        (n, i) for n, own in enumerate(texts) for i, t in enumerate(own) if prose.TODO_REMINDER in t
    )
    run.remove(at, since=number)
    run = stories.cut(run, number + 5)
    return run, number, len(run.messages(number)) - 1


@breaks("zcode/todo-cadence", "not offered")
def _reminded_of_a_tool_that_is_not_offered() -> Made:
    run = plain(Setup(tools=("Bash", "Grep", "Read", "Skill")), name="no-list")
    number = run.first_of_turn(1) + 1
    at = len(run.messages(number))
    run.insert(at, note("todo_reminder", prose.TODO_REMINDER), since=number)
    return run, number, at


@breaks("zcode/hook-text-limit", "a little")
def _hook_a_little_too_long() -> Made:
    run = plain()
    at = run.find("SessionStart hook")
    run.edit(at, lambda text: text.replace("read-only.", "r" * 24_010))
    return run, 0, at


@breaks("zcode/git-status-limit", "commits")
def _six_commits() -> Made:
    commits = tuple(f"d20c9e{n} Change {n}" for n in range(6))
    project = replace(PROJECT, commits=commits)
    return plain(Setup(project=project), name="commits"), 0, 2


@breaks("zcode/skills-budget", "one described")
def _one_described() -> Made:
    run = plain(Setup(project=stories.many_skills(700, short=True)), name="short-listing")
    run.edit(
        3, lambda text: text.replace("skills/rule-0333/SKILL.md", "A rule of the loading bay.")
    )
    return run, 0, 3


@breaks("zcode/instruction-file-limit", "no word")
def _cut_without_a_word() -> Made:
    rules = ("Keep it short.\n" * 7_000)[:102_397]
    project = replace(PROJECT, agents_md=f"{rules}\ufffd")
    return plain(Setup(project=project), name="no-word"), 0, 4


@breaks("zcode/read-state-after-compaction", "one long file")
def _one_long_file() -> Made:
    run = stories.compacted()
    number = run.first_of_turn(2)
    at = run.find("file_1.py", number)
    run.edit(at, lambda text: text.replace("x = 1", "x = 1\n" * 4_000), since=number)
    return run, number, at


@breaks("zcode/usage-estimates", "characters")
def _other_characters() -> Made:
    run = plain(Setup(debug=True), name="redacted", hooks=False)
    line = [e for e in run.log if e.get("event") == "context_usage_snapshot"][2]
    line["context"]["categories"][1]["chars"] -= 40
    return run, 2, None
