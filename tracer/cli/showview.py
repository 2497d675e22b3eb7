"""One request as text for people."""

from collections.abc import Iterable, Sequence

import click

from tracer.cli.anatomyview import prefix_facts, print_anatomy
from tracer.cli.layoutview import print_layout
from tracer.cli.output import print_heading, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, display_width, duration, moment, number, pad, percent, visible
from tracer.model.check_views import FindingView
from tracer.model.prompt import Marker
from tracer.model.usage import Usage
from tracer.model.views import BlockView, RequestDetail, RequestSummary
from tracer.words import RESULT_WORDS, capital, plural

_BLOCK_COLUMNS = (
    Column("#", right=True),
    Column("message", right=True),
    Column("role"),
    Column("kind"),
    Column("part"),
    Column("chars", right=True),
    Column("BPE tokens", right=True),
    Column("notes"),
    Column("text", flexible=True),
)
_FINDING_COLUMNS = (
    Column("level"),
    Column("message", right=True),
    Column("rule"),
    Column("what", flexible=True),
)
_PART_COLUMNS = (
    Column("part"),
    Column("blocks", right=True),
    Column("chars", right=True),
    Column("BPE tokens", right=True),
    Column("new BPE tokens", right=True),
)


def print_detail(
    detail: RequestDetail, findings: Sequence[FindingView], *, with_text: bool
) -> None:
    """Print a request: what it was, what it cost, what it was made of, what is not known."""
    _print_facts(_facts(detail))
    _print_findings(findings)
    if detail.request.usage is not None:
        print_heading("Usage, as the provider billed it")
        _print_facts(_usage_facts(detail.request.usage))
    _print_anatomy(detail)
    _print_blocks(detail, with_text=with_text)
    if detail.response:
        print_heading("Response" + (" (as logged with the call)" * detail.response_provisional))
        _print_table_or_text(detail.response, with_text=with_text)
    if detail.evidence:
        print_heading("What the log did not tell")
        for evidence in detail.evidence:
            click.echo(f"{visible(evidence.title)}: {visible(evidence.detail)}")
    if detail.masked_secrets:
        masked = plural(detail.masked_secrets, "secret")
        click.echo(f"\n{masked} masked: --reveal-secrets shows them.")


def _print_facts(facts: Iterable[tuple[str, str]]) -> None:
    shown = [(name, visible(value)) for name, value in facts if value]
    width = max((display_width(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{pad(name, width)}  {value}")


def _facts(detail: RequestDetail) -> list[tuple[str, str]]:
    request = detail.request
    roles = ", ".join(f"{count:,} {role}" for role, count in request.roles.items())
    turn = "" if request.turn_number is None else f"turn {request.turn_number}"
    step = "" if request.step is None else f"step {request.step}"
    proven = (
        "" if request.verified_from is None else f", proven from message {request.verified_from}"
    )
    ended = f", {request.finish_reason}" if request.finish_reason else ""
    attempt = f", attempt {request.attempt} of {request.attempts}" if request.attempts > 1 else ""
    return [
        ("key", request.key),
        ("session", f"{request.session_id}, request {request.seq}"),
        ("request id", request.request_id),
        ("lane", request.lane),
        ("turn", ", ".join(filter(None, (turn, step, request.turn_id)))),
        ("started", f"{moment(request.started_at_ms)} UTC, took {duration(request.duration_ms)}"),
        ("status", f"{request.status}{ended}{attempt}"),
        ("error", request.error),
        ("cache", _cache_words(request)),
        ("messages", number(request.message_count) + (f": {roles}" if roles else "")),
        ("body", detail.anatomy.wire.words if detail.anatomy and detail.anatomy.wire else ""),
        ("tools", number(len(request.tools))),
        *prefix_facts(request),
        ("observed", f"{request.observed} ({request.window_kind}){proven}"),
        ("source", str(request.source)),
        ("log", plural(len(detail.log), "joined line") + ": see --json" if detail.log else ""),
    ]


def _cache_words(request: RequestSummary) -> str:
    """The verdict in short, and where all of it is."""
    brief = request.verdict
    if brief is None:
        return ""
    result = capital(RESULT_WORDS[brief.result])
    told = "" if brief.one_line.startswith(result) else f"{result}. "
    return f"{told}{brief.one_line} See `tracer explain {request.key}`."


def _print_findings(findings: Sequence[FindingView]) -> None:
    if findings:
        print_heading("Broken rules")
        rows = (
            [v.finding.level, number(v.finding.message_index), v.finding.rule]
            + [f"{v.finding.message} {v.placed}".rstrip()]
            for v in findings
        )
        print_table(_FINDING_COLUMNS, rows)


def _usage_facts(usage: Usage) -> list[tuple[str, str]]:
    rate = None
    if usage.input_tokens and usage.cache_read_tokens is not None:
        rate = usage.cache_read_tokens / usage.input_tokens
    return [
        ("input", number(usage.input_tokens)),
        ("  fresh", number(usage.fresh_tokens)),
        ("  cache read", number(usage.cache_read_tokens)),
        ("  cache write", number(usage.cache_write_tokens)),
        ("output", number(usage.output_tokens)),
        ("reasoning", "" if usage.reasoning_tokens is None else number(usage.reasoning_tokens)),
        ("hit rate", percent(rate)),
        ("convention", f"{usage.convention}. {usage.reason}".strip()),
    ]


def _print_anatomy(detail: RequestDetail) -> None:
    if detail.part_sizes:
        print_heading("Parts")
        print_table(
            _PART_COLUMNS,
            [
                [p.part, number(p.blocks), number(p.chars), _tokens(p.tokens, p.counted)]
                + [_tokens(p.new_tokens, p.counted)]
                for p in detail.part_sizes
            ],
        )
    print_layout(detail)
    print_anatomy(detail)


def _tokens(count: int, counted: bool) -> str:
    return number(count) if counted else f"~{count:,}"


def _print_blocks(detail: RequestDetail, *, with_text: bool) -> None:
    if not detail.block_total:
        return
    end = detail.block_from + len(detail.blocks)
    whole = len(detail.blocks) == detail.block_total
    page = "" if whole else f", {detail.block_from:,} to {end - 1:,}" if detail.blocks else ", none"
    print_heading(f"Blocks ({detail.block_total:,}{page})")
    _print_table_or_text(detail.blocks, with_text=with_text)
    if end < detail.block_total:
        click.echo(f"\n{plural(detail.block_total - end, 'more block')}: --blocks-from {end}")
    if detail.uncounted_blocks:
        click.echo(f"~ marks an estimate: {plural(detail.uncounted_blocks, 'block')} not counted.")


def _print_table_or_text(blocks: Iterable[BlockView], *, with_text: bool) -> None:
    if not with_text:
        print_table(_BLOCK_COLUMNS, (_block_row(block) for block in blocks))
        return
    for block in blocks:
        click.echo(visible(_block_heading(block)))
        click.echo(visible(block.text or block.preview, keep_lines=True))


def _block_heading(block: BlockView) -> str:
    place = "" if block.message_index is None else f"message {block.message_index}:"
    what = " ".join(filter(None, (place, block.role, block.kind, block.name)))
    size = f"{plural(block.chars, 'char')}, {_block_tokens(block)} tokens"
    return ", ".join([f"--- {block.index}: {what} ({block.part})", size, *_notes(block)])


def _block_tokens(block: BlockView) -> str:
    if block.tokens_bpe is None:
        return _tokens(block.tokens_estimate, counted=False)
    return _tokens(block.tokens_bpe, counted=block.tokens_bpe_exact)


def _block_row(block: BlockView) -> list[str]:
    named = f"{block.name}: " if block.name else ""
    return [
        number(block.index),
        number(block.message_index),
        block.role or UNKNOWN,
        block.kind,
        block.part,
        number(block.chars),
        _block_tokens(block),
        ", ".join(_notes(block)),
        named + block.preview,
    ]


def _notes(block: BlockView) -> list[str]:
    notes = [] if block.marker is None else [_marker_note(block.marker)]
    if block.new:
        notes.append("new")
    if not block.verified:
        notes.append("not proven")
    if block.span_messages > 1:
        notes.append(plural(block.span_messages, "message"))
    return notes


def _marker_note(marker: Marker) -> str:
    return f"marker {marker.ttl}".rstrip()
