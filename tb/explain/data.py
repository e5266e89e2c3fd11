# SPDX-License-Identifier: Apache-2.0
"""The record of an op as data for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from tb.explain.op import Explained
from tb.explain.parts import Link, Part, first_links
from tb.explain.query import Answer, Range
from tb.isa.spaces import located

MOST_RANGES = 4096
"""Ranges of a memory that the data lists; the parts have all bytes."""


def op_data(op: Explained, answers: Sequence[Answer] = ()) -> dict[str, Any]:
    """Returns the record, the ranges of each memory, and answers; words are hexadecimal."""
    data = asdict(op)
    del data["view"]
    data["parts"] = [part_data(part) for part in op.parts]
    for word in data["words"]:
        word["value"] = f"{word['value']:#018x}"
    data["descriptor"]["words"] = [f"{word:#010x}" for word in op.descriptor.words]
    data["memories"] = {}
    for space, name in op.memories.items():
        links, complete = first_links(op.parts, space, MOST_RANGES)
        ranges = [link_data(link) for link in links]
        data["memories"][name] = {"ranges": ranges, "complete": complete}
    data["answers"] = [answer_data(one) for one in answers]
    return data


def part_data(part: Part) -> dict[str, Any]:
    """Returns a part; ``axes`` are its repetitions, the outermost first."""
    data = asdict(part)
    piece = data.pop("piece")
    data["space"], data["dst"] = located(part.space, part.dst)
    data |= {"source": None, "src": None, "pieces": []}
    if part.source is not None:
        data["source"], data["src"] = located(part.source, part.src)[0], part.src
        data["pieces"] = [[at, piece] for at in part.pieces]
    return {**data, "pattern": part.pattern.hex(), "bytes": part.bytes}


def link_data(link: Link) -> dict[str, Any]:
    """Returns a range of bytes and its source."""
    part = link.part
    return {
        "kind": link.kind,
        "start": located(part.space, link.dst)[1],
        "size": link.size,
        "source": None if part.source is None else located(part.source, part.src)[0],
        "from": link.sources,
        "label": link.label,
        "how": part.how,
    }


def answer_data(answer: Answer) -> dict[str, Any]:
    """Returns an answer about bytes."""
    space, first = located(answer.space, answer.first)
    base = answer.first - first

    def ranges(holes: Iterable[Range]) -> list[Range]:
        return [(low - base, high - base) for low, high in holes]

    return {
        "space": space,
        "first": first,
        "last": answer.last - base,
        "written": [link_data(link) for link in answer.written],
        "untouched": ranges(answer.untouched),
        "read": [
            {"to": located(link.part.space, link.dst)[0], **link_data(link)} for link in answer.read
        ],
        "unread": ranges(answer.unread),
        "parameters": answer.parameters,
        "complete": answer.complete,
    }
