"""Masks are as long as what they hide, whatever the text; ordinary texts have none."""

import base64
import uuid

from hypothesis import given
from hypothesis import strategies as st

from tests.planted import MORE, ORDINARY, SECRETS, parts_of
from tracer.masking import MASK, find_secrets, mask, mask_piece

WORDS = st.sampled_from(
    """the a token tokens secret key keys password of for is was in request session cache prompt
    authorization bearer basic header cookie api value = : == -> ( ) { } [ ] , . ; " ' ` \\n 42 7
    def return self token_count max_tokens password_hash get_secret() tokens[0] api_key_name
    这是 密码 令牌 中文""".split()  # noqa: SIM905
)
PROSE = st.lists(WORDS, max_size=40).map(" ".join)
ALL = SECRETS | MORE
PIECES = st.one_of(
    PROSE,
    st.sampled_from([p.text for p in ALL.values()]),
    st.sampled_from(ORDINARY),
    st.text(max_size=20),
)
TEXTS = st.lists(PIECES, max_size=6).map("\n".join)


@given(TEXTS, st.booleans())
def test_length_lines_and_the_rest_stay(text: str, cut: bool) -> None:
    masked = mask(text, cut=cut)
    assert len(masked) == len(text)
    hidden = {i for s in find_secrets(text, cut=cut) for i in range(s.start, s.end)}
    for i, (old, new) in enumerate(zip(text, masked, strict=True)):
        assert new == (MASK if i in hidden and old not in "\r\n" else old)


@given(TEXTS)
def test_masking_again_finds_nothing_more(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@given(PROSE, st.sampled_from(sorted(ALL)), PROSE)
def test_a_secret_between_ordinary_words_is_hidden(before: str, name: str, after: str) -> None:
    planted = ALL[name]
    masked = mask(f"{before}\n{planted.text}\n{after}")
    assert not any(part in masked for part in parts_of(planted.secret))


@given(PROSE, st.sampled_from(sorted(ALL)), PROSE, st.integers(0, 400), st.integers(1, 200))
def test_a_piece_shows_what_the_whole_shows(
    before: str, name: str, after: str, start: int, size: int
) -> None:
    text = f"{before}\n{ALL[name].text}\n{after}"
    assert mask_piece(text, start, start + size) == mask(text)[start : start + size]


@given(PROSE)
def test_ordinary_words_have_no_secrets(text: str) -> None:
    assert find_secrets(text) == ()


@given(st.binary(min_size=1, max_size=64), st.sampled_from(["", "sha256:", "commit ", "id=", "/"]))
def test_digests_ids_and_base64_are_no_secrets(data: bytes, before: str) -> None:
    for text in (
        data.hex(),
        base64.b64encode(data * 8).decode(),
        str(uuid.UUID(bytes=(data * 16)[:16])),
    ):
        assert mask(before + text) == before + text
