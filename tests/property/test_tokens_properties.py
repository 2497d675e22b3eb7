"""Properties of token counts, each against an independent and slower way to say the same."""

import base64
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracer.tokens import clean_surrogates, estimate_bounds, estimate_tokens, utf16_length
from tracer.tokens_bpe import RANK_FILES, RANKS_DIR, BpeCounter, safe_slices

# Any code point, lone surrogates included, with the ones that matter made likely.
TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=[]),
        st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"]),
        st.characters(min_codepoint=0x4DF0, max_codepoint=0xA00F),
        st.characters(min_codepoint=0x10000, max_codepoint=0x10FFFF),
        st.sampled_from("ab \n"),
    )
)

# What logs are made of, in an order that brings the encoding's split into trouble.
SCRAPS = st.lists(
    st.one_of(
        st.sampled_from(
            ["it's", "DON'T", " ", "  ", "\n", "\r\n", "\t", "//", "/", "'", "'re", "\u2019s", "9"]
            + ["x1", "12345", "\u4e2d\u6587", "\u3002", "\uff0c", "\xe9", "e\u0301", "\u0301", "_"]
            + ["\xa0", "\x1c", "\u2160", "\xb2", "\u0394x", "\U0001f600", "\u0e01", "A", "aB", "{"]
        ),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


def units(text: str) -> list[int]:
    """UTF-16 code units by the book: an astral code point is two surrogates."""
    result = []
    for code in map(ord, text):
        if code > 0xFFFF:
            result += [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
        else:
            result.append(code)
    return result


def characters(text: str) -> str:
    """The text as its UTF-16 units read, one unit after the other; lone surrogates replaced."""
    rest, result = units(text), ""
    while rest:
        unit = rest.pop(0)
        if 0xD800 <= unit < 0xDC00 and rest and 0xDC00 <= rest[0] < 0xE000:
            result += chr(0x10000 + (unit - 0xD800 << 10) + rest.pop(0) - 0xDC00)
        else:
            result += "\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit)
    return result


@given(TEXTS)
def test_estimate_is_the_rule_on_utf16_units(text: str) -> None:
    n = len(units(text))
    cjk = sum(0x4E00 <= unit <= 0x9FFF for unit in units(text))
    assert utf16_length(text) == n
    assert estimate_tokens(text) == ceil((2 * cjk + (n - cjk)) / 3)


@given(TEXTS)
def test_estimate_lies_within_the_bounds_of_its_length(text: str) -> None:
    low, high = estimate_bounds(utf16_length(text))
    assert low <= estimate_tokens(text) <= high


@given(TEXTS)
def test_clean_text_is_what_its_units_read(text: str) -> None:
    clean = clean_surrogates(text)
    assert clean == characters(text)
    assert clean_surrogates(clean) is clean
    assert clean.encode().decode() == clean


@pytest.fixture(scope="module")
def counter() -> BpeCounter:
    counter = BpeCounter()
    counter.load()
    return counter


@given(text=SCRAPS, aim=st.integers(1, 30), whitespace_run=st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_slices_add_up_and_safe_cuts_keep_the_count(
    counter: BpeCounter, text: str, aim: int, whitespace_run: int
) -> None:
    pieces = list(safe_slices(text, aim=aim, longest=2 * aim, whitespace_run=whitespace_run))
    assert "".join(piece for piece, _ in pieces) == text
    for piece, _ in pieces:
        for blank in " \t\n":
            assert blank * (whitespace_run + 1) not in piece

    encode = counter.load().encode_ordinary
    # Glue what an unsafe cut took apart: the safe cuts alone must not change a token.
    tokens: list[int] = []
    held = ""
    for piece, cut_safely in pieces:
        held += piece
        if cut_safely:
            tokens += encode(held)
            held = ""
    assert tokens + encode(held) == encode(text)


@pytest.fixture(scope="module")
def ranks() -> dict[bytes, int]:
    lines = (RANKS_DIR / RANK_FILES["o200k_base"].name).read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


@given(word=st.text(st.characters(min_codepoint=ord("a"), max_codepoint=ord("z")), max_size=40))
@settings(deadline=None)
def test_words_count_as_byte_pair_merging_says(
    counter: BpeCounter, ranks: dict[bytes, int], word: str
) -> None:
    parts = [letter.encode() for letter in word]
    while pairs := [
        (ranks[left + right], at)
        for at, (left, right) in enumerate(zip(parts, parts[1:], strict=False))
        if left + right in ranks
    ]:
        at = min(pairs)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    assert counter.count(word).tokens == len(parts)
