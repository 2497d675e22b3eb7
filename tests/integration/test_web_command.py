"""`tracer serve`: what it listens on and what it follows."""

from pathlib import Path

import pytest
import sqlite_utils
from click.testing import CliRunner
from starlette.testclient import TestClient

from tracer.errors import UsageError
from tracer.service import Service
from tracer.store.migrations import migrations
from web.app import create_app
from web.command import address, hosts_of, is_loopback, listen, prepare, serve
from web.security import ANY_ADDRESS


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.9.1", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.7", False), ("dev.box", False)],
)  # fmt: skip
def test_what_only_this_machine_reaches(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_a_server_answers_under_the_name_it_listens_on() -> None:
    assert hosts_of("127.0.0.1") == ()
    assert ANY_ADDRESS in hosts_of("0.0.0.0")
    assert hosts_of("10.0.0.7") == ("10.0.0.7",)
    assert hosts_of("fe80::7") == ("[fe80::7]",)


def test_the_address_can_be_opened() -> None:
    assert address("127.0.0.1", 8321, None) == "http://127.0.0.1:8321/"
    assert address("0.0.0.0", 80, "t") == "http://127.0.0.1:80/?token=t"
    assert address("::1", 80, None) == "http://[::1]:80/"


def test_a_taken_port_is_said_with_a_way_out() -> None:
    with listen("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(UsageError, match="Choose another port"):
            listen("127.0.0.1", first.getsockname()[1])


def test_named_files_are_followed_and_a_named_database_is_only_shown(tmp_path: Path) -> None:
    there = tmp_path / "x.db"
    there.touch()
    followed = prepare(there, ("sample-logs",), None, follow=True)
    assert followed is not None and followed.state.what == "sample-logs"
    assert not followed.state.following
    assert prepare(there, (), None, follow=True) is None
    assert prepare(there, (), None, follow=False) is None
    missing = prepare(tmp_path / "new.db", (), None, follow=True)
    assert missing is not None and missing.state.what == "the default locations"


@pytest.mark.parametrize("follow", [True, False])
def test_an_older_database_is_brought_up_to_date_before_a_page_is_asked_for(
    tmp_path: Path, follow: bool
) -> None:
    older = tmp_path / "x.db"
    database = sqlite_utils.Database(older)
    migrations.apply(database, stop_before="m003_verdicts")
    database.close()
    prepare(older, (), None, follow=follow)
    app = create_app(Service(older))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for address in ("/", "/misses", "/checks", "/sources", "/search?q=x"):
            assert client.get(address).status_code == 200, address


def test_pages_answer_before_the_first_file_is_read(tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    assert prepare(new, ("sample-logs",), None, follow=True) is not None
    with TestClient(create_app(Service(new)), base_url="http://127.0.0.1") as client:
        assert client.get("/").status_code == 200


def test_an_address_with_an_odd_token_can_be_opened() -> None:
    assert address("0.0.0.0", 80, "a b&c") == "http://127.0.0.1:80/?token=a%20b%26c"


@pytest.mark.parametrize("token", ["", "  "])
def test_an_empty_token_opens_no_door(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(host: str, port: int) -> None:
        raise AssertionError("it listens")

    monkeypatch.setattr("web.command.listen", refuse)
    result = CliRunner().invoke(serve, ["--host", "0.0.0.0", "--token", token])
    assert isinstance(result.exception, UsageError)
    assert "--token is empty" in str(result.exception)
