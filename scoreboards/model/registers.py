# SPDX-License-Identifier: Apache-2.0
"""CTRL and the registers of the legacy DMA ops (docs/spec/dma.md, 4), and ops that write them.

A ``set_*`` op with an operand that does not fit retires with DMA-L05 and changes nothing (A-19).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scoreboards.model.outcome import NOTHING, Outcome
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import OUTTOUB, UBTOOUT, SetLoopSize, SetLoopStride, SetMovPadVal
from tb.isa.dma.table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS, LOOP_COUNT_BITS
from tb.isa.dtypes import element_bytes
from tb.isa.status import Status

WIDTH_RULE = 5
"""DMA-L05."""


@dataclass(slots=True)
class LoopRegisters:
    """Loop registers of one direction: counts and byte strides of loop 1 (inner) and loop 2."""

    loop1_count: int = 1
    loop2_count: int = 1
    loop1_src: int = 0
    loop1_dst: int = 0
    loop2_src: int = 0
    loop2_dst: int = 0

    def counts(self, n_burst: int) -> tuple[int, ...]:
        """Returns the counts of rows, loop 1, loop 2."""
        return n_burst, self.loop1_count, self.loop2_count

    def src_strides(self, row: int) -> tuple[int, ...]:
        """Returns the source strides of rows, loop 1, loop 2, in bytes."""
        return row, self.loop1_src, self.loop2_src

    def dst_strides(self, row: int) -> tuple[int, ...]:
        """Returns the destination strides of rows, loop 1, loop 2, in bytes."""
        return row, self.loop1_dst, self.loop2_dst


@dataclass(slots=True)
class Registers:
    """Registers of ``set_*`` ops, legacy copies and write-backs; defaults are the reset state.

    CTRL is that of docs/spec/order_and_atomics.md, section 5; its constant bit 60 is not kept.
    """

    outtoub: LoopRegisters = field(default_factory=LoopRegisters)
    ubtoout: LoopRegisters = field(default_factory=LoopRegisters)
    pad_value: int = 0
    ctrl: int = 0

    @property
    def atomic_type(self) -> int:
        """CTRL[8:6]: 0 off, 1 f32, 2 f16, 3 s16, 4 s32, 5 s8, 6 bf16."""
        return self.ctrl >> 6 & 7

    @property
    def atomic_op(self) -> int:
        """CTRL[10:9]: 0 add, 1 max, 2 min."""
        return self.ctrl >> 9 & 3

    def direction(self, name: str) -> LoopRegisters:
        """Returns the loop registers of ``outtoub`` or ``ubtoout``.

        Raises:
            ValueError: the direction is neither.
        """
        if name == OUTTOUB:
            return self.outtoub
        if name == UBTOOUT:
            return self.ubtoout
        raise ValueError(f"direction is {name!r}: one of {OUTTOUB}, {UBTOOUT}")


def fits(value: int, bits: int) -> bool:
    """Returns whether an unsigned field of ``bits`` bits holds ``value``."""
    return 0 <= value < 1 << bits


def set_loop_size(op: SetLoopSize, _legal: bool, state: Registers) -> Outcome:
    """Writes the loop counts of a direction."""
    registers = state.direction(op.direction)
    if not (fits(op.loop1_count, LOOP_COUNT_BITS) and fits(op.loop2_count, LOOP_COUNT_BITS)):
        return Outcome(Status.RULE, WIDTH_RULE)
    registers.loop1_count = op.loop1_count
    registers.loop2_count = op.loop2_count
    return NOTHING


def set_loop_stride(op: SetLoopStride, _legal: bool, state: Registers) -> Outcome:
    """Writes the strides of one loop of a direction."""
    registers = state.direction(op.direction)
    if op.level not in (1, 2):
        raise ValueError(f"loop level is {op.level}: the registers hold loops 1 and 2")
    src_bits, dst_bits = GM_STRIDE_BITS, LOCAL_STRIDE_BITS
    if op.direction == UBTOOUT:
        src_bits, dst_bits = dst_bits, src_bits
    if not (fits(op.src_stride, src_bits) and fits(op.dst_stride, dst_bits)):
        return Outcome(Status.RULE, WIDTH_RULE)
    if op.level == 1:
        registers.loop1_src, registers.loop1_dst = op.src_stride, op.dst_stride
    else:
        registers.loop2_src, registers.loop2_dst = op.src_stride, op.dst_stride
    return NOTHING


_TYPE_CODES = {"none": 0, "f32": 1, "f16": 2, "s16": 3, "s32": 4, "s8": 5, "bf16": 6}
_OP_CODES = {"add": 0, "max": 1, "min": 2}


def set_ctrl(op: SetCtrl, _legal: bool, state: Registers) -> Outcome:
    """Writes all of CTRL (CT-01)."""
    if not fits(op.value, 64):
        raise ValueError(f"set_ctrl {op.value:#x}: CTRL has 64 bits")
    state.ctrl = op.value
    return NOTHING


def set_atomic(op: SetAtomic, _legal: bool, state: Registers) -> Outcome:
    """Writes the atomic type or the atomic op alone; ``none`` keeps the op (CT-03)."""
    if op.what in _OP_CODES:
        state.ctrl = state.ctrl & ~(3 << 9) | _OP_CODES[op.what] << 9
    elif op.what in _TYPE_CODES:
        state.ctrl = state.ctrl & ~(7 << 6) | _TYPE_CODES[op.what] << 6
    else:
        raise ValueError(f"set_atomic_{op.what} is not an op of the ISA")
    return NOTHING


def set_pad_value(op: SetMovPadVal, _legal: bool, state: Registers) -> Outcome:
    """Writes the pad value."""
    if not fits(op.value, 8 * element_bytes(op.dtype)):
        return Outcome(Status.RULE, WIDTH_RULE)
    state.pad_value = op.value
    return NOTHING
