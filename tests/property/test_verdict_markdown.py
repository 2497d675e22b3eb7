"""A verdict as Markdown: nothing of a prompt is read as Markdown."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.service.verdict_markdown import block, code, plain

TEXTS = st.text(alphabet="`*_[]()<>#|~! \\\n\nab你", max_size=60)


@given(TEXTS)
def test_a_fence_is_longer_than_any_in_the_text(text: str) -> None:
    lines = block(text)
    fence = lines[0]
    assert lines[-1] == fence
    assert all(not line.strip().startswith(fence) for line in lines[1:-1])


@given(TEXTS)
def test_a_code_span_ends_where_it_should(text: str) -> None:
    span = code(text)
    fence = span[: len(span) - len(span.lstrip("`"))]
    inside = span[len(fence) : -len(fence)]
    assert fence not in inside
    assert "\n" not in span


@given(TEXTS)
def test_plain_text_has_no_unescaped_marks(text: str) -> None:
    made = plain(text)
    for at, char in enumerate(made):
        if char in "`*_[]<>#|~!":
            before = made[:at]
            assert (len(before) - len(before.rstrip("\\"))) % 2 == 1
