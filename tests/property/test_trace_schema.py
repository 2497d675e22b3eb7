"""The published JSON Schema and the validator say the same of any line, good or broken."""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.samples import all_samples
from tracer.cli.trace_schema import FILE
from tracer.formats.trace_validation import misfits

SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
ODD: list[Any] = [None, True, 0, -1, 1, 1.5, "", "text", "tool", "world_state", [], [{}], {}]
ODD += [{"type": "text"}, {"ref": "m1"}, {"role": "user", "content": "x"}, {"type": "ephemeral"}]


def good_lines() -> list[Any]:
    """A line of each kind of event in the samples, and those that hold the most."""
    found: dict[str, Any] = {}
    for sample in all_samples():
        if sample.format_name == "context-trace":
            for line in sample.lines():
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                kept = found.get(value["event"])
                if kept is None or len(json.dumps(kept)) < len(line) < 6_000:
                    found[value["event"]] = value
    return list(found.values())


GOOD = good_lines()


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every key of every object and list in a value."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


def agree(value: Any) -> None:
    assert VALIDATOR.is_valid(value) == (not list(misfits(value))), value


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_they_agree_on_the_samples() -> None:
    assert len(GOOD) >= 12
    for sample in all_samples():
        if sample.format_name == "context-trace":
            for line in sample.lines():
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                agree(value)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_they_agree_on_broken_lines(data: st.DataObject) -> None:
    line = copy.deepcopy(data.draw(st.sampled_from(GOOD)))
    for _ in range(data.draw(st.integers(1, 3))):
        found = places(line)
        if not found:
            break
        holder, key = found[data.draw(st.integers(0, len(found) - 1))]
        if data.draw(st.booleans()) or isinstance(holder, list):
            holder[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            del holder[key]
    agree(line)
