"""A change as a unified diff, to be pasted into a report."""

from collections.abc import Iterator

from tracer.model.compare_views import HunksView
from tracer.model.comparison import Line


def unified_diff(view: HunksView, a_key: str, b_key: str) -> str:
    """The hunks of a change as `diff -u` writes them; of hunks that were left out, how many."""
    return "".join(f"{line}\n" for line in _lines(view, a_key, b_key))


def _lines(view: HunksView, a_key: str, b_key: str) -> Iterator[str]:
    change = view.change
    yield f"--- {a_key} {change.a_place}".rstrip()
    yield f"+++ {b_key} {change.b_place}".rstrip()
    for field in view.fields:
        yield f"# {field.field}: {field.before or '(none)'} -> {field.after or '(none)'}"
    if view.page is None:
        return
    for hunk in view.page.hunks:
        yield f"@@ -{_span(hunk.a_start, hunk.a_count)} +{_span(hunk.b_start, hunk.b_count)} @@"
        yield from map(_line, hunk.lines)
    left = view.page.total - view.page.offset - len(view.page.hunks)
    if left:
        yield f"# {left:,} more hunks"


def _span(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _line(line: Line) -> str:
    before = f"[{line.cut_before:,} characters] " if line.cut_before else ""
    after = f" [{line.cut_after:,} characters]" if line.cut_after else ""
    return f"{line.op}{before}{line.text}{after}"
