"""The panel beside the timeline: one request in short, or the session while none is selected."""

from dataclasses import dataclass

from tracer.errors import NotFoundError
from tracer.model.anatomy_views import ReminderView
from tracer.model.views import RequestDetail, SessionSummary
from tracer.service import Service
from tracer.service.verdicts import SessionCache
from web.checks import RequestRules, rules_of_request
from web.layout.prompt_map import MapPiece, map_of_parts, map_of_runs
from web.layout.read_marks import ReadMarks
from web.urls import SessionState, compare_url, marked_url, misses_url, request_url
from web.verdict import Callout, NoCallout, make_callout, marks_of
from web.walk import Link, Pair, clear_link, make_walk

CACHE_BOX_REQUESTS = 400


@dataclass(frozen=True, slots=True)
class ChangedSection:
    """A section with another text than in the request before, and the address of the change."""

    source: str
    name: str
    href: str


@dataclass(frozen=True, slots=True)
class ReminderCount:
    """A reminder source of the request: how many there are, and the address of the first."""

    name: str
    count: int
    counted: bool
    href: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel shows. `detail` is None while no request is selected."""

    state: SessionState
    session: SessionSummary
    detail: RequestDetail | None
    pieces: tuple[MapPiece, ...]
    walk: tuple[Pair, ...]
    clear: Link
    request_href: str
    compare_href: str
    changed: tuple[ChangedSection, ...] = ()
    reminders: tuple[ReminderCount, ...] = ()
    callout: Callout | NoCallout | None = None
    marks: ReadMarks | None = None
    cache: SessionCache | None = None
    misses_href: str = ""
    rules: RequestRules | None = None


def make_panel(service: Service, state: SessionState, session: SessionSummary) -> Panel:
    """The panel of the request that the state selects. Raises NotFoundError for a foreign key."""
    clear = clear_link(state)
    if not state.request:
        return Panel(
            state, session, None, (), make_walk(service, state, session, 0), clear, "", "",
            cache=_small_session_cache(service, state, session),
            misses_href=misses_url(state.session_id),
        )  # fmt: skip
    detail = service.request(state.request, block_limit=0)
    if detail.request.session_id != session.session_id:
        raise NotFoundError(
            f"Request {state.request} belongs to session {detail.request.session_id},"
            f" not to {session.session_id}."
        )
    pieces = map_of_runs(detail.map_runs) or map_of_parts(detail.part_sizes)
    callout = make_callout(service, state.request)
    return Panel(
        state=state,
        session=session,
        detail=detail,
        pieces=pieces,
        walk=make_walk(service, state, session, detail.request.seq),
        clear=clear,
        request_href=request_url(state.request),
        compare_href=compare_url(detail.baseline_key, state.request) if detail.baseline_key else "",
        changed=_changed(detail),
        reminders=_reminders(detail),
        callout=callout,
        marks=marks_of(callout, pieces, detail.part_sizes),
        rules=rules_of_request(service, state.request, state.session_id),
    )


def _small_session_cache(
    service: Service, state: SessionState, session: SessionSummary
) -> SessionCache | None:
    """The cache figures where they are quick to have; those of a long session are on its misses
    page, so that the timeline does not wait for them."""
    if not 0 < session.requests <= CACHE_BOX_REQUESTS:
        return None
    return service.session_cache(state.session_id)


def _changed(detail: RequestDetail) -> tuple[ChangedSection, ...]:
    key, before = detail.request.key, detail.baseline_key
    return tuple(
        ChangedSection(
            section.source,
            section.name,
            compare_url(before, key, section.prompt_index) if before else request_url(key),
        )
        for section in detail.request.sections
        if section.changed
    )


def _reminders(detail: RequestDetail) -> tuple[ReminderCount, ...]:
    """The reminders by source, those of an ambiguous origin under all of its names."""
    found: dict[tuple[str, bool], list[ReminderView]] = {}
    for note in detail.request.reminders:
        name = " or ".join((note.source, *note.ambiguous_with))
        found.setdefault((name, note.counted), []).append(note)
    rows = []
    for (name, counted), notes in found.items():
        first = notes[0]
        mark = f"{first.start_char}-{first.end_char}"
        at = first.prompt_index
        href = request_url(detail.request.key) if at is None else ""
        href = href or marked_url(detail.request.key, at or 0, mark)
        rows.append(ReminderCount(name, len(notes), counted, href))
    return tuple(rows)
