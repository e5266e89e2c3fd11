# SPDX-License-Identifier: Apache-2.0
"""Strided copies as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.view import Bools, Part
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.spaces import UB_BLOCK


class DmaPart(Part):
    """Legal strided copies; ``ext`` and ``loc`` are the sides of the descriptor."""

    @cached_property
    def length(self) -> Ints:
        """Bytes of data in a row."""
        return self["len"]

    @cached_property
    def counts(self) -> list[Ints]:
        """Rows, then iterations of loops 0, 1, 2; absent loops count 1."""
        loops = [np.where(self.n_loops > k, self[f"loop{k}_count"], 1) for k in range(MAX_LOOPS)]
        return [self["n_burst"], *loops]

    @cached_property
    def n_loops(self) -> Ints:
        """Loop groups present."""
        return self["n_loops"]

    @cached_property
    def live(self) -> Bools:
        """Moves at least one byte."""
        busy = self.length > 0
        for count in self.counts:
            busy &= count > 0
        return busy

    @cached_property
    def pad(self) -> Bools:
        """Rows are padded, and the op moves bytes."""
        return self.live & (self["pad_en"] > 0)

    @cached_property
    def elem(self) -> Ints:
        """Element size in bytes."""
        return np.left_shift(1, self["elem_log2"])

    def pad_bytes(self, side: str) -> Ints:
        """Returns the bytes of ``"left"`` or ``"right"`` padding."""
        return self[f"pad_{side}"] * np.where(self["pad_in_bytes"] > 0, 1, self.elem)

    @cached_property
    def need(self) -> Ints:
        """On-chip bytes a row must have, in whole 32-byte blocks."""
        pads = np.where(self.pad, self.pad_bytes("left") + self.pad_bytes("right"), 0)
        return -(-(self.length + pads) // UB_BLOCK) * UB_BLOCK

    def stride(self, side: str, level: int) -> Ints:
        """Returns strides of ``"ext"`` or ``"loc"``; level 0 is the rows."""
        return self[f"{side}_stride" if level == 0 else f"loop{level - 1}_{side}_stride"]

    @cached_property
    def hulls(self) -> dict[str, list[Ints]]:
        """Per side, bytes from first to last: of a row, with rows, with loop 0, ... loop 2."""
        found = {}
        for side in ("ext", "loc"):
            hull = self.length
            if side == "loc":
                hull = np.where(self.pad, self["loc_stride"], hull)
            steps = [hull]
            for level, count in enumerate(self.counts):
                used = np.where(self.live, (count - 1) * self.stride(side, level), 0)
                hull = hull + used
                steps.append(hull)
            found[side] = steps
        return found

    @cached_property
    def bytes(self) -> Ints:
        """Bytes of data moved."""
        total = np.where(self.live, self.length, 0)
        for count in self.counts:
            total = total * np.where(self.live, count, 1)
        return total
