# SPDX-License-Identifier: Apache-2.0
"""How much of each argument's buffer a program touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tb.isa.burst import BurstOp
from tb.isa.dma import DmaOp
from tb.isa.fix import FixOp
from tb.isa.footprint import destinations, source
from tb.isa.legacy import (
    OUTTOUB,
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacySet,
    SetLoopSize,
    SetMovPadVal,
    lower_copy,
    write_registers,
)
from tb.isa.lower import Descriptor, lower
from tb.isa.nz import MteGmL1Frac
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space
from tb.isa.unknown import UNKNOWN, UndecidedError
from tb.language.run.build import Recipe


def _forgotten(op: LegacySet, registers: DmaRegisters) -> DmaRegisters:
    """Returns the registers after an op with an operand that is not known."""
    if isinstance(op, SetMovPadVal):
        return replace(registers, pad_value=UNKNOWN)
    loops = registers.loops(op.direction)
    if isinstance(op, SetLoopSize):
        loops = replace(loops, counts=(UNKNOWN, UNKNOWN))
    else:
        first, second = loops.strides
        pair = (UNKNOWN, UNKNOWN)
        loops = replace(loops, strides=(pair, second) if op.level == 1 else (first, pair))
    if op.direction == OUTTOUB:
        return replace(registers, outtoub=loops)
    return replace(registers, ubtoout=loops)


class Reach:
    """Bytes that are touched behind each argument, gathered in program order."""

    def __init__(self) -> None:
        """Begins with registers as after a reset."""
        self.bytes: dict[int, int] = {}
        self._registers = DmaRegisters()
        self._version = 0
        self._extents: dict[tuple[int, int, tuple[int, ...]], int | None] = {}

    def write(self, op: LegacySet) -> None:
        """Executes a ``set_*`` op."""
        try:
            self._registers = write_registers(op, self._registers)
        except UndecidedError:
            self._registers = _forgotten(op, self._registers)
        self._version += 1

    def _descriptor(self, op: object) -> Descriptor | None:
        if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
            return lower_copy(op, self._registers)
        if isinstance(op, DmaOp | BurstOp | MteGmL1Frac | FixOp):
            return lower(op)
        return None

    def _measure(self, recipe: Recipe, numbers: Sequence[int]) -> int | None:
        at_zero = [
            0 if each.pointer else number
            for each, number in zip(recipe.inputs, numbers, strict=True)
        ]
        try:
            desc = self._descriptor(recipe.make(at_zero))
            if desc is None or first_d_violation(desc) or desc.is_nop:
                return 0
            for footprint in (source(desc), *destinations(desc)):
                if footprint.space is Space.GM:
                    return footprint.end
        except UndecidedError:
            return None
        except ValueError:
            pass  # types that no descriptor has: the S rules say so
        return 0

    def extent(self, recipe: Recipe, numbers: Sequence[int]) -> int | None:
        """Returns the bytes of GM behind its address that an op touches.

        0 for an op that an engine refuses and for one that moves nothing, None where operands
        are not known.
        """
        shape = tuple(
            number for each, number in zip(recipe.inputs, numbers, strict=True) if not each.pointer
        )
        if any(number is UNKNOWN for number in shape):
            return self._measure(recipe, numbers)
        key = (id(recipe), self._version, shape)
        if key not in self._extents:
            self._extents[key] = self._measure(recipe, numbers)
        return self._extents[key]

    def touch(self, argument: int, end: int) -> None:
        """Notes that the bytes of an argument's buffer before ``end`` are touched."""
        if end > self.bytes.get(argument, 0):
            self.bytes[argument] = end
