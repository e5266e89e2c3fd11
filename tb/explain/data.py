# SPDX-License-Identifier: Apache-2.0
"""What is said of an op, as data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tb.explain.op import Explained
from tb.explain.parts import Link, Part, first_links
from tb.explain.query import Answer
from tb.isa.spaces import located

MOST_RANGES = 4096
"""Ranges of a memory that the data lists; the parts have all bytes."""


def op_data(op: Explained, answers: Sequence[Answer] = ()) -> dict[str, Any]:
    """Returns everything that is known of an op."""
    memories = {}
    for space in op.memories:
        links, complete = first_links(op.parts, space, MOST_RANGES)
        first = next(part.dst for part in op.parts if part.space is space)
        memories[located(space, first)[0]] = {
            "ranges": [link_data(link) for link in links],
            "complete": complete,
        }
    return {
        "op": op.name,
        "text": op.text,
        "place": op.place,
        "run": op.run,
        "notes": list(op.notes),
        "pipe": op.pipe,
        "profile": op.profile,
        "status": op.status,
        "verdict": op.verdict,
        "rules": [asdict(rule) for rule in op.rules],
        "layout": list(op.layout),
        "parts": [part_data(part) for part in op.parts],
        "memories": memories,
        "parameters": [asdict(one) for one in op.parameters],
        "forms": [asdict(form) for form in op.forms],
        "words": [
            {
                "name": word.name,
                "value": f"{word.value:#018x}",
                "fields": [
                    {"name": name, "bits": bits, "value": value}
                    for name, bits, value in word.fields
                ],
                "source": word.source,
                "note": word.note,
            }
            for word in op.words
        ],
        "descriptor": {
            "fields": [asdict(one) for one in op.fields],
            "words": [f"{word:#010x}" for word in op.packed],
        },
        "profiles": [asdict(one) for one in op.differences],
        "answers": [answer_data(one) for one in answers],
    }


def part_data(part: Part) -> dict[str, Any]:
    """Returns a part; ``axes`` are its repetitions, the outermost first."""
    space, dst = located(part.space, part.dst)
    return {
        "kind": part.kind,
        "space": space,
        "dst": dst,
        "size": part.size,
        "axes": [asdict(axis) for axis in part.axes],
        "source": None if part.source is None else located(part.source, part.src)[0],
        "src": None if part.source is None else part.src,
        "pieces": [] if part.source is None else [[at, part.piece] for at in part.pieces],
        "pattern": part.pattern.hex(),
        "moved": part.moved,
        "how": part.how,
        "bytes": part.bytes,
    }


def link_data(link: Link) -> dict[str, Any]:
    """Returns a range of bytes and its source."""
    return {
        "kind": link.kind,
        "start": located(link.part.space, link.dst)[1],
        "size": link.size,
        "source": None if link.part.source is None else located(link.part.source, link.part.src)[0],
        "from": [list(one) for one in link.sources],
        "label": link.label,
        "how": link.part.how,
    }


def answer_data(answer: Answer) -> dict[str, Any]:
    """Returns an answer about bytes."""
    space, first = located(answer.space, answer.first)
    base = answer.first - first
    return {
        "space": space,
        "first": first,
        "last": answer.last - base,
        "written": [link_data(link) for link in answer.written],
        "untouched": [[low - base, high - base] for low, high in answer.untouched],
        "read": [
            {"to": located(link.part.space, link.dst)[0], **link_data(link)} for link in answer.read
        ],
        "unread": [[low - base, high - base] for low, high in answer.unread],
        "parameters": list(answer.parameters),
        "complete": answer.complete,
    }
