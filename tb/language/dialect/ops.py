# SPDX-License-Identifier: Apache-2.0
"""Ops of the pto dialect that move data, as xdsl ops, and their normal form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    UnregisteredAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def

from tb.isa.grammar import Row
from tb.language.dialect.types import kind_of_type
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.operands import SEGMENTS, check_type, groups_of
from tb.language.grammar.written import Written, incomplete, normal


def python_value(attribute: Attribute) -> Any:
    """Returns an attribute as int, bool, float, str or list, otherwise as text."""
    if isinstance(attribute, IntegerAttr):
        number = attribute.value.data
        return bool(number) if attribute.type == i1 else number
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, UnitAttr):
        return True
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, DenseArrayBase):
        return list(attribute.get_values())
    if isinstance(attribute, UnregisteredAttr):
        return attribute.value.data.strip("<> ") or attribute.attr_name.data
    return str(attribute)


class MoveOp(Operation):
    """An op with a row in :mod:`tb.isa.grammar`; :func:`written` returns its operands."""

    name = "pto.move"
    row: ClassVar[Row]
    traits = traits_def()

    def verify_(self) -> None:
        """Refuses what no movement op has; :func:`written` refuses the rest."""
        if self.results or self.regions:
            raise OpError(Fault("has no results and no regions"))


@cache
def segment_sizes(sizes: tuple[int, ...]) -> DenseArrayBase:
    """Returns ``operandSegmentSizes``."""
    return DenseArrayBase.from_list(i32, sizes)


@cache
def string(text: str) -> StringAttr:
    """Returns a string attribute."""
    return StringAttr(text)


def attribute_of(value: str | int | bool) -> Attribute:
    """Returns the property of a word."""
    if isinstance(value, str):
        return string(value)
    return UnitAttr() if value is True else IntegerAttr(value, i32)


def constant_of(value: SSAValue) -> int | None:
    """Returns the value of an ``arith.constant`` that is an integer, or None."""
    known = getattr(value.owner, "properties", {}).get("value")
    return known.value.data if isinstance(known, IntegerAttr) else None


def written(op: Operation) -> Written | None:
    """Returns the operands of a movement op, or None for every other op.

    The result is made once, kept and never changed.

    Raises:
        OpError: the generic form has wrong operands; ops that :func:`tb.language.reader.read`
            returns are never such.
    """
    if not isinstance(op, MoveOp):
        return None
    kept: Written | None = op.__dict__.get("_written")
    if kept is None:
        kept = op.__dict__["_written"] = _decode(op)
    return kept


def _decode(op: MoveOp) -> Written:
    sizes = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    groups = groups_of(op.row, op.operands, None if sizes is None else python_value(sizes))
    given = {name: op.properties.get(name) or op.attributes.get(name) for name in op.row.words}
    words = {name: python_value(value) for name, value in given.items() if value is not None}
    check_types(op.row, groups)
    fault = incomplete(op.row, groups, words)
    if fault is not None:
        raise OpError(fault)
    return with_attributes(op, normal(op.row, groups, words))


def check_types(row: Row, groups: Mapping[str, Sequence[SSAValue]]) -> None:
    """Refuses values of types that the operands of an op cannot have."""
    for group in row.groups:
        for value in groups.get(group.name, ()):
            check_type(group, kind_of_type(value.type), value, constant_of)


def with_attributes(op: MoveOp, text: Written) -> Written:
    """Returns the normal form of an op with the attributes that are not property of its row."""
    hidden = (SEGMENTS, *op.row.words)
    text.attributes = {
        key: python_value(value) for key, value in op.attributes.items() if key not in hidden
    }
    return text
