# SPDX-License-Identifier: Apache-2.0
"""Strided copies as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.view import Bools, Part, View
from tb.isa.dma.table import MAX_LOOPS, MTE_GM_L1, MTE_GM_UB, MTE_L1_UB
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK


def _block_end(values: Ints) -> Ints:
    """Returns the first multiple of 32 that is not below each value."""
    return -(-values // UB_BLOCK) * UB_BLOCK


class DmaPart(Part):
    """Legal strided copies of one op; ``ext`` and ``loc`` are the sides of the descriptor.

    A row ends with the bytes that the knobs ``tail`` and ``pad_end`` fill behind its data.
    """

    def __init__(self, view: View, index: Ints) -> None:
        """Takes the ops ``index`` (``int64[M]``, at least one) of ``view``."""
        super().__init__(view, index)
        opcode = int(view.opcode[index[0]])
        self._blocks = opcode == MTE_L1_UB.opcode
        self._loads = opcode in (MTE_GM_UB.opcode, MTE_GM_L1.opcode)

    @cached_property
    def length(self) -> Ints:
        """Bytes of data in a row."""
        return self["len"] * (UB_BLOCK if self._blocks else 1)

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
        return self.live & ((self["pad_en"] > 0) | self.pad_counted)

    @cached_property
    def pad_counted(self) -> Bools:
        """Counts of a legacy copy alone select padding (knob ``pad_unselected``)."""
        counts = (self["pad_left"] + self["pad_right"] > 0) & (self["pad_en"] == 0)
        by_counts = current().pad_unselected == "register"
        found: Bools = counts & (self["pad_legacy"] > 0) & by_counts
        return found

    @cached_property
    def own_end(self) -> Bools:
        """Each row is padded to an end of its own: not in a compact group."""
        return self.pad & ~self.compact

    @cached_property
    def pad_stride(self) -> Bools:
        """The stride of a padded row is tested: it must hold the row (DMA-L10)."""
        return self.own_end & ((self.counts[0] > 1) | (current().pad_end == "stride"))

    @cached_property
    def elem(self) -> Ints:
        """Element size in bytes."""
        return np.left_shift(1, self["elem_log2"])

    def pad_bytes(self, side: str) -> Ints:
        """Returns the bytes of ``"left"`` or ``"right"`` padding."""
        in_bytes = current().legacy_pad_unit == "bytes"
        return self[f"pad_{side}"] * np.where((self["pad_legacy"] > 0) & in_bytes, 1, self.elem)

    @cached_property
    def padded_length(self) -> Ints:
        """Bytes of data in a row with the padding that its counts demand."""
        pads = np.where(self.pad, self.pad_bytes("left") + self.pad_bytes("right"), 0)
        return self.length + pads

    @cached_property
    def need(self) -> Ints:
        """On-chip bytes a row must have, in whole 32-byte blocks."""
        return _block_end(self.padded_length)

    @cached_property
    def partial(self) -> Bools:
        """The data of an unpadded row end inside a 32-byte block."""
        return self.live & ~self.pad & (self.length % UB_BLOCK > 0)

    @cached_property
    def compact(self) -> Bools:
        """The rows form a compact group, and their length is no multiple of 32.

        Rows of whole blocks without a gap are ordinary ones (spec/dma.md, section 2).
        """
        legal = not self._blocks and current().compact == "legal"
        tight = (self["loc_stride"] == self.length) & (self.counts[0] > 1)
        found: Bools = self.live & (self.length % UB_BLOCK > 0) & tight & legal
        return found

    @cached_property
    def filled(self) -> Bools:
        """The last 32-byte block of each row is filled (knob ``tail``)."""
        fills = self._loads and current().tail == "fill"
        found: Bools = self.partial & ~self.compact & fills
        return found

    @cached_property
    def compact_end(self) -> Ints:
        """Bytes of the rows of a compact group, with those filled behind the last one."""
        run = self.counts[0] * self.length
        fills = self._loads and current().tail == "fill"
        return np.where(self.pad | fills, _block_end(run), run)

    @cached_property
    def row_end(self) -> Ints:
        """On-chip bytes of a row, with padding and fill."""
        whole = current().pad_end == "stride"
        padded = self["loc_stride"] if whole else self.need
        return np.where(self.own_end, padded, np.where(self.filled, self.need, self.length))

    def stride(self, side: str, level: int) -> Ints:
        """Returns strides of ``"ext"`` or ``"loc"`` in bytes; level 0 is the rows."""
        if level:
            return self[f"loop{level - 1}_{side}_stride"]
        stride = self[f"{side}_stride"]
        return self.length + stride * UB_BLOCK if self._blocks else stride

    @cached_property
    def hulls(self) -> dict[str, list[Ints]]:
        """Per side, bytes from first to last: of a row, with rows, with loop 0, ... loop 2."""
        found = {}
        for side in ("ext", "loc"):
            hull = self.row_end if side == "loc" else self.length
            steps = [hull]
            for level, count in enumerate(self.counts):
                used = np.where(self.live, (count - 1) * self.stride(side, level), 0)
                hull = hull + used
                if side == "loc" and not level:
                    hull = np.where(self.compact, self.compact_end, hull)
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
