# SPDX-License-Identifier: Apache-2.0
"""Ops that move data: their pretty form becomes an xdsl op.

The grammar of each is its row (:mod:`tb.isa.grammar`). Sources: docs/spec/README.md, the PTO form
of each op in its file, docs/spec/dialect.md. Rules of the text are decided here: DMA-L01, DMA-L02,
ND-L02, and FIX-L03, L05, L06, L08, L10 and L11 as far as they speak of operands that a clause has
or lacks.
"""

from __future__ import annotations

from tb.isa.grammar import KNOWN_ROWS, ROWS, Row
from tb.language.dialect.ops import (
    MoveOp,
    attribute_of,
    check_types,
    python_value,
    segment_sizes,
    with_attributes,
    written,
)
from tb.language.dialect.refusals import check
from tb.language.dialect.types import type_name
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.matching import match
from tb.language.grammar.operands import SEGMENTS, check_sizes
from tb.language.grammar.reading import read_op
from tb.language.grammar.tokens import Item
from tb.language.grammar.written import normal
from tb.language.parser.text import ProgramText, Use


def _use(item: Item) -> Use:
    name, _, number = item.text[1:].partition("#")
    return Use(name, int(number or 0), item.at)


def read_move(cls: type[MoveOp], program: ProgramText) -> MoveOp:
    """Reads an op after its name.

    Raises:
        OpError: a rule of the text is broken; the text is after the op.
        TextError: the text is not such an op.
    """
    row, start = cls.row, program.op_at
    text = read_op(program, row, start)
    reading = match(text, row)
    if reading.faults:
        raise OpError(*reading.faults)
    if len(text.types) != len(reading.order):
        kinds = ", ".join(type_name(kind) for kind, _ in text.types)
        message = (
            f"type mismatch: {len(reading.order)} operands are written with "
            f"{len(text.types)} types: {kinds}"
        )
        legal = "one type for each operand, in the order of the text"
        raise OpError(Fault(message, at=start, legal=legal))
    values = {
        id(item): program.resolve(_use(item), kind)
        for item, (kind, _) in zip(reading.order, text.types, strict=True)
    }
    groups = {name: [values[id(x)] for x in items] for name, items in reading.groups.items()}
    taken = [groups.get(group.name, []) for group in row.groups]
    properties = {name: attribute_of(word) for name, word in reading.words.items()}
    given = text.attributes.pop(SEGMENTS, None)
    counts = tuple(map(len, taken))
    check_sizes(row, None if given is None else python_value(given), counts)
    if row.open and not reading.old:
        properties[SEGMENTS] = segment_sizes(counts)
    op = cls.create(
        operands=[value for group in taken for value in group],
        properties=properties,
        attributes=text.attributes,
    )
    check_types(row, groups)
    words = {
        key: python_value(text.attributes[key]) for key in row.attributes if key in text.attributes
    }
    op.__dict__["_written"] = with_attributes(op, normal(row, groups, reading.words | words))
    verify_move(op)
    program.notes += [(cls.name, message, at) for message, at in reading.notes]
    return op


def verify_move(op: MoveOp) -> None:
    """Refuses operands and types that an op cannot have.

    Raises:
        OpError: it has some.
    """
    text = written(op)
    assert text is not None, "it is an op that moves data"
    check(op, text)


def _make(row: Row) -> type[MoveOp]:
    name = "".join(part.capitalize() for part in row.name.split("_"))
    doc = f"``pto.{row.name}``."
    members = {
        "name": f"pto.{row.name}",
        "row": row,
        "read": classmethod(read_move),
        "__doc__": doc,
    }
    return type(f"{name}Op", (MoveOp,), members)


MOVES: dict[str, type[MoveOp]] = {name: _make(row) for name, row in (ROWS | KNOWN_ROWS).items()}
"""Op classes by name without ``pto.``."""
