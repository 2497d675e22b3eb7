"""Content hashes: what makes two blocks, or two prompts, the same.

Two hashes a block (design.md 4). `wire_hash` covers the content as sent or as logged, key order
included, so that a reordered key shows up as a difference. `norm_hash` covers the canonical form,
so that "same meaning, other bytes" can be told. Cache markers are in neither: clients move them at
every request.

A prompt is a hash-linked chain: equal node hashes at depth n mean equal prefixes of n blocks.
"""

import hashlib
from typing import Any

import msgspec

from tracer.model.prompt import JSON_KINDS, Block

HASH_BYTES = 16
ROOT_HASH = bytes(HASH_BYTES)

_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode


def digest(data: bytes) -> bytes:
    """The first 16 bytes of the sha256 of `data`."""
    return hashlib.sha256(data).digest()[:HASH_BYTES]


def wire_hash(block: Block) -> bytes:
    """16 bytes over everything a block holds, in logged key order."""
    return digest(
        _encode(
            [
                block.tier,
                block.role,
                block.kind,
                block.text,
                block.shape,
                block.name,
                block.call_id,
                block.extra_json,
                block.message_json,
                block.span_messages,
            ]
        )
    )


def norm_hash(block: Block) -> bytes:
    """16 bytes over a block's meaning: JSON with sorted keys, string or array alike, without the
    message's own notes (which model wrote it)."""
    text: Any = _canonical(block.text) if block.kind in JSON_KINDS else block.text
    extra = _canonical(block.extra_json) if block.extra_json else None
    return digest(
        _encode_sorted(
            [
                block.tier,
                block.role,
                block.kind,
                text,
                block.name,
                block.call_id,
                extra,
                block.span_messages,
            ]
        )
    )


def node_hash(parent: bytes, block_wire_hash: bytes, starts_message: bool) -> bytes:
    """16 bytes that identify a prefix: the parent's hash, the block, and whether the block begins
    a message. `parent` is ROOT_HASH for the first block."""
    return digest(parent + block_wire_hash + (b"\x01" if starts_message else b"\x00"))


def _canonical(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
