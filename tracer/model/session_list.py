"""What the sessions list can be asked for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are wanted; what is empty or None asks for nothing.

    `text` stands in id, title, project, agent or a model's name, whatever its case. `project`,
    `agent` and `model` are whole names. A session is in the time from `since_ms` to `until_ms`
    (both included) if any part of it is. `misses` asks for those with a cache miss.
    """

    text: str = ""
    project: str = ""
    agent: str = ""
    model: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    misses: bool = False

    @property
    def asks(self) -> bool:
        """Whether anything is asked for."""
        return self != SessionFilter()


ANY_SESSION = SessionFilter()


@dataclass(frozen=True, slots=True)
class SessionChoices:
    """What there is to choose from: projects and agents with the most sessions first, models by
    name."""

    projects: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
