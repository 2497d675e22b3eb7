"""A session as a rule sees it, built from the store."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tracer.anatomy.mcs import McsState
from tracer.assemble.attempts import Grouped, group_attempts
from tracer.checks import CheckedMessage, CheckedRequest, CheckedSession
from tracer.model.segments import PromptLayout
from tracer.service.anatomy import RequestAnatomy, SessionAnatomy
from tracer.service.checking.layouts import NotedMessages
from tracer.service.checking.log import BuiltContexts, Snapshots, first_starts, log_events
from tracer.service.checking.messages import SessionMessages, Tools, shared_messages
from tracer.service.contents import Contents
from tracer.service.logged import LoggedSections
from tracer.service.requests import attempt_facts, is_side_call
from tracer.store.checks import block_contents, session_facts
from tracer.store.events import session_sections
from tracer.store.prompts import session_nodes
from tracer.store.reading import RequestRow, session_markers, session_requests
from tracer.store.readings import stored_readings


class SessionCase(NamedTuple):
    """A session as a rule sees it, and what its prompts contain."""

    checked: CheckedSession
    contents: Callable[[], Contents]


def session_case(connection: sqlite3.Connection, row_id: int) -> SessionCase:
    """The session with that row id. Texts of all of its blocks are read, each once."""
    facts = session_facts(connection, row_id)
    builder = _Builder(connection, row_id)
    checked = CheckedSession(
        facts.session_id,
        facts.agent,
        tuple(builder.requests()),
        log_events(connection, row_id, facts.session_id),
    )
    return SessionCase(checked, builder.contents)


class _Prompt(NamedTuple):
    """What a request sent; nothing where the log shows no prompt."""

    messages: Sequence[CheckedMessage] = ()
    tools: Tools = Tools((), known=False)
    layout: PromptLayout = PromptLayout()
    anatomy: RequestAnatomy | None = None
    previous: int | None = None
    common: int = 0


_NO_PROMPT = _Prompt()


class _Builder:
    """Makes the requests of a session, in order."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._connection, self._row_id = connection, row_id
        self._rows = session_requests(connection, row_id)
        self._grouped: dict[str, Grouped] = group_attempts([attempt_facts(r) for r in self._rows])
        self._markers = session_markers(connection, row_id)
        self._logged = logged = LoggedSections(session_sections(connection, row_id))
        self._anatomy = SessionAnatomy(connection, row_id, logged)
        nodes = session_nodes(connection, row_id)
        ids = {node.block_id for node in nodes}
        self._messages = SessionMessages(
            nodes,
            block_contents(connection, ids),
            {i: stored.reading for i, stored in stored_readings(connection, ids).items()},
        )
        self._noted = NotedMessages(connection, row_id)
        self._built = BuiltContexts(logged)
        self._snapshots = Snapshots(connection, row_id)
        self._starts = first_starts(self._rows)
        # Of each lane: the place of its last request with a prompt, and that prompt's messages.
        self._last: dict[str, tuple[int | None, list[CheckedMessage]]] = {}

    def contents(self) -> Contents:
        """What the prompts contain; nothing is read again for it."""
        return Contents(self._connection, self._row_id, self._rows, self._logged, self._anatomy)

    def requests(self) -> Sequence[CheckedRequest]:
        """All requests by start time."""
        return [self._request(seq, row) for seq, row in enumerate(self._rows, 1)]

    def _request(self, seq: int, row: RequestRow) -> CheckedRequest:
        side_call = is_side_call(row)
        prompt = _NO_PROMPT if row.node_id is None else self._prompt(seq, row, row.node_id)
        return CheckedRequest(
            key=row.key,
            seq=seq,
            request_id=row.request_id,
            attempt=row.attempt,
            turn_id=row.turn_id,
            query_source=row.query_source,
            side_call=side_call,
            lane=row.lane,
            provider_id=row.provider_id,
            model_id=row.model_id,
            started_at_ms=row.started_at_ms,
            status=row.status,
            whole=row.observed == "full",
            verified_from=row.verified_from,
            message_count=row.message_count,
            tools=prompt.tools.blocks,
            messages=prompt.messages,
            markers=tuple(self._markers.get(row.id, ())),
            previous=prompt.previous,
            common=prompt.common,
            variant=prompt.anatomy.variant.value if prompt.anatomy else "",
            mcs=prompt.anatomy.verdict.state if prompt.anatomy else McsState.UNDECIDABLE,
            sections=prompt.anatomy.sections if prompt.anatomy else (),
            reminders=prompt.anatomy.reminders if prompt.anatomy else (),
            layout=prompt.layout,
            built=None if side_call else self._built.at(row.started_at_ms),
            usage=None
            if side_call
            else self._snapshots.before(row, self._starts.get(row.lane, ())),
            head_proven=bool(row.system_from),
            tools_known=prompt.tools.known,
            place=(row.source_id, row.line),
        )

    def _prompt(self, seq: int, row: RequestRow, node_id: int) -> _Prompt:
        messages, tools = self._messages.of(node_id)
        previous, before = self._last.get(row.lane, (None, []))
        self._last[row.lane] = seq - 1, messages
        return _Prompt(
            self._noted.of(row.id, messages),
            tools,
            self._noted.layout(row.id),
            self._anatomy.of(node_id, row.started_at_ms),
            previous,
            shared_messages(before, messages),
        )
