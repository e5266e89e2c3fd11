# SPDX-License-Identifier: Apache-2.0
"""Operands of an op in the groups of its row, as the generic form lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from tb.isa.grammar import BUFFER, CLIP, FLAG, INTEGER, LOOPS, NUMBER, PAYLOAD, POINTER, Group, Row
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.matching import listed
from tb.language.run import values
from tb.language.run.values import FLOAT, INDEX_BITS, Kind

_T = TypeVar("_T")

SEGMENTS = "operandSegmentSizes"
"""Property of the generic form: operands of each group."""

_LOAD_GROUPS: dict[int, tuple[int, int]] = {4: (0, 2), 6: (0, 4), 8: (4, 10)}
"""Operands of a load of L0A or L0B without ``operandSegmentSizes`` to the range of those that it
has of the ten after its pointers: the extents of the old form, the shape form, the control form."""


def _listed(row: Row) -> str:
    """Returns the parts that ``operandSegmentSizes`` counts, with the numbers that are legal."""

    def number(group: Group) -> str:
        if group.most == group.least:
            return f"{group.least}"
        return f"{group.least}.." + (f"{group.most}" if group.most >= 0 else "")

    return ", ".join(f"{group.name} {number(group)}" for group in row.groups)


def _without_sizes(row: Row, found: int) -> Sequence[int]:
    """Returns how many operands each group has where nothing counts them."""
    sizes = [group.least for group in row.groups]
    least = sum(sizes)
    if least == found:
        return sizes
    if row.choices and found in _LOAD_GROUPS:
        first, end = _LOAD_GROUPS[found]
        taken = range(first + 2, end + 2)
        return [int(place < 2 or place in taken) for place in range(len(sizes))]
    if not row.open:
        names = ", ".join(group.name for group in row.groups)
        raise OpError(Fault(f"takes {len(sizes)} operands, not {found}", legal=names))
    message = f"lacks {SEGMENTS}: {found} operands, {least} without any clause"
    if found < least:
        message = f"has {found} operands, at least {least} are needed"
    raise OpError(Fault(message, legal=_listed(row)))


def _checked(row: Row, found: int, sizes: Sequence[int]) -> Sequence[int]:
    """Returns the operands of each group as the text counts them."""
    if len(sizes) != len(row.groups) or sum(sizes) != found:
        message = (
            f"{SEGMENTS} of length {len(sizes)} counts {sum(sizes)} operands, the op has "
            f"{len(row.groups)} groups and {found} operands"
        )
        raise OpError(Fault(message, legal=f"a number each: {_listed(row)}"))
    for group, size in zip(row.groups, sizes, strict=True):
        if size < group.least or (group.most >= 0 and size > group.most):
            message = f"{group.name} has {size} operands in {SEGMENTS}"
            raise OpError(Fault(message, legal=_listed(row)))
    return sizes


def groups_of(row: Row, operands: Sequence[_T], sizes: object = None) -> dict[str, list[_T]]:
    """Returns the operands of each group of a row.

    Args:
        row: The row.
        operands: All operands.
        sizes: ``operandSegmentSizes``, which is a list, or None.

    Raises:
        OpError: there are too few, too many, or sizes that are not theirs.
    """
    if sizes is None:
        counts = _without_sizes(row, len(operands))
    elif isinstance(sizes, list):
        counts = _checked(row, len(operands), sizes)
    else:
        raise OpError(Fault(f"{SEGMENTS} is not an array<i32: ...>"))
    rest = iter(operands)
    pairs = zip(row.groups, counts, strict=True)
    return {group.name: [next(rest) for _ in range(size)] for group, size in pairs}


def check_sizes(row: Row, given: object, counted: tuple[int, ...]) -> None:
    """Refuses ``operandSegmentSizes`` that are not those of the text.

    The compiler prints them for the strided copies; of other ops only their sum is compared.
    """
    if given is None:
        return
    sizes = tuple(given) if isinstance(given, list) else ()
    if sizes == counted or (sum(sizes) == sum(counted) and LOOPS[0] not in row.kind_of):
        return
    message = (
        f"{SEGMENTS} of length {len(sizes)} counts {sum(sizes)} operands otherwise than the "
        f"clauses, of length {len(counted)} and {sum(counted)} operands"
    )
    legal = f"{', '.join(map(str, counted))}, or no {SEGMENTS}: text needs none"
    raise OpError(Fault(message, legal=legal))


def check_choice(row: Row, names: Collection[str], *, counted: bool) -> None:
    """Refuses operands that are not a complete group of those that a row chooses from.

    Args:
        row: The row.
        names: Operands of the op.
        counted: Whether the text counts them; the older form has two extents and no counts.
    """
    shapes, controls = row.choices
    shape, control = ([x for x in group if x in names] for group in row.choices)
    if shape and control:
        message = (
            f"shape-derived and full operands cannot be mixed: {shape[0]} is of the one, "
            f"{control[0]} of the other form"
        )
        raise OpError(Fault(message, legal=f"{listed(shapes)}, or {listed(controls)}"))
    if row.attributes and not counted and len(names) == len(row.head) + 2:
        return  # the two extents of the older form
    kind, group = ("full", controls) if control else ("shape-derived", shapes)
    missing = [name for name in group if name not in names]
    if missing:
        message = f"the {kind} form requires {', '.join(missing)}"
        raise OpError(Fault(message, legal=listed(group)))


_TAKES = {
    **dict.fromkeys((POINTER, BUFFER), "a pointer"),
    **dict.fromkeys((NUMBER, CLIP), "a number"),
    INTEGER: "i64",
    FLAG: "i1",
    PAYLOAD: "a signless integer, a float or a pointer",
}
"""Kind of an operand to the types that it takes, as text."""


def check_type(group: Group, kind: Kind, value: _T, constant: Callable[[_T], int | None]) -> None:
    """Refuses a value of a type that an operand cannot have.

    Programs of illegal ops have operands that 64 bits do not hold, and flags that no i1 holds.

    Args:
        group: The operand.
        kind: How the value is held.
        value: The value.
        constant: Returns the number of a value that is a constant.
    """
    signless = re.fullmatch(r"i\d+", kind.name) is not None
    wide = signless and kind.bits >= INDEX_BITS
    number = kind.sort in (values.NUMBER, FLOAT)
    pointer = kind.pointer is not None and not kind.name.startswith("memref")
    if group.kind == FLAG:
        fits = kind.name == "i1" or (wide and constant(value) not in (None, 0, 1))
    else:
        fits = {
            POINTER: pointer,
            BUFFER: kind.pointer is not None,
            INTEGER: wide,
            NUMBER: number,
            CLIP: number or pointer,
            PAYLOAD: signless or kind.sort == FLOAT or pointer,
        }[group.kind]
    if not fits:
        takes = _TAKES[group.kind]
        message = f"type mismatch: {group.name} has type {kind.name}, it takes {takes}"
        raise OpError(Fault(message))
