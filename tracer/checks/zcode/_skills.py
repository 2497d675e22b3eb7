"""The entries of a skills listing."""

import re
from typing import NamedTuple

from tracer.checks.case import CheckedRequest
from tracer.checks.zcode._requests import section_text

_ENTRY = re.compile(r"^- (?P<name>[^\n:(]+?)(?:: ?|[ \t]+\(?|[ \t]*$)(?P<rest>.*)$", re.M)
_PATH = re.compile(r"\(?(?:path: ?)?`?(?:[A-Za-z]:)?[\w.@~-]*[\\/][^\n]*?`?\)?", re.I)


class Entry(NamedTuple):
    """A skill and what is said of it: a description, or only where its file is."""

    name: str
    text: str

    @property
    def is_path(self) -> bool:
        """Whether only a path stands there, as in the short form of the listing."""
        return not self.text or (
            _PATH.fullmatch(self.text) is not None and " " not in self.text.strip("() `")
        )


class Listing(NamedTuple):
    """A skills listing at its place."""

    message_index: int
    text: str
    content_hash: str

    @property
    def entries(self) -> list[Entry]:
        """Its skills."""
        return [Entry(m["name"], m["rest"].strip()) for m in _ENTRY.finditer(self.text)]


def listings(request: CheckedRequest) -> list[Listing]:
    """The listings in the new messages of a request which its own record shows."""
    return [
        Listing(s.message_index, section_text(request, s), s.content_hash)
        for s in request.sections
        if s.source == "skills"
        and s.message_index >= request.common
        and request.proves(s.message_index)
    ]
