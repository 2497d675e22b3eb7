"""`tracer explain`, `tracer misses`, and what `sessions` and `requests` say of verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.cache_logs import SESSION, CacheLog, prose, tool
from tests.helpers import SAMPLES, assistant, system, user
from tracer import service
from tracer.cli import main
from tracer.cli.exits import ExitCode

TOOLS = [tool(f"Tool{i}") for i in range(4)]
PRICES = """\
schema = 1
[[price]]
provider = "glm"
model = "glm-5"
currency = "CNY"
input = 4.0
cache_read = 1.0
source = "a contract"
dated = "2026-01-01"
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three requests: the second changes the date, the third reads nothing."""
    folder = tmp_path_factory.mktemp("cli")
    talk: list[dict[str, Any]] = [user("Begin. " + prose(900, 40)), assistant(prose(4_000, 9))]
    log = CacheLog()
    for n, day in enumerate(("12", "13", "13")):
        head = system(f"Today's date is 2026-01-{day}. " + prose(1_500))
        talk = [*talk, user(f"more {n}")]
        log.ask(f"r{n}", [head, *talk], at_s=9 * n, tools=TOOLS, read=0 if n == 2 else None)
    service.ingest(folder / "tracer.db", [str(p) for p in log.files(folder)], count_tokens=False)
    return folder / "tracer.db"


def run(db: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--db", str(db)])


def test_explain_reads_like_a_colleague(db: Path) -> None:
    result = run(db, "explain", f"{SESSION}:2")
    assert result.exit_code == ExitCode.FINE
    text = result.stdout
    for part in (
        "Partial hit.",
        "The date changed",
        "tokens that were cached before were billed again",
        "compared with:  request 1",
        "expected read:",
        "rounded down to blocks of 64",
        "First difference, changed: system block 0",
        "- Today's date is 2026-01-1[-2-]",
        "+ Today's date is 2026-01-1{+3+}",
        "Why: system or context changed: date (SYSTEM_CHANGED)",
        "certain: the log shows it; the client's side",
        "Fix: ",
        "Checked and equal",
        "tools (hash ",
        "rules of:       Z.ai / GLM",
    ):
        assert part in text, part
    assert "\x1b" not in text


def test_explain_as_json_and_against_another_request(db: Path) -> None:
    found = json.loads(run(db, "explain", f"{SESSION}:3", "--json").stdout)
    assert found["verdict"]["causes"][0]["code"] == "SERVER_SIDE"
    assert found["verdict"]["baseline"] and not found["chosen_baseline"]
    other = run(db, "explain", f"{SESSION}:3", "--against", f"{SESSION}:1", "--json")
    against = json.loads(other.stdout)
    assert against["chosen_baseline"] is True
    assert against["verdict"]["baseline"] != found["verdict"]["baseline"]
    assert against["change"]["op"] == "changed"


def test_explain_says_what_cannot_be_explained(db: Path) -> None:
    itself = run(db, "explain", f"{SESSION}:3", "--against", f"{SESSION}:3")
    assert itself.exit_code == ExitCode.USAGE and "its own baseline" in itself.stderr
    nothing = run(db, "explain", "nothing")
    assert nothing.exit_code == ExitCode.USAGE and "no request" in nothing.stderr


def test_money_only_with_a_price(db: Path, tmp_path: Path) -> None:
    assert "cost:           not known" in run(db, "explain", f"{SESSION}:3").stdout
    table = tmp_path / "prices.toml"
    table.write_text(PRICES)
    told = run(db, "explain", f"{SESSION}:3", "--prices", str(table)).stdout
    assert "CNY = " in told and "(4 − 1) ÷ 1,000,000, by a contract (2026-01-01)" in told
    cost = json.loads(run(db, "explain", f"{SESSION}:3", "--prices", str(table), "--json").stdout)[
        "verdict"
    ]["cost"]
    assert cost["currency"] == "CNY" and cost["amount"] > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("schema = 1\n[[price]]\nmodel = 1", "no provider"),
        ("= nonsense", "no valid TOML"),
        (f"a = {'[' * 50_000}", "nested too deep"),
    ],
)
def test_a_broken_table_of_prices_is_named(db: Path, tmp_path: Path, text: str, says: str) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(text)
    result = run(db, "explain", f"{SESSION}:3", "--prices", str(table))
    assert result.exit_code == ExitCode.INPUT
    assert says in result.stderr and "prices.toml" in result.stderr
    missing = run(db, "explain", f"{SESSION}:3", "--prices", str(tmp_path / "none.toml"))
    assert missing.exit_code == ExitCode.INPUT and "cannot be read" in missing.stderr


def test_misses_are_ranked_and_summed(db: Path) -> None:
    text = run(db, "misses").stdout
    assert text.startswith("2 misses: ")
    assert "By cause" in text and "(SERVER_SIDE)" in text and "date (SYSTEM_CHANGED)" in text
    found = json.loads(run(db, "misses", SESSION, "--json").stdout)
    sizes = [m["verdict"]["rebilled_tokens"] for m in found["misses"]]
    assert sizes == sorted(sizes, reverse=True) and sum(sizes) == found["rebilled_tokens"]
    assert {c["code"] for c in found["causes"]} == {"SERVER_SIDE", "SYSTEM_CHANGED"}
    one = json.loads(run(db, "misses", "--cause", "system_changed", "--json").stdout)
    assert one["total"] == 1 and one["misses"][0]["fault"] == "client"


def test_a_gate_fails_over_a_number_of_tokens(db: Path) -> None:
    total = json.loads(run(db, "misses", "--json").stdout)["rebilled_tokens"]
    assert run(db, "misses", "--fail-over", str(total)).exit_code == ExitCode.FINE
    failed = run(db, "misses", "--fail-over", str(total - 1))
    assert failed.exit_code == ExitCode.FINDINGS and "more than --fail-over" in failed.stdout
    as_json = run(db, "misses", "--fail-over", "0", "--json")
    assert as_json.exit_code == ExitCode.FINDINGS and json.loads(as_json.stdout)["failed"] is True
    assert run(db, "misses", "nothing").exit_code == ExitCode.USAGE


def test_lists_tell_of_verdicts(db: Path) -> None:
    (session,) = json.loads(run(db, "sessions", "--json").stdout)["sessions"]
    assert session["misses"] == 2 and session["rebilled_tokens"] > 5_000
    assert 0 <= session["corrected_rate"] < 1
    found = json.loads(run(db, "requests", SESSION, "--json").stdout)["requests"]
    assert [r["verdict"]["result"] for r in found] == ["first", "partial", "miss"]
    assert found[2]["verdict"]["causes"][0]["code"] == "SERVER_SIDE"


WINDOWED = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"


def test_an_edit_seen_at_an_earlier_request_is_not_told_as_new(tmp_path: Path) -> None:
    """An instruction file was edited before request 42, whose record is a window; request 64 is the
    first whose record shows it, and the requests around them say nothing of the kind."""
    db = tmp_path / "tracer.db"
    service.ingest(db, [str(SAMPLES / "windowed-long")], count_tokens=False)
    earlier = json.loads(run(db, "explain", f"{WINDOWED}:42", "--json").stdout)
    told = json.loads(run(db, "explain", f"{WINDOWED}:64", "--json").stdout)
    assert earlier["change"] is None or earlier["change"]["seen_key"] is None
    assert (told["change"]["seen_key"], told["change"]["seen_seq"]) == (earlier["key"], 42)
    says = f"Not new here: the verdict on request 42 ({earlier['key']}) places this change there"
    for options in ((), ("--markdown",)):
        assert says in run(db, "explain", f"{WINDOWED}:64", *options).stdout
