"""Breakers of the history: what was said once no longer stands as it stood."""

from typing import Any

from generate.segments.breakers.base import (
    Break,
    Broken,
    at,
    find,
    first_of_runs,
    later,
    pairs,
    remove,
    rewrite,
)
from generate.segments.state import full_text
from generate.segments.trace import Built, Message, Note, Trace

HISTORY = (7, 8, 9, 10, 11)
RETOLD = ("skill_body", "attachment_note")


def diff_moved(trace: Trace, pick: Any) -> Broken | None:
    """A diff that happened earlier now stands at the end."""
    able = []
    for before, built in pairs(trace):
        for number in (7, 11):
            messages = at(built, number)
            for place, message in enumerate(messages[:-1]):
                behind = [m for m in messages[place + 1 :] if find(before, m.id)]
                if message.keys.get("mode") == "diff" and find(before, message.id) and behind:
                    able.append((built, number, message))
    if not able:
        return None
    built, number, diff = pick(able)
    messages = at(built, number)
    messages.remove(diff)
    messages.append(diff)
    return Broken(built.request, built.index_of(diff))


def _exchanges(built: Built) -> list[tuple[list[Message], int, int]]:
    """Segment, place and number of results of each exchange of a prompt."""
    found = []
    for number in HISTORY:
        messages = at(built, number)
        for place, message in enumerate(messages):
            calls = message.keys.get("toolCalls")
            if calls:
                found.append((messages, place, len(calls)))
    return found


def result_lost(trace: Trace, pick: Any) -> Broken | None:
    """A call stands there without its result, which another request has."""
    every = trace.built()
    able = [
        (b, found)
        for b in every
        for found in _exchanges(b)
        if any(find(other, found[0][found[1] + found[2]].id) for other in every if other is not b)
    ]
    if not able:
        return None
    built, (messages, place, count) = pick(able)
    call = messages[place]
    del messages[place + count]
    return Broken(built.request, built.index_of(call))


def results_swapped(trace: Trace, pick: Any) -> Broken | None:
    """Two results stand in the other order than their calls."""
    able = [(b, found) for b in trace.built() for found in _exchanges(b) if found[2] > 1]
    if not able:
        return None
    built, (messages, place, _) = pick(able)
    messages[place + 1 : place + 3] = reversed(messages[place + 1 : place + 3])
    return Broken(built.request, built.index_of(messages[place + 1]))


def _joining(trace: Trace) -> list[tuple[Built, Message]]:
    """Messages of a run that stand in segment 7 of the next one, in its first prompt: neither
    diffs nor parts of an exchange, nor what another rule speaks of."""
    kinds = ("assistant", "user_input", "answer", "guidance", "recovery", "ignored_interaction")
    every = trace.built()
    found = []
    for built in first_of_runs(trace):
        before = every[next(i for i, b in enumerate(every) if b is built) - 1]
        shown = {m.id for n in (8, 11) for m in at(before, n)}
        found += [
            (built, m)
            for m in at(built, 7)
            if m.id in shown and m.kind in kinds and "toolCalls" not in m.keys
        ]
    return found


def history_lost(trace: Trace, pick: Any) -> Broken | None:
    """The history of a new run lacks a message of the last one."""
    able = _joining(trace)
    if not able:
        return None
    built, message = pick(able)
    index = built.index_of(message)
    for item in later(trace, built):
        remove(item, message.id)
    return Broken(built.request, index)


def history_reworded(trace: Trace, pick: Any) -> Broken | None:
    """The history of a new run tells a message in other words."""
    able = _joining(trace)
    if not able:
        return None
    built, message = pick(able)
    index = built.index_of(message)
    for item in later(trace, built):
        rewrite(item, message.id, lambda m: setattr(m, "content", "(shortened)"))
    return Broken(built.request, index)


def history_role(trace: Trace, pick: Any) -> Broken | None:
    """The history of a new run gives a message another role."""
    able = [(b, m) for b, m in _joining(trace) if m.role == "user"]
    if not able:
        return None
    built, message = pick(able)
    index = built.index_of(message)
    for item in later(trace, built):
        rewrite(item, message.id, lambda m: setattr(m, "role", "assistant"))
    return Broken(built.request, index)


def catalogue_changed(trace: Trace, pick: Any) -> Broken | None:
    """The skill catalogue is another one in the middle of a run."""
    able = [b for _, b in pairs(trace, same_run=True)]
    if not able:
        return None
    built = pick(able)
    catalogue = built.segment(2)[0]
    text = f"{catalogue.content}\n- pruning: When to prune what."
    for item in later(trace, built, run_only=True):
        rewrite(item, catalogue.id, lambda m: setattr(m, "content", text))
    return Broken(built.request, built.index_of(catalogue))


def run_state_rewritten(trace: Trace, pick: Any) -> Broken | None:
    """The run's full World State is kept up to date instead of its diffs."""
    able = [b for _, b in pairs(trace, same_run=True) if at(b, 10)]
    if not able:
        return None
    built = pick(able)
    full = built.segment(10)[0]
    state = {**full.keys["state"], "asOf": built.request}
    for item in later(trace, built, run_only=True):
        rewrite(item, full.id, lambda m: _restate(m, state))
    return Broken(built.request, built.index_of(full))


def _restate(message: Message, state: dict[str, Any]) -> None:
    message.keys["state"] = dict(state)
    if message.content is not None:
        message.content = full_text("run", state)


def skill_promoted(trace: Trace, pick: Any) -> Broken | None:
    """A skill that was activated on the way is put among those of the run's start."""
    able = []
    for before, built in pairs(trace, same_run=True):
        texts = [m for m in at(built, 11) if m.kind == "skill_body" and find(before, m.id)]
        able += [(built, m) for m in texts]
    if not able:
        return None
    built, skill = pick(able)
    for item in later(trace, built, run_only=True):
        message = find(item, skill.id)
        if message is not None:
            remove(item, skill.id)
            item.segment(9).append(message)
    return Broken(built.request, built.index_of(built.segment(9)[-1]))


def input_dropped(trace: Trace, pick: Any) -> Broken | None:
    """Only the last of the inputs is left."""
    able = []
    for before, built in pairs(trace, same_run=True):
        inputs = [m for m in at(built, 8) if m.kind == "user_input"]
        if len(inputs) > 1 and find(before, inputs[0].id):
            able.append((built, inputs[0]))
    if not able:
        return None
    built, dropped = pick(able)
    index = built.index_of(dropped)
    for item in later(trace, built):
        remove(item, dropped.id)
    return Broken(built.request, index)


def text_reread(trace: Trace, pick: Any) -> Broken | None:
    """A skill's text or an attachment in the history is as it is now, not as it was."""
    able = []
    for before, built in pairs(trace):
        for number in (7, 8, 11):
            texts = [m for m in at(built, number) if m.kind in RETOLD and find(before, m.id)]
            able += [(built, m) for m in texts]
    if not able:
        return None
    built, message = pick(able)
    text = f"{message.content} (read again)"
    for item in later(trace, built):
        rewrite(item, message.id, lambda m: setattr(m, "content", text))
    return Broken(built.request, built.index_of(message))


def _new_summaries(trace: Trace) -> list[tuple[Note, Built, Message]]:
    """Compactions with the first prompt behind each, where that has its summary."""
    found = []
    for place, note in trace.notes("compaction.completed"):
        built = trace.next_built(place)
        summary = find(built, note.keys["summaryId"]) if built else None
        if built is not None and summary is not None:
            found.append((note, built, summary))
    return found


def _cover(trace: Trace, built: Built, ids: list[str]) -> None:
    """Let the summaries of this prompt and the later ones cover some more messages."""
    start = next(i for i, item in enumerate(trace.items) if item is built)
    known = {m.id for m in at(built, 6)}
    for place, item in enumerate(trace.items):
        if isinstance(item, Note) and item.event == "compaction.completed":
            if item.keys["summaryId"] in known or place > start:
                item.keys["covers"] = [*item.keys["covers"], *ids]
        elif isinstance(item, Built) and place >= start:
            remove(item, *ids)
            for summary in at(item, 6):
                summary.keys["covers"] = [*summary.keys["covers"], *ids]


def half_covered(trace: Trace, pick: Any) -> Broken | None:
    """A summary covers a call and leaves its result in the history."""
    able = []
    every = trace.built()
    for _, built, summary in _new_summaries(trace):
        start = next(i for i, b in enumerate(every) if b is built)
        shown = {m.id for b in every[:start] for m in b.messages()}
        calls = [
            found[0][found[1]] for found in _exchanges(built) if found[0][found[1]].id in shown
        ]
        able += [(built, summary, call) for call in calls[:1]]
    if not able:
        return None
    built, summary, call = pick(able)
    _cover(trace, built, [call.id])
    return Broken(built.request, built.index_of(summary))


def unshown_covered(trace: Trace, pick: Any) -> Broken | None:
    """A summary covers an exchange of the run before any request has shown it."""
    able = []
    every = trace.built()
    for _, built, summary in _new_summaries(trace):
        start = next(i for i, b in enumerate(every) if b is built)
        shown = {m.id for b in every[:start] for m in b.messages()}
        for messages, place, count in _exchanges(built):
            exchange = messages[place : place + count + 1]
            if messages is at(built, 11) and exchange[0].id not in shown:
                able.append((built, summary, exchange))
    if not able:
        return None
    built, summary, exchange = pick(able)
    _cover(trace, built, [m.id for m in exchange])
    return Broken(built.request, built.index_of(summary))


def long_summary(trace: Trace, pick: Any) -> Broken | None:
    """A summary is longer than all that it covers."""
    texts = {m.id: m.sent() for b in trace.built() for m in b.messages()}
    able = [
        found for found in _new_summaries(trace) if texts.keys() >= set(found[2].keys["covers"])
    ]
    if not able:
        return None
    _, built, summary = pick(able)
    text = " ".join(texts[name] for name in summary.keys["covers"]) + " And so on, in every detail."
    for item in later(trace, built):
        rewrite(item, summary.id, lambda m: setattr(m, "content", text))
    return Broken(built.request, built.index_of(summary))


def failed_summary(trace: Trace, pick: Any) -> Broken | None:
    """A compaction failed, and the summary is another one all the same."""
    able = []
    for place, _ in trace.notes("compaction.failed"):
        built = trace.next_built(place)
        every = trace.built()
        if built is None or built is every[0]:
            continue
        before = every[next(i for i, b in enumerate(every) if b is built) - 1]
        old, now = at(before, 6), at(built, 6)
        if old and now and old[0].id == now[0].id:
            able.append((built, now[0]))
    if not able:
        return None
    built, summary = pick(able)
    for item in later(trace, built):
        rewrite(item, summary.id, lambda m: setattr(m, "content", "(cut off)"))
    return Broken(built.request, built.index_of(summary))


BREAKS = (
    Break("diff-at-its-time", "moved", "A diff of the World State has moved to the end.",
          diff_moved),
    Break("tool-exchange-whole", "lost", "A tool call stands there without its result.",
          result_lost),
    Break("tool-exchange-whole", "swapped", "Two results stand in the other order than the calls.",
          results_swapped),
    Break("run-joins-history", "lost", "The second run's history lacks a message of the first.",
          history_lost),
    Break("run-joins-history", "reworded", "The history tells a message in other words.",
          history_reworded),
    Break("run-joins-history", "role", "The history gives a message another role.", history_role),
    Break("initial-stays-initial", "catalogue", "The skill catalogue changes inside a run.",
          catalogue_changed),
    Break("initial-stays-initial", "state", "The run's full World State is kept up to date.",
          run_state_rewritten),
    Break("initial-stays-initial", "skill", "A skill activated on the way is put into segment 9.",
          skill_promoted),
    Break("inputs-kept", "dropped", "Only the last of two inputs is left.", input_dropped),
    Break("history-not-reread", "reread", "A text that was attached no longer reads as it did.",
          text_reread),
    Break("compaction-boundary", "half", "A summary covers a call but not its result.",
          half_covered),
    Break("compaction-boundary", "unshown",
          "A summary covers an exchange that no request has shown.", unshown_covered),
    Break("summary-shorter", "long", "A summary is longer than what it replaces.", long_summary),
    Break("summary-shorter", "failed", "The summary changes although the compaction failed.",
          failed_summary),
)  # fmt: skip
