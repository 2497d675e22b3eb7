"""Everything that an agent leaves on one machine: logs, model I/O, database, helpers' folders."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from generate.database import Rows, write_database
from generate.recorder import ModelCall, Recorder
from generate.sample import line_count, lines_to_bytes
from generate.store_rows import Child, StoreRows
from generate.text import Json
from generate.transcript import Transcript
from generate.world import World

_FORMATS = {"log": "zcode-log", "rollout": "zcode-model-io", "agents": "zcode-events"}


@dataclass
class Home:
    """One home folder: its files by path, and the rows of its database."""

    name: str
    title: str
    shows: str
    files: dict[str, bytes]
    rows: Rows
    sessions: list[Json]
    calls: list[ModelCall]
    children: dict[str, Child] = field(default_factory=dict)

    def write(self, root: Path, variant: str = "described", *, wal: bool = False) -> None:
        """Write all files below `root`, the database among them."""
        for path, data in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        (root / "db").mkdir(parents=True, exist_ok=True)
        write_database(root / "db" / "db.sqlite", self.rows, variant, wal=wal)

    def expected(self) -> str:
        """Return the text of `expected.json`."""
        lines = {path: data for path, data in self.files.items() if path.endswith(".jsonl")}
        value: Json = {
            "title": self.title,
            "shows": self.shows,
            "files": [_file(path, lines[path]) for path in sorted(lines)],
            "folders": sorted(p for p in self.files if p.endswith("metadata.json")),
            "tables": {table: len(rows) for table, rows in sorted(self.rows.items())},
            "totals": self.totals(),
            "sessions": self.sessions,
        }
        return json.dumps(value, ensure_ascii=False, indent=1) + "\n"

    def totals(self) -> dict[str, dict[str, int]]:
        """Return what each session made and was billed, by session id."""
        found: dict[str, dict[str, int]] = {}
        for call in self.calls:
            names = ("calls", "attempts", "tools", "input", "cache_read", "output")
            sums = found.setdefault(call.session_id, dict.fromkeys(names, 0))
            sums["calls"] += 1
            sums["attempts"] += len(call.attempts)
            sums["tools"] += len(call.tool_calls)
            if call.last.usage:
                sums["input"] += call.last.usage.input
                sums["cache_read"] += call.last.usage.cache_read
                sums["output"] += call.last.usage.output
        return found


def _file(path: str, data: bytes) -> Json:
    lines = line_count(data)
    kind = _FORMATS[path.partition("/")[0]]
    return {"path": path, "format": kind, "lines": lines, "records": lines, "skipped": []}


def finish_home(name: str, title: str, shows: str, world: World, root: str) -> Home:
    """Return the home that a world's files, attempts and log lines make."""
    assert isinstance(world.truth, Recorder)
    calls = world.truth.calls()
    lines = world.log.files() | world.io.files()
    children = _children(lines)
    files = {path: lines_to_bytes(found) for path, found in lines.items()}
    for number, child in enumerate(children.values()):
        own = [call for call in calls if call.session_id == child.session_id]
        folder = f"agents/{child.parent_id}/{child.agent_id}"
        files |= _folder(folder, child, own, root)
        if number:
            files[f"{folder}/transcript.jsonl"] = lines_to_bytes(Transcript(own).lines())
    rows = StoreRows(calls, children, root).build()
    return Home(name, title, shows, files, rows, world.truth.sessions(), calls, children)


def _children(lines: dict[str, list[str]]) -> dict[str, Child]:
    found = {}
    for path, texts in lines.items():
        if not path.startswith("log/"):
            continue
        for line in map(json.loads, texts):
            if line.get("event") == "subagent.spawned":
                ids = line["context"]
                session = f"sess_subagent_{ids['agentId']}"
                found[session] = Child(
                    session, ids["agentId"], ids["agentType"], line["sessionId"],
                    ids["parentToolCallId"],
                )  # fmt: skip
    return found


def _folder(folder: str, child: Child, own: list[ModelCall], root: str) -> dict[str, bytes]:
    """Return the files of a helper's folder after its last rewrite."""
    response = own[-1].last.attempt.response or {}
    usages = [call.last.usage for call in own if call.last.usage]
    value: Json = {"agentId": child.agent_id, "childSessionId": child.session_id}
    value |= {"createdAt": own[0].started_ms - 25, "cwd": root}
    value |= {"description": f"Task for {child.agent_type}", "parentSessionId": child.parent_id}
    value |= {"parentToolUseId": child.parent_call_id, "profileId": child.agent_type}
    prompt = own[0].first.messages[-1].message["content"]
    value |= {"profileSnapshot": {"id": child.agent_type}, "prompt": prompt}
    value |= {"status": "completed", "updatedAt": own[-1].completed_ms + 3}
    value |= {"completedAt": own[-1].completed_ms + 3, "workspaceRoot": root}
    value["totalDurationMs"] = own[-1].completed_ms - own[0].started_ms
    value["totalTokens"] = sum(u.input + u.output for u in usages)
    value["totalToolUseCount"] = sum(len(call.tool_calls) for call in own)
    value["usage"] = {"inputTokens": sum(u.input for u in usages)}
    text = str(response.get("text", "")).encode()
    metadata = json.dumps(value, indent=2, ensure_ascii=False).encode()
    return {
        f"{folder}/metadata.json": metadata,
        f"{folder}/output.txt": text,
        f"{folder}/task.output": text,
    }
