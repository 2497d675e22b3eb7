"""The anatomy of one request beside its sections, reminders and mid-conversation messages: what
needs all texts of its prompt, and the numbers that stand side by side."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from tracer.anatomy.calibration import CalibratedParts, Calibration
from tracer.anatomy.mcs import McsState
from tracer.anatomy.messages import NOTHING, BlockCache, BlockReading
from tracer.anatomy.prompt import AnatomyContext, PromptAnatomy, anatomy_of
from tracer.anatomy.section_spans import LoggedText
from tracer.anatomy.usage_categories import CATEGORY_NAMES, CategoryUsage, UsageBreakdown, usage_of
from tracer.model.anatomy_views import (
    AnatomyView,
    CalibrationView,
    ContextBreakdown,
    ContributorView,
    DemotedView,
    InstructionFileView,
    LeftoverView,
    McsStateView,
    UnverifiedTagView,
    UsageCategoryView,
)
from tracer.model.json_values import text_of, whole_of
from tracer.model.prompt import Marker, Prompt
from tracer.model.views import RequestSummary
from tracer.service.joined import ContextReport
from tracer.service.kept import Kept
from tracer.service.loading import place_blocks
from tracer.service.wire import wire_view
from tracer.store.events import UsageRow
from tracer.store.prompts import BlockRow, block_texts
from tracer.store.reading import RequestRow, request_wire
from tracer.store.readings import rules_are_current, telling_blocks
from tracer.store.tokens import block_text
from tracer.tokens import utf16_length

LOGGED, RECOMPUTED = "logged", "recomputed"
_NO_PROMPT = "The log shows no prompt of this request."
_NO_STATE = McsStateView(McsState.UNDECIDABLE.value, "The log shows no message of this request.")


class Sizes(NamedTuple):
    """The tokens of one prompt: counted, and scaled; `own` is its own scale, `lane` that of its
    lane."""

    bpe_tokens: int | None
    uncounted_blocks: int
    calibrated: CalibratedParts
    own: float | None
    lane: Calibration | None


class ReadPrompt(NamedTuple):
    """What a whole prompt says. `at` gives the place of a block by its message and its place in
    it."""

    found: PromptAnatomy
    usage: UsageBreakdown
    files: tuple[InstructionFileView, ...]
    at: Mapping[tuple[int | None, int], int]


class PromptReader:
    """Reads whole prompts, and keeps the last few that were read. Safe in threads."""

    def __init__(self) -> None:
        self._kept: Kept[ReadPrompt] = Kept()

    def read(
        self,
        connection: sqlite3.Connection,
        row: RequestRow,
        markers: Sequence[Marker],
        blocks: list[BlockRow],
        known: tuple[LoggedText, ...],
    ) -> ReadPrompt:
        """What the prompt of a request says; `known` are the logged section texts. The work is
        linear in the prompt's bytes."""
        made_from = (row.verified_from, row.system_from, markers, blocks, known)
        return self._kept.get(
            row.key, made_from, lambda: _read(connection, row, markers, blocks, known)
        )


def _read(
    connection: sqlite3.Connection,
    row: RequestRow,
    markers: Sequence[Marker],
    blocks: list[BlockRow],
    known: tuple[LoggedText, ...],
) -> ReadPrompt:
    packed = block_texts(connection, sorted({b.block_id for b in blocks}))
    texts = {block_id: block_text(*columns) for block_id, columns in packed.items()}
    prompt = Prompt(place_blocks(blocks, texts, row, list(markers)))
    context = AnatomyContext(known, BlockCache(_silent(connection, blocks)))
    found = anatomy_of(prompt, context)
    at = {(b.message_index, b.block_index): b.index for b in prompt.blocks}
    files = tuple(_files(found, prompt, at))
    return ReadPrompt(found, usage_of(prompt, found, context), files, at)


def _silent(
    connection: sqlite3.Connection, blocks: Sequence[BlockRow]
) -> dict[bytes, BlockReading]:
    """The readings of those blocks in which nothing was found when they were stored: most of a
    prompt, which need no second look."""
    if not rules_are_current(connection):
        return {}
    telling = telling_blocks(connection, (b.block_id for b in blocks))
    return {b.wire_hash: NOTHING for b in blocks if b.block_id not in telling}


def build_anatomy(
    connection: sqlite3.Connection,
    request: RequestSummary,
    row: RequestRow,
    blocks: list[BlockRow],
    prompt: ReadPrompt | None,
    report: ContextReport | None,
    sizes: Sizes,
) -> AnatomyView | None:
    """The anatomy of a request; None where neither its prompt nor its context usage is known.
    `report` is the agent's own account of its context."""
    calibration = _calibration(request.lane, sizes)
    if prompt is None:
        if report is None:
            return None
        usage = _breakdown(None, report, request, sizes)
        return AnatomyView("unknown", _NO_PROMPT, _NO_STATE, (), (), (), usage, calibration)
    found, at = prompt.found, prompt.at
    return AnatomyView(
        variant=found.variant.value,
        variant_evidence=found.variant_evidence,
        mcs_state=McsStateView(found.mcs.state.value, found.mcs.evidence, found.mcs.message_index),
        instruction_files=prompt.files,
        demoted=tuple(
            DemotedView(d.message_index, d.sources, d.reason, at.get((d.message_index, 0)))
            for d in found.demoted
        ),
        unverified=tuple(
            UnverifiedTagView(
                u.message_index,
                u.block_index,
                u.start_char,
                u.end_char,
                u.why,
                at.get((u.message_index, u.block_index)),
            )
            for u in found.unverified
        ),
        usage=_breakdown(prompt.usage, report, request, sizes),
        calibration=calibration,
        wire=wire_view(request_wire(connection, row.id), request, blocks),
    )


def _files(
    found: PromptAnatomy, prompt: Prompt, at: Mapping[tuple[int | None, int], int]
) -> Iterator[InstructionFileView]:
    """The instruction files, all of them in the section that holds them."""
    section = next((s for s in found.sections if s.source == "request_user_context"), None)
    if section is None:
        return
    index = at[section.message_index, section.block_index]
    text = prompt.blocks[index].block.text
    for file in found.instruction_files:
        yield InstructionFileView(
            path=file.path,
            scope=file.scope.value,
            message_index=section.message_index,
            block_index=section.block_index,
            start_char=file.start_char,
            end_char=file.end_char,
            chars=utf16_length(text[file.start_char : file.end_char]),
            truncated=file.truncated,
            truncation_note=file.truncation_note,
            prompt_index=index,
        )


def _calibration(lane: str, sizes: Sizes) -> CalibrationView | None:
    scale, parts = sizes.lane, sizes.calibrated
    if scale is None:
        return None
    return CalibrationView(
        lane=lane,
        factor=scale.factor,
        low=scale.low,
        high=scale.high,
        deviation=scale.deviation,
        samples=scale.samples,
        method=parts.method.value,
        remainder_tokens=None if parts.total is None else parts.remainder,
    )


def _breakdown(
    usage: UsageBreakdown | None,
    report: ContextReport | None,
    request: RequestSummary,
    sizes: Sizes,
) -> ContextBreakdown:
    """What fills the context: as logged, as counted again, and what is in no category."""
    rows = [r for r in report.rows if r.scope == "category"] if report else []
    logged = {row.source: row for row in rows}
    counted = {c.source: c for c in usage.categories} if usage else {}
    order = [s for s in CATEGORY_NAMES if s in logged or s in counted]
    order += [source for source in logged if source not in CATEGORY_NAMES]
    estimate = usage.total_tokens if usage else (report.view.total_tokens if report else None)
    return ContextBreakdown(
        categories=tuple(_category(s, logged.get(s), counted.get(s), usage) for s in order),
        leftovers=tuple(
            LeftoverView(x.kind, x.count, x.chars, x.tokens, x.sources)
            for x in (usage.leftovers if usage else ())
        ),
        estimate_tokens=estimate or 0,
        bpe_tokens=sizes.bpe_tokens,
        billed_tokens=request.usage.input_tokens if request.usage else None,
        complete=usage.complete if usage else False,
        logged_strength=report.view.strength if report else "",
    )


def _category(
    source: str, row: UsageRow | None, counted: CategoryUsage | None, usage: UsageBreakdown | None
) -> UsageCategoryView:
    """One category. What the log tells comes first, as long as it tells the tokens; a category that
    the recount does not have holds nothing, if the whole prompt is known."""
    empty = usage is not None and usage.complete and counted is None
    recounted = (counted.chars, counted.tokens) if counted else (0, 0) if empty else (None, None)
    told = row is not None and row.tokens is not None
    by_log = told or recounted[1] is None
    if row is not None and by_log:
        chars, tokens = row.chars, row.tokens
    else:
        chars, tokens = recounted
    contributors = _recounted(counted) if counted else _logged(row)
    return UsageCategoryView(
        name=(row.name if row else "") or CATEGORY_NAMES.get(source, source),
        source=source,
        chars=chars,
        tokens=tokens,
        method=LOGGED if row is not None and by_log else RECOMPUTED,
        logged_chars=row.chars if row else None,
        logged_tokens=row.tokens if row else None,
        recomputed_chars=recounted[0],
        recomputed_tokens=recounted[1],
        redacted=bool(row and row.tokens_redacted),
        complete=counted.complete if counted else empty or told,
        contributors=contributors,
        contributor_count=counted.contributor_count if counted else len(contributors),
    )


def _recounted(category: CategoryUsage) -> tuple[ContributorView, ...]:
    return tuple(
        ContributorView(c.kind, c.label, c.source, c.chars, c.tokens, c.count)
        for c in category.contributors
    )


def _logged(row: UsageRow | None) -> tuple[ContributorView, ...]:
    """The contributors as logged, where the prompt is not known."""
    if row is None or not row.contributors_json:
        return ()
    found: Any = msgspec.json.decode(row.contributors_json)
    items: Sequence[Any] = found if isinstance(found, list) else ()
    return tuple(
        ContributorView(
            text_of(item.get("kind")),
            text_of(item.get("label")),
            text_of(item.get("source")),
            whole_of(item.get("chars")),
            whole_of(item.get("tokens")),
            whole_of(item.get("count")) or 1,
        )
        for item in items
        if isinstance(item, dict)
    )
