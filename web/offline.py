"""Pages made to stand in a file of their own: no server behind their links, no script, one page.

Pieces of pages are put one below the other. Each gets a prefix for its ids, so that none stands
there twice; links lead to pieces that are in the file too, and what would need the server is no
link any more. Pure: HTML in, HTML out.
"""

from collections.abc import Callable
from html import escape
from html.parser import HTMLParser

Target = Callable[[str], str | None]
"""The anchor in the file that an address of the server leads to; None: it is not in the file."""

_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
_LEFT_OUT = frozenset(
    "script style link meta form input button select textarea base iframe object embed".split()  # noqa: SIM905
)
_REFERENCES = frozenset(
    "for aria-labelledby aria-describedby aria-controls aria-owns list headers".split()  # noqa: SIM905
)
_SHARED_IDS = ("g-", "p-")
"""Ids of glyphs and patterns: they stand in the file once, for all pieces."""


class _Piece(HTMLParser):
    """Collects what of a page belongs into the file."""

    def __init__(self, prefix: str, target: Target, only: str) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self._prefix = prefix
        self._target = target
        self._only = only
        self._depth = 0
        self._skipped = 0

    @property
    def _on(self) -> bool:
        return not self._skipped and (self._depth > 0 or not self._only)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        closed = tag in _VOID
        if not self._depth and self._only and dict(attrs).get("id") != self._only:
            return
        if self._skipped or tag in _LEFT_OUT:
            self._skipped += not closed
        else:
            self.out.append(f"<{tag}{self._attributes(tag, attrs)}>")
        self._depth += not closed

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._on and tag not in _LEFT_OUT:
            self.out.append(f"<{tag}{self._attributes(tag, attrs)}/>")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or (self._only and not self._depth):
            return
        if self._skipped:
            self._skipped -= 1
        elif self._on:
            self.out.append(f"</{tag}>")
        self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._on:
            self.out.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _attributes(self, tag: str, attrs: list[tuple[str, str | None]]) -> str:
        kept = []
        for name, value in attrs:
            shown = self._attribute(name, value)
            if shown is not None:
                kept.append(f" {name}" if shown == "" and value is None else
                            f' {name}="{escape(shown)}"')  # fmt: skip
        return "".join(kept)

    def _attribute(self, name: str, value: str | None) -> str | None:
        if name.startswith(("hx-", "on")) or name in ("style", "src", "srcset", "action"):
            return None
        if value is None:
            return ""
        if name == "id":
            return value if value.startswith(_SHARED_IDS) else self._prefix + value
        if name in _REFERENCES:
            return " ".join(self._prefix + word for word in value.split())
        if name in ("href", "xlink:href"):
            return self._href(value)
        return value

    def _href(self, value: str) -> str | None:
        if value.startswith("#"):
            own = value[1:]
            return value if own.startswith(_SHARED_IDS) else f"#{self._prefix}{own}"
        found = self._target(value)
        return f"#{found}" if found is not None else None


def piece(html: str, prefix: str, target: Target, only: str = "") -> str:
    """A page's HTML, or of it the element with the id `only`, to stand in a file: ids begin with
    `prefix`, and every link leads to where `target` says, or nowhere."""
    found = _Piece(prefix, target, only)
    found.feed(html)
    found.close()
    return "".join(found.out)
