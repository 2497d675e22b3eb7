"""Compiled templates, kept as Python keeps its modules: in `__pycache__` beside their sources.

Compiling all of them takes half a second, which the first pages of every process would wait for;
reading them takes a few hundredths of one. Where that folder cannot be written, or Python is told
to leave no bytecode, each process compiles for itself.
"""

import marshal
import os
import sys
from contextlib import suppress
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

_SUFFIX = ".jinja"
_CHECKSUM_CHARS = 64


class CompiledTemplates(BytecodeCache):
    """The compiled templates of one version of Python and of Jinja; a template that was changed is
    compiled anew. Filters may change: none is used while compiling."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file of a template; empty for one that is in no file."""
        return str(Path(cache_from_source(filename)).with_suffix(_SUFFIX)) if filename else ""

    def get_source_checksum(self, source: str) -> str:
        """A hash over all that the compiled template is made of."""
        made_of = (jinja2.__version__.encode(), MAGIC_NUMBER, source.encode("utf-8"))
        return sha256(b"\0".join(made_of)).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what was kept, if it was made of the same."""
        with suppress(OSError, EOFError, ValueError, TypeError):
            stored = Path(bucket.key).read_bytes()
            if stored[:_CHECKSUM_CHARS] == bucket.checksum.encode():
                bucket.code = marshal.loads(stored[_CHECKSUM_CHARS:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template for the next process, in one step; where that cannot be, nothing is."""
        if sys.dont_write_bytecode or not bucket.key:
            return
        path = Path(bucket.key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            made = path.with_suffix(f".{os.getpid()}")
            made.write_bytes(bucket.checksum.encode() + marshal.dumps(bucket.code))
            made.replace(path)


def compile_all(environment: Environment) -> None:
    """Have every template ready, so that no page waits for it."""
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)
