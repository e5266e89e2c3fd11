# SPDX-License-Identifier: Apache-2.0
"""Accessed range of the buffer of each argument."""

from __future__ import annotations

from collections.abc import Sequence

from tb.isa.dma.legacy import DmaRegisters
from tb.isa.footprint import destinations, source
from tb.isa.spaces import Space
from tb.language.lowered import Lowering
from tb.language.run.build import Recipe
from tb.language.unknown import UNKNOWN, UndecidedError


class Reach:
    """Bytes that are touched in the buffer of each argument, gathered in program order."""

    def __init__(self) -> None:
        """Begins with nothing."""
        self.bytes: dict[int, int] = {}
        self._extents: dict[tuple[int, int, int, tuple[int, ...]], int | None] = {}

    def _measure(
        self, recipe: Recipe, numbers: Sequence[int], registers: DmaRegisters, ctrl: int
    ) -> int | None:
        at_zero = [
            0 if each.pointer else number
            for each, number in zip(recipe.inputs, numbers, strict=True)
        ]
        try:
            lowered = Lowering(recipe.make(at_zero), registers, ctrl)
            desc = lowered.descriptor
            if desc is None or desc.is_nop or lowered.refused:
                return 0
            for footprint in (source(desc), *destinations(desc)):
                if footprint.space is Space.GM:
                    return footprint.end
        except UndecidedError:
            return None
        return 0

    def extent(
        self, recipe: Recipe, numbers: Sequence[int], registers: DmaRegisters, ctrl: int = 0
    ) -> int | None:
        """Returns the bytes of GM from its address on that an op touches.

        ``registers`` are those that a legacy copy reads; equal ones are one object. ``ctrl`` is
        CTRL, of a write-back that leaves out a clause.

        0 for an op that an engine refuses and for one that moves nothing, None where operands
        are not known.
        """
        shape = tuple(
            number for each, number in zip(recipe.inputs, numbers, strict=True) if not each.pointer
        )
        if ctrl is UNKNOWN or any(number is UNKNOWN for number in shape):
            return self._measure(recipe, numbers, registers, ctrl)
        key = (id(recipe), id(registers), ctrl, shape)
        if key not in self._extents:
            self._extents[key] = self._measure(recipe, numbers, registers, ctrl)
        return self._extents[key]

    def touch(self, argument: int, end: int) -> None:
        """Notes that the bytes of an argument's buffer before ``end`` are touched."""
        if end > self.bytes.get(argument, 0):
            self.bytes[argument] = end
