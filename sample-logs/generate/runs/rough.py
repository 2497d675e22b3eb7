"""Files that are damaged, and files of an older build."""

import json
from dataclasses import replace
from typing import Any

from generate.agent import Agent
from generate.project import GLM_47, Profile, Project
from generate.sample import Sample, finish, lines_to_bytes
from generate.script import Turn, bash, edit, grep, read, say
from generate.text import Json, compact_json
from generate.tools import CORE_NAMES, SMALL_NAMES
from generate.world import World

BOM = b"\xef\xbb\xbf"

MOSAIC = Project(
    name="mosaic",
    agents_md="Lays photographs out as tiles. Python 3.13. File names may hold any character.",
    branch="names",
    commits=("f5d1a3c Square tiles",),
    git_user="Vera Moll",
)


def _mosaic_world() -> tuple[World, str]:
    world, root = World("damaged"), MOSAIC.root
    agent = Agent(world, Profile(MOSAIC, GLM_47, SMALL_NAMES))
    listing = "sea.jpg\nüber.jpg\nkite \U0001fa81.jpg\nball \ud83c"  # cut inside the last emoji
    agent.run(
        Turn(
            "Names with emoji break the layout – why?",
            (
                say("", bash("ls -1 photos", listing)),
                say("", read(root, "mosaic/names.py", "def width(name):\n    return len(name)")),
                say("", grep("width\\(", "mosaic/layout.py:12")),
                say("`width` counts characters, the layout needs cells (`mosaic/names.py:2`)."),
            ),
            title="Emoji in names break the layout",
        )
    )
    world.clock.advance(64_000)
    agent.run(
        Turn(
            "Count cells then – “wide” ones as two.",
            (
                say("", edit(root, "mosaic/names.py", "len(name)", "cells(name)")),
                say("", bash("python -m pytest -q", "8 passed")),
                say("Widths are cells now – wide characters count two; 8 tests pass."),
            ),
        )
    )
    return world, world.io.path(agent.session_id)


def _damage_records(lines: list[bytes]) -> tuple[bytes, list[Json], list[int]]:
    """Return the damaged file, its skipped lines and which records survived."""
    foreign = b'{"type":"session_marker","sessionId":"sess_other","at":"2026-01-12T09:03:00.000Z"}'
    torn = lines[7][: lines[7].index("–".encode()) + 1]  # ends inside a character
    pieces = [
        BOM + lines[0] + b"\r\n",
        b"\n",
        lines[1] + b"\n",
        lines[2][:640] + b"\n",
        lines[3] + b"\r\n",
        b'["not","a","record"]\n',
        lines[4] + b"\n",
        foreign + b"\n",
        b"\r\n",
        lines[5] + b"\n",
        b"{\n",
        lines[6] + b"\n",
        torn,
    ]
    reasons = {4: "not-json", 6: "not-object", 8: "foreign-type", 11: "not-json", 13: "torn"}
    skipped = [{"line": line, "reason_kind": reason} for line, reason in reasons.items()]
    return b"".join(pieces), skipped, [0, 1, 3, 4, 5, 6]


def damaged() -> Sample:
    """A healthy session whose files were damaged afterwards."""
    world, path = _mosaic_world()
    records = [line.encode() for line in world.io.files()[path]]
    data, skipped, kept = _damage_records(records)
    world.truth.keep_only({json.loads(records[index])["requestId"] for index in kept})
    sample = finish(
        "damaged",
        "Damaged files",
        "A BOM, CRLF, blank lines, half a record, a list, a foreign record, lone surrogate "
        "escapes and a torn last line that ends inside a character; nothing good may be lost.",
        world,
    )
    log_path = "log/zcode-2026-01-12.jsonl"
    log_lines = sample.files[log_path].splitlines(keepends=True)
    middle = len(log_lines) // 2
    log = [*log_lines[:middle], b"not json at all\n", b"\n", *log_lines[middle:], b'{"timest']
    sample.files |= {path: data, log_path: b"".join(log)}
    sample.records |= {path: len(kept), log_path: len(log_lines)}
    bad_log = [(middle + 1, "not-json"), (len(log), "torn")]
    sample.skipped |= {
        path: skipped,
        log_path: [{"line": line, "reason_kind": reason} for line, reason in bad_log],
    }
    return sample


QUILL = Project(
    name="quill",
    agents_md="A plain-text diary. Shell scripts only, POSIX sh.",
    branch="main",
    commits=("77e0d12 Search by month",),
    git_user="Bo Tamm",
)

_FAKE_HEADERS = {
    "Content-Type": "application/json",
    "Authorization": "Bearer FAKE-0000-not-a-real-key",
    "X-Api-Key": "FAKE-1111-not-a-real-key",
}


def _quill_world() -> World:
    world, root = World("older-build"), QUILL.root
    agent = Agent(world, Profile(QUILL, GLM_47, CORE_NAMES))
    agent.run(
        Turn(
            "Searching for a month finds nothing in leap years.",
            (
                say("", read(root, "bin/search", 'grep -h "^$1" days/*.txt')),
                say("", bash("sh bin/search 2024-02", "", failed=True)),
                say("The files of 2024 are called `day-*.txt`, so `days/*.txt` misses them."),
            ),
            title="Month search in leap years",
        )
    )
    world.clock.advance(33_000)
    agent.run(
        Turn(
            "Match both names.",
            (
                say("", edit(root, "bin/search", "days/*.txt", "days/*.txt days/day-*")),
                say("Both names are matched now."),
            ),
        )
    )
    return world


def _age_record(record: Json, row: Json, index: int) -> Json:
    """Return a record as an older build wrote it, and make the truth follow."""
    old: Any = dict(record)
    old.pop("traceId")
    model = record["model"]
    if index % 2:
        old["model"] = model["modelId"]
        row["provider_id"] = None
    else:
        old["model"] = {**model, "role": "main", "source": "settings", "variant": "default"}
    headers = {name: value for name, value in record["request"]["headers"].items() if "x-" in name}
    old["request"] = {**record["request"], "headers": _FAKE_HEADERS | headers}
    response = dict(record["response"])
    for name in ("providerMetadata", "headers"):
        response.pop(name)
    old["response"] = response
    if index == 3:
        del old["turnId"]
        row["turn_id"] = None
    if index == 4:
        del old["request"]
        row |= {"message_count": None, "messages_kind": None, "message_offset": None, "roles": {}}
        emptied = ("tools", "messages_sha256", "sections", "section_messages", "reminders", "mcs")
        added = ("section_spans", "reminder_spans", "demoted", "look_alikes")
        row |= {name: [] for name in (*emptied, *added, "markers")}
        row |= {"variant": None, "mcs_on": None}
    return old if isinstance(old, dict) else {}


def older_build() -> Sample:
    """Records and log lines as an older build wrote them."""
    world = _quill_world()
    rows = {row["request_id"]: row for row in world.truth.rows()}
    path, lines = next(iter(world.io.files().items()))
    records = [json.loads(line) for line in lines]
    old = [
        compact_json(_age_record(record, rows[record["requestId"]], index))
        for index, record in enumerate(records)
    ]
    usage = {"inputTokens": 1210, "outputTokens": 14, "totalTokens": 1224}
    tool = {"type": "tool_result", "sessionId": records[0]["sessionId"], "usage": usage}
    old.insert(3, compact_json(tool))
    sample = finish(
        "older-build",
        "Files of an older build",
        "The model as a string or with extra keys, mixed-case headers with (fake) secrets to "
        "scrub, log lines without event, missing optional keys, a record without its request.",
        world,
    )
    log_path, log = next(item for item in world.log.files().items())
    bare = [{k: v for k, v in json.loads(line).items() if k != "event"} for line in log]
    sample.files[path] = lines_to_bytes(old)
    sample.files[log_path] = lines_to_bytes([compact_json(line) for line in bare])
    skipped = {path: [{"line": 4, "reason_kind": "foreign-type"}]}
    return replace(sample, skipped=skipped, records={path: len(old) - 1})
