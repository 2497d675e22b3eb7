"""How well sections and reminders are recognised, measured on the sample logs.

    python benchmarks/anatomy_accuracy.py [--samples DIR] [--misses]

The truth is what the generator of the samples recorded in `expected.json`; the recognition knows
nothing of the generator. Two passes: with the section texts of the log's `context.built` lines, and
without. What the format's description gives no words for (a fork's notes, `diagnostics`, the
wrapped `goal_completion_verification`) is right when it is reported as unknown.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tracer.anatomy.messages import BlockCache
from tracer.anatomy.prompt import AnatomyContext, PromptAnatomy, anatomy_of
from tracer.anatomy.reminder_sources import UNKNOWN
from tracer.anatomy.section_spans import LoggedText
from tracer.assemble.windows import Windows
from tracer.formats import zcode_log, zcode_model_io
from tracer.formats._zcode_blocks import message_of, parse_tools
from tracer.hashing import norm_hash, wire_hash
from tracer.model.events import LogEvent, ModelCall, WindowKind
from tracer.model.prompt import (
    Block,
    Kind,
    Marker,
    MarkerValue,
    Message,
    PlacedBlock,
    Prompt,
    Tier,
)

SAMPLES = Path(__file__).resolve().parents[1] / "sample-logs" / "zcode"
WITHOUT_WORDS = frozenset(
    {
        "agent_listing_delta",
        "diagnostics",
        "goal_completion_verification",
        "memory_recall",
        "runtime_restart_tasks",
    }
)
"""Sources of which no opening is known; inside a tool's result the place names them."""

Json = dict[str, Any]
Known = dict[str, list[tuple[int, tuple[LoggedText, ...]]]]


@dataclass(slots=True)
class Score:
    """Hits and misses of one kind of fact. `open_` counts hits that name two sources."""

    expected: int = 0
    hits: int = 0
    extra: int = 0
    open_: int = 0
    misses: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Hits over what was expected and what was found beside it."""
        total = self.expected + self.extra
        return self.hits / total if total else 1.0

    def compare(self, expected: Sequence[str], found: Sequence[str], where: str) -> None:
        """Count two lists of facts that should be the same, whatever their order."""
        want, got = Counter(expected), Counter(found)
        both = want & got
        self.expected += want.total()
        self.hits += both.total()
        self.extra += (got - want).total()
        for fact in (want - both).elements():
            self.misses[f"{where} missed {fact}"] += 1
        for fact in (got - both).elements():
            self.misses[f"{where} found {fact}"] += 1


Report = dict[str, Score]


def prompts_of(path: Path) -> Iterator[tuple[ModelCall, Prompt]]:
    """Every request of a model I/O file that has a message list, with its prompt."""
    windows: Windows[Message] = Windows()
    for line in path.read_bytes().split(b"\n"):
        event = zcode_model_io.FORMAT.parse(line) if line.strip() else None
        if not isinstance(event, ModelCall) or event.window.kind is WindowKind.ABSENT:
            continue
        if event.reset_json:
            windows.begin_segment()
        window = event.window
        items = [event.parsers.message(raw) for raw in window.items]
        bare = [replace(message, markers=()) for message in items]
        undone = windows.undo(window.kind, window.offset, window.count, bare)
        messages, proven = undone.messages, undone.verified_from
        marked = {window.offset + i: m.markers for i, m in enumerate(items) if m.markers}
        system = event.parsers.system(event.system) if event.system else ()
        for index, message in enumerate(system[: len(messages)]):
            messages[index] = replace(message, markers=())
        tools = event.parsers.tools(event.tools) if event.tools else ()
        blocks = _placed(tools, messages, marked)
        yield event, Prompt(tuple(replace(b, verified=_proven(b, proven)) for b in blocks))


def _proven(placed: PlacedBlock, verified_from: int) -> bool:
    """What is carried over from another record may be another text than what was sent."""
    index = placed.message_index
    return index is None or index >= verified_from or placed.block.tier is Tier.SYSTEM


def prompt_from(messages: Sequence[Json | None], tools: Sequence[Json] = ()) -> Prompt:
    """The prompt of a list of canonical messages; None stands for one that no record shows."""
    parsed = [None if m is None else message_of(m) for m in messages]
    marked = {i: m.markers for i, m in enumerate(parsed) if m is not None and m.markers}
    return Prompt(tuple(_placed(parse_tools(json.dumps(tools).encode()), parsed, marked)))


def _placed(
    tools: Sequence[Message],
    messages: Sequence[Message | None],
    marked: dict[int, tuple[MarkerValue, ...]],
) -> Iterator[PlacedBlock]:
    index = 0
    for position, tool in enumerate(tools):
        yield _block(index, position, None, 0, tool.blocks[0], None)
        index += 1
    leading = True
    for number, message in enumerate(messages):
        if message is None:
            gap = Block(Tier.MESSAGES, "", Kind.GAP, "")
            yield _block(index, number, number, 0, gap, None)
            index += 1
            continue
        leading = leading and message.role == "system"
        for place, block in enumerate(message.blocks):
            tier = Tier.SYSTEM if leading else Tier.MESSAGES
            marker = next((m for m in marked.get(number, ()) if m.block_index == place), None)
            found = marker and Marker(tier, number, *marker, message_index=number)
            yield _block(index, number, number, place, replace(block, tier=tier), found)
            index += 1


def _block(
    index: int,
    tier_index: int,
    message_index: int | None,
    block_index: int,
    block: Block,
    marker: Marker | None,
) -> PlacedBlock:
    return PlacedBlock(
        index,
        tier_index,
        message_index,
        block_index,
        block,
        wire_hash(block),
        norm_hash(block),
        0,
        marker,
    )


def log_events(folder: Path) -> Iterator[LogEvent]:
    """The lines of a sample's structured logs."""
    for path in sorted((folder / "log").glob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            event = zcode_log.FORMAT.parse(line) if line.strip() else None
            if isinstance(event, LogEvent):
                yield event


def known_texts(folder: Path) -> Known:
    """The section texts that the log tells, by session, with the time of the line."""
    known: Known = {}
    for event in log_events(folder):
        if event.built is not None and event.at_ms is not None:
            texts = tuple(
                LoggedText(s.source, s.name, s.text)
                for s in event.built.sections
                if s.text is not None
            )
            known.setdefault(event.session_id, []).append((event.at_ms, texts))
    return known


def evaluate(samples: Path = SAMPLES, *, with_log: bool) -> Report:
    """Compare every request of the samples with the truth."""
    report: Report = {
        name: Score()
        for name in ("sections", "reminders", "mcs messages", "mcs state", "variant")
        + ("demoted", "look-alikes")
    }
    for expected in sorted(samples.glob("*/expected.json")):
        folder = expected.parent
        rows = {
            (row["request_id"], row["attempt"]): row
            for session in json.loads(expected.read_text("utf-8"))["sessions"]
            for row in session["requests"]
        }
        known = known_texts(folder) if with_log else {}
        for path in sorted(folder.glob("*/model-io-*.jsonl")):
            cache = BlockCache()
            for number, (call, prompt) in enumerate(prompts_of(path)):
                row = rows[call.request_id, call.attempt]
                if row["message_count"] is not None:
                    context = AnatomyContext(_before(known, call), cache)
                    where = f"{folder.name}#{number}"
                    hidden = {b.message_index for b in prompt.blocks if not b.verified}
                    _compare(report, row, anatomy_of(prompt, context), hidden, where)
    return report


def _before(known: Known, call: ModelCall) -> tuple[LoggedText, ...]:
    lines = known.get(call.session_id, [])
    return tuple(text for at, texts in lines if at <= (call.started_at_ms or 0) for text in texts)


def _compare(
    report: Report, row: Json, found: PromptAnatomy, hidden: set[int | None], where: str
) -> None:
    """Compare one request, but for the messages that its record does not prove."""
    hidden |= {i for first, count in found.gaps for i in range(first, first + count)}
    sections = [
        f"{source} {span}"
        for source, span in zip(row["sections"], row["section_spans"], strict=True)
        if _message(span) not in hidden
    ]
    report["sections"].compare(
        sections,
        [
            f"{s.source} {s.message_index}:{s.start_char}-{s.end_char}"
            for s in found.sections
            if s.message_index not in hidden
        ],
        where,
    )
    _compare_reminders(report["reminders"], row, found, hidden, where)
    merged = [
        f"{m['message_index']} {m['sources']}"
        for m in row["mcs"]
        if m["message_index"] not in hidden
    ]
    report["mcs messages"].compare(
        [_known_words(text) for text in merged],
        [
            f"{m.message_index} {list(m.sources)}"
            for m in found.mcs_messages
            if m.message_index not in hidden
        ],
        where,
    )
    _compare_state(report["mcs state"], row, found, where)
    report["variant"].compare([str(row["variant"])], [found.variant.value], where)
    wordless = {r["message_index"] for r in row["reminders"] if r["source"] in WITHOUT_WORDS}
    report["demoted"].compare(
        [str(i) for i in row["demoted"] if i not in hidden | wordless],
        [str(d.message_index) for d in found.demoted if d.message_index not in hidden],
        where,
    )
    report["look-alikes"].compare(
        [str(i) for i in row["look_alikes"] if i not in hidden],
        [str(i) for i in {u.message_index for u in found.unverified} if i not in hidden],
        where,
    )


def _compare_reminders(
    score: Score, row: Json, found: PromptAnatomy, hidden: set[int | None], where: str
) -> None:
    """A source is right that is among those named; one without known words is right as unknown."""
    by_place = {
        f"{r.message_index}:{r.start_char}-{r.end_char} {r.via}": (r.source, *r.ambiguous_with)
        for r in found.reminders
        if r.message_index not in hidden
    }
    expected, named = [], []
    for reminder, span in zip(row["reminders"], row["reminder_spans"], strict=True):
        if _message(span) in hidden:
            continue
        place, source = f"{span} {reminder['via']}", reminder["source"]
        if source in WITHOUT_WORDS and reminder["via"] != "inline":
            source = UNKNOWN
        candidates = by_place.pop(place, ())
        score.open_ += len(candidates) > 1 and source in candidates
        expected.append(f"{source} {place}")
        if candidates:
            named.append(f"{source if source in candidates else candidates[0]} {place}")
    named += [f"{sources[0]} {place}" for place, sources in by_place.items()]
    score.compare(expected, named, where)


def _compare_state(score: Score, row: Json, found: PromptAnatomy, where: str) -> None:
    """A wrong state is a miss; one that nothing in the prompt tells is counted as open."""
    state = found.mcs.state.value
    if row["mcs_on"] is None or state == "undecidable":
        score.open_ += 1
        return
    score.compare(["on" if row["mcs_on"] else "off"], [state], where)


def _known_words(text: str) -> str:
    for source in WITHOUT_WORDS:
        text = text.replace(f"'{source}'", f"'{UNKNOWN}'")
    return text


def _message(span: str) -> int:
    return int(span.split(":", 1)[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=Path, default=SAMPLES)
    parser.add_argument("--misses", action="store_true", help="list what was missed")
    options = parser.parse_args()
    for title, with_log in (("with context.built", True), ("without it", False)):
        report = evaluate(options.samples, with_log=with_log)
        print(f"{title:<20} {'expected':>9} {'right':>7} {'open':>6} {'extra':>6} {'share':>8}")
        for name, score in report.items():
            counts = f"{score.expected:>9,} {score.hits:>7,} {score.open_:>6,} {score.extra:>6,}"
            print(f"  {name:<18} {counts} {score.share:>8.2%}")
        for name, score in report.items():
            for miss, times in score.misses.most_common() if options.misses else ():
                print(f"  {name}: {miss}" + (f" ({times} times)" if times > 1 else ""))
        print()


if __name__ == "__main__":
    main()
