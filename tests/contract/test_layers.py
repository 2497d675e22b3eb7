"""Dependencies point one way: the contracts of pyproject.toml hold, and would be seen broken."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]
CONTRACTS = {contract["name"]: contract for contract in CONFIG["contracts"]}
LAYERED = "tracer is layered"
COPIED = "the trace writer can be copied: it needs nothing of tracer"
PURE = "the pure core does no I/O and knows no clock"
LINT = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the packages in a folder."""
    return subprocess.run(
        [sys.executable, "-c", LINT], cwd=folder, capture_output=True, text=True, check=False
    )


def kept(output: str) -> dict[str, bool]:
    """Which contracts were kept, by name."""
    lines = re.findall(r"^(.+) (KEPT|BROKEN)$", output, re.MULTILINE)
    return {name: word == "KEPT" for name, word in lines}


def test_all_contracts_are_kept() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert kept(done.stdout) == dict.fromkeys(CONTRACTS, True)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages that may be broken."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in CONFIG["root_packages"]:
        for source in (ROOT / package).rglob("*.py"):
            target = folder / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return folder


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("tracer/formats/base.py", "import tracer.assemble.windows", LAYERED),
        ("tracer/anatomy/parts.py", "from tracer.formats import base", LAYERED),
        ("tracer/store/writer.py", "def late():\n    import tracer.ingest.lines", LAYERED),
        ("tracer/service/paths.py", "import jinja2", "tracer knows nothing of the web"),
        ("tracer/hashing.py", "import pathlib", PURE),
        ("tracer/assemble/usage.py", "def late():\n    from time import time", PURE),
        ("web/layout/lanes/turn.py", "from tracer.service import paths", PURE),
        ("tracer/emit.py", "from tracer.formats import base", COPIED),
        ("web/app.py", "import tracer.store.reading", "the web goes through tracer.service"),
    ],
)
def test_a_forbidden_import_is_seen(copy: Path, module: str, line: str, broken: str) -> None:
    path = copy / module
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n\n{line}\n", encoding="utf-8")
    try:
        done = lint(copy)
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert not kept(done.stdout)[broken], done.stdout


def test_every_module_of_tracer_has_a_layer() -> None:
    layers = [name for layer in CONTRACTS[LAYERED]["layers"] for name in layer.split(" | ")]
    modules = {
        f"tracer.{path.stem}"
        for path in (ROOT / "tracer").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(layers) == modules - {"tracer.__init__"}


def test_what_is_below_the_store_is_pure() -> None:
    layers = CONTRACTS[LAYERED]["layers"]
    below = layers[layers.index("tracer.store | tracer.tokens_bpe") + 1 :]
    names = {name for layer in below for name in layer.split(" | ")}
    assert names - {"tracer.errors", "tracer.emit"} <= set(CONTRACTS[PURE]["source_modules"])
