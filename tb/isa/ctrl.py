# SPDX-License-Identifier: Apache-2.0
"""CTRL: defaults of saturation and atomics (docs/spec/order_and_atomics.md, section 5).

An op samples CTRL when it is issued (CT-02). A clause of the op replaces its bits for that op;
without the clause the sampled bits decide (CT-04, CT-05). A descriptor holds the outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tb.isa.fix.table import ATOMIC_OPS, ATOMIC_TYPES, SAT_MODES

CTRL_BITS = 64

TYPE_LSB, TYPE_MASK = 6, 7
"""Bits 8:6, the atomic type; 0 is off."""

OP_LSB, OP_MASK = 9, 3
"""Bits 10:9, the atomic op."""

NOSAT_BIT = 48
KEEP_NAN_BIT = 50

ATOMIC_WORDS: tuple[str, ...] = (*ATOMIC_TYPES, *ATOMIC_OPS, "none")
"""What a ``set_atomic_*`` may set."""


@dataclass(frozen=True, slots=True)
class SetCtrl:
    """``set_ctrl``: all 64 bits."""

    value: int


@dataclass(frozen=True, slots=True)
class SetAtomic:
    """``set_atomic_<what>``: ``what`` is a type, an op, or ``none``, one of ``ATOMIC_WORDS``."""

    what: str


CtrlOp = SetCtrl | SetAtomic
"""Ops that write CTRL."""


def write_ctrl(op: CtrlOp, ctrl: int) -> int:
    """Returns CTRL after ``op`` (CT-03).

    Raises:
        ValueError: ``set_atomic_`` of an unknown word, or a value of more than 64 bits.
    """
    if isinstance(op, SetCtrl):
        if not 0 <= op.value < 1 << CTRL_BITS:
            raise ValueError(f"set_ctrl {op.value:#x}: {CTRL_BITS} bits hold 0..2^{CTRL_BITS} - 1")
        return op.value
    if op.what in ATOMIC_OPS:
        return ctrl & ~(OP_MASK << OP_LSB) | ATOMIC_OPS[op.what] << OP_LSB
    if op.what not in ATOMIC_WORDS:
        raise ValueError(f"set_atomic_{op.what} is unknown: one of {', '.join(ATOMIC_WORDS)}")
    return ctrl & ~(TYPE_MASK << TYPE_LSB) | ATOMIC_TYPES.get(op.what, 0) << TYPE_LSB


def ctrl_after(ops: Iterable[object]) -> int:
    """Returns CTRL after ops of a program that began with 0; others than these change nothing."""
    ctrl = 0
    for op in ops:
        if isinstance(op, SetCtrl | SetAtomic):
            ctrl = write_ctrl(op, ctrl)
    return ctrl


def sat_of(ctrl: int) -> int:
    """Returns the ``sat`` code of an op without the clause (CT-04)."""
    if ctrl >> NOSAT_BIT & 1:
        return SAT_MODES["nosat"]
    return SAT_MODES["preserve_nan" if ctrl >> KEEP_NAN_BIT & 1 else "sat"]


def nosat_of(ctrl: int) -> int:
    """Returns bit 48, which decides about overflow of f16 sums (AT-02)."""
    return ctrl >> NOSAT_BIT & 1


def atomic_of(ctrl: int) -> tuple[int, int]:
    """Returns type and op code of a ``mte_l0c_gm`` without the clause (CT-05)."""
    return ctrl >> TYPE_LSB & TYPE_MASK, ctrl >> OP_LSB & OP_MASK
