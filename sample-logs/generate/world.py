"""One machine with one agent process: clock, log, model I/O files and the provider."""

from datetime import datetime

from generate.cache import ProviderCache
from generate.clock import DEFAULT_START, Clock, Ids
from generate.logfile import LogFile
from generate.modelio import ModelIo
from generate.truth import Truth


class World:
    """Everything the agents of one run share."""

    def __init__(
        self,
        run: str,
        *,
        start: datetime = DEFAULT_START,
        development: bool = False,
        redacted: bool = True,
        full_retention: bool = False,
        log_level: str | None = None,
    ) -> None:
        self.ids = Ids(run)
        self.clock = Clock(start)
        self.log = LogFile(log_level or ("debug" if development else "info"), redacted=redacted)
        self.io = ModelIo(development=development, full_retention=full_retention)
        self.cache = ProviderCache()
        self.truth = Truth()
        self._log_start()

    def _log_start(self) -> None:
        self.log.write(
            self.clock.now,
            "info",
            "log.retention.cleanup.scheduled",
            "Log retention cleanup scheduled",
            module="adapters.logging",
            context={"retentionDays": 7, "delayMs": 60000},
        )
        self.clock.advance(200)
