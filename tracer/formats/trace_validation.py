"""Is a trace a good one? Every line against the shapes of its event, and lines against each other.

What the format does not know is kept by it, so it is a note here and never an error, but where a
slip of the pen loses a count.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tracer.formats._json import decode_object, int_of, strip_line, text_of
from tracer.formats._time import epoch_ms
from tracer.formats._trace_answers import Answers, usage_misfits
from tracer.formats._trace_events import ENVELOPE, EVENTS, LAYOUTS, SEGMENTS
from tracer.formats._trace_parts import list_of, messages_of, tools_of
from tracer.formats._trace_shapes import Misfit
from tracer.formats._trace_unknown import unknown_parts
from tracer.model.source import Skipped
from tracer.model.trace_views import ProblemLevel, TraceProblem

_ERROR, _NOTE = ProblemLevel.ERROR, ProblemLevel.NOTE
_BLANK = b" \t\r\n\xef\xbb\xbf"
_NAMED_IDS = 3


class _Broken(NamedTuple):
    """A line that could not be used, and so defines none of its messages."""

    file: str
    line: int


class TraceValidator:
    """Takes the lines of one or more files in their order: a session may go on in the next file."""

    def __init__(self) -> None:
        self.events = 0
        self.requests: set[tuple[str, str, int]] = set()
        self.sessions: set[str] = set()
        self._file = ""
        self._broken: _Broken | None = None
        self._ids: dict[tuple[str, str], frozenset[str]] = {}
        self._defined: set[str] = set()
        self._missing: set[tuple[str, str]] = set()
        self._answers = Answers()
        self._last_ms: dict[str, int] = {}
        self._told: set[str] = set()

    def begin(self, file: str) -> None:
        """The lines that follow are those of another file."""
        self._file = file

    def unreadable(self, number: int) -> None:
        """A line was left out before it could be looked at."""
        self._broken = _Broken(self._file, number)

    def line(self, number: int, data: bytes) -> Iterator[TraceProblem]:
        """What is to be said of a line. Blank lines are no matter."""
        if not data.strip(_BLANK):
            return
        decoded = decode_object(strip_line(data))
        if isinstance(decoded, Skipped):
            self.unreadable(number)
            yield TraceProblem(_ERROR, number, "", decoded.reason, "Write one JSON object a line.")
            return
        self.events += 1
        value = decoded[0]
        found = list(misfits(value))
        for misfit in found:
            yield TraceProblem(_ERROR, number, *misfit)
        for level, misfit in self._together(value):
            yield TraceProblem(level, number, *misfit)
        if value.get("event") == "context.built" and not _usable(value):
            self.unreadable(number)
        for unknown in unknown_parts(value):
            if unknown.name not in self._told:
                self._told.add(unknown.name)
                level = _ERROR if unknown.error else _NOTE
                yield TraceProblem(level, number, *unknown.misfit)

    def _once(self, name: str, misfit: Misfit) -> Iterator[tuple[ProblemLevel, Misfit]]:
        """A note that is told once of all the lines that give reason for it."""
        if name not in self._told:
            self._told.add(name)
            yield _NOTE, misfit

    def _together(self, value: dict[str, Any]) -> Iterator[tuple[ProblemLevel, Misfit]]:
        """What a line says against the lines before it."""
        session, at_ms = text_of(value.get("sessionId")), epoch_ms(text_of(value.get("timestamp")))
        if session:
            self.sessions.add(session)
        if session and at_ms is not None:
            last_ms = self._last_ms.get(session, at_ms)
            if at_ms < last_ms:
                yield (
                    _NOTE,
                    Misfit(
                        "timestamp",
                        "is earlier than that of a line before it in the same session",
                        "Write events in the order in which they happen.",
                    ),
                )
            self._last_ms[session] = max(at_ms, last_ms)
        match value.get("event"):
            case "context.built":
                yield from self._prompt(session, value)
            case "request.completed":
                yield from self._answer(session, value)
            case "compaction.started" | "compaction.completed" | "compaction.failed":
                yield from self._covered(session, "covers", value)

    def _answer(self, session: str, value: dict[str, Any]) -> Iterator[tuple[ProblemLevel, Misfit]]:
        request = text_of(value.get("requestId"))
        if request and not self._answers.knows(session, request):
            fix = "Write the prompt before it is sent; without it only the usage is known."
            yield (
                _NOTE,
                Misfit(
                    "requestId",
                    f"no `context.built` before names `{request}`{self._because()}",
                    fix,
                ),
            )
        for misfit in self._answers.ended(session, value):
            yield from self._once(f"{misfit.where} {session}", misfit)
        for wrong, misfit in usage_misfits(value):
            yield (_ERROR if wrong else _NOTE), misfit

    def _prompt(self, session: str, value: dict[str, Any]) -> Iterator[tuple[ProblemLevel, Misfit]]:
        request = text_of(value.get("requestId"))
        name = session, request, int_of(value.get("attempt")) or 1
        if request and name in self.requests:
            yield _ERROR, Misfit(
                "requestId", f"`{request}` was used by an earlier prompt",
                "Give each request an id of its own; another attempt of the same prompt is only a "
                "`request.completed` with its number.",
            )  # fmt: skip
        if not _usable(value):
            yield from _order(value)
            return
        self.requests.add(name)
        self._answers.asked(session, value)
        first = session not in self._defined
        missing: dict[str, str] = {}
        yield from self._messages(session, value, missing)
        new = {i: w for i, w in missing.items() if (session, i) not in self._missing}
        if new:
            self._missing.update((session, i) for i in new)
            yield _ERROR, self._undefined(new, first)
        if value.get("layout") in LAYOUTS:
            yield from self._segments(session, value)
        yield from _order(value)

    def _messages(
        self, session: str, value: dict[str, Any], missing: dict[str, str]
    ) -> Iterator[tuple[ProblemLevel, Misfit]]:
        """The messages of a prompt against each other and those before it. Ids that nobody has
        written come into `missing`, with the place where they stand."""
        here: set[str] = set()
        calls: set[str] = set()
        for where, message in messages_of(value):
            ref, own = text_of(message.get("ref")), text_of(message.get("id"))
            if ref and (session, ref) not in self._ids:
                missing.setdefault(ref, where)
            if (ref or own) in here:
                yield _NOTE, Misfit(
                    where, f"`{ref or own}` stands twice in this prompt",
                    "Give two messages two ids, even if their text is the same.",
                )  # fmt: skip
            if ref or own:
                here.add(ref or own)
            if ref:
                calls |= self._ids.get((session, ref), frozenset())
                continue
            made = _calls(message)
            calls |= made
            answers = text_of(message.get("toolCallId"))
            if answers and answers not in calls and not missing:
                yield from self._once(
                    f"call {session} {answers}",
                    Misfit(
                        f"{where}.toolCallId", f"`{answers}` is no tool call before it",
                        "Write the `id` that the call has in its `toolCalls`.",
                    ),
                )  # fmt: skip
            if own:
                self._ids[session, own] = made
                self._defined.add(session)
            yield from self._covered(session, f"{where}.covers", message)

    def _covered(
        self, session: str, where: str, value: dict[str, Any]
    ) -> Iterator[tuple[ProblemLevel, Misfit]]:
        """Covered messages that no prompt has carried."""
        for index, covered in enumerate(list_of(value.get("covers"))):
            if isinstance(covered, str) and (session, covered) not in self._ids:
                what = f"`{covered}` is no message of a prompt before{self._because()}"
                yield from self._once(
                    f"covers {session} {covered}",
                    Misfit(f"{where}[{index}]", what, "Name messages by their `id`."),
                )

    def _undefined(self, missing: dict[str, str], first: bool) -> Misfit:
        """References to messages that were not defined, one for all of a line: they mostly have
        one reason. `first` tells that the session has defined nothing before."""
        names = [f"`{name}`" for name in missing]
        told = ", ".join(names[:_NAMED_IDS])
        more = len(names) - _NAMED_IDS
        if more > 0:
            told += f" and {more:,} more"
        fix = "Write the message in full where it is first sent."
        if self._broken is not None:
            fix = "Mend that line first: what it defines is unknown."
        elif first:
            fix += (
                " If an earlier file of the session has it, name that file, too, before this one."
            )
        return Misfit(
            f"{next(iter(missing.values()))}.ref",
            f"refers to {told}, which no `context.built` before has written in full"
            f"{self._because()}",
            fix,
        )

    def _because(self) -> str:
        """The line that may be the reason why something is not known."""
        if self._broken is None:
            return ""
        file = f" of {self._broken.file}" if self._broken.file != self._file else ""
        return f": line {self._broken.line}{file} could not be used"

    def _segments(
        self, session: str, value: dict[str, Any]
    ) -> Iterator[tuple[ProblemLevel, Misfit]]:
        """The numbers of a known layout's segments. Their rules are those of the check; here is
        told that it has something to say."""
        before = 0
        for at, segment in enumerate(list_of(value.get("segments"))):
            n = int_of(segment.get("n")) if isinstance(segment, dict) else None
            if n is None:
                continue
            where = f"segments[{at}].n"
            if n >= 1 and n not in SEGMENTS:
                yield _ERROR, Misfit(
                    where, f"{n} is no segment of `{value['layout']}`",
                    f"Write a number from {SEGMENTS[0]} to {SEGMENTS[-1]}, or name the layout "
                    "otherwise.",
                )  # fmt: skip
            elif n <= before:
                what = f"{n} stands twice" if n == before else f"{n} comes after {before}"
                fix = "Write segments in order, each once; `tracer check` tells of every request."
                yield from self._once(f"segments {session}", Misfit(where, what, fix))
            if n in SEGMENTS:
                before = max(before, n)


def _usable(value: dict[str, Any]) -> bool:
    """Whether a prompt can be tied to anything, and has its messages where they are looked for."""
    held = value.get("segments", value.get("messages"))
    return all(text_of(value.get(k)) for k in ("sessionId", "requestId")) and isinstance(held, list)


def _calls(message: dict[str, Any]) -> frozenset[str]:
    """The ids of a message's tool calls, in its own list or among its blocks."""
    calls = (*list_of(message.get("toolCalls")), *list_of(message.get("content")))
    return frozenset(text_of(call.get("id")) for call in calls if isinstance(call, dict))


def misfits(value: dict[str, Any]) -> Iterator[Misfit]:
    """What of a line is not as the format says: exactly where the JSON Schema refuses the line, it
    is not empty."""
    yield from ENVELOPE.misfits(value, "")
    shape = EVENTS.get(text_of(value.get("event")))
    if shape is not None:
        yield from shape.misfits(value, "")


def _order(value: dict[str, Any]) -> Iterator[tuple[ProblemLevel, Misfit]]:
    tools = value.get("tools")
    order = list_of(tools.get("order")) if isinstance(tools, dict) else []
    names = [text_of(tool.get("name")) for _, tool in tools_of(value)]
    for index, name in enumerate(order):
        if isinstance(name, str) and name not in names:
            yield _ERROR, Misfit(
                f"tools.order[{index}]", f"`{name}` is no tool of this request",
                "Name the tools of `stable` and `dynamic`, each once.",
            )  # fmt: skip
    if "segments" in value and "messages" in value:
        yield _ERROR, Misfit(
            "messages", "stands beside `segments`, and is not read",
            "Write the prompt once: `segments`, or `messages` where there are none.",
        )  # fmt: skip
