"""Every command explains itself, and docs/cli.md says the same."""

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.integration.test_cli_fakes import FakeService
from tracer import service
from tracer.cli import docs, group, main
from tracer.cli.commands import _skeleton
from tracer.cli.exits import MEANINGS, ExitCode, exit_code_of
from tracer.errors import TracerError

COMMANDS = dict(docs.documented_commands())


def test_the_commands_of_this_version_are_found() -> None:
    expected = {"ingest", "sessions", "requests", "presence", "show", "diff", "sources", "doctor"}
    expected |= {"explain", "misses"}
    assert expected <= set(group.builtin_names())
    assert "-skeleton" not in group.builtin_names()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_for_itself_and_all_its_options(name: str) -> None:
    command = COMMANDS[name]
    assert command.name == name
    assert command.help and command.get_short_help_str(80).rstrip(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("name", group.builtin_names())
def test_help_is_printed(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == ExitCode.FINE
    assert f"tracer {name}" in result.output.replace("main", "tracer")


@pytest.mark.parametrize("name", group.builtin_names())
def test_reading_commands_have_json_and_a_database(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {"--json", "--db"} <= options


def test_the_page_is_current() -> None:
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page(), (
        "run `python -m tracer.cli.docs --write`"
    )


def test_the_page_names_all_commands_and_exit_codes() -> None:
    page = docs.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## tracer (.+)$", page, re.M) == sorted(COMMANDS)
    assert set(MEANINGS) == set(ExitCode)
    for code in ExitCode:
        assert f"\n| {code:d} | " in page


def test_codes_that_scripts_rely_on() -> None:
    assert [ExitCode.FINE, ExitCode.FINDINGS, ExitCode.USAGE, ExitCode.INPUT] == [0, 1, 2, 3]


def all_errors(kind: type[TracerError] = TracerError) -> Iterator[type[TracerError]]:
    """The whole tree of `tracer.errors`."""
    yield kind
    for below in kind.__subclasses__():
        yield from all_errors(below)


@pytest.mark.parametrize("kind", list(all_errors()))
def test_every_error_for_users_has_an_exit_code(kind: type[TracerError]) -> None:
    codes = {"UsageError": 2, "NotFoundError": 2}
    assert exit_code_of(kind("x")) == codes.get(kind.__name__, 3)


def test_the_skeleton_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    database.touch()
    monkeypatch.setattr(service, "Service", FakeService)
    result = CliRunner().invoke(_skeleton.command, ["demo", "--db", str(database), "--json"])
    assert result.output == '{\n  "schema": 1,\n  "count": 1\n}\n'
    result = CliRunner().invoke(_skeleton.command, ["demo", "--db", str(database)])
    assert result.output == "text  sessions\ndemo         1\n"


def points(*values: str) -> dict[str, EntryPoint]:
    """Entry points named p0, p1, ... with these values."""
    return {
        f"p{i}": EntryPoint(f"p{i}", value, group.ENTRY_POINT_GROUP)
        for i, value in enumerate(values)
    }


def test_a_command_of_another_package_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "plugins", lambda: points("tracer.cli.commands._skeleton:command"))
    assert "p0" in CliRunner().invoke(main, ["--help"]).output
    assert "Count the sessions" in CliRunner().invoke(main, ["p0", "--help"]).output


@pytest.mark.parametrize(
    "value", ["no_such_package.command:serve", "tracer.cli.text:number", "tracer.cli.text:nothing"]
)
def test_a_command_that_cannot_be_loaded_says_so_and_hurts_no_other(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setattr(group, "plugins", lambda: points(value))
    overview = CliRunner().invoke(main, ["--help"])
    assert overview.exit_code == ExitCode.FINE
    assert "Not available" in overview.output and "sessions" in overview.output
    result = CliRunner().invoke(main, ["p0", "--port", "80", "x"])
    assert result.exit_code == ExitCode.USAGE
    assert result.stderr.startswith("Error: `p0` is not available:")
    assert "Not available" in overview.output and result.stderr.count("\n") == 1


def test_nothing_is_loaded_that_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> click.Command:
        loaded.append(name)
        return COMMANDS[name]

    monkeypatch.setattr(group, "load_builtin", load)
    monkeypatch.setattr(group, "load_plugin", lambda point: pytest.fail("loaded a plug-in"))
    CliRunner().invoke(main, ["sessions", "--help"])
    assert set(loaded) == {"sessions"}


def test_an_unknown_command_is_wrong_use() -> None:
    result = CliRunner().invoke(main, ["no-such-command"])
    assert result.exit_code == ExitCode.USAGE
    assert "no-such-command" in result.stderr
