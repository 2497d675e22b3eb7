"""The headings of sections in the texts of a prefix, as the agent writes them."""

import re
from typing import NamedTuple

from tracer.anatomy.fences import Fences
from tracer.anatomy.sections import SECTION_KINDS, SectionKind

SYSTEM_KINDS = tuple(k for k in SECTION_KINDS if k.heading and k.target == "system")
META_KINDS = tuple(k for k in SECTION_KINDS if k.heading and k.target == "meta_user")
_PARAGRAPH = re.compile(r"(?:\A\n*|\n\n+)(?=[#g])")
_BEHIND_STYLE = ("context_management", "system_context")
SKILLS_OPENING = "The following skills are available for use"


class Heading(NamedTuple):
    """A section's heading and where it stands in a text."""

    kind: SectionKind
    at: int


def headings(text: str, kinds: tuple[SectionKind, ...]) -> list[Heading]:
    """The headings that stand once in a text, at the start of a paragraph and outside of code
    fences, in their order. One that stands twice was written by a person as well, and which of the
    two is the agent's is not known."""
    fences = Fences(text)
    found: dict[str, list[Heading]] = {}
    for paragraph in _PARAGRAPH.finditer(text):
        start = paragraph.end()
        for kind in kinds:
            if text.startswith(kind.heading, start) and not fences.hold(start):
                end = start + len(kind.heading)
                if not kind.whole_line or text[end : end + 1].strip() == "":
                    found.setdefault(kind.source, []).append(Heading(kind, start))
    _drop_quoted(found)
    once = [places[0] for places in found.values() if len(places) == 1]
    return sorted(once, key=lambda heading: heading.at)


def _drop_quoted(found: dict[str, list[Heading]]) -> None:
    """An output style is a person's text: of the headings behind it only those count that belong
    behind it."""
    style = found.get("output_style")
    if style is None:
        return
    for source, places in found.items():
        if source not in ("output_style", *_BEHIND_STYLE):
            places[:] = [heading for heading in places if heading.at < style[0].at]
