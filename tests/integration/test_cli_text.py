"""Text for a terminal: safe, aligned, calm."""

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tracer.cli.output import print_json
from tracer.cli.progress import ProgressLine, describe
from tracer.cli.table import Column, render
from tracer.cli.text import byte_size, clip, display_width, duration, moment, number, pad, visible
from tracer.jsonview.encoding import json_text
from tracer.model.ingest_views import Progress


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\r\nb\tc", "a␍␊b␉c"),
        ("\x7f\x9b2J", "␡\\x9b2J"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("half \ud83d pair", "half \\ud83d pair"),
        ("ünï 漢字 👍", "ünï 漢字 👍"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_line_feeds_are_kept_where_text_is_shown_whole() -> None:
    assert visible("a\n\tb\x1b\r\n", keep_lines=True) == "a\n\tb␛␍\n"


def test_east_asian_text_takes_two_columns() -> None:
    assert display_width("漢字ab") == 6
    assert display_width("e\u0301") == 1
    assert clip("漢字漢字", 5) == "漢字…"
    assert clip("漢字漢字", 4) == "漢…"
    assert pad("漢", 4) == "漢  "
    assert pad("漢", 4, right=True) == "  漢"


def test_tables_align_numbers_right_and_wide_text() -> None:
    lines = render(
        [Column("n", right=True), Column("text"), Column("x")],
        [["1,000", "漢字", "a"], ["7", "abcde", "b"]],
    )
    assert lines == ["    n  text   x", "1,000  漢字   a", "    7  abcde  b"]


def test_only_flexible_columns_give_way() -> None:
    columns = [Column("id"), Column("title", flexible=True)]
    lines = render(columns, [["x" * 30, "word " * 20]], max_width=50)
    assert lines[1] == "x" * 30 + "  " + "word word word wo…"
    assert len(render(columns, [["x" * 30, "word " * 20]], max_width=20)[1]) == 30 + 2 + 12


def test_a_flexible_column_without_anything_known_is_left_out() -> None:
    columns = [Column("a"), Column("b", flexible=True), Column("c", flexible=True)]
    assert render(columns, [["-", "-", "x"], ["-", "-", "-"]]) == ["a  c", "-  x", "-  -"]
    assert render(columns, []) == ["a  b  c"]


def test_a_cell_cannot_break_a_table() -> None:
    lines = render([Column("a"), Column("b")], [["x\ny\x1b[2J", "z"]])
    assert lines[1] == "x␊y␛[2J  z"


def test_units() -> None:
    assert [number(None), number(1234567)] == ["-", "1,234,567"]
    assert [byte_size(n) for n in (None, 0, 999, 1000, 999_949, 999_950, 12_345_678)] == [
        "-", "0 B", "999 B", "1.0 KB", "999.9 KB", "1.0 MB", "12.3 MB",
    ]  # fmt: skip
    assert [duration(n) for n in (None, 240, 2_149, 185_000, 7_800_000)] == [
        "-", "240 ms", "2.1 s", "3 min 5 s", "2 h 10 min",
    ]  # fmt: skip
    assert moment(1_772_356_502_118) == "2026-03-01 09:15:02"
    assert moment(10**18) == "-"


def test_json_is_readable_and_safe_on_a_terminal() -> None:
    value = {"text": "漢字 \x1b \x9b \u202e \ud83d \u2028 é", "list": []}
    text = json_text(value)
    assert json.loads(text) == value
    assert "漢字" in text and "é" in text
    assert not any(ord(c) < 0x20 and c != "\n" or 0x7F <= ord(c) < 0xA0 for c in text)
    text.encode()
    assert "\n" not in json_text(value, one_line=True)


class Terminal(io.StringIO):
    """A stream that keeps each piece that was written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        """Keep it."""
        self.writes.append(text)
        return len(text)


def test_progress_tells_bytes_rate_records_and_time_left() -> None:
    progress = Progress("reading", "/x/漢.jsonl", 250_000_000, 1_000_000_000, 1200, 5_000)
    assert describe(progress) == (
        "Reading: 250.0 MB of 1.0 GB, 25%, 1,200 records, 50.0 MB/s, 15.0 s left, 漢.jsonl"
    )
    counting = Progress("counting", "", 1, 1, 1, 1, counted_blocks=30, uncounted_blocks=70)
    assert describe(counting) == "Counting tokens: 30 of 100 blocks"
    assert describe(Progress("reading", "a\x1b", 0, 0, 0, 0)).endswith("a␛")


def test_progress_is_one_line_at_most_ten_times_a_second_and_leaves_nothing() -> None:
    terminal = Terminal()
    line = ProgressLine(terminal, columns=30)
    for elapsed_ms in range(0, 1000, 10):
        line(Progress("reading", "f", elapsed_ms, 1000, 1, elapsed_ms))
    line.clear()
    updates, last = terminal.writes[:-2], "".join(terminal.writes[-2:])
    assert len(updates) == 10
    assert all(update.startswith("\r") and "\n" not in update for update in updates)
    assert all(display_width(update[1:].rstrip()) <= 29 for update in updates)
    assert last.strip() == "" and last.endswith("\r")


class Unbuffered(io.RawIOBase):
    """Takes 7 bytes at a time, as a pipe may where PYTHONUNBUFFERED is set."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = b""

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Take a part."""
        self.taken += bytes(data[:7])
        return min(7, len(data))


def test_json_is_written_whole_to_an_unbuffered_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Unbuffered()
    monkeypatch.setattr(
        sys, "stdout", SimpleNamespace(buffer=stream, flush=stream.flush, write=stream.write)
    )
    print_json({"text": "漢字 and more than seven bytes"})
    assert json.loads(stream.taken) == {"text": "漢字 and more than seven bytes"}
