"""The logged request body beside the canonical messages: stored, told, and not compared."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.anatomy_factories import an_anatomy
from tests.factories import FakeService, a_detail, a_timeline
from tests.helpers import SAMPLES, ingest
from tests.integration.test_web_pages import client
from tracer.cli import main
from tracer.model.anatomy_views import WireView
from tracer.service import Service

RETRIES, SWITCH = "sess_112fdb04", "sess_ffb4dab8"
MERGED = "{} wire messages for {} canonical ones: neighbours of one role were merged; "
ONE_EACH = "1 marker on the wire, 1 in the canonical list"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wire") / "tracer.db"
    ingest(path, SAMPLES / "retries-failures", SAMPLES / "full-retention-switch")
    return path


def wires(db: Path, session: str) -> dict[int, WireView]:
    service = Service(db)
    found = {}
    for page in service.sessions().sessions:
        if page.session_id.startswith(session):
            for request in service.requests(page.session_id):
                anatomy = service.request(request.key).anatomy
                if anatomy and anatomy.wire:
                    found[request.seq] = anatomy.wire
    return found


def show(db: Path, *arguments: str) -> str:
    result = CliRunner(env={"TRACER_DB": str(db)}).invoke(main, ["show", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_failure_tells_the_wire_or_says_that_it_is_the_sdk(db: Path) -> None:
    found = wires(db, RETRIES)
    assert {seq: wire.form for seq, wire in found.items()} == {
        3: "sdk", 4: "sdk", 6: "wire", 10: "sdk", 13: "sdk", 14: "sdk",
    }  # fmt: skip
    real = found[6]
    assert (real.messages, real.canonical_messages, real.blocks) == (5, 6, 7)
    assert real.roles == {"user": 3, "assistant": 2}
    assert real.words == MERGED.format(5, 6) + ONE_EACH
    assert found[3].words.startswith("SDK form, not the wire: 7 SDK messages for 7 canonical ones")
    assert (found[3].markers, found[3].canonical_markers) == (4, 4)


def test_a_window_of_the_body_says_what_it_leaves_out(db: Path) -> None:
    retry = wires(db, RETRIES)[4]
    assert (retry.window, retry.messages, retry.logged) == ("delta", 7, 0)
    assert "only 0 of its messages are in this record" in retry.words


def test_full_retention_tells_the_wire_of_each_request(db: Path) -> None:
    found = wires(db, SWITCH)
    assert {seq: (w.messages, w.canonical_messages) for seq, w in found.items()} == {
        4: (6, 7), 5: (8, 9), 6: (10, 11),
    }  # fmt: skip
    assert found[5].words == MERGED.format(8, 9) + ONE_EACH


def test_show_has_one_line_and_a_key_of_it(db: Path) -> None:
    lines = show(db, f"{RETRIES}:6", "--blocks-limit", "0").splitlines()
    assert [" ".join(x.split()) for x in lines if x.startswith("body ")] == [
        f"body {MERGED.format(5, 6)}{ONE_EACH}"
    ]
    document: Any = json.loads(show(db, f"{RETRIES}:6", "--json"))
    assert document["wire"]["canonical"] == {"messages": 6, "markers": 1}
    assert json.loads(show(db, f"{RETRIES}:5", "--json"))["wire"] is None
    assert "\nbody " not in show(db, f"{RETRIES}:5", "--blocks-limit", "0")


def test_it_is_stored_beside_the_parameters_and_not_in_them(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        rows = connection.execute(
            "SELECT r.wire_json, p.json FROM requests r LEFT JOIN params p ON p.id = r.params_id"
        ).fetchall()
    assert sum(bool(wire) for wire, _ in rows) == 9
    assert not any("digest" in (params or "") for _, params in rows)


def test_the_request_page_has_the_sentence_as_text() -> None:
    wire = WireView("wire", "full", 5, 5, {}, 7, 1, 6, 1, "", "5 <b>wire</b> messages")
    detail = a_detail(anatomy=an_anatomy(wire=wire))
    service = FakeService(a_timeline(1), details={"r1": detail})
    page = client(service).get("/requests/r1").text
    assert "Body <b>wire</b>" in page and "5 &lt;b&gt;wire&lt;/b&gt; messages" in page
