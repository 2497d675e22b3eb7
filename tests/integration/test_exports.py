"""What leaves the product: files that open from disk, JSON of the pages, Markdown for reports."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from starlette.testclient import TestClient

from tests.cache_logs import CacheLog
from tests.contract.test_json_contract import PAGE, Page
from tests.helpers import system, user
from tests.planted import SECRETS
from tracer import service
from tracer.cli import main
from tracer.service import Service
from web.app import create_app

SAMPLES = Path(__file__).parents[2] / "sample-logs" / "zcode"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with reminders and one with a miss."""
    db = tmp_path_factory.mktemp("exports") / "x.db"
    paths = [str(SAMPLES / name) for name in ("mcs-off", "windowed-long")]
    service.ingest(db, paths, count_tokens=False)
    return db


class Document(HTMLParser):
    """Ids, references and texts of a file."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.references.append(value or "")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["export", *arguments])


def session_of(db: Path, at: int) -> str:
    return Service(db).sessions().sessions[at].session_id


def written(db: Path, out: Path, *names: str) -> str:
    result = run(*names, "--db", str(db), "--out", str(out))
    assert result.exit_code == 0, result.output
    return out.read_text(encoding="utf-8")


def test_a_session_is_one_file_without_a_server(database: Path, tmp_path: Path) -> None:
    session = session_of(database, 0)
    html = written(database, tmp_path / "s.html", session)
    found = Document(html)
    assert len(found.ids) == len(set(found.ids)), "an id stands there twice"
    assert all(href.startswith("#") for href in found.references)
    missing = {h[1:] for h in found.references} - set(found.ids)
    assert missing == set()
    assert not found.tags & {"script", "form", "input", "iframe", "link"}
    assert not any(name.startswith(("hx-", "on")) for name in found.attributes)
    for request in Service(database).requests(session):
        assert f"r{request.seq}" in found.ids


def test_every_text_of_the_prompts_is_in_it_once(database: Path, tmp_path: Path) -> None:
    session = session_of(database, 0)
    html = written(database, tmp_path / "s.html", session)
    additions = Service(database).additions(session, texts=True)
    assert sum(len(a.blocks) for a in additions) == html.count('<details class="was"')
    first = next(a for a in additions if a.blocks)
    last = [a for a in additions if a.total is not None][-1]
    assert first.kept == 0 and last.kept + len(last.blocks) == last.total


def test_the_policy_of_a_file_allows_its_own_style_and_nothing_else(
    database: Path, tmp_path: Path
) -> None:
    html = written(database, tmp_path / "s.html", session_of(database, 0))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1] and "style-src &#39;sha256-" in policy[1]


def test_a_comparison_is_one_file_with_every_change(database: Path, tmp_path: Path) -> None:
    session = session_of(database, 1)
    html = written(database, tmp_path / "c.html", f"{session}:2", f"{session}:3")
    view = Service(database).compare(*(Service(database).requests(session)[n].key for n in (1, 2)))
    changed = [c.index for c in view.changes if c.change.op.value != "equal"]
    assert changed
    assert html.count('class="change op-') >= len(changed)
    assert 'href="/' not in html


def test_a_file_that_cannot_be_made_leaves_none_behind(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.html"
    assert run("sess_nobody", "--db", str(database), "--out", str(out)).exit_code != 0
    assert list(tmp_path.iterdir()) == []


def test_the_json_of_every_page_is_that_of_the_commands(database: Path) -> None:
    app = TestClient(create_app(Service(database)), base_url="http://127.0.0.1")
    session = session_of(database, 1)
    keys = [request.key for request in Service(database).requests(session)]
    page = Page(PAGE.read_text(encoding="utf-8"))
    for address, command in (
        ("/data/", "sessions"),
        (f"/data/requests/{keys[2]}", "show"),
        (f"/data/requests/{keys[2]}?text=1", "show"),
        (f"/data/requests/{keys[2]}/verdict", "explain"),
        (f"/data/compare/{keys[1]}/{keys[2]}", "diff"),
        (f"/data/misses?session={session}", "misses"),
        (f"/data/compare/sessions?a={session}&b={session_of(database, 0)}", "compare"),
        ("/data/sources", "sources"),
    ):
        answer = app.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["content-type"] == "application/json"
        assert list(page.problems(json.loads(answer.text), command)) == []
    whole = app.get(f"/data/sessions/{session}").json()
    assert len(whole["requests"]) == len(keys)
    assert whole["presence"]["lanes"]


def test_a_verdict_can_be_pasted_into_a_report(database: Path) -> None:
    app = TestClient(create_app(Service(database)), base_url="http://127.0.0.1")
    miss = Service(database).misses().misses[0]
    text = app.get(f"/data/requests/{miss.key}/verdict.md").text
    assert text.startswith("### ")
    assert f"request {miss.seq}" in text.splitlines()[0]
    assert miss.brief.code in text
    page = app.get(f"/requests/{miss.key}").text
    assert f"/data/requests/{miss.key}/verdict.md" in page


def test_a_block_and_a_change_can_be_copied(database: Path) -> None:
    reading = Service(database)
    app = TestClient(create_app(reading), base_url="http://127.0.0.1")
    session = session_of(database, 1)
    a, b = (request.key for request in reading.requests(session)[1:3])
    block = reading.block(b, 0)
    answer = app.get(f"/data/requests/{b}/blocks/0.txt")
    assert answer.text == block.text
    assert answer.headers["content-type"].startswith("text/plain")
    page = app.get(f"/requests/{b}?block=0").text
    assert f'href="/data/requests/{b}/blocks/0.txt" data-copy' in page
    changed = next(c for c in reading.compare(a, b).changes if c.change.op.value != "equal")
    diff = app.get(f"/data/compare/{a}/{b}/{changed.index}.diff").text
    assert diff.startswith(f"--- {a}") and f"\n+++ {b}" in diff and "\n@@ -" in diff
    assert f"/data/compare/{a}/{b}/{changed.index}.diff" in app.get(f"/compare/{a}/{b}").text
    assert app.get(f"/data/compare/{a}/{b}/9999.diff").status_code == 404


def test_a_file_masks_secrets_and_nothing_reveals_them(db: Path, rollout: Path) -> None:
    """A file is passed on: pages and commands can show a key, an exported file cannot."""
    log = CacheLog()
    secret = SECRETS["openai"]
    log.ask("r1", [system("You help."), user(f"Use {secret.text} now.")], at_s=0.0)
    service.ingest(db, [str(path) for path in log.files(rollout.parents[1])], count_tokens=False)
    made = run(session_of(db, 0), "--db", str(db))
    assert made.exit_code == 0 and secret.secret not in made.stdout and "••••" in made.stdout
    refused = run(session_of(db, 0), "--db", str(db), "--reveal-secrets")
    assert refused.exit_code == 2 and "--reveal-secrets" in refused.stderr


def test_one_request_alone_is_no_file(database: Path) -> None:
    result = run(f"{session_of(database, 0)}:2", "--db", str(database))
    assert result.exit_code == 2
    assert "is a request" in result.output
    assert "There is no session" in run("sess_nobody", "--db", str(database)).output
