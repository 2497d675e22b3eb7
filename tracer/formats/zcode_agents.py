"""ZCode's subagent folders: `agents/<parentSessionId>/<agentId>/` (formats/zcode.md 6).

`metadata.json` is rewritten on each change of status, not atomically, and the rewrite after a stop
has fewer keys: what an earlier one said is kept. The final text is in `output.txt`.
"""

from collections.abc import Mapping
from typing import Any

from tracer.formats import _rows as r
from tracer.formats._json import BOM, excerpt
from tracer.model.conversation import AgentRun
from tracer.model.source import SkipKind, Skipped

_KNOWN = r.words(
    """agentId childSessionId createdAt cwd description parentSessionId parentToolUseId profileId
    prompt status updatedAt completedAt totalDurationMs totalTokens totalToolUseCount usage error
    metadataFile outputFile taskOutputFile"""
)
_ENDED = frozenset({"completed", "failed", "stopped"})


class ZcodeAgents:
    """The format of ZCode's subagent folders."""

    name = "zcode-agent"
    agent = "ZCode"
    title = "ZCode subagent folder"
    tells = "a subagent's brief, status, duration and final text; which tool call started it"
    marker = "metadata.json"
    others = ("output.txt", "task.output")

    def sniff(self, head: bytes) -> float:
        """0.9 where a file names an agent and its sessions."""
        names = (b'"agentId"', b'"childSessionId"', b'"parentSessionId"')
        found = sum(name in head for name in names)
        return (0.0, 0.4, 0.7, 0.9)[found]

    def parse(self, files: Mapping[str, bytes], folder: tuple[str, ...]) -> AgentRun | Skipped:
        """The run of a folder; a half-written or empty file gives the reason."""
        content = files.get(self.marker, b"").removeprefix(BOM)
        value = r.decoded(content.decode("utf-8", "replace"))
        if value is None:
            return Skipped(
                SkipKind.TORN,
                "metadata.json is empty or half written; it is read again when it has changed.",
                excerpt(content),
            )
        parent, agent = folder[-2:] if len(folder) >= 2 else ("", "")
        output = files.get("output.txt") or files.get("task.output") or b""
        return _run(value, parent, agent, r.safe(output.decode("utf-8", "replace")))

    def merge(self, old: AgentRun | None, new: AgentRun) -> AgentRun:
        """The newer record, with the older one's values where the newer has none. A folder read
        from an older copy does not take back what a newer one said."""
        if old is None:
            return new
        first, last = sorted((old, new), key=_age)
        said = {name: value for name, value in last._asdict().items() if value not in (None, "")}
        return first._replace(**said)


FILE_FORMAT = ZcodeAgents()


def _age(run: AgentRun) -> tuple[int, int, int]:
    """What makes a record later than another: its time, whether it ended, how much it says."""
    filled = sum(value not in (None, "") for value in run)
    return (run.updated_at_ms or 0, int(run.status in _ENDED), filled)


def _run(value: dict[str, Any], parent: str, agent: str, output: str) -> AgentRun:
    error = r.inner(value, "error")
    return AgentRun(
        parent_session_id=r.inner_text(value, "parentSessionId") or parent,
        agent_id=r.inner_text(value, "agentId") or agent,
        child_session_id=r.inner_text(value, "childSessionId"),
        parent_call_id=r.inner_text(value, "parentToolUseId"),
        agent_type=r.inner_text(value, "profileId"),
        description=r.inner_text(value, "description"),
        prompt=r.inner_text(value, "prompt"),
        status=r.inner_text(value, "status"),
        created_at_ms=r.inner_time(value, "createdAt"),
        updated_at_ms=r.inner_time(value, "updatedAt"),
        completed_at_ms=r.inner_time(value, "completedAt"),
        duration_ms=r.inner_int(value, "totalDurationMs"),
        total_tokens=r.inner_int(value, "totalTokens"),
        tool_calls=r.inner_int(value, "totalToolUseCount"),
        error=error if isinstance(error, str) else r.json_text(error),
        cwd=r.inner_text(value, "cwd"),
        usage_json=r.json_text(r.inner(value, "usage")),
        output=output,
        extra_json=r.json_text({k: v for k, v in value.items() if k not in _KNOWN}),
    )
