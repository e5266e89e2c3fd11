# SPDX-License-Identifier: Apache-2.0
"""Limits of the ops that the host computes, as defined in docs/programs.md."""

from __future__ import annotations

from tb.isa.cube import L0_BYTES, MAD_TYPES, CubeOp, Mad, MteL1L0a
from tb.isa.dtypes import ELEMENT_BYTES, Ptr
from tb.isa.spaces import SIZES, UB_BLOCK, Space
from tb.language.lowered import Region
from tb.language.order.touched import ACCUMULATORS, cube_touches
from tb.language.unknown import UndecidedError

_SIZES = {
    "l1": SIZES[Space.L1],
    "l0c": SIZES[Space.L0C],
    "l0a": L0_BYTES,
    "l0b": L0_BYTES,
}

Problem = tuple[str, str]
"""The error, and the legal range."""


def cube_problems(op: CubeOp) -> list[Problem]:
    """Returns the errors of an op of the matrix unit, as far as its operands are known."""
    problems = _types(op)
    if problems:
        return problems
    if isinstance(op, Mad):
        addresses = [
            ("left", op.lhs_type, op.lhs),
            ("right", op.rhs_type, op.rhs),
            ("result", op.dst_type, op.dst),
        ]
    else:
        addresses = [("source", op.src_type, op.src), ("destination", op.dst_type, op.dst)]
    for role, pointer, address in addresses:
        unit = ACCUMULATORS if pointer.space == "l0c" else UB_BLOCK
        try:
            if address % unit:
                problems.append((f"{role} address is {address:#x}", f"a multiple of {unit}"))
        except UndecidedError:
            continue
    try:
        touched = cube_touches(op)
    except UndecidedError:
        return problems
    return problems + [problem for found, _ in touched for problem in _inside(found)]


def _inside(found: Region) -> list[Problem]:
    size = _SIZES[found.space]
    if found.end <= size:
        return []
    return [(f"{found.space.upper()} accesses reach {found.end:#x}", f"addresses below {size:#x}")]


def _space(role: str, pointer: Ptr, space: str) -> list[Problem]:
    if pointer.space == space:
        return []
    return [(f"{role} pointer is in {pointer.space}", space)]


def _types(op: CubeOp) -> list[Problem]:
    factors = " ".join(MAD_TYPES)
    if isinstance(op, Mad):
        problems = [
            *_space("left", op.lhs_type, "l0a"),
            *_space("right", op.rhs_type, "l0b"),
            *_space("result", op.dst_type, "l0c"),
        ]
        left, right, result = op.lhs_type.dtype, op.rhs_type.dtype, op.dst_type.dtype
        if left not in MAD_TYPES:
            problems.append((f"elements of the left factor are {left}", f"one of {factors}"))
        elif right != left:
            problems.append(
                (f"elements of the factors are {left} and {right}", f"twice one of {factors}")
            )
        elif result != MAD_TYPES[left]:
            problems.append((f"accumulators of {left} are {result}", MAD_TYPES[left]))
        return problems
    target = "l0a" if isinstance(op, MteL1L0a) else "l0b"
    problems = [
        *_space("source", op.src_type, "l1"),
        *_space("destination", op.dst_type, target),
    ]
    if op.src_type.dtype not in ELEMENT_BYTES or ELEMENT_BYTES[op.src_type.dtype] > 4:
        problems.append((f"elements are {op.src_type.dtype}", f"one of {factors}"))
    elif ELEMENT_BYTES[op.src_type.dtype] != ELEMENT_BYTES.get(op.dst_type.dtype):
        names = f"{op.src_type.dtype} and {op.dst_type.dtype}"
        problems.append((f"elements of source and destination are {names}", "one width"))
    return problems
