"""Results of a search for the tests of what is printed and shown."""

from dataclasses import replace
from typing import Any

from tests.integration.test_cli_fakes import AT_MS, REF
from tracer.model.search_views import (
    FoundPiece,
    FoundPlace,
    FoundText,
    SearchAsked,
    SearchPage,
    TextUse,
)


def a_use(**changes: Any) -> TextUse:
    """A session that sent the text three times."""
    known = TextUse(
        "sess_demo", "Rename a function", "c0ffee000001", 1, 7, "c0ffee000003", 3, 7, 3,
        "c0ffee000002", AT_MS,
    )  # fmt: skip
    return replace(known, **changes)


def a_text(*uses: TextUse) -> FoundText:
    """A tool's result of which everything is known."""
    place = FoundPlace(
        "tool-result", "messages", "tool", 5, 0, 7, "env_info", "todo_reminder", "Bash"
    )
    piece = FoundPiece("def rename(old):\n  …", ((4, 10),), 120, 900)
    return FoundText(place, piece, 2, 1039, uses or (a_use(),), 4, "ab" * 16, REF)


def a_search_page() -> SearchPage:
    """A page of many results."""
    asked = SearchAsked("rename", "sess_demo", "tool-result", "env_info", "todo_reminder", True)
    return SearchPage(asked, (a_text(a_use(), a_use(session_id="sess_two")),), 500, True, 12)


def a_bare_search_page() -> SearchPage:
    """A log line of which next to nothing is known."""
    use = TextUse("", "")
    piece = FoundPiece("renamed", ((0, 6),), 0, 0)
    text = FoundText(FoundPlace("event"), piece, 1, 7, (use,), 0, "", None)
    return SearchPage(SearchAsked("rename"), (text,), 1, False, 0)
