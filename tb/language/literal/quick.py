# SPDX-License-Identifier: Apache-2.0
"""Ops whose text says all values, built without the reader of programs, which loads slowly.

The grammar and the builder are those of programs. What a program may say in addition, and what is
wrong with a value, is left to the reader of programs (:mod:`tb.explain.steps`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tb.isa.dtypes import Ptr
from tb.isa.grammar import BUFFER, CLIP, FLAG, INTEGER, NUMBER, PAYLOAD, POINTER
from tb.isa.text import AnyOp
from tb.language.grammar.matching import Reading
from tb.language.grammar.written import normal
from tb.language.literal.statements import Names, Statement, element_types, split, statement
from tb.language.run import values
from tb.language.run.build import BuildError, recipe
from tb.language.run.values import FLOAT, Kind, kind_of, rounded_bits

_POINTER = re.compile(r"!pto\.ptr<\s*([\w.!]+)\s*,\s*(\w+)\s*>")


class NotQuickError(Exception):
    """A text that the reader of programs must read."""


@dataclass(frozen=True, slots=True)
class _Value:
    """An operand: its number or bits, and how numbers of its type are held."""

    number: int
    kind: Kind
    name_hint: str = ""

    @property
    def owner(self) -> Any:
        """What makes it: a constant."""
        return _Constant


class _Constant:
    name = "arith.constant"


def _value(literal: str, text: str) -> _Value:
    """Returns the value of an operand of a type."""
    found = _POINTER.fullmatch(text)
    pointer = Ptr(found.group(1).removeprefix("!pto."), found.group(2)) if found else None
    kind = kind_of(text, pointer)
    if literal in ("true", "false"):
        return _Value(int(literal == "true"), kind)
    hexadecimal = literal.lower().startswith("0x")
    if kind.sort == FLOAT and not hexadecimal:
        bits = rounded_bits(float(literal), text)
        if bits is None:
            raise NotQuickError
        return _Value(bits, kind)
    number = int(literal, 0)
    if abs(number) >> kind.bits or (number < 0 and kind.name != "i64"):
        raise NotQuickError
    return _Value(number, kind)


def _fits(sort: str, value: _Value) -> bool:
    """Returns whether an operand of a kind may have the type of a value."""
    kind = value.kind
    if sort in (POINTER, BUFFER):
        return kind.pointer is not None
    if sort == INTEGER:
        return kind.name == "i64"
    if sort == FLAG:
        return kind.name == "i1" or (kind.name == "i64" and value.number not in (0, 1))
    if sort == PAYLOAD and kind.pointer is not None:
        return True
    return sort in (NUMBER, PAYLOAD, CLIP) and kind.sort in (values.NUMBER, FLOAT)


def _groups(written: Statement, reading: Reading) -> dict[str, list[_Value]]:
    """Returns the values of an op by name."""
    pairs = zip(written.literals, written.kinds, strict=True)
    made = {id(item): _value(*pair) for item, pair in zip(written.operands, pairs, strict=True)}
    groups = {name: [made[id(x)] for x in items] for name, items in reading.groups.items()}
    for name, held in groups.items():
        if not all(_fits(reading.row.kind_of[name], value) for value in held):
            raise NotQuickError
    return groups


def quick_op(written: Statement, *, ubuf_blocks: bool = False) -> AnyOp:
    """Returns the op of a statement.

    Args:
        written: The statement.
        ubuf_blocks: As of :func:`tb.language.run.build.recipe`.

    Raises:
        NotQuickError: the reader of programs has to read it.
    """
    reading = written.reading
    if reading is None or not reading.row.executed:
        raise NotQuickError
    try:
        groups = _groups(written, reading)
        given = reading.text.attributes
        words = {name: given[name] for name in reading.row.attributes if name in given}
        text = normal(reading.row, groups, reading.words | words)
        text.attributes = {name: x for name, x in given.items() if name not in words}
        sub_block = written.sub_block
        if sub_block:
            text.attributes["ub_sub"] = sub_block
        made = recipe(text, lambda value: value.kind, ubuf_blocks=ubuf_blocks)
    except (BuildError, ValueError, OverflowError):
        raise NotQuickError from None
    numbers = []
    for each in made.inputs:
        number = each.value.number
        if each.mask or each.unsigned:
            number &= each.mask or each.unsigned
        elif number < 0 and each.name != "byte_offset":  # RF-L03 is about its sum with dst.
            raise NotQuickError
        numbers.append(number)
    op: AnyOp = made.make(numbers)
    return op


def ops_of(text: str, element: str = "") -> tuple[AnyOp, ...]:
    """Returns the ops of a text in the form of reports, which line ends or semicolons separate.

    Args:
        text: The ops.
        element: Element type, or those of source and destination, of ops without types.

    Raises:
        NotQuickError: the reader of programs has to read an op.
        PtoError: the text is no op, or a value or a type is not known.
    """
    names, kinds = Names({}), element_types(element)
    return tuple(quick_op(statement(part, sub, names, kinds)) for part, sub in split(text))
