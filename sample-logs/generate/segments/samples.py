"""The runs of the open format: healthy ones, and one for each rule that is broken."""

import json
from dataclasses import dataclass

from generate.segments.breakers import BREAKS, Break, Broken
from generate.segments.stories import STORIES
from generate.segments.trace import Item, Trace
from generate.segments.write import Writer
from generate.text import Json

# The story that a rule's first way to be broken is told in; the plain one for all others.
STORY = {
    "tail-not-accumulated": "transaction",
    "diff-at-its-time": "capabilities",
    "initial-stays-initial": "skills",
    "inputs-kept": "helpers",
    "capability-consistent": "capabilities",
    "capability-withdrawn": "capabilities",
    "todo-budget": "transaction",
    "repair-once": "transaction",
    "transaction-minimal": "transaction",
    "compaction-boundary": "compaction",
    "summary-shorter": "compaction",
    "history-not-reread": "skills",
}
FAMILY = "layout-14"
FOLDER = "context-trace"
# Usage counts cache reads in the input of some agents and beside it in that of others.
EXCLUSIVE = ("capabilities", "helpers")


@dataclass(frozen=True)
class Run:
    """One folder. `rule` is the one that it breaks, at `broken`; empty for a healthy run."""

    name: str
    shows: str
    traces: tuple[Trace, ...]
    rule: str = ""
    broken: Broken | None = None

    def files(self) -> dict[str, bytes]:
        """Its files by path, `expected.json` among them."""
        writer = Writer(self.name not in EXCLUSIVE)
        lines = {f"{trace.session}.jsonl": writer.lines(trace) for trace in self.traces}
        out = {
            path: "".join(f"{line}\n" for line in found).encode() for path, found in lines.items()
        }
        counts = {path: len(found) for path, found in lines.items()}
        return out | {"expected.json": self._expected(counts, writer.rows).encode()}

    def _expected(self, counts: dict[str, int], rows: list[tuple[str, Json]]) -> str:
        """One line a request, so that the truth can be read beside the trace."""
        head = {
            "shows": self.shows,
            "files": [
                {"path": path, "format": "context-trace", "lines": n, "records": n, "skipped": []}
                for path, n in sorted(counts.items())
            ],
            "findings": self._findings(),
        }
        text = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
        sessions = [self._session(t.session, [r for s, r in rows if s == t.session])
                    for t in self.traces]  # fmt: skip
        joined = ",\n  ".join(sessions)
        return f'{text},\n "sessions": [\n  {joined}\n ]\n}}\n'

    def _findings(self) -> list[Json]:
        if self.broken is None:
            return []
        where = {"request_id": self.broken.request, "message_index": self.broken.index}
        return [{"rule": f"{FAMILY}/{self.rule}", **where}]

    def _session(self, session: str, rows: list[Json]) -> str:
        known: Json | None = None
        lines = []
        for row in rows:
            if row["known"] in (known, None) or self.rule:
                row = {key: value for key, value in row.items() if key != "known"}
            else:
                known = row["known"]
            if self.rule:
                row = {key: value for key, value in row.items() if key not in ("tools", "usage")}
            lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        body = ",\n    ".join(lines)
        return f'{{"session_id": "{session}", "requests": [\n    {body}\n  ]}}'


def build_all() -> list[Run]:
    """Every run, the healthy ones first."""
    found = [
        Run(name, " ".join((story.__doc__ or "").split()), tuple(story()))
        for name, story in STORIES.items()
    ]
    rules = dict.fromkeys(way.rule for way in BREAKS)
    firsts = [next(way for way in BREAKS if way.rule == rule) for rule in rules]
    return found + [_broken(way) for way in firsts]


def _broken(way: Break) -> Run:
    trace = STORIES[STORY.get(way.rule, "plain-runs")]()[0].copy()
    broken = way.apply(trace, lambda found: found[min(1, len(found) - 1)])
    if broken is None:
        raise ValueError(f"{way.rule}: the story gives no occasion")
    session = f"broken-{way.rule}"
    _, started = next(trace.notes("session.started"))
    started.keys["title"] = f"{way.rule}: {way.shows}"
    shown = Trace(session, _until(trace, broken.request))
    return Run(session, way.shows, (shown,), way.rule, broken)


def _until(trace: Trace, request: str) -> list[Item]:
    """The items up to the one request behind the broken one."""
    built = trace.built()
    place = next(i for i, item in enumerate(built) if item.request == request)
    if place + 2 >= len(built):
        return trace.items
    last = built[place + 1].request
    end = max(i for i, item in enumerate(trace.items) if getattr(item, "request", "") == last)
    return trace.items[: end + 1]


def sample_files() -> dict[str, bytes]:
    """Every file by its path below `sample-logs`."""
    return {
        f"{FOLDER}/{run.name}/{path}": data
        for run in build_all()
        for path, data in run.files().items()
    }
