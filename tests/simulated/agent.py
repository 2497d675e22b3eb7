"""An agent at work: it keeps a prompt, sends it, and notes what is true of each request.

A scenario bends the prompt, the parameters or the clock by hand, and says with `send` what that
makes of the request.
"""

import json
import random
from dataclasses import replace
from typing import Any

from tests.simulated.houses import House
from tests.simulated.sections import system_blocks
from tests.simulated.texts import Library, Shelf
from tests.simulated.wire import (
    MESSAGES,
    SYSTEM,
    Billed,
    Event,
    Label,
    Mark,
    Message,
    Part,
    Sent,
    Step,
    Story,
    healthy,
)

START_MS = 1_768_208_531_000
APPEND = healthy()
MAIN = "main_turn"


class Agent:
    """A session with one provider.

    Everything that a scenario may bend is public: `tools`, `system`, `talk`, `params`, `headers`,
    `model`, `answered_by`, `endpoint`, `node`, `ttl`, `marked`.
    """

    def __init__(
        self, house: House, library: Library, seed: str, *, tools: int = 14, thinks: bool = True
    ) -> None:
        self.house = house
        self.rng = random.Random(seed)
        self.shelf = Shelf(library, self.rng)
        self.server = house.server()
        self.session = f"sess_{self.rng.randrange(16**8):08x}"
        self.tools: list[Part] = self.shelf.tools[:tools]
        self.texts = {"model": house.model, "root": "/home/dev/uploader"}
        self.system: list[Part] = system_blocks(self.rng, self.texts)
        self.talk: list[Message] = []
        self.params: dict[str, Any] = {"max_tokens": 32_000, "stream": True}
        self.headers: dict[str, str] = {
            "user-agent": "dash/1.4.0",
            "x-session-id": self.session,
        }
        self.model = house.model
        self.answered_by = ""
        self.endpoint = house.endpoint
        self.node = "a"
        self.ttl = "5m"
        self.marked = house.marks
        self.mark_talk = True
        self.extra_marks: tuple[Mark, ...] = ()
        self.client_version = "1.4.0"
        self.thinks = thinks and house.thinks
        self.now_ms = START_MS + self.rng.randrange(3_600_000)
        self.steps: list[Step] = []
        self.events: list[Event] = []
        self._reply: tuple[Part, ...] = ()
        self._last: int | None = None
        self._unlogged = 0
        self._calls = 0
        self._in_turn = 0

    # ---- the conversation -----------------------------------------------------------------------

    def ask(self, *more: Part, size: str = "short") -> None:
        """The user writes; what the model said last stands before it."""
        self._take_reply()
        shape = "string" if not more else "array"
        text = Part("text", self.shelf.take(size), shape=shape)
        self.talk.append(Message("user", (*more, text)))
        self._in_turn = 0

    def work(self, calls: int | None = None, size: str = "") -> None:
        """The model's tool calls, and their results."""
        for call in self._take_reply(calls or self.rng.choice((1, 1, 2, 3))):
            text = self.shelf.take(size or self.rng.choice(("short", "medium", "medium")))
            result = Part("result", text, call.name, call.call_id, "string")
            self.talk.append(Message("tool", (result,)))

    def note(self, body: str) -> Part:
        """A reminder, as the agent wraps it."""
        return Part("text", f"<system-reminder>\n{body}\n</system-reminder>")

    def warm(self, steps: int = 4) -> None:
        """A first request and some that go on."""
        self.ask(size="medium")
        self.send(healthy("first"))
        for n in range(steps - 1):
            if n % 3 == 2:
                self.ask()
            else:
                self.work(calls=2, size="medium" if n % 2 else "long")
            self.send(APPEND)

    def go_on(self, steps: int = 2, label: Label = APPEND) -> None:
        """More steps of ordinary work."""
        for n in range(steps):
            if n == 2:
                self.ask()
            else:
                self.work()
            self.send(label)

    # ---- sending --------------------------------------------------------------------------------

    def send(
        self,
        label: Label,
        *,
        after_s: float | None = None,
        source: str = MAIN,
        fails: int = 0,
        attempt: int = 1,
        thinks_s: float | None = None,
        takes_s: float | None = None,
        **log: Any,
    ) -> Step:
        """Send the prompt as it stands. `after_s` counts from the start of the request before;
        `thinks_s` is the time to the first token, `takes_s` from there to the end; `log` says
        what the log leaves out."""
        if self.steps:
            self.now_ms += round(1_000 * (after_s or self._pause_s()))
        self._in_turn += source == MAIN
        first = self.now_ms + round(1_000 * (thinks_s or self.rng.uniform(1.1, 1.6)))
        self._reply = self._answer()
        end = first + round(1_000 * (takes_s or self.rng.uniform(0.5, 3.0)))
        sent = self._sent(source, first, end, fails, attempt)
        billed: Billed | None = None if fails else self.server.answer(sent)
        step = Step(sent, billed, label, **log)
        self._last = len(self.steps)
        self.steps.append(step)
        return step

    def tell(self, kind: str, text: str) -> None:
        """The log tells of something that happens now."""
        self.events.append(Event(self.now_ms + 500, kind, text))

    def story(self, name: str) -> Story:
        """What came of it."""
        logged = self.steps[self._unlogged :]
        steps = sorted(logged, key=lambda step: (step.sent.start_ms, step.sent.key))
        return Story(name, self.house.name, tuple(steps), tuple(self.events))

    def branch(self, name: str) -> "Agent":
        """Another conversation on the same server and clock, with the same head: a subagent."""
        other = object.__new__(Agent)
        other.__dict__.update(self.__dict__)
        other.talk = []
        other.tools, other.system = list(self.tools), list(self.system)
        other.params, other.headers = dict(self.params), dict(self.headers)
        other.session = f"{self.session}_{name}"
        other._reply, other._last, other._in_turn = (), None, 0
        return other

    # ---- inside ---------------------------------------------------------------------------------

    def marks(self) -> tuple[Mark, ...]:
        """The markers: on the last two system blocks, and on the last piece of the last message."""
        if not self.marked:
            return ()
        last = len(self.system) - 1
        found = [Mark(SYSTEM, i, 0, self.ttl) for i in (last - 1, last) if i >= 0]
        found += self.extra_marks
        if self.talk and self.mark_talk:
            at = len(self.talk) - 1
            found.append(Mark(MESSAGES, at, len(self.talk[at].parts) - 1, self.ttl))
        return tuple(dict.fromkeys(found))

    def take_nothing(self) -> None:
        """The last answer does not become part of the conversation."""
        self._reply = ()

    def forget_log(self) -> None:
        """The log begins here."""
        self.now_ms = self.steps[-1].sent.start_ms + 9_000
        self._unlogged = len(self.steps)

    def _sent(self, source: str, first_ms: int, end_ms: int, fails: int, attempt: int) -> Sent:
        number = len(self.steps)
        return Sent(
            key=f"{self.session}.{number:03}",
            lane=f"{source}@{self.house.provider_id}/{self.model}#{self.session}",
            source=source,
            model=self.model,
            answered_by=self.answered_by or self.model,
            endpoint=self.endpoint,
            session=self.session,
            tools=tuple(self.tools),
            system=tuple(self.system),
            messages=tuple(self.talk),
            marks=self.marks(),
            params={"body": dict(self.params)},
            headers=dict(self.headers),
            start_ms=self.now_ms,
            first_ms=first_ms,
            end_ms=end_ms,
            reply=self._reply,
            attempt=attempt,
            step=max(1, self._in_turn),
            fails=fails,
            node=self.node,
            client_version=self.client_version,
        )

    def _answer(self) -> tuple[Part, ...]:
        """What the model says: some thought and a sentence. Whether it calls tools as well is
        decided when the conversation goes on."""
        found: list[Part] = []
        if self.thinks:
            found.append(Part("reasoning", self.shelf.take("prose")))
        return (*found, Part("text", self.shelf.take("short").split("\n")[0]))

    def _call(self) -> Part:
        self._calls += 1
        tool = self.rng.choice(self.tools[:6] or [Part("tool", "", "Read")])
        given = {"path": f"src/part_{self._calls}.py", "limit": self.rng.randint(50, 900)}
        text = json.dumps(given, separators=(",", ":"))
        return Part("call", text, tool.name, f"call_{self._calls}")

    def _take_reply(self, count: int = 0) -> list[Part]:
        """Put the last answer into the conversation, with `count` tool calls (returned)."""
        made = [self._call() for _ in range(count)]
        said = (*self._reply, *made)
        if said:
            self.talk.append(Message("assistant", said))
        if self._reply and self._last is not None:
            sent = replace(self.steps[self._last].sent, reply=said)
            billed = self.steps[self._last].billed
            if billed is not None:
                billed = replace(billed, output=self.server.said(sent))
            self.steps[self._last] = replace(self.steps[self._last], sent=sent, billed=billed)
        self._reply = ()
        return made

    def _pause_s(self) -> float:
        least = self.house.pace_s
        return self.rng.uniform(20, 110) if self._in_turn == 0 else self.rng.uniform(least, 25)
