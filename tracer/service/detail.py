"""One request in full: its blocks in order, what it answered, what the log says beside it."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from tracer.anatomy.calibration import Calibration, calibrated_parts
from tracer.model.anatomy_views import AnatomyView
from tracer.model.prompt import Kind
from tracer.model.source import SourceRef
from tracer.model.unfolded import Texts, Unfolded
from tracer.model.views import BlockView, RequestDetail, RequestSummary, SessionSummary
from tracer.service.anatomy_detail import PromptReader, ReadPrompt, Sizes, build_anatomy
from tracer.service.blocks import Around, block_views, map_runs, prompt_parts
from tracer.service.evidence import evidence_of
from tracer.service.joined import ContextReport, context_report, log_lines
from tracer.service.loaded import LoadedSession
from tracer.service.requests import WholeRequest
from tracer.service.standing import Standing
from tracer.store.prompts import BlockRow, block_texts, chain_ids, prompt_blocks, response_blocks
from tracer.store.reading import RequestRow, request_places, request_texts
from tracer.store.standing import PromptTip

_NOT_ANSWERED = frozenset({"failed", "cancelled"})


def build_detail(
    connection: sqlite3.Connection,
    loaded: LoadedSession,
    session: SessionSummary,
    prompts: PromptReader,
    key: str,
    *,
    block_from: int,
    block_limit: int | None,
    text: Texts,
    anatomy: bool,
) -> RequestDetail:
    """The detail of the request `key` of a loaded session; `anatomy` False leaves out what needs
    the texts of the whole prompt."""
    whole, order = loaded.request(connection, key), loaded.order(connection)
    row, paths = whole.row, loaded.paths(connection)
    standing = order.standing(row)
    blocks = prompt_blocks(connection, row.node_id) if row.node_id is not None else []
    read = cache(partial(_read_prompt, connection, loaded, prompts, whole, blocks))
    summary = loaded.summary(connection, standing, whole, blocks, lambda: read().found)
    common = _common(connection, standing.baseline, blocks)
    sizes = _sizes(summary, blocks, loaded.calibration(connection, row.lane))
    around = Around(summary, row, paths, sizes.calibrated, common or 0)
    page = blocks[block_from : None if block_limit is None else block_from + block_limit]
    texts = block_texts(connection, list(_with_text(page, summary, text)))
    response = _response(connection, row, around)
    params_json, headers_json = request_texts(connection, row.id)
    report = context_report(connection, paths, order, loaded.row_id, row)
    view = report.view if report else None
    prompt = read() if anatomy and blocks else None
    found = _anatomy(connection, row, summary, blocks, prompt, report, sizes) if anatomy else None
    return RequestDetail(
        request=summary,
        session=session,
        blocks=block_views(page, around, texts),
        block_from=block_from,
        block_total=len(blocks),
        part_sizes=prompt_parts(blocks, common or 0),
        tokens_bpe=sizes.bpe_tokens,
        tokens_estimate=sum(b.estimate_tokens for b in blocks),
        uncounted_blocks=sizes.uncounted_blocks,
        calibration=sizes.own,
        response=response,
        response_provisional=_is_last_word(row, standing, response),
        log=log_lines(connection, paths, loaded.row_id, row),
        context_usage=view,
        evidence=evidence_of(summary, row, blocks, sizes.uncounted_blocks, view),
        params_json=params_json,
        headers_json=headers_json,
        sources=_sources(connection, paths, row),
        attempts=standing.attempts,
        previous_key=standing.previous_key,
        next_key=standing.next_key,
        baseline_key=standing.baseline.key if standing.baseline else "",
        common_blocks=common,
        map_runs=map_runs(blocks, row, common or 0),
        anatomy=found,
    )


def _with_text(page: Sequence[BlockRow], request: RequestSummary, text: Texts) -> Iterator[int]:
    """The row ids of the blocks whose texts are asked for."""
    if isinstance(text, Unfolded):
        opened = {*text.blocks, *(section.prompt_index for section in request.sections)}
        yield from (
            b.block_id for b in page if b.depth in opened or b.message_index in text.messages
        )
    elif text:
        yield from (b.block_id for b in page)


def _response(
    connection: sqlite3.Connection, row: RequestRow, around: Around
) -> tuple[BlockView, ...]:
    """What the model answered, with its texts."""
    blocks = response_blocks(connection, row.id)
    texts = block_texts(connection, [b.block_id for b in blocks])
    return block_views(blocks, replace(around, scaled=None, common=0), texts)


def _read_prompt(
    connection: sqlite3.Connection,
    loaded: LoadedSession,
    prompts: PromptReader,
    request: WholeRequest,
    blocks: list[BlockRow],
) -> ReadPrompt:
    known = loaded.known_texts(connection, request.row.started_at_ms)
    return prompts.read(connection, request.row, request.markers, blocks, known)


def _anatomy(
    connection: sqlite3.Connection,
    row: RequestRow,
    request: RequestSummary,
    blocks: list[BlockRow],
    prompt: ReadPrompt | None,
    report: ContextReport | None,
    sizes: Sizes,
) -> AnatomyView | None:
    found = build_anatomy(connection, request, row, blocks, prompt, report, sizes)
    # The categories that are counted again are those of one agent: a trace has its own.
    traced = request.segments is not None
    return replace(found, usage=None) if found is not None and traced else found


def _sources(
    connection: sqlite3.Connection, paths: Mapping[int, str], row: RequestRow
) -> tuple[SourceRef, ...]:
    """Every line that a request was read from."""
    return tuple(
        SourceRef(paths.get(source, ""), line, offset)
        for source, line, offset in request_places(connection, row.id)
    )


def _common(
    connection: sqlite3.Connection, baseline: PromptTip | None, blocks: Sequence[BlockRow]
) -> int | None:
    """How many leading blocks a prompt shares with that of its baseline; None without one."""
    if baseline is None:
        return None
    depths = {block.node_id: depth for depth, block in enumerate(blocks)}
    if baseline.node_id in depths:  # mostly: a node stands for all that leads to it
        return depths[baseline.node_id] + 1
    theirs = set(chain_ids(connection, baseline.node_id))
    common = 0
    while common < len(blocks) and blocks[common].node_id in theirs:
        common += 1
    return common


def _calibration(summary: RequestSummary, blocks: Sequence[BlockRow]) -> float | None:
    """Billed input over the BPE sum: only where the whole prompt is known and counted."""
    usage = summary.usage
    if usage is None or summary.verified_from is None:
        return None
    if usage.input_tokens is None or usage.input_tokens <= 0:
        return None
    if any(b.bpe_tokens is None for b in blocks):  # a gap has no count either
        return None
    total = sum(b.bpe_tokens or 0 for b in blocks)
    return usage.input_tokens / total if total else None


def _sizes(
    summary: RequestSummary,
    blocks: Sequence[BlockRow],
    lane: Calibration | None,
) -> Sizes:
    """The counted tokens of the prompt, and those of each block scaled to what was billed: by the
    request's own bill where the whole prompt is known, else by the lane's."""
    usage, own = summary.usage, _calibration(summary, blocks)
    uncounted = sum(b.bpe_tokens is None and b.kind != Kind.GAP for b in blocks)
    counted = [b.bpe_tokens or 0 for b in blocks]
    scaled = calibrated_parts(
        counted,
        usage.input_tokens if usage else None,
        whole=own is not None,
        lane=lane,
    )
    total = sum(counted) if blocks and not uncounted else None
    return Sizes(total, uncounted, scaled, own, lane)


def _is_last_word(row: RequestRow, standing: Standing, response: Sequence[BlockView]) -> bool:
    """True where no later request of the lane carries the answer as history yet: then the log's
    `response` is all that shows it (formats/zcode.md 14, case 28)."""
    return bool(response) and row.status not in _NOT_ANSWERED and not standing.carried
