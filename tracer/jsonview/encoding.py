"""JSON as text that is safe to show on a terminal and in a browser."""

import json
import re

# C0, DEL, C1; direction marks, embeddings, overrides and isolates; line separators; the byte
# order mark; lone surrogates.
UNSAFE = (
    "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
)

_TO_ESCAPE = re.compile(f"[{UNSAFE}]")


def json_text(value: object, *, one_line: bool = False) -> str:
    """`value` as JSON with non-ASCII text unescaped, safe to show on a terminal.

    Control characters, direction overrides and lone surrogates are written as `\\uXXXX`: the same
    value for every JSON reader.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None if one_line else 2)
    # Line feeds of the indentation are the only control characters outside of strings.
    return _TO_ESCAPE.sub(lambda m: "\n" if m.group() == "\n" else f"\\u{ord(m.group()):04x}", text)
