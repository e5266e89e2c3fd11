# SPDX-License-Identifier: Apache-2.0
"""Operands of an op as numbers under paths, those of clauses and loops included."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Any

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.fields import OpSpec
from tb.isa.lower import OP_CLASSES
from tb.isa.op import Op, operand_names, replace
from tb.isa.ops import LEGACY_FORMS

Path = tuple[str | int, ...]
"""Names and indices from the op to a number: ``("loops", 1, "count")``."""

CODES = frozenset({"ub_sub", "transpose", "fill_word_bits", "mode", "layout", "sat"})
"""Operands that choose a variant: every value that they can have is legal."""

UNKNOWN_BITS = 17
"""Width that is searched of operands without a row: clips and keywords."""


def operands(op: object) -> dict[Path, int]:
    """Returns the numbers of an op by path, without codes and without values of scalars."""
    found: dict[Path, int] = {}
    _collect(op, (), found)
    return found


def _collect(value: object, path: Path, found: dict[Path, int]) -> None:
    if isinstance(value, int):
        if path[-1] not in CODES and path[-2:] != ("payload", "bits"):
            found[path] = value
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            _collect(part, (*path, number), found)
    elif isinstance(value, Op) or (is_dataclass(value) and not isinstance(value, Ptr)):
        for name in operand_names(type(value)):
            if not isinstance(value, Op) or value.is_given(name):
                _collect(getattr(value, name), (*path, name), found)


def operand_of(op: Any, path: Path) -> Any:
    """Returns what is at a path."""
    for part in path:
        op = op[part] if isinstance(part, int) else getattr(op, part)
    return op


def operand(op: Any, path: Path) -> int:
    """Returns the number at a path."""
    number: int = operand_of(op, path)
    return number


def with_operand(op: Any, path: Path, value: int) -> Any:
    """Returns an op with another number at a path."""
    if not path:
        return value
    name, rest = path[0], path[1:]
    if isinstance(name, int):
        return (*op[:name], with_operand(op[name], rest, value), *op[name + 1 :])
    return replace(op, **{name: with_operand(getattr(op, name), rest, value)})


def text_of(path: Path) -> str:
    """Returns a path as one word: ``loops.1.count``."""
    return ".".join(map(str, path))


def bits_of_type(op: Any, path: Path) -> int:
    """Returns the bits that the type of an operand holds: those of a clip, else 64.

    Wider pad values and patterns break a rule; a wider clip has no descriptor.
    """
    return element_bits(operand_of(op, path[:-1]).dtype) if path[-1] == "bits" else 64


def field_bits(op: Any, path: Path) -> int:
    """Returns the bits of the descriptor field that holds the operand."""
    return widths(op, path)[0]


def widths(op: Any, path: Path) -> tuple[int, int]:
    """Returns the bits of the descriptor field that holds the operand, and those of its row.

    Without a row both are the same.
    """
    spec = getattr(op, "spec", None) or OP_CLASSES[LEGACY_FORMS["copy_ubuf_to_ubuf"]].spec
    return _widths(spec.name, path[0], path[-1])


@cache
def _widths(name: str, clause: str | int, last: str | int) -> tuple[int, int]:
    spec: OpSpec = OP_CLASSES[name].spec
    names = {last, f"{str(clause).removesuffix('s')}_{last}", f"{last}_padding_count"}
    pointer = f"{str(clause).removeprefix('pre_')}_addr"
    if last == "address" and pointer in spec.layout:
        return (spec.layout[pointer].field.container,) * 2
    for row in spec.operands:
        if names & {row.name, row.field} and row.field:
            container = spec.layout[row.field.format(k=0)].field.container
            return container, row.bits or container
    return UNKNOWN_BITS, UNKNOWN_BITS
