"""What reading files gave: each file as the database knows it, and what one ingest did.

Times are UTC epoch milliseconds, sizes have their unit in their names.
"""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that did not become a record, with the reason."""

    line: int
    offset_bytes: int
    kind: str
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class SourceView:
    """One segment of one file. `status` is `current`, `replaced` (the file shrank or was created
    anew under the same name: its data is kept) or `missing` (no longer on disk)."""

    source_id: int
    path: str
    segment: int
    format: str
    size_bytes: int
    offset_bytes: int
    lines: int
    records: int
    duplicates: int
    skipped_total: int
    skipped: tuple[SkippedLine, ...]
    status: str
    last_read_at_ms: int | None
    sessions: tuple[str, ...] = ()
    pending_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one ingest did with one file. `status` is `read`, `unchanged`, `not-read`.

    `detail` explains a `not-read` file in one sentence with what to do.
    """

    path: str
    format: str | None
    bytes: int
    records: int
    new_records: int
    duplicates: int
    skipped: tuple[SkippedLine, ...]
    skipped_total: int
    status: str
    detail: str = ""


class LeftOut(NamedTuple):
    """A file in a folder that was named, which is not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What one ingest did. `read_bytes` were new; `elapsed_ms` is wall-clock time. `count_error`
    says why tokens were not counted, if they were not; `verdicts` is how many were given,
    `verdict_errors` names sessions that could not be judged, and why; `unjudged_sessions` are left
    for when somebody looks at them: no prompt of them is known. `left_out` are other files in the
    folders that were named, the first of `left_out_total`."""

    files: tuple[FileResult, ...]
    read_bytes: int
    new_records: int
    counted_blocks: int
    elapsed_ms: int
    count_error: str = ""
    verdicts: int = 0
    verdict_errors: tuple[str, ...] = ()
    unjudged_sessions: int = 0
    left_out: tuple[LeftOut, ...] = ()
    left_out_total: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is. `total_bytes` is what has to be read; `phase` is `reading`,
    `counting` or `judging`."""

    phase: str
    path: str
    done_bytes: int
    total_bytes: int
    records: int
    elapsed_ms: int
    counted_blocks: int = 0
    uncounted_blocks: int = 0
    verdicts: int = 0
    unjudged_sessions: int = 0
