# SPDX-License-Identifier: Apache-2.0
"""Reference model of the strided GM DMA ops, v0.6 and legacy (spec/dma.md, sections 2 to 4).

An op is executed in two steps that :meth:`DmaModel.execute` joins. *Issue* decides the D rules,
samples the registers a legacy copy reads and works out which bytes move; *apply* moves them. A
scoreboard that sees ops of several pipes retire out of program order calls the steps apart.

Legacy copies are read from their own operands and registers, not through the lowering of
:mod:`tb.isa.legacy`, which the engine's descriptors come from: the two must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scoreboards.model.move import Memory, move
from scoreboards.model.outcome import NOTHING, Outcome, PadPattern
from tb.isa.dma import DmaDescriptor, DmaLoop, MteGmUb, MteUbGm
from tb.isa.dma_table import (
    GM_STRIDE_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
    MTE_GM_UB,
    MTE_UB_GM,
)
from tb.isa.dtypes import element_bytes
from tb.isa.fields import OpSpec
from tb.isa.footprint import Footprint
from tb.isa.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space, ub_space
from tb.isa.status import Status

DmaOp = MteGmUb | MteUbGm | LegacyOp
"""Every op this model executes."""

FootprintHook = Callable[[Footprint], None]

_WIDTH_RULE = 5


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
    """What ``set_*`` ops write and only legacy copies read; defaults are the reset state (A-09)."""

    outtoub: LoopRegisters = field(default_factory=LoopRegisters)
    ubtoout: LoopRegisters = field(default_factory=LoopRegisters)
    pad_value: int = 0

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


class DmaModel:
    """Executes DMA ops on memories of its own.

    Args:
        memories: Each space an op may touch to its bytes, ``uint8[capacity]``; GM may be a view
            on a sparse mapping of 2^40 bytes. Written in place.
        before_read: Called with the source footprint before an op moves bytes.
        before_write: Called with the destination footprint before an op moves bytes.

    Raises:
        ValueError: a memory is not a writable, contiguous, one-dimensional array of bytes.
    """

    def __init__(
        self,
        memories: Mapping[Space, Memory],
        *,
        before_read: FootprintHook | None = None,
        before_write: FootprintHook | None = None,
    ) -> None:
        self._memories = dict(memories)
        for space, memory in self._memories.items():
            if memory.dtype != np.uint8 or memory.ndim != 1 or not memory.flags.c_contiguous:
                raise ValueError(
                    f"memory {space.name} is {memory.dtype}{list(memory.shape)}: the model wants "
                    "a contiguous uint8 array of one dimension"
                )
            if not memory.flags.writeable:
                raise ValueError(f"memory {space.name} is read-only: the model writes in place")
        self._before_read = before_read
        self._before_write = before_write
        self.registers = Registers()
        self._issue: dict[type, Callable[[Any, bool], Outcome]] = {
            MteGmUb: self._gm_ub,
            MteUbGm: self._ub_gm,
            CopyGmToUbuf: self._gm_to_ubuf,
            CopyUbufToGm: self._ubuf_to_gm,
            SetLoopSize: self._loop_size,
            SetLoopStride: self._loop_stride,
            SetMovPadVal: self._pad_value,
        }

    def reset(self) -> None:
        """Puts the registers into their reset state (A-09); memories keep their bytes."""
        self.registers = Registers()

    def execute(self, op: DmaOp, *, legal: bool = False) -> Outcome:
        """Executes one op.

        Args:
            op: The op.
            legal: The caller vouches for the D rules: they are not evaluated. Operands of
                ``set_*`` ops are checked in any case.

        Returns:
            The outcome. With status ``RULE`` no byte and no register has changed.

        Raises:
            TypeError: no DMA op.
            ValueError: an op that no front end lets through (an S rule), or, with ``legal``, one
                that leaves its memory.
        """
        outcome = self.issue(op, legal=legal)
        if outcome.written is not None:
            self.apply(outcome)
        return outcome

    def issue(self, op: DmaOp, *, legal: bool = False) -> Outcome:
        """Returns what ``op`` will do, with the registers as they are now; moves no byte.

        ``set_*`` ops write their registers here. Arguments and errors as for :meth:`execute`.
        """
        try:
            issue = self._issue[type(op)]
        except KeyError:
            raise TypeError(f"{type(op).__name__} is no op of the DMA model") from None
        return issue(op, legal)

    def apply(self, outcome: Outcome) -> None:
        """Moves the bytes of an issued op; nothing for a NOP or an illegal op."""
        if outcome.read is None or outcome.written is None:
            return
        if self._before_read is not None:
            self._before_read(outcome.read)
        if self._before_write is not None:
            self._before_write(outcome.written)
        move(self._memories, outcome)

    def _gm_ub(self, op: MteGmUb, legal: bool) -> Outcome:
        loops, pad = op.loops, op.pad
        length = op.len_burst
        counts = (op.n_burst, *[loop.count for loop in loops])
        src_strides = (op.src_stride, *[loop.src_stride for loop in loops])
        dst_strides = (op.dst_stride, *[loop.dst_stride for loop in loops])
        row = length if pad is None else op.dst_stride
        source = Footprint(Space.GM, op.gm_src, length, counts, src_strides)
        target = Footprint(ub_space(op.ub_sub), op.ub_dst, row, counts, dst_strides)
        if not legal:
            clause: dict[str, int] = {}
            if pad is not None:
                clause = {
                    "pad_en": 1,
                    "pad_value": pad.value,
                    "pad_left": pad.left or 0,
                    "pad_right": pad.right or 0,
                }
            size = element_bytes(op.src_type.dtype)
            rule = _broken_rule(
                MTE_GM_UB, size, length, source, target, l2=op.l2_cache_ctl, **clause
            )
            if rule:
                return Outcome(Status.RULE, rule)
        if not length or 0 in counts:
            return NOTHING
        if pad is None:
            return Outcome(Status.OK, 0, source, target)
        size = element_bytes(pad.dtype)
        pattern = PadPattern(pad.value, size)
        return Outcome(Status.OK, 0, source, target, (pad.left or 0) * size, pattern)

    def _ub_gm(self, op: MteUbGm, legal: bool) -> Outcome:
        loops = op.loops
        length = op.len_burst
        counts = (op.n_burst, *[loop.count for loop in loops])
        src_strides = (op.src_stride, *[loop.src_stride for loop in loops])
        dst_strides = (op.dst_stride, *[loop.dst_stride for loop in loops])
        source = Footprint(ub_space(op.ub_sub), op.ub_src, length, counts, src_strides)
        target = Footprint(Space.GM, op.gm_dst, length, counts, dst_strides)
        if not legal:
            size = element_bytes(op.src_type.dtype)
            rule = _broken_rule(MTE_UB_GM, size, length, target, source, l2=op.l2_cache_ctl)
            if rule:
                return Outcome(Status.RULE, rule)
        if not length or 0 in counts:
            return NOTHING
        return Outcome(Status.OK, 0, source, target)

    def _gm_to_ubuf(self, op: CopyGmToUbuf, legal: bool) -> Outcome:
        registers = self.registers.outtoub
        length, padded = op.len_burst, op.data_select_bit
        counts = registers.counts(op.n_burst)
        src_strides = registers.src_strides(op.src_stride)
        dst_strides = registers.dst_strides(op.dst_stride)
        row = op.dst_stride if padded else length
        source = Footprint(Space.GM, op.gm_src, length, counts, src_strides)
        target = Footprint(ub_space(op.ub_sub), op.ub_dst, row, counts, dst_strides)
        size = element_bytes(op.src_type.dtype)
        # The register holds a value of any pad type; a copy takes the low bytes of an element.
        pattern = PadPattern(self.registers.pad_value & ((1 << 8 * size) - 1), size)
        if not legal:
            rule = _broken_rule(
                MTE_GM_UB,
                size,
                length,
                source,
                target,
                l2=op.l2_cache_ctl,
                pad_en=padded,
                pad_in_bytes=1,
                pad_value=pattern.value,
                pad_left=op.left_padding,
                pad_right=op.right_padding,
            )
            if rule:
                return Outcome(Status.RULE, rule)
        if not length or 0 in counts:
            return NOTHING
        if not padded:
            return Outcome(Status.OK, 0, source, target)
        return Outcome(Status.OK, 0, source, target, op.left_padding, pattern)

    def _ubuf_to_gm(self, op: CopyUbufToGm, legal: bool) -> Outcome:
        registers = self.registers.ubtoout
        length = op.len_burst
        counts = registers.counts(op.n_burst)
        src_strides = registers.src_strides(op.src_stride)
        dst_strides = registers.dst_strides(op.dst_stride)
        source = Footprint(ub_space(op.ub_sub), op.ub_src, length, counts, src_strides)
        target = Footprint(Space.GM, op.gm_dst, length, counts, dst_strides)
        if not legal:
            size = element_bytes(op.src_type.dtype)
            rule = _broken_rule(MTE_UB_GM, size, length, target, source, reserved=op.reserved)
            if rule:
                return Outcome(Status.RULE, rule)
        if not length or 0 in counts:
            return NOTHING
        return Outcome(Status.OK, 0, source, target)

    def _loop_size(self, op: SetLoopSize, _legal: bool) -> Outcome:
        registers = self.registers.direction(op.direction)
        if not (_fits(op.loop1_count, LOOP_COUNT_BITS) and _fits(op.loop2_count, LOOP_COUNT_BITS)):
            return Outcome(Status.RULE, _WIDTH_RULE)
        registers.loop1_count = op.loop1_count
        registers.loop2_count = op.loop2_count
        return NOTHING

    def _loop_stride(self, op: SetLoopStride, _legal: bool) -> Outcome:
        registers = self.registers.direction(op.direction)
        if op.level not in (1, 2):
            raise ValueError(f"loop level is {op.level}: the registers hold loops 1 and 2")
        src_bits, dst_bits = GM_STRIDE_BITS, LOCAL_STRIDE_BITS
        if op.direction == UBTOOUT:
            src_bits, dst_bits = dst_bits, src_bits
        if not (_fits(op.src_stride, src_bits) and _fits(op.dst_stride, dst_bits)):
            return Outcome(Status.RULE, _WIDTH_RULE)
        if op.level == 1:
            registers.loop1_src, registers.loop1_dst = op.src_stride, op.dst_stride
        else:
            registers.loop2_src, registers.loop2_dst = op.src_stride, op.dst_stride
        return NOTHING

    def _pad_value(self, op: SetMovPadVal, _legal: bool) -> Outcome:
        if not _fits(op.value, 8 * element_bytes(op.dtype)):
            return Outcome(Status.RULE, _WIDTH_RULE)
        self.registers.pad_value = op.value
        return NOTHING


def _fits(value: int, bits: int) -> bool:
    return 0 <= value < 1 << bits


def _broken_rule(
    spec: OpSpec, elem_bytes: int, length: int, gm: Footprint, ub: Footprint, **rest: int
) -> int:
    """Returns the lowest D rule the op breaks, or 0: the verdict is that of the rule table."""
    loops = zip(gm.counts[1:], gm.strides[1:], ub.strides[1:], strict=True)
    violation = first_d_violation(
        DmaDescriptor(
            spec=spec,
            elem_bytes=elem_bytes,
            ext_addr=gm.base,
            loc_addr=ub.base,
            len=length,
            n_burst=gm.counts[0],
            ext_stride=gm.strides[0],
            loc_stride=ub.strides[0],
            loops=tuple(DmaLoop(count, ext, loc) for count, ext, loc in loops),
            **rest,
        )
    )
    return 0 if violation is None else violation.rule.number
