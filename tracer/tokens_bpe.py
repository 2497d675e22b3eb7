"""Exact token counts with a byte-pair encoding, offline: the only module that imports tiktoken.

tiktoken downloads its rank data on first use, and deletes a cached file whose checksum is wrong
before it downloads a new one. Neither may happen here: the ranks ship in `tracer/_ranks`, and their
checksum is verified before tiktoken sees them.

tiktoken also panics (Rust's word, and a `BaseException` in Python) on a run of about 1,000,000
whitespace characters. So long texts are counted in slices:

* cut where a token of the encoding cannot span, which leaves the count exact and the memory bounded
  (`safe_slices`),
* and inside whitespace runs longer than 500,000 characters, which does not (a few tokens off).

Counting costs about 0.1 s per MB and the first count about 0.35 s more, for the ranks. Importing
this module and making a counter cost nothing.
"""

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol

from tracer.tokens import DEFAULT_ENCODING, TokenCount, clean_surrogates, estimate_tokens

RANKS_DIR = Path(__file__).with_name("_ranks")

_SLICE_CHARS = 1_000_000
_LONGEST_SLICE_CHARS = 8_000_000  # where nothing can be cut safely; about 8 s at worst, no panic
_WHITESPACE_RUN_CHARS = 500_000
_AFTER_PANIC_CHARS = 100_000
_WORTH_A_THREAD_CHARS = 100_000

# Between two characters matched here no token of o200k_base (or cl100k_base) can span. Before
# merging bytes, these encodings split the text by a pattern in which a piece with a letter or digit
# goes on with letters, marks, digits or an apostrophe only, and never mixes letters and digits.
# The letters are listed, since Python and tiktoken may know different versions of Unicode: Latin,
# Greek, Cyrillic, Hebrew, Arabic, kana, Chinese, Korean.
_LETTERS = (
    r"A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u01ff\u03b1-\u03c9\u0400-\u0481\u05d0-\u05ea"
    r"\u0621-\u063a\u0641-\u064a\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
)
_SAFE_CUT = re.compile(
    rf"[{_LETTERS}0-9](?=[\x00-&(-/:-@\[-`{{-\x7f\u3001\u3002\uff0c])"
    r"|[0-9](?=[A-Za-z])"
    r"|[A-Za-z](?=[0-9])"
)

_environment_lock = threading.Lock()


class RanksError(RuntimeError):
    """The rank data of an encoding is missing, unreadable or not what it should be."""


class RankFile(NamedTuple):
    """A vendored rank file: its name (the SHA-1 of its public URL) and its checksum."""

    name: str
    sha256: str


RANK_FILES = {
    "o200k_base": RankFile(
        name="fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


class Encoder(Protocol):
    """The one method of `tiktoken.Encoding` that is used here."""

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the token ids of `text`, special tokens read as ordinary text."""
        ...


class BpeCounter:
    """Counts tokens with a vendored encoding. Safe to share between threads."""

    def __init__(
        self,
        name: str = DEFAULT_ENCODING,
        *,
        ranks_dir: Path = RANKS_DIR,
        threads: int | None = None,
    ) -> None:
        """Make a counter; the ranks are loaded by the first count, or by `load`.

        Args:
            name: The encoding's name.
            ranks_dir: The folder that holds the rank file.
            threads: How many texts `count_many` counts at a time; the cores, up to 4, by default.
        """
        self.name = name
        self._ranks_dir = ranks_dir
        self._threads = threads or min(os.cpu_count() or 1, 4)
        self._encoder: Encoder | None = None

    def load(self) -> Encoder:
        """Return the encoder, loading it if this is the first time.

        Raises:
            RanksError: If the encoding is not vendored or its file is missing or damaged.
        """
        if self._encoder is None:
            self._encoder = load_encoder(self.name, self._ranks_dir)
        return self._encoder

    def count(self, text: str) -> TokenCount:
        """Return the tokens of `text`, special tokens such as `<|endoftext|>` read as plain text.

        Lone surrogates are counted as U+FFFD. The count is inexact where whitespace runs longer
        than 500,000 characters, or more than 8,000,000 characters without a place to cut, had to
        be cut.

        Raises:
            RanksError: If the ranks cannot be loaded.
        """
        return count_tokens(self.load(), text)

    def count_many(self, texts: Sequence[str]) -> list[TokenCount]:
        """Return the tokens of each text, in the order given, counted on several cores.

        Raises:
            RanksError: If the ranks cannot be loaded.
        """
        encoder = self.load()

        def count_share(first: int, step: int) -> list[TokenCount]:
            return [count_tokens(encoder, text) for text in texts[first::step]]

        workers = min(self._threads, len(texts))
        if workers < 2 or sum(map(len, texts)) < _WORTH_A_THREAD_CHARS:
            return count_share(0, 1)
        counts = [TokenCount(0, exact=True)] * len(texts)
        with ThreadPoolExecutor(workers) as pool:
            shares = pool.map(count_share, range(workers), [workers] * workers)
            for first, share in enumerate(shares):
                counts[first::workers] = share
        return counts


def load_encoder(name: str, ranks_dir: Path = RANKS_DIR) -> Encoder:
    """Return tiktoken's encoder, from the vendored ranks and without a network.

    `TIKTOKEN_CACHE_DIR` is set for the length of tiktoken's call only, and restored.

    Raises:
        RanksError: If the encoding is not vendored or its file is missing or damaged. The file is
            left as it is.
    """
    verify_ranks(name, ranks_dir)
    import tiktoken  # here, so that a command that counts nothing does not pay for it

    with _environment_lock:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(ranks_dir)
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


def verify_ranks(name: str, ranks_dir: Path = RANKS_DIR) -> None:
    """Return if the rank file of an encoding is there and is the published one.

    Raises:
        RanksError: If not; the message names the file, both checksums and the way out.
    """
    file = RANK_FILES.get(name)
    if file is None:
        raise RanksError(f"no ranks for the encoding {name!r}; there are: {', '.join(RANK_FILES)}")
    path = ranks_dir / file.name
    repair = (
        "Nothing was changed or downloaded. Install context-tracer again, "
        "or make the file anew as tracer/_ranks/README.md says."
    )
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RanksError(f"cannot read the ranks of {name}, {path}: {reason}. {repair}") from error
    if found != file.sha256:
        raise RanksError(
            f"the ranks of {name}, {path}, are damaged: "
            f"expected sha256 {file.sha256}, found {found}. {repair}"
        )


def count_tokens(encoder: Encoder, text: str) -> TokenCount:
    """Return the tokens of `text`, cutting long texts so that memory stays small and Rust calm."""
    if len(text) <= _WHITESPACE_RUN_CHARS:
        return _count_part(encoder, text)
    tokens, exact = 0, True
    for part, cut_safely in safe_slices(clean_surrogates(text)):
        counted = _count_part(encoder, part)
        tokens += counted.tokens
        exact = exact and cut_safely and counted.exact
    return TokenCount(tokens, exact)


def safe_slices(
    text: str,
    *,
    aim: int = _SLICE_CHARS,
    longest: int = _LONGEST_SLICE_CHARS,
    whitespace_run: int = _WHITESPACE_RUN_CHARS,
) -> Iterator[tuple[str, bool]]:
    """Yield the slices of `text` in order, each with whether the cut behind it keeps counts exact.

    Args:
        text: The text; the slices add up to it.
        aim: Slices are cut at the first safe place from this many characters on.
        longest: Slices are cut here if there was no safe place before.
        whitespace_run: No slice holds a whitespace run longer than this.
    """
    start = 0
    while start < len(text):
        end, cut_safely = _next_cut(text, start, aim, longest)
        part = text[start:end]
        inner = 0
        for cut in _whitespace_cuts(part, whitespace_run):
            yield part[inner:cut], False
            inner = cut
        yield part[inner:], cut_safely
        start = end


def _next_cut(text: str, start: int, aim: int, longest: int) -> tuple[int, bool]:
    """Return where the slice from `start` ends, and whether no token can span that place."""
    if len(text) - start <= aim:
        return len(text), True
    match = _SAFE_CUT.search(text, start + aim - 1, start + longest)
    if match:
        return match.end(), True
    end = min(start + longest, len(text))
    return end, end == len(text)


def _whitespace_cuts(text: str, longest: int) -> list[int]:
    """Return where to cut `text` so that no whitespace run is longer than `longest` characters.

    A run that long covers a multiple of `longest`, so only those places are looked at.
    """
    cuts: list[int] = []
    end = 0
    for probe in range(0, len(text), longest):
        if probe < end or not text[probe].isspace():
            continue
        start = len(text[:probe].rstrip())
        end = len(text) - len(text[probe:].lstrip())
        cuts.extend(range(start + longest, end, longest))
    return cuts


def _count_part(encoder: Encoder, text: str) -> TokenCount:
    """Return the tokens of a text that should not panic; if it does, an inexact count.

    After a panic the text is counted in short slices, and a slice that still panics by the agents'
    estimate.
    """
    try:
        return TokenCount(len(encoder.encode_ordinary(text)), exact=True)
    except BaseException as error:
        # pyo3_runtime.PanicException cannot be imported, and is no Exception.
        if type(error).__name__ != "PanicException":
            raise
    if len(text) <= _AFTER_PANIC_CHARS:
        return TokenCount(estimate_tokens(text), exact=False)
    starts = range(0, len(text), _AFTER_PANIC_CHARS)
    parts = (_count_part(encoder, text[start : start + _AFTER_PANIC_CHARS]) for start in starts)
    return TokenCount(sum(part.tokens for part in parts), exact=False)
