"""A key that is another one in the next request: the place is told, neither key is shown, although
excerpts and lines are cut out of the middle of them."""

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.cache_logs import CacheLog, prose
from tests.helpers import assistant, rows, system, user
from tests.planted import SECRETS
from tracer import service
from tracer.cli import main
from tracer.service import Service
from web.app import create_app

OLD = SECRETS["openai"].secret
NEW = OLD[:9] + "Zz7Yy8Xx9Ww0Vv1Uu"
WINDOW = 7
PEM = SECRETS["pem"].text


def pieces(secret: str) -> set[str]:
    """Every piece of a secret that would tell something of it."""
    return {secret[i : i + WINDOW] for i in range(len(secret) - WINDOW + 1)}


@pytest.fixture(params=["key", "json", "pem"])
def changed(request: pytest.FixtureRequest, db: Path, rollout: Path) -> Iterator[tuple[Path, str]]:
    """Requests whose system message changes inside a secret, and what must not be seen."""
    filler = "Words around it that say nothing. " * 40
    if request.param == "pem":
        texts = [
            f"{filler}\n{PEM}\n{filler}",
            f"{filler}\n{PEM.replace('55555', 'zzzzz')}\n{filler}",
        ]
        hidden = SECRETS["pem"].secret.split("\n")[4]
    elif request.param == "json":
        texts = [f'{{"a":"{filler}","api_key":"{key}","b":"{filler}"}}' for key in (OLD, NEW)]
        hidden = OLD
    else:
        texts = [
            f"{filler}OPENAI_KEY: {SECRETS['openai'].text[:8]}{key}. {filler}" for key in (OLD, NEW)
        ]
        hidden = OLD
    log = CacheLog()
    talk = [user(prose(3_000)), assistant("yes")]
    for n, text in enumerate([texts[0], texts[0], texts[1]]):
        log.ask(f"r{n}", [system(text), *talk, user(f"go on {n}")], at_s=n * 10.0)
    service.ingest(db, [str(path) for path in log.files(rollout.parents[1])], count_tokens=False)
    yield db, hidden


def shown(text: str, secret: str) -> set[str]:
    plain = unescape(text)
    return {piece for piece in pieces(secret) if piece in plain}


def test_pages_show_the_place_and_no_piece_of_the_key(changed: tuple[Path, str]) -> None:
    db, hidden = changed
    _, a, b = (row[0] for row in rows(db, "SELECT key FROM requests ORDER BY started_at_ms"))
    urls = (
        f"/requests/{b}", f"/requests/{b}?raw=1&block=0", f"/compare/{a}/{b}",
        f"/compare/{a}/{b}?context=0", f"/compare/{a}/{b}?view=side",
        f"/fragments/compare/{a}/{b}/hunks/0", "/misses", "/", "/sessions/sess_0001",
    )  # fmt: skip
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321") as client:
        for url in urls:
            answer = client.get(url)
            assert answer.status_code < 500
            assert shown(answer.text, hidden) == set(), url
        assert "••••" in client.get(f"/compare/{a}/{b}").text
        revealed = create_app(Service(db, reveal_secrets=True))
    with TestClient(revealed, base_url="http://127.0.0.1:8321") as client:
        assert shown(client.get(f"/fragments/compare/{a}/{b}/hunks/0").text, hidden)


def test_commands_show_no_piece_of_the_key(changed: tuple[Path, str]) -> None:
    db, hidden = changed
    _, a, b = (row[0] for row in rows(db, "SELECT key FROM requests ORDER BY started_at_ms"))
    for arguments in (
        ["explain", b], ["diff", a, b], ["diff", a, b, "--context", "0"], ["misses"], ["show", b],
        ["show", b, "--text"], ["requests", "sess_0001"],
    ):  # fmt: skip
        for more in ([], ["--json"]):
            result = CliRunner().invoke(main, [*arguments, *more, "--db", str(db)])
            assert result.exit_code in (0, 1), result.output
            assert shown(result.output, hidden) == set(), arguments


def test_a_verdict_that_reveals_shows_what_changed_inside_the_key(
    changed: tuple[Path, str],
) -> None:
    db, hidden = changed
    keys = [row[0] for row in rows(db, "SELECT key FROM requests ORDER BY started_at_ms")]
    told = CliRunner().invoke(main, ["explain", keys[2], "--db", str(db), "--reveal-secrets"])
    assert shown(told.output, hidden) and "•••" not in told.output
    for against in ("", keys[0]):
        plain = Service(db).explain(keys[2], against).verdict
        real = Service(db, reveal_secrets=True).explain(keys[2], against).verdict
        assert "•••" in plain.causes[0].before + plain.causes[0].after
        assert shown(real.causes[0].before + real.causes[0].after, hidden)
        assert replace(real, causes=()) == replace(plain, causes=())
        assert [c.code for c in real.causes] == [c.code for c in plain.causes]
    stored = "".join(str(row) for row in rows(db, "SELECT * FROM verdicts"))
    assert shown(stored, hidden) == set(), "what was revealed is not kept"


def test_stored_verdicts_hold_no_piece_of_the_key(changed: tuple[Path, str]) -> None:
    """They are what people copy: excerpts are masked where they are made."""
    db, hidden = changed
    stored = "".join(str(row) for row in rows(db, "SELECT * FROM verdicts"))
    assert "•••" in stored, "there is an excerpt"
    assert shown(stored, hidden) == set()
