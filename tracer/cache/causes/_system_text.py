"""What changed in a text of the prefix: a date, a time, a nonce, a list of skills, ...

Judged by the section's name, then by the characters around the difference on both sides. What no
rule recognises is `text`.
"""

import re

from tracer.model.verdict import Change

SUBTYPES = {
    "nonce": "a value that is new in every request",
    "iso_timestamp": "a time stamp",
    "time": "the time of day",
    "date": "the date",
    "git_status": "the state of the git repository",
    "cwd": "the working directory",
    "model": "the name of the model",
    "usage": "a line about tokens or cost",
    "memory": "the memory",
    "skills": "the list of skills",
    "instructions": "an instruction file",
    "mcp_instructions": "the instructions of a tool server",
    "capability": "the guide of a capability that was switched",
    "alternation": "two versions that alternate",
    "text": "its text",
}

_SECTIONS = (
    (r"skill", "skills"),
    (r"memory", "memory"),
    (r"current_date|date_change", "date"),
    (r"mcp", "mcp_instructions"),
    (r"agents?_?md|claude_?md|instruction|user_context|rules", "instructions"),
    (r"git", "git_status"),
    (r"context_usage|token|cost", "usage"),
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_CLOCK = re.compile(r"\b\d{1,2}:\d\d(:\d\d)?\b")
_DATE = re.compile(
    r"\b\d{4}[-/]\d\d?[-/]\d\d?\b|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|"
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)
_NONCE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"
    r"\b(cch|nonce|request[_-]?id|message[_-]?id|trace[_-]?id|uuid)\b|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b",
    re.IGNORECASE,
)
_WORDS = (
    (r"skill", "skills"),
    (r"agents\.md|claude\.md|instruction file|contents of .{1,80}\.md", "instructions"),
    (r"\bmcp\b", "mcp_instructions"),
    (r"\bmemor(y|ies)\b", "memory"),
    (r"\b(git|branch|commit|staged|untracked|working tree)\b", "git_status"),
    (r"working directory|\bcwd\b", "cwd"),
    (r"\bmodel\b|powered by", "model"),
    (r"\btokens?\b|\bcost\b|context (left|used|usage)|remaining", "usage"),
)


def subtype_of(change: Change) -> str:
    """The subtype of a changed system block or section (cache-rules.md 2.3, 9)."""
    hinted = next((h for h in change.hints if h in SUBTYPES), "")
    if hinted:
        return hinted
    section = change.section.lower()
    for words, subtype in _SECTIONS:
        if section and re.search(words, section):
            return subtype
    before, after = change.before, change.after
    for pattern, subtype in _VALUES:
        if _differs(pattern, before, after):
            return subtype
    both = f"{before}\n{after}".lower()
    return next((s for p, s in _WORDS if re.search(p, both)), "text")


_VALUES = (
    (_ISO, "iso_timestamp"),
    (_NONCE, "nonce"),
    (_DATE, "date"),
    (_CLOCK, "time"),
)


def _differs(pattern: re.Pattern[str], before: str, after: str) -> bool:
    """True where both sides hold such a value, and not the same one; for a keyword before a value,
    where the texts differ behind it."""
    old, new = pattern.search(before), pattern.search(after)
    if old is None or new is None:
        return False
    if old.group() != new.group():
        return True
    return pattern is _NONCE and before[old.end() :] != after[new.end() :]
