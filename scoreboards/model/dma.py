# SPDX-License-Identifier: Apache-2.0
"""Reference model of every op: the bytes it moves and writes, or the rule it breaks.

An op is executed in two steps that :meth:`ReferenceModel.execute` joins. *Issue* decides the D
rules, samples the registers a legacy copy reads and works out which bytes move; *apply* moves them.
A scoreboard calls the steps separately where ops of several pipes retire out of program order.

The ops are in the modules of their families: :mod:`~scoreboards.model.strided`,
:mod:`~scoreboards.model.burst`, :mod:`~scoreboards.model.nz`, :mod:`~scoreboards.model.l0`,
:mod:`~scoreboards.model.fill`, :mod:`~scoreboards.model.fixpipe`, and
:mod:`~scoreboards.model.registers` for the ``set_*`` ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model import burst, fill, fixpipe, l0, nz, registers, strided
from scoreboards.model.move import move
from scoreboards.model.outcome import FlagUse, Memory, Outcome
from scoreboards.model.registers import Registers
from tb.isa.burst.op import BURST_CLASSES
from tb.isa.ctrl import CtrlOp, SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import DMA_CLASSES
from tb.isa.fill.op import FILL_CLASSES
from tb.isa.fix.op import FIX_CLASSES
from tb.isa.footprint import Footprint
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.nz.op import NZ_CLASSES
from tb.isa.op import Op
from tb.isa.spaces import Space

DmaOp = Op | LegacyOp | CtrlOp
"""Every op this model executes."""

FootprintHook = Callable[[Footprint], None]

_ISSUE: dict[type, Callable[[Any, bool, Registers], Outcome]] = {
    **dict.fromkeys(DMA_CLASSES, strided.copy),
    **{
        cls: burst.biases if cls.spec.destination == "bt" else burst.bursts
        for cls in BURST_CLASSES.values()
    },
    **dict.fromkeys(NZ_CLASSES, nz.gm_l1_frac),
    **dict.fromkeys(LOAD_CLASSES.values(), l0.load),
    **dict.fromkeys(FILL_CLASSES, fill.raw_fill),
    **dict.fromkeys(FIX_CLASSES, fixpipe.write_back),
    CopyGmToUbuf: strided.gm_to_ubuf,
    CopyUbufToGm: strided.ubuf_to_gm,
    CopyUbufToUbuf: burst.ubuf_to_ubuf,
    SetLoopSize: registers.set_loop_size,
    SetLoopStride: registers.set_loop_stride,
    SetMovPadVal: registers.set_pad_value,
    SetCtrl: registers.set_ctrl,
    SetAtomic: registers.set_atomic,
}


class ReferenceModel:
    """Executes DMA ops on a set of memories.

    Args:
        memories: Each space an op may touch to its bytes, ``uint8[capacity]``; GM may be a view
            on a sparse mapping of 2^40 bytes. Written in place.
        before_read: Called with the source footprint before an op moves bytes.
        before_write: Called with the destination footprint before an op moves bytes. Both are
            called for every region of an op.
        unit_flags: ``uint8[512]`` flags of the L0C blocks, 0 or 1, written in place. Without
            them every flag an op waits for counts as set.

    Raises:
        ValueError: a memory is not a writable, contiguous, one-dimensional array of bytes.
    """

    def __init__(
        self,
        memories: Mapping[Space, Memory],
        *,
        before_read: FootprintHook | None = None,
        before_write: FootprintHook | None = None,
        unit_flags: NDArray[np.uint8] | None = None,
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
        self._unit_flags = unit_flags
        self.registers = Registers()

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
            The outcome, with its events. With status ``RULE`` no byte and no register has
            changed.

        Raises:
            TypeError: no DMA op.
            ValueError: an op that no front end lets through (an S rule), or, with ``legal``, one
                that leaves its memory.
        """
        return self.apply(self.issue(op, legal=legal))

    def issue(self, op: DmaOp, *, legal: bool = False) -> Outcome:
        """Returns what ``op`` will do, with the registers as they are now; moves no byte.

        ``set_*`` ops write their registers here. Arguments and errors as for :meth:`execute`.
        """
        try:
            issue = _ISSUE[type(op)]
        except KeyError:
            raise TypeError(f"{type(op).__name__} is not an op of the DMA model") from None
        return issue(op, legal, self.registers)

    def apply(self, outcome: Outcome) -> Outcome:
        """Moves the bytes of an issued op; nothing for a NOP or an illegal op.

        Returns:
            The outcome with the events of the data it moved.

        Raises:
            ValueError: the op leaves a memory, or waits for a unit flag that is never set.
        """
        if outcome.read is None or outcome.written is None:
            return outcome
        if outcome.flags is not None:
            self._wait_for_flags(outcome.flags)
        try:
            if self._before_read is not None:
                for region in outcome.reads:
                    self._before_read(region)
            if self._before_write is not None:
                for region in outcome.regions:
                    self._before_write(region)
            if outcome.transfer is None:
                move(self._memories, outcome)
                return outcome
            events = outcome.transfer.move(self._memories)
        except (TypeError, ValueError) as error:
            # numpy's own message on a view longer than its memory names neither.
            for region in (*outcome.reads, *outcome.regions):
                if region.end > self._memories[region.space].size:
                    raise ValueError(
                        f"{region.space.name} {region.base:#x}..{region.end:#x} leaves its memory"
                    ) from error
            raise
        return outcome._replace(events=events) if events else outcome

    def _wait_for_flags(self, use: FlagUse) -> None:
        """Waits for unit flags, and clears them where the op does so when it retires."""
        flags = self._unit_flags
        if flags is None:
            return
        missing = use.blocks[flags[use.blocks] == 0]
        if missing.size:
            raise ValueError(
                f"the op waits for the unit flag of L0C block {missing[0]}, which is not set"
            )
        if use.clears:
            flags[use.blocks] = 0
