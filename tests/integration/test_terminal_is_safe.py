"""No command sends a control or bidi character of a log to the terminal."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.helpers import call, event, system, user
from tests.helpers import write as write_records
from tests.traces import built, completed, line, said, write
from tracer import service
from tracer.cli import group, main
from tracer.service import Service

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\r\u202e\u2066\u200f\u2028"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PARENT, CHILD, ZCODE = f"a{EVIL}", f"b{EVIL}", f"c{EVIL}"
NOT_RUN = {"serve": "it runs until it is stopped", "export": "it writes a file"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A database, and the folder of its logs, in which every text is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    logs = folder / "logs\u202e\x1b"
    model = {"providerId": EVIL, "modelId": EVIL}
    named = {"agent": EVIL, "title": f"t{EVIL}", "project": EVIL}
    write(
        logs / f"trace{EVIL}.jsonl",
        line("session.started", 0, PARENT, **named),
        line("run.started", 0.5, PARENT, runId=EVIL, input=EVIL),
        built(1, f"q{EVIL}", [said(f"m{EVIL}", EVIL)], session=PARENT, model=model, runId=EVIL),
        completed(2, f"q{EVIL}", session=PARENT, error={"name": EVIL, "message": EVIL}),
        built(3, f"r{EVIL}", [said("m2", f"new {EVIL}")], session=PARENT, model=model, runId=EVIL),
        line("subagent.started", 4, PARENT, childSessionId=CHILD, agentType=EVIL, status=EVIL),
        line("session.started", 5, CHILD, **named),
        built(6, "q2", [said("m3", EVIL)], session=CHILD, model=model),
        b"{" + EVIL.encode() + b"\n",
    )
    tools = [{"name": f"tool{EVIL}", "description": EVIL}]
    write_records(
        logs / "model-io-1.jsonl",
        *(
            call(
                f"z{n}{EVIL}", [system(f"{n}{EVIL}"), user(EVIL)], at=n * 1_000, session=ZCODE,
                body={"tools": tools}, error={"name": EVIL, "message": EVIL}, turnId=EVIL,
                model={"modelId": EVIL, "providerId": EVIL},
            )
            for n in range(2)
        ),
    )  # fmt: skip
    write_records(logs / "zcode.jsonl", event(EVIL, at=10, message=EVIL, sessionId=ZCODE))
    service.ingest(folder / "tracer.db", [str(logs)], count_tokens=False)
    return folder / "tracer.db", logs


def calls(db: Path, logs: Path) -> dict[str, list[list[str]]]:
    """How each command is called, so that it shows as much as it can."""
    sessions = [PARENT, CHILD, ZCODE]
    keys = {s: [r.key for r in Service(db).requests(s)] for s in sessions}
    every = [key for s in sessions for key in keys[s]]
    assert len(every) == 5
    pairs = [[keys[PARENT][0], keys[PARENT][1]], [keys[ZCODE][0], keys[ZCODE][1]]]
    return {
        "check": [[], *([s] for s in sessions)],
        "compare": [[PARENT, ZCODE, "--all"], [ZCODE, PARENT]],
        "diff": [pair + more for pair in pairs for more in ([], ["--all"])],
        "doctor": [[str(logs)], ["--root", str(logs)], *(["--session", s] for s in sessions)],
        "explain": [[key] for key in every],
        "ingest": [[str(logs), "--force"], [str(logs)]],
        "misses": [[], *([s] for s in sessions)],
        "presence": [[s] for s in sessions],
        "requests": [[s] for s in sessions],
        "search": [["owned"], ["new"]],
        "sessions": [[]],
        "show": [[key, *more] for key in every for more in ([], ["--blocks"], ["--full"])],
        "sources": [[], ["--skipped"]],
        "story": [[s] for s in sessions],
    }


@pytest.mark.parametrize("name", [n for n in group.builtin_names() if n not in NOT_RUN])
def test_a_command_sends_no_control_character(name: str, hostile: tuple[Path, Path]) -> None:
    ran = 0
    for arguments in calls(*hostile)[name]:
        result = CliRunner().invoke(main, [name, *arguments, "--db", str(hostile[0])])
        ran += result.exit_code in (0, 1)
        found = UNSAFE.search(result.output)
        assert not found, (arguments, result.output[max(found.start() - 80, 0) : found.end() + 9])
        assert result.exception is None or isinstance(result.exception, SystemExit)
    assert ran, "nothing of it was shown"


def test_the_family_of_a_session_is_shown_with_what_it_is_called(
    hostile: tuple[Path, Path],
) -> None:
    output = CliRunner().invoke(main, ["story", PARENT, "--db", str(hostile[0])]).output
    assert "1 subagent:" in output and "  b␛]0;owned␇" in output and "  t␛" in output
