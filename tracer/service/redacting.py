"""Views without texts: every text becomes a salted hash and its length, line by line.

What is left shows how a session lived: which sections, reminders and tools there were, which were
the same and which changed, what was read from the cache and why not. Equal lines have equal hashes
under one salt, so a comparison still tells what changed; without the salt nobody can try texts out.

Whatever is not known to be harmless is a text: a field that is new here is redacted until it is
listed. Names of sections, tools, models and lanes, ids and hashes are kept as they were logged.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, cast

from tracer.model.comparison import Line
from tracer.model.prompt import Kind
from tracer.service import Service
from tracer.service.lazy import Lazy

HASH_DIGITS = 8

_KEPT = frozenset(
    """agent agents agreement ambiguous_with attempts baseline_key cache_hint call_id call_key
    capability category carry cell certainty child_session_id client_version code
    content_hash covers currency digest event fallback family fault field finish_reason
    first_key form format group how id ids join key keys kind lane lanes level layout
    logged_strength message_id method mode model model_id models name needs
    next_key observed op origin parent_session_id phase presentation previous_key priority
    provider provider_id query_source reminder reminders request_id request_key response_id
    returned_model_id rewound_to_message_id role roles rule rules_run rules_version scope
    section sections session_id shape signals skill source sources state status strength
    subtype target task_type tier title_source tool tools trace_id trust ttl turn_id
    unresolved usage_id variant version via wire_hash window""".split()  # noqa: SIM905
)
_SENTENCES = frozenset(
    """a_label a_place b_label b_place baseline_reason boundary calls checked_equal clocks
    convention detail evidence fix formula known_from label naive not_verifiable note
    one_line place reason rewrite_formula sentence summary title unverified_note
    variant_evidence why words words_from""".split()  # noqa: SIM905
)
_TEXTS = frozenset(
    [
        ("ContributorView", "label"),
        ("CompactionView", "reason"),
        ("FamilyLink", "title"),
        ("Finding", "evidence"),
        ("LoggedEvent", "text"),
        ("MessageNote", "state"),
        ("MissView", "session_title"),
        ("SessionEvidence", "title"),
        ("SessionSummary", "title"),
        ("StoredSession", "title"),
        ("TurnView", "words"),
    ]
)
"""Fields that hold texts although others of that name do not."""

_PLAIN = frozenset([("RuleView", "text"), ("RuleView", "title"), ("Divergence", "differs")])
_NAMED_BY_USERS = frozenset({Kind.FILE, Kind.IMAGE, Kind.VIDEO, Kind.RESOURCE_LINK})
_OUR_EVENTS = frozenset(["error", "model", "reset"])
"""Kinds of events whose titles are ours: all others may be what the log says."""

_PATH = re.compile(r"~?/|[A-Za-z]:\\")
_QUOTED = re.compile(r"\u201c.*\u201d", re.DOTALL)
_ADDRESS = re.compile(
    r"https?://[^\s,;)]+|(?<![\w/])(?:~?/|[A-Za-z]:\\)[\w.@+-]+(?:[/\\][\w.@+-]*)+"
)


class Redactor:
    """Redacts views under one salt."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def text(self, text: str) -> str:
        """A text line by line as hashes and lengths: `3fa92c1e·57`; nothing for an empty line."""
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        if not line:
            return ""
        found = hmac.new(self._salt, line.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"{found.hexdigest()[:HASH_DIGITS]}·{len(line)}"

    def sentence(self, text: str) -> str:
        """A sentence of ours without what it quotes: texts, addresses, paths."""
        if _PATH.match(text):  # a path alone, whatever characters it has
            return self.text(text)
        quoted = _QUOTED.sub(lambda m: f"\u201c{self.text(m[0][1:-1])}\u201d", text)
        return _ADDRESS.sub(lambda m: self.text(m[0]), quoted)

    def view(self, value: Any) -> Any:
        """A view, or any collection of views, redacted."""
        if isinstance(value, Line):
            return replace(value, text=self.text(value.text), spans=(), invisible=())
        if is_dataclass(value) and not isinstance(value, type):
            return self._record(value, tuple(f.name for f in fields(value)))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._record(value, value._fields)
        return self._other(value, self.text)

    def _record(self, value: Any, names: tuple[str, ...]) -> Any:
        kind = type(value).__name__
        changed = {}
        for name in names:
            before = getattr(value, name)
            after = self._other(before, self._way(kind, name, value))
            if after is not before:
                changed[name] = after
        if not changed:
            return value
        if isinstance(value, tuple):
            return cast("Any", value)._replace(**changed)
        return replace(value, **changed)

    def _way(self, kind: str, name: str, value: Any) -> Callable[[str], str]:
        if name == "name" and getattr(value, "kind", None) in _NAMED_BY_USERS:
            return self.text
        if kind == "TimelineEvent":
            return self._way_of_event(name, ours=value.kind in _OUR_EVENTS)
        ways: dict[str, Callable[[str], str]] = {
            "kept": str,
            "sentence": self.sentence,
            "text": self.text,
        }
        return ways[_treatment(kind, name)]

    def _way_of_event(self, name: str, *, ours: bool) -> Callable[[str], str]:
        """What is logged of an event is a text, its name is none; what is ours is a sentence."""
        if name == "title":
            return self.sentence if ours else self.text
        if name == "detail":
            return self.text if ours else str
        return str

    def _other(self, value: Any, way: Callable[[str], str]) -> Any:
        """A value of a field whose texts are treated in one way; views inside in their own."""
        if isinstance(value, Enum) or value is None or isinstance(value, int | float | bytes):
            return value
        if isinstance(value, str):
            return value if way is str else way(value)
        if isinstance(value, Lazy):
            return Lazy(len(value), lambda index: self._other(value[index], way))
        if isinstance(value, Mapping):
            return {key: self._other(inner, way) for key, inner in value.items()}
        if is_dataclass(value) or hasattr(value, "_fields"):
            return self.view(value)
        if isinstance(value, tuple | list | set | frozenset):
            return type(value)(self._other(inner, way) for inner in value)
        raise TypeError(f"{type(value).__name__} cannot be redacted: say how in redacting.py")


@cache
def _treatment(kind: str, name: str) -> str:
    """What happens to the texts of a field of a view."""
    if (kind, name) in _TEXTS:
        return "text"
    if (kind, name) in _PLAIN or name in _KEPT:
        return "kept"
    return "sentence" if name in _SENTENCES else "text"


class _Redacted:
    """Answers as a service does, with every answer redacted."""

    def __init__(self, service: Service, redactor: Redactor) -> None:
        self._service = service
        self._redactor = redactor

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._service, name)
        if not callable(found):
            return found

        def redacted(*arguments: Any, **options: Any) -> Any:
            return self._redactor.view(found(*arguments, **options))

        return redacted


def redacted_service(service: Service, salt: bytes) -> Service:
    """A service of which every answer is redacted under a salt."""
    return cast("Service", _Redacted(service, Redactor(salt)))
