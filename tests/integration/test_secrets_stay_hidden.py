"""Nothing that leaves for people shows a secret: every page, every fragment, every command.

A home of an agent is filled with fake secrets, at the end of every text that is prose: prompts,
answers, tool calls and results, sections, headers, log lines, errors, titles, the tables of the
session database, folders of subagents, and lines that cannot be read. Then everything is asked for.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from itertools import cycle
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.homes import write_home
from tests.planted import SECRETS, parts_of
from tracer import service
from tracer.cli import main
from tracer.cli.docs import documented_commands
from tracer.cli.group import builtin_names
from tracer.service import Service
from web.app import create_app
from web.export_command import export

MOST_PAGES = 200
PARTS = [part for planted in SECRETS.values() for part in parts_of(planted.secret)]
NOT_READING = {"ingest", "doctor"}
LINK = re.compile(r'(?:href|hx-get|src)="(/[^"#]*)')


class Planter:
    """Adds secrets to texts, each in its turn."""

    def __init__(self) -> None:
        self._next = cycle(SECRETS.values())

    def prose(self, text: str) -> str:
        """The text, with a secret behind it if it is prose; ids and words stay as they are."""
        if " " not in text.strip() or text.lstrip()[:1] in "{[":
            return text
        return f"{text}\n{next(self._next).text}\n"

    def value(self, value: Any) -> Any:
        """The same for every text in a JSON value."""
        if isinstance(value, str):
            return self.json(value) if value[:1] in "{[" else self.prose(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            made = {key: self.value(item) for key, item in value.items()}
            if isinstance(made.get("headers"), dict):
                made["headers"] |= {
                    "authorization": "Bearer t0k_8Zq4Lm9XtWb2Kv",
                    "x-api-key": SECRETS["anthropic"].text,
                }
            return made
        return value

    def json(self, text: str) -> str:
        """A text that may be JSON."""
        try:
            return json.dumps(self.value(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return self.prose(text)


def plant(root: Path) -> None:
    """Fill every file of a home."""
    planter = Planter()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        if path.suffix in (".jsonl", ".json", ".log"):
            lines = path.read_text("utf-8").split("\n")
            whole = path.suffix == ".json"
            made = [planter.json("\n".join(lines))] if whole else [planter.json(x) for x in lines]
            if not whole:
                made.insert(1, f'{{"broken": "{SECRETS["openai"].text}", ')
            path.write_text("\n".join(made), "utf-8")
        elif path.suffix in (".sqlite", ".db"):
            plant_database(path, planter)


def plant_database(path: Path, planter: Planter) -> None:
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        for table in tables:
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for row in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():
                for name, value in zip(names, row[1:], strict=True):
                    if isinstance(value, str) and (made := planter.json(value)) != value:
                        connection.execute(
                            f'UPDATE {table} SET "{name}" = ? WHERE rowid = ?', (made, row[0])
                        )
        connection.commit()


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    write_home(folder / "home")
    plant(folder / "home")
    service.ingest(folder / "tracer.db", [str(folder / "home")], count_tokens=False)
    return folder / "tracer.db"


def seen(text: str) -> set[str]:
    """The secrets in an output, written in any of the ways in which outputs write them."""
    plain = unescape(text)
    return {part for part in PARTS if part in plain or part in plain.replace("\\/", "/")}


def crawl(client: TestClient, start: str) -> Iterator[tuple[str, str]]:
    """Pages and fragments that can be reached from one, with their addresses; a few of a kind
    before many of one."""
    queue, known = [start], {start}
    counts: dict[str, int] = {}
    for _ in range(MOST_PAGES):
        if not queue:
            return
        queue.sort(key=lambda url: counts.get(shape(url), 0))
        url = queue.pop(0)
        counts[shape(url)] = counts.get(shape(url), 0) + 1
        answer = client.get(url)
        assert answer.status_code < 500, url
        yield url, answer.text
        for found in LINK.findall(answer.text):
            link = unescape(found)
            if link not in known and not link.startswith("/static/"):
                known.add(link)
                queue.append(link)


def shape(url: str) -> str:
    """What kind of page an address is: its path without ids, and which parameters it has."""
    path, _, query = url.partition("?")
    parts = [p if p.isalpha() else "*" for p in path.split("/")]
    return "/".join(parts) + "?" + ",".join(sorted(q.split("=")[0] for q in query.split("&")))


def test_the_home_is_full_of_secrets(db: Path) -> None:
    """Else the tests below would show nothing."""
    with closing(sqlite3.connect(db)) as connection:
        whole = "".join(
            json.dumps([x for x in row if isinstance(x, str)], ensure_ascii=False)
            for table in ("block_texts", "parts", "log_events", "requests", "skipped_lines")
            for row in connection.execute(f"SELECT * FROM {table}")
        )
    assert {part for part in PARTS if part in whole.replace("\\\\", "\\")} == set(PARTS)


@pytest.mark.parametrize("start", ["/", "/search?q=the"])
def test_no_page_and_no_fragment_shows_a_secret(db: Path, start: str) -> None:
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321") as client:
        shown = {url: found for url, html in crawl(client, start) if (found := seen(html))}
    assert shown == {}


def test_the_request_page_counts_what_is_masked(db: Path) -> None:
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321") as client:
        html = client.get(f"/requests/{some_keys(db)[0]}?raw=1").text
        assert re.search(r'id="masked"><b>\d+ secrets masked', html)
        assert "reveals" not in html


def some_keys(db: Path) -> list[str]:
    reading = Service(db)
    sessions = reading.sessions().sessions
    return [r.key for s in sessions for r in reading.requests(s.session_id) if r.message_count]


def calls(db: Path) -> Iterator[list[str]]:
    """Every reading command, over everything that it can be asked for."""
    sessions = [s.session_id for s in Service(db).sessions().sessions]
    keys = some_keys(db)
    asked = {
        "show": [[key, "--text"] for key in keys],
        "explain": [[key] for key in keys],
        "check": [[], *([key] for key in keys)],
        "diff": [[a, b] for a, b in zip(keys, keys[1:], strict=False)],
        "compare": [sessions[:2]],
        "search": [[word, "--limit", "500"] for word in ("e", "the", "key", "-")],
        "sources": [["--skipped"]],
    }
    commands = dict(documented_commands())
    for name in set(builtin_names()) - NOT_READING:
        needed = [p for p in commands[name].params if isinstance(p, click.Argument) and p.required]
        usual: list[list[str]] = [[session] for session in sessions] if needed else [[]]
        yield from ([name, *arguments] for arguments in asked.get(name, usual))


def run(db: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, [*arguments, "--db", str(db)])
    assert result.exit_code in (0, 1), (arguments, result.output)
    return result.output


def test_no_command_shows_a_secret(db: Path) -> None:
    ran = set()
    for arguments in calls(db):
        for more in ([], ["--json"]):
            assert seen(run(db, *arguments, *more)) == set(), arguments
        ran.add(arguments[0])
    assert ran == set(builtin_names()) - NOT_READING


def test_no_exported_file_shows_a_secret(db: Path, tmp_path: Path) -> None:
    sessions = [s.session_id for s in Service(db).sessions().sessions]
    keys = some_keys(db)
    for number, what in enumerate([*([s] for s in sessions), keys[:2]]):
        path = tmp_path / f"{number}.html"
        result = CliRunner().invoke(export, [*what, "--db", str(db), "--out", str(path)])
        assert result.exit_code == 0, result.output
        assert seen(path.read_text("utf-8") + result.output) == set()


def test_reading_again_shows_no_secret(db: Path) -> None:
    """`ingest` lists lines that it could not read; `doctor` names what it found."""
    home = db.parent / "home"
    for arguments in (["ingest", str(home)], ["ingest", str(home), "--json"]):
        assert seen(run(db.with_name("again.db"), *arguments)) == set()
    assert seen(run(db, "doctor", "--root", str(home))) == set()


def test_revealing_shows_them(db: Path) -> None:
    whole = "".join(
        run(db, *arguments, "--reveal-secrets")
        for arguments in calls(db)
        if arguments[0] in ("show", "sources", "search")
    )
    assert len(seen(whole)) > len(PARTS) // 2
    revealed = Service(db, reveal_secrets=True)
    with TestClient(create_app(revealed), base_url="http://127.0.0.1:8321") as client:
        html = client.get(f"/requests/{some_keys(db)[0]}?raw=1&block=1").text
        assert seen(html) and "Secrets are shown on these pages" in html
        assert 'id="masked"' not in html


@pytest.mark.parametrize("name", sorted(set(builtin_names()) - NOT_READING))
def test_every_reading_command_can_reveal(name: str) -> None:
    command = dict(documented_commands())[name]
    assert "--reveal-secrets" in {o for parameter in command.params for o in parameter.opts}


@pytest.mark.parametrize("name", SECRETS)
def test_a_search_cannot_spell_a_secret_out(db: Path, name: str) -> None:
    part = parts_of(SECRETS[name].secret)[0]
    for query in (part, part[:5], part[3:9]):
        assert f"{part}" not in run(db, "search", query, "--limit", "500")
    found = json.loads(run(db, "search", part, "--json"))
    assert found["hits"] == []
    revealed = json.loads(run(db, "search", part, "--json", "--reveal-secrets"))
    assert revealed["hits"]


def test_nothing_that_is_stored_is_changed(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        texts = [row[0] for row in connection.execute("SELECT text FROM block_texts")]
    assert not any("•••" in text for text in texts if text)
