"""The agent: it keeps its history in segments and lays every request out anew."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from generate.clock import Clock
from generate.segments.state import Known, Transaction, full_text, patch_text
from generate.segments.trace import MAIN_TURN, Built, Done, Item, Message, Note, Trace, Usage
from generate.segments.words import CAPABILITY_TOOLS, STABLE_TOOLS, Words
from generate.text import Json

MODEL_A = {"providerId": "example", "modelId": "model-a"}
MODEL_B = {"providerId": "example", "modelId": "model-b"}


@dataclass(frozen=True)
class Call:
    """A tool call and what it gave."""

    name: str
    input: Json
    result: str
    failed: bool = False


@dataclass(frozen=True)
class Setup:
    """How one agent is set up. `texts` tells that a World State is sent as a text beside its
    object; `window` and `reserve` are tokens."""

    words: Words
    capabilities: tuple[tuple[str, bool], ...] = (("web", True),)
    skills: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    texts: bool = True
    window: int = 32_000
    reserve: int = 4_000
    marked: bool = False


@dataclass
class Tail:
    """What stands behind the history, each for as long as it is due."""

    todo: Message | None = None
    repair: Message | None = None


@dataclass
class Agent:
    """One session. Every method that writes moves the clock."""

    session: str
    clock: Clock
    setup: Setup
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = self.setup.words
        self.model = MODEL_A
        self.run = ""
        self.active = list(self.setup.skills)
        self.catalogue = list(self.setup.catalogue or self.words.skills)
        self.switches = dict(self.setup.capabilities)
        self.instructions = self.words.instructions
        self.tail = Tail()
        self.transactions: list[Transaction] = []
        self.summary: Message | None = None
        self.covered: list[Message] = []
        self.shown: set[str] = set()
        self.history: list[Message] = []
        self.inputs: list[Message] = []
        self.loaded: list[Message] = []
        self.run_full: list[Message] = []
        self.timeline: list[Message] = []
        self.notes: list[Message] = []
        self._counts: dict[str, int] = {}
        self._named: dict[tuple[str, str], Message] = {}
        self.last_request = ""
        self.known = Known(
            {
                "cwd": self.words.cwd,
                "permissions": "ask",
                "model": self.model["modelId"],
                "capabilities": dict(self.switches),
            },
            {},
        )
        self.session_full = self._world("session", self.known.session)
        self.write(
            "session.started", agent="orchard", title=self.words.tasks[0], project=self.words.cwd
        )

    def trace(self) -> Trace:
        """What was written so far."""
        return Trace(self.session, self.items)

    # What happens

    def write(self, event: str, run: str = "", **keys: Any) -> None:
        """Write an event; keys that are None are left out."""
        at = self.clock.advance(7)
        said = {key: value for key, value in keys.items() if value is not None}
        self.items.append(Note(at, self.session, event, said, run))

    def start(self, task: str, attachment: str = "") -> None:
        """A run begins with an input: what the last one held joins the history."""
        self.history += [*self.inputs, *self.loaded, *self.run_full, *self.timeline, *self.notes]
        self.notes, self.timeline = [], []
        self.run = self._next("r")
        self.clock.advance(30_000)
        self.write("run.started", self.run)
        self.inputs = []
        self.add_input(task, attachment)
        self.loaded = [self._skill(name) for name in self.active]
        self.known.run = {
            "activeSkills": list(self.active),
            "browser": "",
            "attachments": ["rows.csv"] if attachment else [],
        }
        self.run_full = [self._world("run", self.known.run)]
        self._as_of_start = (self._catalogue(), self._collaboration())

    def add_input(self, text: str, attachment: str = "") -> None:
        """The person writes something before the model has answered."""
        self.inputs.append(self.message("user", "user_input", text))
        if attachment:
            self.inputs.append(self.message("user", "attachment_note", attachment))

    def end(self, status: str = "completed") -> None:
        """The run is over."""
        self.write("run.completed", self.run, status=status)

    def happens(self, role: str, kind: str, text: str, **keys: Any) -> Message:
        """Something joins the run's timeline."""
        message = self.message(role, kind, text, **keys)
        self.timeline.append(message)
        return message

    def activate(self, skill: str) -> None:
        """A skill is activated on the way: its text joins the timeline, the run's state tells."""
        self.active.append(skill)
        self.timeline.append(self._skill(skill))
        self.change("run", {"activeSkills": list(self.active)})

    def change(self, scope: str, patch: Json, reason: str = "") -> None:
        """The World State changes: a diff stands where it happened."""
        self.known.apply(scope, patch)
        keys: Json = {"scope": scope, "mode": "diff", "patch": patch}
        if reason:
            keys["reason"] = reason
        text = patch_text(scope, patch, reason) if self.setup.texts else None
        diff = self.message("system", "world_state", text, **keys)
        if self.items_since_run():
            (self.timeline if self.timeline else self.inputs).append(diff)
        else:
            self.notes.append(diff)

    def items_since_run(self) -> bool:
        """Whether a run is open."""
        ends = [i for i in self.items if isinstance(i, Note) and i.event.startswith("run.")]
        return bool(ends) and ends[-1].event == "run.started"

    def switch(self, name: str, enabled: bool) -> None:
        """A capability is switched, for a reason."""
        reason = (self.words.reason_on if enabled else self.words.reason_off).format(name=name)
        self.write("capability.changed", name=name, enabled=enabled, reason=reason)
        self.switches[name] = enabled
        self.change("session", {"capabilities": {name: enabled}}, reason)

    def use_model(self, model: Json) -> None:
        """The person takes another model."""
        self.model = model
        self.change("session", {"model": model["modelId"]})

    # Requests

    def request(
        self,
        reply: str = "",
        calls: Sequence[Call] = (),
        status: str = "completed",
        attempts: int = 1,
    ) -> Built:
        """One request and its answer. A status other than `completed` is that of the last attempt;
        attempts before it failed."""
        built = self.lay_out()
        self.send(built, "tool_calls" if calls else "stop", attempts, status)
        self.shown |= {message.id for message in built.messages()}
        self.tail.repair = None
        self.last_request = built.request
        if status == "completed":
            self._answer(reply, calls)
        return built

    def send(self, built: Built, finish: str, attempts: int, status: str = "completed") -> None:
        """Write a prompt, the agent's account of it, and how its attempts ended."""
        built.at = self.clock.advance(500)
        self.items.append(built)
        at = self.clock.advance(2)
        self.items.append(Usage(at, built.request, self.setup.window, self.setup.reserve))
        for attempt in range(1, attempts + 1):
            self._done(built, attempt, status if attempt == attempts else "failed", finish)

    def lay_out(self) -> Built:
        """The next prompt, without sending it."""
        segments: list[tuple[int, list[Message]]] = [
            (1, self._system()),
            (2, [self._as_of_start[0]]),
            (3, [self._as_of_start[1]]),
            (4, [self._guide(name) for name in sorted(self.switches) if self.switches[name]]),
            (5, [self.session_full]),
            (6, [self.summary] if self.summary else []),
            (7, list(self.history)),
            (8, list(self.inputs)),
            (9, list(self.loaded)),
            (10, list(self.run_full)),
            (11, list(self.timeline)),
            (12, [self.tail.todo] if self.tail.todo else []),
            (13, [self.tail.repair] if self.tail.repair else []),
            (14, [t.snapshot(self.setup.texts) for t in self.transactions]),
        ]
        enabled = [name for name in sorted(self.switches) if self.switches[name]]
        dynamic = [tool for name in enabled for tool in CAPABILITY_TOOLS[name]]
        return Built(
            self.clock.now,
            self.session,
            self.run,
            self._next("q"),
            self.model,
            list(STABLE_TOOLS),
            sorted(dynamic, key=lambda tool: str(tool["name"])),
            [(number, found) for number, found in segments if found],
            MAIN_TURN,
            known=self.known.copy(),
        )

    def _done(self, built: Built, attempt: int, status: str, finish: str) -> None:
        duration = 700 + 10 * len(built.messages())
        at = self.clock.advance(duration)
        error = None
        if status == "failed":
            error = {"name": "Overloaded", "message": "The server is busy.", "statusCode": 529}
        elif status == "cancelled":
            error = {"name": "AbortError", "message": "Stopped by the person."}
        self.items.append(
            Done(at, self.session, self.run, built.request, attempt, status, duration,
                 finish=finish, error=error)
        )  # fmt: skip

    def _answer(self, reply: str, calls: Sequence[Call]) -> None:
        keys: Json = {}
        if calls:
            made = [(self._next("c"), call) for call in calls]
            rows = [{"id": i, "name": call.name, "input": call.input} for i, call in made]
            keys["toolCalls"] = rows
        self.timeline.append(self.message("assistant", "assistant", reply, **keys))
        for call_id, call in made if calls else []:
            said: Json = {"toolCallId": call_id}
            if call.failed:
                said["isError"] = True
            self.timeline.append(self.message("tool", "tool_result", call.result, **said))

    # The tail

    def plan(self, text: str) -> None:
        """The plan changes; an empty text ends it."""
        self.tail.todo = self.message("system", "todo_reminder", text) if text else None

    def ask_repair(self, text: str = "") -> None:
        """The next request, and only that, asks for a repair."""
        self.tail.repair = self.message("system", "repair_reminder", text or self.words.repair)

    def open_file(self, path: str) -> Transaction:
        """A file transaction begins."""
        fresh = Transaction(self._next("t"), path)
        self.transactions.append(fresh)
        self.write("transaction.opened", self.run, **fresh.fields())
        return fresh

    def step(self, transaction: Transaction) -> None:
        """A piece was appended."""
        transaction.advance()
        self.write("transaction.step", self.run, **transaction.fields())

    def close_file(self, transaction: Transaction) -> None:
        """The file is whole."""
        transaction.status = "committed"
        self.transactions.remove(transaction)
        self.write(
            "transaction.closed",
            self.run,
            transactionId=transaction.id,
            filePath=transaction.path,
            status=transaction.status,
        )

    # Compaction

    def compact(self, messages: Sequence[Message], text: str) -> None:
        """Replace messages that were shown by a summary; what it covers adds up."""
        covers = [*self.covered, *messages]
        ids = [message.id for message in covers]
        self.write("compaction.started", self.run or "", reason="window")
        self.covered = covers
        gone = {message.id for message in messages}
        for part in (self.history, self.inputs, self.loaded, self.run_full, self.timeline):
            part[:] = [m for m in part if m.id not in gone]
        self.summary = self.message("user", "summary", text, covers=ids)
        self.write("compaction.completed", self.run or "", covers=ids, summaryId=self.summary.id)

    def fail_to_compact(self) -> None:
        """A compaction that came to nothing: everything stays."""
        self.write("compaction.started", self.run or "", reason="window")
        self.write("compaction.failed", self.run or "", reason="the summary was cut off")

    # Parts

    def message(self, role: str, kind: str, content: Any, **keys: Any) -> Message:
        """A message with an id of its own."""
        return Message(self._next("m"), role, kind, content, keys)

    def _next(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}{self._counts[kind]}"

    def _kept(self, kind: str, role: str, text: str, **keys: Any) -> Message:
        """The message with that text, the same one whenever it is asked for."""
        known = self._named.get((kind, text))
        if known is None:
            known = self._named[kind, text] = self.message(role, kind, text, **keys)
        return known

    def _system(self) -> list[Message]:
        return [
            self._kept("rules", "system", self.words.rules),
            self._kept("tool_guidance", "system", self.words.tool_guidance),
            self._kept("transaction_rules", "system", self.words.transaction_rules),
            self._kept("user_instructions", "system", self.instructions),
        ]

    def _catalogue(self) -> Message:
        lines = [f"- {name}: {self.words.skills[name][0]}" for name in sorted(self.catalogue)]
        return self._kept("skill_catalog", "system", "\n".join(lines))

    def _collaboration(self) -> Message:
        return self._kept("collaboration", "system", self.words.collaboration)

    def _guide(self, name: str) -> Message:
        text = self.words.guides[name]
        return self._kept("capability_guide", "system", text, capability=name)

    def _skill(self, name: str) -> Message:
        return self.message("user", "skill_body", self.words.skills[name][1], skill=name)

    def _world(self, scope: str, state: Json) -> Message:
        text = full_text(scope, state) if self.setup.texts else None
        keys: Json = {"scope": scope, "mode": "full", "state": deepcopy(state)}
        message = self.message("system", "world_state", text, **keys)
        if self.setup.marked and scope == "session":
            message = replace(message, keys=keys | {"cacheControl": {"type": "ephemeral"}})
        return message
