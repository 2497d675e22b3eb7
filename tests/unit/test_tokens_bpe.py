"""Exact counts: known values, no network, no surprises in the environment, no panic."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken.registry

from tracer.tokens import DEFAULT_ENCODING, TokenCount
from tracer.tokens_bpe import (
    RANK_FILES,
    RANKS_DIR,
    BpeCounter,
    RanksError,
    count_tokens,
    load_encoder,
    safe_slices,
    verify_ranks,
)

RANKS = RANK_FILES["o200k_base"]


class PanicException(BaseException):
    """Stands for pyo3_runtime.PanicException."""


class FakeEncoder:
    """Counts a token a character and panics on texts longer than `longest`."""

    def __init__(self, longest: int, error: BaseException) -> None:
        self.longest = longest
        self.error = error

    def encode_ordinary(self, text: str) -> list[int]:
        if len(text) > self.longest:
            raise self.error
        return [0] * len(text)


@pytest.fixture(scope="module")
def counter() -> BpeCounter:
    counter = BpeCounter()
    counter.load()
    return counter


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make tiktoken forget what it has loaded, and any use of the network an error."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


# The first four are the o200k_base examples printed in OpenAI's cookbook, "How to count tokens with
# tiktoken", the next is its most quoted pair of ids: 24912 and 2375.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("\u304a\u8a95\u751f\u65e5\u304a\u3081\u3067\u3068\u3046", 8),
        ("tiktoken is great!", 6),
        ("hello world", 2),
        ("", 0),
    ],
)
def test_published_counts(counter: BpeCounter, text: str, tokens: int) -> None:
    assert counter.count(text) == TokenCount(tokens, exact=True)


def test_special_tokens_are_ordinary_text(counter: BpeCounter) -> None:
    # As a special token it would be one; as text it is at least `<|`, a word and `|>`.
    assert counter.count("<|endoftext|>").tokens > 3
    assert counter.count("a<|endoftext|>b").exact


def test_lone_surrogates_count_as_the_replacement_character(counter: BpeCounter) -> None:
    assert counter.count("a\ud800b") == counter.count("a\ufffdb")
    assert counter.count("\ud83d\ude00") == counter.count("\U0001f600")


@pytest.mark.parametrize("blank", [" ", "\t", "\xa0", "\u3000"])
def test_a_million_blanks_are_counted_and_marked_inexact(
    counter: BpeCounter, capfd: pytest.CaptureFixture[str], blank: str
) -> None:
    counted = counter.count("a" + blank * 1_000_000 + "b")
    assert not counted.exact
    assert 2 < counted.tokens <= 2_000_002
    assert capfd.readouterr().err == ""


def test_a_long_text_is_counted_exactly_in_slices(counter: BpeCounter) -> None:
    line = '{"path": "src/\u4e2d\u6587.py", "text": "it\'s 1,234 lines\\n"}\n'
    text = line * 40_000  # over 2,000,000 characters
    whole = len(counter.load().encode_ordinary(text))
    assert len(list(safe_slices(text))) > 1
    assert counter.count(text) == TokenCount(whole, exact=True)


def test_a_text_with_no_place_to_cut_is_cut_and_marked_inexact() -> None:
    assert list(safe_slices("=" * 25, aim=5, longest=10)) == [
        ("=" * 10, False),
        ("=" * 10, False),
        ("=" * 5, True),
    ]


def test_a_whitespace_run_is_cut_only_when_too_long() -> None:
    assert list(safe_slices("a    b", whitespace_run=4)) == [("a    b", True)]
    assert list(safe_slices("a     b", whitespace_run=4)) == [("a    ", False), (" b", True)]


def test_count_many_keeps_the_order(counter: BpeCounter) -> None:
    texts = [f"line {number} " * number for number in range(300)]
    assert sum(map(len, texts)) > 100_000  # enough for threads
    assert BpeCounter(threads=3).count_many(texts) == [counter.count(text) for text in texts]
    assert counter.count_many([]) == []


def test_a_panic_becomes_an_inexact_count() -> None:
    encoder = FakeEncoder(150_000, PanicException())
    assert count_tokens(encoder, "a" * 250_000) == TokenCount(250_000, exact=False)


def test_a_panic_that_comes_again_becomes_the_estimate() -> None:
    assert count_tokens(FakeEncoder(2, PanicException()), "abcd") == TokenCount(2, exact=False)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("x")])
def test_other_errors_pass_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        count_tokens(FakeEncoder(2, error), "abcd")


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("before", [None, "/nowhere"])
def test_loads_without_network_and_leaves_the_environment(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    else:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
    environment = dict(os.environ)
    assert BpeCounter().count("hello world") == TokenCount(2, exact=True)
    assert dict(os.environ) == environment


def test_the_environment_is_restored_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        assert os.environ["TIKTOKEN_CACHE_DIR"] == str(RANKS_DIR)
        raise OSError(name)

    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    with pytest.raises(OSError, match="o200k_base"):
        load_encoder("o200k_base")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


@pytest.mark.usefixtures("unloaded")
def test_damaged_ranks_are_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / RANKS.name
    shutil.copyfile(RANKS_DIR / RANKS.name, path)
    verify_ranks("o200k_base", tmp_path)
    damaged = path.read_bytes()[:-1]
    path.write_bytes(damaged)
    with pytest.raises(RanksError) as caught:
        BpeCounter(ranks_dir=tmp_path).count("a")
    for part in (str(path), RANKS.sha256, "found ", "README.md"):
        assert part in str(caught.value)
    assert path.read_bytes() == damaged


@pytest.mark.usefixtures("unloaded")
def test_missing_ranks_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(RanksError, match="cannot read"):
        BpeCounter(ranks_dir=tmp_path).load()
    assert list(tmp_path.iterdir()) == []


def test_an_encoding_that_does_not_ship_is_an_error() -> None:
    with pytest.raises(RanksError, match="'cl100k_base'; there are: o200k_base"):
        BpeCounter("cl100k_base").load()


def test_every_vendored_encoding_has_its_file() -> None:
    assert DEFAULT_ENCODING in RANK_FILES
    for name in RANK_FILES:
        verify_ranks(name)


def test_importing_and_making_a_counter_does_not_import_tiktoken() -> None:
    code = (
        "import sys; from tracer.tokens_bpe import BpeCounter; BpeCounter(); "
        "sys.exit('tiktoken' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
