"""The README's terminal session is real: its commands are run and their output compared.

`python -m tests.contract.test_readme --write` puts the current output into README.md.
"""

import re
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner

from tracer.cli import main
from tracer.service import ingest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- real output;[^\n]*-->\n```console\n)(.*?)(\n```)", re.DOTALL)


def session_of(commands: list[str], db: Path) -> str:
    """The commands with their output, as a terminal of 150 columns shows them."""
    shown = []
    for command in commands:
        result = CliRunner().invoke(
            main, command.split()[1:], env={"TRACER_DB": str(db), "COLUMNS": "150"}
        )
        assert result.exit_code == 0, f"{command}: {result.output}"
        shown.append(f"$ {command}\n{result.output.rstrip()}")
    return "\n\n".join(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE) for text in shown)


def current_session(folder: Path) -> tuple[str, str]:
    """What the README shows, and what it should show."""
    found = _BLOCK.search(README.read_text(encoding="utf-8"))
    assert found is not None, "the README has no terminal session"
    commands = re.findall(r"^\$ (tracer .*)$", found[2], re.MULTILINE)
    assert commands, "the README's terminal session has no command"
    db = folder / "readme.db"
    ingest(db, [str(ROOT / "sample-logs")])
    return found[2], session_of(commands, db)


def test_the_terminal_session_is_real(tmp_path: Path) -> None:
    shown, real = current_session(tmp_path)
    assert shown == real, "run `python -m tests.contract.test_readme --write`"


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


if __name__ == "__main__" and "--write" in sys.argv:
    with tempfile.TemporaryDirectory() as temporary:
        _, wanted = current_session(Path(temporary))
    text = README.read_text(encoding="utf-8")
    README.write_text(_BLOCK.sub(lambda m: m[1] + wanted + m[3], text), encoding="utf-8")
