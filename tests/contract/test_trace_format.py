"""The open trace format as it is published: the document, the schema and the code say the same, and
the document is enough to write a trace."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples import SAMPLES
from tracer import service
from tracer.checks import all_rules
from tracer.cli.trace_schema import FILE
from tracer.formats._trace_events import EVENTS, KINDS
from tracer.formats.trace_schema import schema_text
from tracer.formats.trace_validation import TraceValidator
from tracer.model.findings import Level
from tracer.service import Service

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "formats" / "context-trace.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one block of a language in the document."""
    (found,) = re.findall(rf"^```{language}\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def section(number: int) -> str:
    return PAGE.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


def test_the_schema_is_the_one_that_the_code_makes() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), (
        "run `python -m tracer.cli.trace_schema --write`"
    )


def test_every_event_is_in_the_table() -> None:
    rows = re.findall(r"^\| ((?:`[a-z_.]+`(?:, )?)+) \| ", section(1), re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z_.]+)`", row)}
    assert named >= EVENTS.keys()
    assert named - EVENTS.keys() == {"event", "v", "timestamp"}


def test_every_key_of_every_event_is_named() -> None:
    keys = set(re.findall(r"`([A-Za-z]+)\??`", PAGE))
    for name, shape in EVENTS.items():
        assert shape.keys() <= keys, name


def test_every_kind_is_named() -> None:
    kinds = section(2).partition("**Kinds.**")[2].partition("**World State.**")[0]
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", kinds, re.MULTILINE)
    assert {kind for row in rows for kind in re.findall("`([a-z_]+)`", row)} == KINDS


def test_every_rule_is_listed_with_its_level() -> None:
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| .+ \| (error|warning) \|$", section(4), re.M))
    assert len(listed) == 19
    for rule in all_rules():
        if rule.family == "layout-14":
            assert listed[rule.name.removeprefix("layout-14/")] == rule.level.value


def test_the_example_line_is_valid() -> None:
    line = json.dumps(json.loads(block("json"))).encode()
    assert list(TraceValidator().line(1, line)) == []


def test_the_example_agent_writes_a_valid_trace_that_keeps_all_rules(tmp_path: Path) -> None:
    """The code of the document, run as a new user would: in a folder of its own, twice."""
    code = block("python")
    assert code.count("\n") <= 40
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    (tmp_path / "a.txt").write_text("It is raining.\nBring a coat.\n", encoding="utf-8")
    for _ in range(2):
        subprocess.run(
            [sys.executable, str(tmp_path / "agent.py"), str(tmp_path)],
            cwd=ROOT,
            check=True,
            env={"PYTHONPATH": str(ROOT)},
        )
    trace = tmp_path / "trace.jsonl"
    (checked,) = service.validate([str(trace)])
    assert (checked.failed, checked.problems) == ("", ())
    assert (checked.sessions, checked.requests) == (2, 8)
    db = tmp_path / "t.db"
    service.ingest(db, [str(trace)], count_tokens=False)
    reading = Service(db)
    for session in reading.sessions().sessions:
        assert (session.agent, session.requests, session.turns) == ("Reader", 4, 2)
        assert session.title == "What does a.txt say?"
        assert all(r.observed == "full" for r in reading.requests(session.session_id))
        findings = [view.finding for view in reading.check(session.session_id).findings]
        assert [f for f in findings if f.level is not Level.INFO] == []


@pytest.mark.parametrize("name", ["context-trace.schema.json", "../../tracer/emit.py"])
def test_what_the_document_names_is_there(name: str) -> None:
    assert f"]({name})" in PAGE
    assert (ROOT / "docs" / "formats" / name).is_file()


def test_every_sample_but_the_odd_cases_is_valid() -> None:
    found = service.validate([str(SAMPLES / "context-trace")])
    assert len(found) > 20
    wrong = {file.path for file in found if file.errors or file.failed}
    assert {Path(path).name for path in wrong} == {"b-second.jsonl"}
