"""Comparing two prompts: common prefix, aligned changes, hunks. Pure.

`compare` tells what became of each block; `diff_change` and `hunk_page` show the lines of one
change; `text_changes` tells what kind of text changed. Nothing here reads a clock or a file.
"""

from tracer.compare.describe import block_label, run_label
from tracer.compare.fields import field_changes
from tracer.compare.hunks import TextDiff, diff_change, diff_texts, hunk_page
from tracer.compare.prompts import apply, compare
from tracer.compare.textchange import text_changes

__all__ = [
    "TextDiff",
    "apply",
    "block_label",
    "compare",
    "diff_change",
    "diff_texts",
    "field_changes",
    "hunk_page",
    "run_label",
    "text_changes",
]
