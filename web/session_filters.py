"""The filters of the sessions list: read from the address, and written back into it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from tracer.model.session_list import SessionChoices, SessionFilter
from tracer.service.sessions import time_range
from web.params import one_of

MOST_OPTIONS = 300


@dataclass(frozen=True, slots=True)
class ListState:
    """What the address of the list says, each parameter as it was written."""

    q: str = ""
    project: str = ""
    agent: str = ""
    model: str = ""
    since: str = ""
    until: str = ""
    misses: str = ""

    def query(self, offset: int = 0, without: str = "") -> str:
        """The query with its question mark, without one of the filters if one is named."""
        pairs = [
            (name, value)
            for name in self.__slots__
            if name != without and (value := getattr(self, name))
        ]
        if offset:
            pairs.append(("offset", str(offset)))
        return "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""

    def wanted(self) -> SessionFilter:
        """What it asks the service for. Raises UsageError for a time that is none."""
        since_ms, until_ms = time_range(self.since, self.until)
        return SessionFilter(
            self.q, self.project, self.agent, self.model, since_ms, until_ms, bool(self.misses)
        )


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is on, in words, and the address without it."""

    name: str
    value: str
    off_href: str


@dataclass(frozen=True, slots=True)
class Chooser:
    """A list to choose from. `more` are names that are not in it."""

    name: str
    label: str
    every: str
    options: tuple[str, ...]
    chosen: str
    more: int


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The form above the list."""

    state: ListState
    choosers: tuple[Chooser, ...]


_WORDS = {
    "q": "with the words", "project": "project", "agent": "agent", "model": "model",
    "since": "active since", "until": "begun by", "misses": "with misses",
}  # fmt: skip


def list_state(request: Request) -> ListState:
    """The filters in the address. Raises UsageError for a switch that is neither on nor off."""
    asked = request.query_params
    texts = {name: asked.get(name, "").strip() for name in ("q", "since", "until")}
    names = {name: asked.get(name, "") for name in ("project", "agent", "model")}
    return ListState(**texts, **names, misses=one_of(request, "misses", ("", "1")))


def chips(state: ListState) -> tuple[Chip, ...]:
    """The filters that are on."""
    return tuple(
        Chip(words, "" if name == "misses" else value, "/" + state.query(without=name))
        for name, words in _WORDS.items()
        if (value := getattr(state, name))
    )


def filter_form(state: ListState, choices: SessionChoices) -> FilterForm:
    """The form in a state. A list with nothing to choose from is left out."""
    found = (
        ("project", "Project", "any project", choices.projects),
        ("agent", "Agent", "any agent", choices.agents),
        ("model", "Model", "any model", choices.models),
    )
    return FilterForm(
        state,
        tuple(
            _chooser(name, label, every, names, getattr(state, name))
            for name, label, every, names in found
            if len(names) > 1 or getattr(state, name)
        ),
    )


def _chooser(name: str, label: str, every: str, names: tuple[str, ...], chosen: str) -> Chooser:
    shown = names[:MOST_OPTIONS]
    if chosen and chosen not in shown:
        shown = (chosen, *shown)
    return Chooser(name, label, every, shown, chosen, max(0, len(names) - MOST_OPTIONS))
