"""The open trace format as a JSON Schema (draft 2020-12), made of the shapes that the validator
uses."""

import json
from typing import Any

from tracer.formats._trace_events import ENVELOPE, EVENTS, NAMED, VERSION
from tracer.formats._trace_shapes import Schema

LINE_CHARS = 110
ID = f"urn:context-trace:{VERSION}"


def trace_schema() -> Schema:
    """The schema of one line. An event that it does not name has to have the envelope only."""
    line = ENVELOPE.schema()
    line["allOf"] = [
        {
            "if": {"properties": {"event": {"const": name}}, "required": ["event"]},
            "then": {"$ref": f"#/$defs/{name}"},
        }
        for name in EVENTS
    ]
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "Context trace format, version 1: one line",
        **line,
        "$defs": {name: shape.schema() for name, shape in EVENTS.items()},
    }
    return _with_names(schema)


def _with_names(schema: Schema) -> Schema:
    """The schema with its named parts said once."""
    names = {json.dumps(shape.schema()): name for name, shape in NAMED.items()}

    def named(value: Any, top: bool = False) -> Any:
        if isinstance(value, list):
            return [named(item) for item in value]
        if not isinstance(value, dict):
            return value
        name = "" if top else names.get(json.dumps(value), "")
        if name:
            return {"$ref": f"#/$defs/{name}"}
        return {key: named(item) for key, item in value.items()}

    parts = {name: named(shape.schema(), top=True) for name, shape in NAMED.items()}
    made: Schema = named(schema, top=True)
    made["$defs"] |= parts
    return made


def schema_text() -> str:
    """The schema as it is published: what fits into a line stands in one."""
    return _laid_out(trace_schema(), 0) + "\n"


def _laid_out(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + depth <= LINE_CHARS or not value or not isinstance(value, dict | list):
        return flat
    begin, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        items = [_laid_out(item, depth + 1) for item in value]
        return f"[{begin}{f',{begin}'.join(items)}{end}]"
    pairs = [f"{json.dumps(key)}: {_laid_out(item, depth + 1)}" for key, item in value.items()]
    return f"{{{begin}{f',{begin}'.join(pairs)}{end}}}"
