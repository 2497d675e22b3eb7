"""The agent's World State and its file transactions, as it holds them itself."""

from copy import deepcopy
from dataclasses import dataclass, field

from generate.segments.trace import Message
from generate.text import Json, compact_json


@dataclass
class Known:
    """What the model has been told of the world, changed directly and never read back."""

    session: Json
    run: Json

    def apply(self, scope: str, patch: Json) -> None:
        """Change a state as a diff of that scope tells."""
        if scope == "session":
            self.session = merge(self.session, patch)
        else:
            self.run = merge(self.run, patch)

    def copy(self) -> Json:
        """Both states, as of now."""
        return {"session": deepcopy(self.session), "run": deepcopy(self.run)}


def merge(state: Json, patch: Json) -> Json:
    """The state with a patch applied: objects are merged, null removes a key, the rest replaces
    (JSON merge patch)."""
    out = deepcopy(state)
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict):
            known = out.get(key)
            out[key] = merge(known if isinstance(known, dict) else {}, value)
        else:
            out[key] = deepcopy(value)
    return out


def full_text(scope: str, state: Json) -> str:
    """A whole state as the model is sent it."""
    lines = [f"{key}: {compact_json(value)}" for key, value in state.items()]
    return "\n".join([f"World State of the {scope}", *lines])


def patch_text(scope: str, patch: Json, reason: str) -> str:
    """A change as the model is sent it."""
    lines = [f"{key}: {compact_json(value)}" for key, value in patch.items()]
    return "\n".join(
        [f"World State of the {scope}, changed", *lines, *([reason] if reason else [])]
    )


@dataclass
class Transaction:
    """A file that is written piece by piece."""

    id: str
    path: str
    operation: str = "create"
    strategy: str = "append"
    status: str = "open"
    revision: int = 0
    next_index: int = 0
    actions: list[str] = field(default_factory=lambda: ["append", "abort"])

    def advance(self) -> None:
        """One more piece is there."""
        self.status = "writing"
        self.revision += 1
        self.next_index += 1
        self.actions = ["append", "close", "abort"]

    def fields(self) -> Json:
        """The eight fields of a snapshot."""
        return {
            "transactionId": self.id,
            "filePath": self.path,
            "operation": self.operation,
            "strategy": self.strategy,
            "status": self.status,
            "expectedDraftRevision": self.revision,
            "nextIndex": self.next_index,
            "allowedNextActions": list(self.actions),
        }

    def snapshot(self, as_text: bool) -> Message:
        """The message of segment 14: the same id, written anew whenever the bytes differ."""
        fields = self.fields()
        text = compact_json(fields) if as_text else None
        return Message(f"{self.id}-now", "system", "transaction_snapshot", text, {"state": fields})
