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

from tb.isa.grammar import BUFFER, CLIP, FLAG, INTEGER, NUMBER, POINTER, Group, Row
from tb.language.dialect.types import (
    PtrType,
    is_float,
    is_number,
    is_signless,
    pointer_of,
    type_name,
)
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.written import Written, incomplete, normal

SEGMENTS = "operandSegmentSizes"
"""Property of the generic form: operands of each group."""


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


LOAD_GROUPS: dict[int, tuple[int, int]] = {4: (0, 2), 6: (0, 4), 8: (4, 10)}
"""Operands of a load of L0A or L0B without ``operandSegmentSizes`` to the range of those that it
has of the ten after its pointers: the extents of the old form, the shape form, the control form."""


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


def _listed(row: Row) -> str:
    """Returns the parts that ``operandSegmentSizes`` counts, with the numbers that are legal."""

    def number(group: Group) -> str:
        if group.most == group.least:
            return f"{group.least}"
        return f"{group.least}.." + (f"{group.most}" if group.most >= 0 else "")

    return ", ".join(f"{group.name} {number(group)}" for group in row.groups)


def _without_sizes(op: MoveOp) -> Sequence[int]:
    """Returns how many operands each group has where nothing counts them."""
    row, found = op.row, len(op.operands)
    sizes = [group.least for group in row.groups]
    least = sum(sizes)
    if least == found:
        return sizes
    if row.choices and found in LOAD_GROUPS:
        first, end = LOAD_GROUPS[found]
        taken = range(first + 2, end + 2)
        return [int(place < 2 or place in taken) for place in range(len(sizes))]
    if not row.open:
        names = ", ".join(group.name for group in row.groups)
        raise OpError(Fault(f"takes {len(sizes)} operands, not {found}", legal=names))
    message = f"lacks {SEGMENTS}: {found} operands, {least} without any clause"
    if found < least:
        message = f"has {found} operands, at least {least} are needed"
    raise OpError(Fault(message, legal=_listed(row)))


def _sizes(op: MoveOp) -> Sequence[int]:
    """Returns how many operands each group has."""
    row = op.row
    given = op.properties.get(SEGMENTS) or op.attributes.get(SEGMENTS)
    if given is None:
        return _without_sizes(op)
    if not isinstance(given, DenseArrayBase):
        raise OpError(Fault(f"{SEGMENTS} is no array<i32: ...>"))
    sizes = [int(size) for size in given.get_values()]
    if len(sizes) != len(row.groups) or sum(sizes) != len(op.operands):
        message = (
            f"{SEGMENTS} of length {len(sizes)} counts {sum(sizes)} operands, the op has "
            f"{len(row.groups)} groups and {len(op.operands)} operands"
        )
        raise OpError(Fault(message, legal=f"a number each: {_listed(row)}"))
    for group, size in zip(row.groups, sizes, strict=True):
        if size < group.least or (group.most >= 0 and size > group.most):
            message = f"{group.name} has {size} operands in {SEGMENTS}"
            raise OpError(Fault(message, legal=_listed(row)))
    return sizes


def _is_no_bit(value: SSAValue) -> bool:
    """Returns whether a value is a constant that no i1 holds: an illegal op needs a wider type."""
    known = getattr(value.owner, "properties", {}).get("value")
    return (
        is_signless(value.type, 64)
        and isinstance(known, IntegerAttr)
        and known.value.data not in (0, 1)
    )


def _check_type(group: Group, value: SSAValue) -> None:
    """Refuses a value of a type that an operand cannot have."""
    kind = value.type
    if group.kind == POINTER:
        fits, wanted = isinstance(kind, PtrType), "a pointer"
    elif group.kind == BUFFER:
        fits, wanted = pointer_of(kind) is not None, "a pointer"
    elif group.kind == INTEGER:
        fits, wanted = is_signless(kind, 64), "i64"
    elif group.kind == FLAG:
        fits, wanted = is_signless(kind, 1) or _is_no_bit(value), "i1"
    elif group.kind == NUMBER:
        fits, wanted = is_number(kind), "a number"
    elif group.kind == CLIP:
        fits, wanted = is_number(kind) or isinstance(kind, PtrType), "a number"
    else:
        fits = is_signless(kind) or is_float(kind) or isinstance(kind, PtrType)
        wanted = "a signless integer, a float or a pointer"
    if not fits:
        raise OpError(
            Fault(f"type mismatch: {group.name} has type {type_name(kind)}, it takes {wanted}")
        )


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
    operands, start = tuple(op.operands), 0
    groups: dict[str, list[SSAValue]] = {}
    for group, size in zip(op.row.groups, _sizes(op), strict=True):
        groups[group.name] = list(operands[start : start + size])
        start += size
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
            _check_type(group, value)


def with_attributes(op: MoveOp, text: Written) -> Written:
    """Returns the normal form of an op with the attributes that are no property of its row."""
    hidden = (SEGMENTS, *op.row.words)
    text.attributes = {
        key: python_value(value) for key, value in op.attributes.items() if key not in hidden
    }
    return text
