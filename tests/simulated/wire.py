"""What an agent sends and what a provider bills, in the simulator's own words.

Nothing here, nor in any file of this folder but `judged.py`, knows anything of the product: the
labels of the generated sessions must not depend on the rules that they put to the test.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

TOOLS, SYSTEM, MESSAGES = "tools", "system", "messages"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of content: a tool, a system block, or a block of a message.

    `kind` is `tool`, `text`, `reasoning`, `call`, `result` or `image`; `shape` tells whether a
    message carried its text as a string or in an array.
    """

    kind: str
    text: str
    name: str = ""
    call_id: str = ""
    shape: str = "array"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the conversation."""

    role: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache marker on a tool, a system block or a part of a message; `ttl` is `5m` or `1h`."""

    tier: str
    index: int
    part: int
    ttl: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it went out. `fails` is the HTTP status of a call that got no answer; `node` is
    the machine of the provider that it reaches, which no log shows."""

    key: str
    lane: str
    source: str
    model: str
    answered_by: str
    endpoint: str
    session: str
    tools: tuple[Part, ...]
    system: tuple[Part, ...]
    messages: tuple[Message, ...]
    marks: tuple[Mark, ...]
    params: Mapping[str, object]
    headers: Mapping[str, str]
    start_ms: int
    first_ms: int
    end_ms: int
    reply: tuple[Part, ...]
    attempt: int = 1
    step: int = 1
    fails: int = 0
    node: str = ""
    client_version: str = "1.4.0"


@dataclass(frozen=True, slots=True)
class Billed:
    """What the provider counted, in its own tokens: `total` is the whole prompt."""

    total: int
    read: int
    write: int
    output: int
    write_5m: int | None = None
    write_1h: int | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """What is true of a request, because the generator made it so.

    `kind` says what the step is; `miss` whether cache was lost that nobody meant to lose. A miss
    has a `code` and a `subtype` of the taxonomy. `place` is the first changed (tier, index inside
    the tier). `either` holds codes that the taxonomy allows as primary causes beside `code`.
    """

    kind: str
    miss: bool = False
    code: str = ""
    subtype: str = ""
    place: tuple[str, int] | None = None
    either: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """A request, its bill (None for a failed call) and the truth about it.

    `read_reported` is false where the log does not tell the read; `shown` is the number of last
    messages that the log shows (None: all), `prompt_logged` false where it shows none of them;
    `reported_read` is what a broken gateway reports instead of the read.
    """

    sent: Sent
    billed: Billed | None
    label: Label
    read_reported: bool = True
    shown: int | None = None
    prompt_logged: bool = True
    reported_read: int | None = None


class Event(NamedTuple):
    """Something that the log tells beside the requests."""

    at_ms: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    """A generated session: its steps in the order of their start."""

    name: str
    house: str
    steps: tuple[Step, ...]
    events: tuple[Event, ...] = field(default=())


def missed(
    code: str,
    subtype: str = "",
    place: tuple[str, int] | None = None,
    either: tuple[str, ...] = (),
) -> Label:
    """The label of a miss."""
    return Label("miss", True, code, subtype, place, frozenset(either))


def healthy(kind: str = "append") -> Label:
    """The label of a request that lost nothing: `append`, `first`, `retry`, `failed`, ..."""
    return Label(kind)
