"""What is ruled out before a search is what the search would not have found."""

from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers import SAMPLES
from tests.planted import MORE, ORDINARY, SECRETS
from tracer import masking
from tracer.masking import Secret, find_secrets
from tracer.matching import ascii_lower

ALL = [planted.text for planted in (SECRETS | MORE).values()]
WORDS = sorted({word for form in masking.FORMS for word in form.words})
SIGNS = list("_-:=.@\\\"'`/ \n…") + ["://", ": ", '="', "u5bc6\\u7801", "\\u53e3\\u4ee4"]
VALUES = ["hunter2hunter2", "9f8a7b6c5d4e3f2a1b0c", "aB3dE5fG7hJ9kL1mN", "me:s3cr3t", "%3D"]
PIECES = st.one_of(
    st.sampled_from([*WORDS, *(word.upper() for word in WORDS)]),
    st.sampled_from(SIGNS),
    st.sampled_from(VALUES),
    st.sampled_from([*ALL, *ORDINARY]),
    st.sampled_from(["to\u212aen", "\u017fecret", "cred\u0131ential", "密码", "口令"]),
    st.text(max_size=6),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


def searched(text: str, *, cut: bool) -> tuple[Secret, ...]:
    """The secrets of a text with nothing ruled out."""
    every_word = list(masking._BY_WORD)
    with (
        patch.object(masking, "_words_in", lambda low: every_word),
        patch.object(masking, "_may_go_on", lambda text, words: True),
    ):
        return find_secrets(text, cut=cut)


@given(TEXTS, st.booleans())
@example("use http://me:s3cr3t", True)
@example("sk-9f8a7b to\u212aen: 'abc", True)
@example("mysql to\u212aen: 'abc", True)
@example("令牌 u4ee4\\u724c=9f8a7b6c5d4e3f2a1b0c", False)
def test_a_text_shows_the_same_secrets(text: str, cut: bool) -> None:
    assert find_secrets(text, cut=cut) == searched(text, cut=cut)


@given(st.sampled_from([*ALL, *ORDINARY]), st.integers(0, 300))
def test_a_cut_text_shows_the_same_secrets(text: str, end: int) -> None:
    assert find_secrets(text[:end], cut=True) == searched(text[:end], cut=True)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_in_no_other_text_is_found_in_one_that_may_hold_its_secret(word: str) -> None:
    for text in ALL:
        low = ascii_lower(text)
        needed = masking._NEEDED.get(word, "")
        assert (word in masking._words_in(low)) == (word in low and needed in low)


def test_the_samples_show_the_same_secrets() -> None:
    files = [path for path in SAMPLES.parent.rglob("*.jsonl") if path.stat().st_size < 300_000]
    assert len(files) > 10
    for path in files:
        for line in path.read_text("utf-8", "replace").splitlines()[:20]:
            for text, cut in ((line, False), (line[:400], True), (line[:90], True)):
                assert find_secrets(text, cut=cut) == searched(text, cut=cut)
