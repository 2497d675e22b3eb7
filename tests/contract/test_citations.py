"""A citation leads somewhere: the section that code names stands in the document that it names.

Code cites `formats/zcode.md`, `cache-rules.md` and `design.md` by section ("3.6", "section 3.6",
"8.1 and 8.2", "7 to 9") and by item of a list or table ("14, case 28", "0, finding 3", "2.3, 11",
"9.2, A7"). A number behind a comma is an item where the section has one of that number, else
another section.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = ("formats/zcode.md", "cache-rules.md", "design.md")
FOLDERS = ("tracer", "web", "tests", "sample-logs", "benchmarks", "docs")
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".sql"})
FOREIGN = frozenset({"vendor", "_ranks", "__pycache__", "out"})

HEADING = re.compile(r"^#{2,6} (?P<number>\d+(?:\.\d+)*)\.?\s", re.MULTILINE)
# An item: of a list ("28. ", "* **A7** ", "**P3.4** "), or the first cell of a row ("| 36, 37 | ").
LISTED = re.compile(r"^ *(?P<number>\d+)\. ", re.MULTILINE)
NAMED = re.compile(r"\*\*(?P<name>[A-Z]\d+(?:\.\d+)*)\b")
ROW = re.compile(r"^\| (?P<numbers>\d+(?:, \d+)*) \|", re.MULTILINE)

DOCUMENT = re.compile(r"(?:(?<=[\s(\"'`\[|/])|^)(?P<name>formats/zcode|cache-rules|design)\.md\b")
# A line of a comment or a docstring goes on in the next one.
BREAK = re.compile(r"\s*\n\s*(?:#\s|--\s)?\s*")
NUMBER = r"\d+(?:\.\d+)*"
JOIN = r"(?:\s*(?P<join>,\s*and|,|-|\bto\b|\band\b)\s*)"
WORD = r"(?:(?P<word>sections?|cases?|findings?|rows?|no\.|nos\.|items?|rules?)\s+)?"
FIRST = re.compile(rf"\s+(?P<word>sections?\s+)?(?P<what>{NUMBER})(?![\w%])")
NEXT = re.compile(rf"{JOIN}{WORD}(?P<what>[A-Z]?{NUMBER})(?![\w%])")
BEFORE = re.compile(
    rf"\b(?:cases?|rules?|findings?)\s+(?P<first>[A-Z]?{NUMBER})"
    rf"(?:\s+(?:to|and)\s+(?P<last>[A-Z]?{NUMBER}))?\s+of\s+\Z",
    re.IGNORECASE,
)
PLACES = ("section", "sections")


class Target(NamedTuple):
    """What is cited: a section, or an item of it. An empty section means the whole document."""

    document: str
    section: str = ""
    item: str = ""


class Citation(NamedTuple):
    """A target and the line on which the document is named."""

    target: Target
    line: int


def sections_of(text: str) -> dict[str, frozenset[str]]:
    """The items of each numbered section; those of a subsection are not its parent's."""
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    found: dict[str, frozenset[str]] = {}
    for heading, end in zip(headings, ends, strict=True):
        assert heading["number"] not in found, f"section {heading['number']} stands there twice"
        body = text[heading.end() : end]
        rows = [n for row in ROW.finditer(body) for n in row["numbers"].split(", ")]
        found[heading["number"]] = frozenset(
            [m["number"] for m in LISTED.finditer(body)]
            + [m["name"] for m in NAMED.finditer(body)]
            + rows
        )
    return found


CONTENTS = {name: sections_of((DOCS / name).read_text(encoding="utf-8")) for name in DOCUMENTS}


def citations_in(text: str) -> Iterator[Citation]:
    """Every citation of one of the three documents in a text."""
    for document in DOCUMENT.finditer(text):
        name = f"{document['name']}.md"
        line = text.count("\n", 0, document.start()) + 1
        before = BREAK.sub(" ", text[max(0, document.start() - 200) : document.start()])
        behind = BREAK.sub(" ", text[document.end() : document.end() + 200])
        for target in _targets(name, before, behind):
            yield Citation(target, line)


def _targets(name: str, before: str, behind: str) -> Iterator[Target]:
    found = FIRST.match(behind)
    if found is None:
        yield Target(name)
        return
    section, end = found["what"], found.end()
    yield Target(name, section)
    listed = BEFORE.search(before)
    if listed:
        yield from (
            Target(name, section, item) for item in (listed["first"], listed["last"]) if item
        )
    previous = Target(name, section)
    while (more := NEXT.match(behind, end)) is not None:
        end = more.end()
        previous = _next(previous, more)
        yield previous


def _next(before: Target, found: re.Match[str]) -> Target:
    """What a further number means: an item of the section before, or another section."""
    what, word = found["what"], found["word"] or ""
    section = Target(before.document, what)
    item = Target(before.document, before.section, what)
    if word in PLACES:
        return section
    if word or what[0].isalpha():
        return item
    known = CONTENTS[before.document]
    follows_item = bool(before.item) or found["join"] == ","
    is_item = what in known.get(before.section, frozenset())
    return item if follows_item and is_item else section


def is_there(target: Target) -> bool:
    """True where a document holds what is cited."""
    sections = CONTENTS[target.document]
    if not target.section:
        return True
    if target.section not in sections:
        return False
    inside = (
        items
        for number, items in sections.items()
        if number == target.section or number.startswith(f"{target.section}.")
    )
    return not target.item or any(target.item in items for items in inside)


def texts() -> Iterator[tuple[str, str]]:
    """Name and content of every file that may cite; this one cites what is not there."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            if path == Path(__file__) or path.suffix not in SUFFIXES or FOREIGN & set(name.parts):
                continue
            if path.is_file():
                yield name.as_posix(), path.read_text(encoding="utf-8", errors="replace")


def test_every_citation_leads_to_a_section() -> None:
    lost = [
        f"{name}:{line}: {' '.join(target)}"
        for name, text in texts()
        for target, line in citations_in(text)
        if not is_there(target)
    ]
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_citations_are_found(document: str) -> None:
    """The search itself works: code does cite each of the documents, by section."""
    cited = {t for _, text in texts() for t, _ in citations_in(text) if t.document == document}
    assert any(target.section for target in cited)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_has_numbered_sections(document: str) -> None:
    assert {"1", "2", "5"} <= CONTENTS[document].keys()


Z, C = "formats/zcode.md", "cache-rules.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(formats/zcode.md 3.6)", [(Z, "3.6", "")]),
        ("formats/zcode.md section 3.6.", [(Z, "3.6", "")]),
        ("in formats/zcode.md.", [(Z, "", "")]),
        ("formats/zcode.md 7 to 9", [(Z, "7", ""), (Z, "9", "")]),
        ("formats/zcode.md 1-3)", [(Z, "1", ""), (Z, "3", "")]),
        ("formats/zcode.md 2, 14 and 16", [(Z, "2", ""), (Z, "14", ""), (Z, "16", "")]),
        ("formats/zcode.md 14, case 28", [(Z, "14", ""), (Z, "14", "28")]),
        ("formats/zcode.md 14, 28)", [(Z, "14", ""), (Z, "14", "28")]),
        ("formats/zcode.md 9.2, A7 and A8", [(Z, "9.2", ""), (Z, "9.2", "A7"), (Z, "9.2", "A8")]),
        ("formats/zcode.md 9, P3.4", [(Z, "9", ""), (Z, "9", "P3.4")]),
        ("cache-rules.md 2.3, 10, and 1.2", [(C, "2.3", ""), (C, "2.3", "10"), (C, "1.2", "")]),
        ("cache-rules.md 1.9 and 5, 19", [(C, "1.9", ""), (C, "5", ""), (C, "5", "19")]),
        ("cache-rules.md 0, finding 8", [(C, "0", ""), (C, "0", "8")]),
        ("cache-rules.md 3.1, no. 84", [(C, "3.1", ""), (C, "3.1", "84")]),
        ("cache-rules.md 4, break-even", [(C, "4", "")]),
        ("# (formats/zcode.md 2.4\n# and 2.7).", [(Z, "2.4", ""), (Z, "2.7", "")]),
        ("Cases 1 to 8 of cache-rules.md 5", [(C, "5", ""), (C, "5", "1"), (C, "5", "8")]),
        ("see redesign.md 9, or my-cache-rules.md 77", []),
    ],
)
def test_how_a_citation_is_read(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [tuple(citation.target) for citation in citations_in(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "formats/zcode.md 3.99",
        "formats/zcode.md section 77",
        "formats/zcode.md 14, case 99",
        "formats/zcode.md 9.2, A99",
        "cache-rules.md 2.3, row 99",
        "cache-rules.md 3.1, no. 5000",
        "cache-rules.md 2.0 to 2.99",
        "design.md 99",
        "Edge cases 1 to 99 of formats/zcode.md section 14",
    ],
)
def test_a_citation_that_leads_nowhere_is_seen(text: str) -> None:
    assert not all(is_there(citation.target) for citation in citations_in(text))


def test_a_citation_tells_its_line() -> None:
    assert [c.line for c in citations_in("one\ntwo (design.md 4)\n")] == [2]
