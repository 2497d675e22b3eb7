"""The anatomy of one prompt: its sections, reminders, MCS messages and markers, each at its place.

Pure: a fold over the messages (`tracer.anatomy.mcs`), block readings that are computed once a block
(`tracer.anatomy.messages`), and what only the whole prompt can settle: which of two sources with
one opening a note has, by where it stands (formats/zcode.md 8.2).

A windowed prompt has gaps: what stands in them is not known and not guessed; everything else keeps
its place, since gaps count their messages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tracer.anatomy.instructions import InstructionFile, instruction_files
from tracer.anatomy.layout import Layout, Place, Variant, layout_of
from tracer.anatomy.mcs import START, McsState, McsVerdict, Stand, step, verdict
from tracer.anatomy.messages import BlockCache, MessageReading, Sort, Spans, read_message
from tracer.anatomy.plugins import settle_plugins
from tracer.anatomy.reminder_sources import REMINDER_SOURCES
from tracer.anatomy.reminders import Trust, Via
from tracer.anatomy.section_spans import (
    How,
    LoggedText,
    SectionSpan,
    recognise_sections,
    unescape_nested,
)
from tracer.anatomy.sections import section_name, section_rule
from tracer.anatomy.settle import settle
from tracer.hashing import digest
from tracer.model.prompt import Kind, PlacedBlock, Prompt
from tracer.tokens import estimate_tokens, utf16_length


@dataclass(frozen=True, slots=True)
class AnatomyContext:
    """What is known beside the prompt: the section texts that the log tells for the session, those
    of the newest line last. `cache` keeps block readings between the prompts of a session."""

    known: tuple[LoggedText, ...] = ()
    cache: BlockCache = field(default_factory=BlockCache)


@dataclass(frozen=True, slots=True)
class PlacedSection:
    """A section at its place. Offsets are code points of the block's text; `chars` are UTF-16 units
    and `tokens_estimate` the agent's estimate, both of the section as it was written (nested tags
    unescaped). `content_hash` identifies that text."""

    source: str
    name: str
    target: str
    cache_hint: str
    message_index: int
    block_index: int
    start_char: int
    end_char: int
    how: How
    chars: int
    tokens_estimate: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class PlacedReminder:
    """A reminder at its place. `ambiguous_with` names other sources that it may as well have;
    `merged` tells that several bodies share one tag or one system message."""

    source: str
    via: Via
    message_index: int
    block_index: int
    start_char: int
    end_char: int
    ambiguous_with: tuple[str, ...]
    presentation: str
    trust: Trust
    merged: bool
    chars: int
    tokens_estimate: int
    content_hash: str

    @property
    def counted(self) -> bool:
        """False where a tool may have printed it."""
        return self.trust is not Trust.PLACE


@dataclass(frozen=True, slots=True)
class McsMessage:
    """A mid-conversation system message and the sources merged in it, in order."""

    message_index: int
    sources: tuple[str, ...]
    chars: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Demoted:
    """A note that stayed a tagged user message although MCS was on, and why."""

    message_index: int
    sources: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class UnverifiedTag:
    """A look-alike tag in user text, code or tool output: never counted as a reminder."""

    message_index: int
    block_index: int
    start_char: int
    end_char: int
    why: str


@dataclass(frozen=True, slots=True)
class PromptAnatomy:
    """What a prompt is made of. `gaps` are runs of unknown messages as (first index, how many).
    Sections, reminders and the rest stand in the prompt's order."""

    variant: Variant
    variant_evidence: str
    sections: tuple[PlacedSection, ...]
    reminders: tuple[PlacedReminder, ...]
    mcs_messages: tuple[McsMessage, ...]
    demoted: tuple[Demoted, ...]
    unverified: tuple[UnverifiedTag, ...]
    mcs: McsVerdict
    instruction_files: tuple[InstructionFile, ...]
    gaps: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message of the prompt with its reading and where the fold stood before it. Blocks need
    their texts, and nothing of their place but where they stand in the message."""

    index: int
    blocks: tuple[PlacedBlock, ...]
    reading: MessageReading
    before: Stand


def anatomy_of(prompt: Prompt, context: AnatomyContext | None = None) -> PromptAnatomy:
    """The anatomy of a prompt (formats/zcode.md 7 to 9).

    Without known texts the sections are found by heading and place alone. The work is linear in the
    blocks; with a shared cache a text is read once a session.
    """
    context = context or AnatomyContext()
    messages, final = _fold(prompt, context.cache)
    state = verdict(final)
    settled = [(m, settle(m.reading, m.before, state.state)) for m in messages]
    settled = with_plugins(settled)
    layout = layout_of_messages(messages)
    reminders = tuple(r for m, spans in settled if spans for r in placed_reminders(m, spans))
    sections = (
        *system_sections(messages, layout, context.known),
        *attachment_sections(settled, context.known),
    )
    return PromptAnatomy(
        variant=layout.variant,
        variant_evidence=layout.evidence,
        sections=sections,
        reminders=reminders,
        mcs_messages=tuple(mcs_message(m, s) for m, s in settled if m.reading.sort is Sort.MCS),
        demoted=tuple(_demoted(settled)) if state.state is McsState.ON else (),
        unverified=tuple(_unverified(messages)),
        mcs=state,
        instruction_files=_instructions(messages, sections),
        gaps=tuple(
            (m.index, m.blocks[0].block.span_messages)
            for m in messages
            if m.reading.sort is Sort.GAP
        ),
    )


def _fold(prompt: Prompt, cache: BlockCache) -> tuple[list[ReadMessage], Stand]:
    stand, out = START, []
    placed = (b for b in prompt.blocks if b.message_index is not None)
    for index, group in groupby(placed, key=lambda b: b.message_index):
        assert index is not None
        blocks = tuple(group)
        reading = read_message(blocks, cache)
        out.append(ReadMessage(index, blocks, reading, stand))
        stand = step(stand, reading, index)
    return out, stand


def with_plugins(settled: list[tuple[ReadMessage, Spans]]) -> list[tuple[ReadMessage, Spans]]:
    """Name the notes that answer a `plugin://` reference of the user (`tracer.anatomy.plugins`)."""
    texts = [tuple(b.block.text for b in m.blocks) for m, _ in settled]
    sorts = [m.reading.sort for m, _ in settled]
    changed = settle_plugins(texts, sorts, [spans for _, spans in settled])
    return [(m, spans) for (m, _), spans in zip(settled, changed, strict=True)]


def placed_reminders(message: ReadMessage, spans: Spans) -> Iterator[PlacedReminder]:
    """The reminders of a message; `spans` are its spans once they are settled."""
    via = {Sort.MCS: Via.MCS, Sort.TOOL: Via.INLINE}.get(message.reading.sort, Via.REMINDER)
    for block_index, span in spans:
        body = message.blocks[block_index].block.text[span.start_char : span.end_char]
        yield PlacedReminder(
            span.source,
            via,
            message.index,
            message.blocks[block_index].block_index,
            span.start_char,
            span.end_char,
            span.ambiguous_with,
            span.presentation,
            span.trust,
            span.merged,
            utf16_length(body),
            estimate_tokens(body),
            _hash(body),
        )


def _hash(text: str) -> str:
    return digest(text.encode("utf-8", "surrogatepass")).hex()


def mcs_message(message: ReadMessage, spans: Spans) -> McsMessage:
    """A mid-conversation message with its settled spans."""
    text = "".join(b.block.text for b in message.blocks)
    sources = tuple(span.source for _, span in spans)
    return McsMessage(message.index, sources, utf16_length(text), _hash(text))


def _demoted(settled: Sequence[tuple[ReadMessage, Spans]]) -> Iterator[Demoted]:
    """Wrapped notes of eligible sources while MCS is on (formats/zcode.md 9, P3.4 and P3.6)."""
    for message, spans in settled:
        if message.reading.sort is not Sort.WRAPPED:
            continue
        sources = tuple(s.source for _, s in spans)
        own_message = any(s.presentation == "task_notification" for _, s in spans)
        known = [REMINDER_SOURCES.get(source) for source in sources]
        if own_message or not all(rule is not None and rule.mcs for rule in known):
            continue
        if any(s.merged for _, s in spans) or message.before.stop not in (
            Sort.ASSISTANT,
            Sort.SYSTEM,
        ):
            reason = "What follows may not follow a system message."
        elif message.before.in_block:
            reason = "No user or tool message stands before it that it could follow."
        else:
            reason = "What follows may not follow a system message."
        yield Demoted(message.index, sources, reason)


def _unverified(messages: Sequence[ReadMessage]) -> Iterator[UnverifiedTag]:
    for message in messages:
        for block_index, look in message.reading.unverified:
            yield UnverifiedTag(
                message.index,
                message.blocks[block_index].block_index,
                look.start_char,
                look.end_char,
                look.why,
            )


def layout_of_messages(messages: Sequence[ReadMessage]) -> Layout:
    """The layout of the leading system messages; unknown where a gap stands among them."""
    if messages and messages[0].reading.sort is Sort.GAP:
        return Layout(Variant.UNKNOWN, (), "The log does not show the head of the message list.")
    leading = [m for m in messages if m.reading.sort is Sort.SYSTEM]
    texts = ["".join(b.block.text for b in m.blocks) for m in leading]
    return layout_of(texts)


def system_sections(
    messages: Sequence[ReadMessage], layout: Layout, known: Sequence[LoggedText]
) -> Iterator[PlacedSection]:
    """The sections of the leading system messages; others may stand among `messages`."""
    leading = [m for m in messages if m.reading.sort is Sort.SYSTEM]
    for message, place in zip(leading, layout.places, strict=False):
        if place is None:
            continue
        for placed in message.blocks:
            if placed.block.kind is Kind.TEXT:
                for span in recognise_sections(placed.block.text, place, known):
                    yield _placed_section(span, placed, message.index)


def attachment_sections(
    settled: Sequence[tuple[ReadMessage, Spans]], known: Sequence[LoggedText]
) -> Iterator[PlacedSection]:
    """The sections in the prefix's attachments, wherever they went: the skills listing may be
    mid-conversation text."""
    skills = {k.text for k in known if k.source == "skills"}
    for message, spans in settled:
        for block_index, span in spans:
            placed = message.blocks[block_index]
            if span.source == "skills_listing":
                body = placed.block.text[span.start_char : span.end_char]
                how = How.LOGGED if unescape_nested(body) in skills else How.HEADING
                found = SectionSpan(
                    "skills", section_name("skills"), span.start_char, span.end_char, how
                )
                yield _placed_section(found, placed, message.index)
            elif span.source == "context_prefix":
                for found in recognise_sections(placed.block.text, Place.CONTEXT, known):
                    yield _placed_section(found, placed, message.index)


def _placed_section(span: SectionSpan, placed: PlacedBlock, message_index: int) -> PlacedSection:
    text = placed.block.text[span.start_char : span.end_char]
    if placed.block.role == "user":
        text = unescape_nested(text)
    rule = section_rule(span.source)
    return PlacedSection(
        span.source,
        span.name,
        rule.target,
        rule.cache_hint,
        message_index,
        placed.block_index,
        span.start_char,
        span.end_char,
        span.how,
        utf16_length(text),
        estimate_tokens(text),
        _hash(text),
    )


def _instructions(
    messages: Sequence[ReadMessage], sections: Sequence[PlacedSection]
) -> tuple[InstructionFile, ...]:
    by_index = {m.index: m for m in messages}
    for section in sections:
        if section.source == "request_user_context":
            blocks = by_index[section.message_index].blocks
            text = next(b.block.text for b in blocks if b.block_index == section.block_index)
            return instruction_files(text, section.start_char, section.end_char)
    return ()
