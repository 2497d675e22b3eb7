"""Code fences of Markdown: what stands in one is quoted, not said."""

import re
from bisect import bisect_right

_FENCE = re.compile(r"^[ \t]{0,3}(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)


class Fences:
    """The closed fences of a text. An open one that never closes is none: texts are cut."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        opened: re.Match[str] | None = None
        if "```" not in text and "~~~" not in text:
            return
        for line in _FENCE.finditer(text):
            if opened is None:
                opened = line
            elif line["mark"].startswith(opened["mark"]) and not line["rest"].strip():
                self._starts.append(opened.start())
                self._ends.append(line.end())
                opened = None

    def hold(self, at: int) -> bool:
        """True where the character at `at` stands in a closed fence."""
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]
