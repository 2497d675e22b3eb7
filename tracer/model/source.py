"""Where a fact comes from, and what could not be read."""

from dataclasses import dataclass
from enum import StrEnum


class SkipKind(StrEnum):
    """Why a line did not become a record."""

    NOT_JSON = "not-json"
    NOT_OBJECT = "not-object"
    FOREIGN_TYPE = "foreign-type"
    ENCODING = "encoding"
    TOO_LONG = "too-long"
    TORN = "torn"
    BAD_FIELD = "bad-field"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One line of one file. `line` counts from 1; `offset_bytes` is where the line begins."""

    path: str
    line: int
    offset_bytes: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is not a record of the format: kept, shown, never fatal.

    `reason` is a whole sentence; `excerpt` holds the first 200 characters of the line.
    """

    kind: SkipKind
    reason: str
    excerpt: str
