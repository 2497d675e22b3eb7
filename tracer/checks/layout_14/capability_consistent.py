"""Tools, guide and World State of a request agree on every capability.

A model that has a guide without the tools calls what is not there; one that has tools without the
guide uses them blindly; one whose World State says otherwise does not know which to believe.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._capabilities import View, views
from tracer.checks.layout_14._steps import SESSION_STATE, undecided
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Tools, guide and World State agree on every capability"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
NAMES = "the capability of each guide in segment 4"
STATE = "the capability switches of the session's World State (state.capabilities)"
TOOLS = "tools that name their capability: no request of the session has one"
GUIDES = "guides that name their capability: no request of the session has one"

Said = tuple[bool | None, bool | None, bool | None]


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a capability's parts begin to disagree. What a switch-off has left
    behind is the matter of `capability-withdrawn`, as long as it stays the same. A part that the
    session never has does not count: the agent has no guides, or does not mark its tools."""
    yield from undecided(session, REPORT)
    every = views(session)
    tools, guides = any(v.schemas for v in every), any(v.guides for v in every)
    if any(any(view.says(name)) for view in every for name in _names(view)):
        yield from (REPORT.needs(n) for n, has in ((TOOLS, tools), (GUIDES, guides)) if not has)
    told: dict[str, Said] = {}
    for view in every:
        names = _names(view)
        if view.unnamed_guides:
            yield REPORT.needs(NAMES, view.step.request)
            continue
        if names and view.state is None:
            yield REPORT.needs(STATE, view.step.request)
        off = {s.name for s in view.switches if not s.enabled}
        for name in sorted(names):
            schema, guide, state = view.says(name)
            said = (schema if tools else None, guide if guides else None, state)
            if len({value for value in said if value is not None}) < 2:
                told.pop(name, None)
            elif told.get(name) != said:
                told[name] = said
                if name not in off:
                    yield _finding(view, name, said)


def _names(view: View) -> set[str]:
    return {*view.schemas, *view.guides, *(view.state or {})}


def _finding(view: View, name: str, said: Said) -> Found:
    schema, guide, state = said
    words = {True: "on", False: "off", None: "not told"}
    return REPORT.found(
        view.step.request,
        f"Capability {name} is {words[schema]} by the tools, {words[guide]} by the guides, "
        f"{words[state]} by the World State.",
        _place(view, name, said),
        tools=", ".join(t.name for t in view.step.request.layout.tools if t.capability == name)
        or "none",
        guide={True: "there", False: "not there", None: "never there"}[guide],
        world_state=words[state],
    )


def _place(view: View, name: str, said: Said) -> int | None:
    """Where the one stands that disagrees with the others."""
    schema, guide, state = said
    if guide is not None and guide not in (schema, state):
        return view.guides.get(name, view.step.place_of(*range(SESSION_STATE, 15)))
    if state is not None and state not in (schema, guide):
        return view.state_at.get(name)
    return None
