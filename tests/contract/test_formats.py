"""What every log format promises, asked of all that the registry finds."""

import json
from collections.abc import Iterator

import pytest

from tests.samples import SAMPLES, Sample, all_samples
from tracer import formats
from tracer.formats import Format, _skeleton, all_formats, detect, format_named
from tracer.model.events import LogEvent, ModelCall
from tracer.model.source import SkipKind, Skipped

FORMATS = all_formats()
HEAD_BYTES = 256 << 10
# Formats whose files hold prompts and events.
MIXED = frozenset({"context-trace"})

each_format = pytest.mark.parametrize("log_format", FORMATS, ids=lambda f: f.name)
each_sample = pytest.mark.parametrize("sample", all_samples(), ids=lambda s: s.name)


def own_samples(log_format: Format) -> list[Sample]:
    return [sample for sample in all_samples() if sample.format_name == log_format.name]


def parsed(sample: Sample) -> Iterator[tuple[int, ModelCall | LogEvent | Skipped]]:
    """The lines of a sample as its own format reads them, by number; blank ones are left out."""
    log_format = format_named(sample.format_name)
    assert log_format is not None
    for number, line in enumerate(sample.lines(), 1):
        if line.strip(b" \t\r\xef\xbb\xbf"):
            yield number, log_format.parse(line)


def test_formats_are_found_by_their_names() -> None:
    assert [f.name for f in FORMATS] == sorted({f.name for f in FORMATS})
    assert all(format_named(f.name) is f for f in FORMATS)
    assert format_named("no-such-format") is None


@each_format
def test_a_format_says_in_words_what_it_is(log_format: Format) -> None:
    for words in (log_format.name, log_format.agent, log_format.title, log_format.tells):
        assert words and words == words.strip()
    assert log_format.name == log_format.name.lower().replace(" ", "-")
    assert log_format.title.startswith(log_format.agent)
    assert (type(log_format).__doc__ or "").endswith(".")


@each_format
def test_a_format_has_samples(log_format: Format) -> None:
    assert own_samples(log_format)


def test_every_sample_file_belongs_to_a_format() -> None:
    on_disk = set(SAMPLES.glob("*/**/*.jsonl"))
    assert {sample.path for sample in all_samples()} == on_disk
    assert {sample.format_name for sample in all_samples()} == {f.name for f in FORMATS}


@each_sample
def test_a_sample_is_recognised_by_its_own_format_and_by_no_other(sample: Sample) -> None:
    head = sample.path.read_bytes()[:HEAD_BYTES]
    found = detect(head)
    assert found is not None and found.name == sample.format_name
    own = found.sniff(head)
    assert 0 < own <= 1
    assert all(f.sniff(head) == 0 for f in FORMATS if f is not found)


@each_sample
@pytest.mark.parametrize("size", [300, 4_096])
def test_the_beginning_of_a_sample_is_enough_to_recognise_it(sample: Sample, size: int) -> None:
    found = detect(sample.path.read_bytes()[:size])
    assert found is not None and found.name == sample.format_name


@each_sample
def test_content_decides_whatever_stands_before_it(sample: Sample) -> None:
    """A format is given bytes and no name; a mark of the encoding and blank lines do not matter."""
    head = sample.path.read_bytes()[:4_096]
    found = detect(b"\xef\xbb\xbf\r\n\n" + head.removeprefix(b"\xef\xbb\xbf"))
    assert found is not None and found.name == sample.format_name


@pytest.mark.parametrize(
    "head",
    [b"", b"\n\n", b"{}", b"[]", b"plain text\n", b"\x00\x01\x02", b'{"a":1}\n{"b":2}\n', b"\xff"],
)
def test_content_of_no_format_is_recognised_by_none(head: bytes) -> None:
    assert detect(head) is None


class Sure:
    """A format that is sure of everything."""

    name, agent, title, tells = "sure", "Sure", "Sure", "nothing"

    def sniff(self, head: bytes) -> float:
        """Always the same."""
        return 1.0

    def parse(self, line: bytes) -> Skipped:
        """Never anything."""
        return Skipped(SkipKind.NOT_JSON, "Nothing.", "")


def test_a_tie_between_formats_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    head = all_samples()[0].path.read_bytes()[:HEAD_BYTES]
    monkeypatch.setattr(formats, "all_formats", lambda: (Sure(), *FORMATS))
    winner = detect(head)
    assert winner is not None and winner.name == "sure"
    other = Sure()
    other.name = "surely"
    monkeypatch.setattr(formats, "all_formats", lambda: (Sure(), other, *FORMATS))
    assert detect(head) is None


@each_sample
def test_a_sample_gives_the_records_and_the_refusals_that_it_was_written_for(
    sample: Sample,
) -> None:
    events = list(parsed(sample))
    last = len(sample.lines())
    refused = [
        # The last line without a newline may still be written: the ingest says `torn`.
        (number, "torn" if number == last else event.kind)
        for number, event in events
        if isinstance(event, Skipped)
    ]
    assert tuple(refused) == sample.skipped
    assert len(events) - len(refused) == sample.records


@each_sample
def test_other_formats_make_nothing_of_a_sample(sample: Sample) -> None:
    for log_format in FORMATS:
        if log_format.name == sample.format_name:
            continue
        events = [log_format.parse(line) for line in sample.lines() if line.strip()]
        assert all(isinstance(event, Skipped) for event in events)


@each_sample
def test_records_name_their_session_and_their_time(sample: Sample) -> None:
    events = [event for _, event in parsed(sample) if not isinstance(event, Skipped)]
    for event in events:
        if isinstance(event, ModelCall):
            assert event.session_id and event.request_id and event.model_id
            assert event.started_at_ms is not None
        else:
            assert event.at_ms is not None and event.level
    assert sample.format_name in MIXED or len({type(event) for event in events}) == 1


@each_format
@pytest.mark.parametrize("ending", [b"", b"\r", b" \t"])
def test_white_space_at_the_end_of_a_line_does_not_matter(
    log_format: Format, ending: bytes
) -> None:
    line = own_samples(log_format)[0].lines()[0].strip()
    assert log_format.parse(line + ending) == log_format.parse(line)


@each_format
def test_every_cut_of_a_line_is_refused_with_a_reason(log_format: Format) -> None:
    """A line cut in half must never be taken for a record: its rest may still come."""
    lines = [line.strip() for line in own_samples(log_format)[0].lines() if line.strip()]
    for line in sorted(lines, key=len)[:3]:
        for end in range(1, len(line)):
            event = log_format.parse(line[:end])
            assert isinstance(event, Skipped) and event.reason


def test_the_skeleton_is_no_format_but_could_be_one() -> None:
    skeleton: Format = _skeleton.FORMAT
    assert skeleton.name not in {f.name for f in FORMATS}
    line = json.dumps({"example-log": 1, "at": "2026-01-05T09:00:00Z"}).encode()
    assert 0 < skeleton.sniff(line) <= 1
    event = skeleton.parse(line)
    assert isinstance(event, LogEvent) and event.at_ms == 1_767_603_600_000
    assert isinstance(skeleton.parse(b"{"), Skipped)
    assert all(skeleton.sniff(s.path.read_bytes()[:HEAD_BYTES]) == 0 for s in all_samples())
    test_a_format_says_in_words_what_it_is(skeleton)
