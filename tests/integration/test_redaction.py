"""A redacted file holds no text of the session: not in a block, a title, a path or a sentence."""

import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tracer import service
from tracer.cli import main
from tracer.service import Service
from tracer.service.redacting import Redactor, redacted_service

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample-logs"
WORD = re.compile(r"[^\W\d_]{2,}")
RUNS = ("zcode/mcs-on", "zcode/retries-failures", "zcode/chinese")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions with reminders, failures, Chinese text, and a session database."""
    db = tmp_path_factory.mktemp("redacted") / "x.db"
    paths = [str(SAMPLES / name) for name in (*RUNS, "zcode-home")]
    service.ingest(db, paths, count_tokens=False)
    return db


@pytest.fixture(scope="module")
def missed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with two misses."""
    db = tmp_path_factory.mktemp("missed") / "x.db"
    service.ingest(db, [str(SAMPLES / "zcode" / "windowed-long")], count_tokens=False)
    return db


def export(db: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, ["export", *arguments, "--redact", "--db", str(db)])
    assert result.exit_code == 0, result.output
    return re.sub(r"<style>.*?</style>", "", result.stdout, flags=re.S)


@cache
def own_words() -> frozenset[str]:
    """The words of the product itself: what its pages say, and the names that it knows."""
    found: set[str] = set()
    for folder, endings in (("web", (".py", ".html")), ("tracer", (".py", ".toml"))):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in endings:
                found |= set(WORD.findall(path.read_text(encoding="utf-8")))
    return frozenset(found)


def private_words(reading: Service, session_id: str) -> set[str]:
    """Words that only the texts of a session have. Names of tools and models are no secret, and a
    short one in Latin letters may stand in a hash."""
    found: set[str] = set()
    kept: set[str] = set(WORD.findall(session_id))
    for added in reading.additions(session_id, texts=True):
        for block in added.blocks:
            found |= set(WORD.findall(block.text or ""))
            kept |= set(WORD.findall(f"{block.name} {block.role}"))
    for request in reading.requests(session_id):
        kept |= set(WORD.findall(f"{request.lane} {request.model_id} {request.request_id}"))
        kept |= {word for tool in request.tools for word in WORD.findall(tool)}
    return {w for w in found - kept - own_words() if len(w) >= 5 or not w.isascii()}


def test_no_word_of_a_prompt_is_left(database: Path) -> None:
    """Words that only the session's texts have: those of the pages themselves are no secret."""
    reading, looked_for = Service(database), 0
    for session in reading.sessions().sessions:
        private = private_words(reading, session.session_id)
        looked_for += len(private)
        html = unescape(export(database, session.session_id))
        assert set(WORD.findall(html)) & private == set(), session.title
        for text in (session.title, session.project, str(SAMPLES)):
            assert not text or text not in html
    assert looked_for > 200


def test_verdict_matrix_and_timeline_are_still_there(missed: Path) -> None:
    reading = Service(missed)
    miss = reading.misses().misses[0]
    hidden = redacted_service(reading, b"salt")
    open_, closed = reading.explain(miss.key).verdict, hidden.explain(miss.key).verdict
    assert (closed.result, closed.missed_tokens) == (open_.result, open_.missed_tokens)
    assert [(c.code, c.subtype, c.section) for c in closed.causes] == [
        (c.code, c.subtype, c.section) for c in open_.causes
    ]
    assert hidden.presence(miss.session_id).lanes == reading.presence(miss.session_id).lanes
    assert len(hidden.timeline(miss.session_id).columns) == miss_requests(reading, miss.session_id)


def miss_requests(reading: Service, session_id: str) -> int:
    return reading.session(session_id).requests


def test_a_redacted_comparison_still_tells_what_changed(missed: Path) -> None:
    reading = Service(missed)
    miss = reading.misses().misses[0]
    base = reading.explain(miss.key).verdict.baseline_key
    before, after = (s.compare(base, miss.key) for s in (reading, redacted_service(reading, b"s")))
    assert [c.change.op for c in before.changes] == [c.change.op for c in after.changes]
    assert "Comparison" in export(missed, base, miss.key)


def test_a_salt_makes_two_files_comparable_and_nothing_else(database: Path) -> None:
    session = Service(database).sessions().sessions[0].session_id
    hashes = [
        re.findall(r"\b[0-9a-f]{8}·\d+", export(database, session, *salt))
        for salt in (("--salt", "a"), ("--salt", "a"), ("--salt", "b"), ())
    ]
    assert hashes[0] == hashes[1]
    assert not set(hashes[0]) & (set(hashes[2]) | set(hashes[3]))
    result = CliRunner().invoke(main, ["export", session, "--salt", "a", "--db", str(database)])
    assert result.exit_code == 2


@given(st.text(max_size=80), st.text(max_size=80))
def test_equal_lines_have_equal_hashes(one: str, other: str) -> None:
    redactor = Redactor(b"salt")
    lines = redactor.text(f"{one}\n{other}\n{one}").split("\n")
    size = len(one.split("\n"))
    assert lines[:size] == lines[-size:]
    assert len(lines) == len(f"{one}\n{other}\n{one}".split("\n"))


@given(st.text(alphabet="ab “”\n", max_size=40))
def test_a_sentence_keeps_nothing_that_it_quotes(quoted: str) -> None:
    sentence = Redactor(b"s").sentence(f"It was “{quoted}secret” before.")
    assert "secret" not in sentence
    assert sentence.startswith("It was “") and sentence.endswith("” before.")


def test_what_is_logged_of_an_event_is_a_text(tmp_path: Path) -> None:
    """A reason, a relative path, a message: none of them is ours."""
    db = tmp_path / "x.db"
    runs = ("capabilities", "transaction", "compaction")

    service.ingest(db, [str(SAMPLES / "context-trace" / name) for name in runs])
    reading, seen = Service(db), 0
    for session in reading.sessions().sessions:
        html = unescape(export(db, session.session_id))
        for event in reading.timeline(session.session_id).events:
            if event.kind not in ("error", "model", "reset"):
                seen += 1
                assert event.title not in html
    assert seen


@given(st.text(alphabet="ab /._", min_size=3, max_size=30))
def test_a_path_alone_is_a_text_whatever_it_holds(rest: str) -> None:
    assert "secret" not in Redactor(b"s").sentence(f"/home/a person/{rest}secret")


def test_a_sentence_of_a_verdict_quotes_what_the_log_says(tmp_path: Path) -> None:
    """A reason for a switch, an error, a parameter's value: all in quotation marks, so redacted."""
    db = tmp_path / "x.db"
    service.ingest(
        db, [str(SAMPLES / "context-trace"), str(SAMPLES / "zcode" / "retries-failures")]
    )
    reading, seen = Service(db), 0
    for session in reading.sessions().sessions:
        hidden = redacted_service(reading, b"salt")
        logged = {e.title for e in reading.timeline(session.session_id).events}
        logged |= {r.error for r in reading.requests(session.session_id)} - {""}
        for request in reading.requests(session.session_id):
            verdict = hidden.explain(request.key).verdict
            told = [
                verdict.one_line,
                *(s for c in verdict.causes for s in (c.summary, *c.evidence)),
            ]
            for text in logged:
                reason = text.partition(": ")[2] or text
                assert len(reason) < 12 or not any(reason in sentence for sentence in told)
                seen += 1
    assert seen
