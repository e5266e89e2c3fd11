# SPDX-License-Identifier: Apache-2.0
"""NZ repacks as arrays, with the derived quantities that coverage classifies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Ints
from tb.coverage.view import Bools, Part
from tb.isa.nz.table import C0_BYTES, DN2NZ, SMALL_C0


class NzPart(Part):
    """Legal NZ repacks. Source sizes are in bytes, destination sizes in 32-byte blocks."""

    @cached_property
    def live(self) -> Bools:
        """Moves at least one byte."""
        found: Bools = (self["n_value"] > 0) & (self["d_value"] > 0)
        return found

    @cached_property
    def small(self) -> Bools:
        """Small-C0 packing."""
        return self["small_c0"] > 0

    @cached_property
    def elem(self) -> Ints:
        """Element size in bytes."""
        return np.left_shift(1, self["elem_log2"])

    @cached_property
    def c0(self) -> Ints:
        """Elements of a C0 block."""
        return C0_BYTES // self.elem

    @cached_property
    def columns(self) -> Ints:
        """C0 columns of a group in normal mode."""
        return -(-self["d_value"] // self.c0)

    @cached_property
    def rows(self) -> Ints:
        """Rows of a source matrix."""
        return np.where(self["mode"] == DN2NZ, self["d_value"], self["n_value"])

    @cached_property
    def row_bytes(self) -> Ints:
        """Bytes of a source row."""
        elements = np.where(self["mode"] == DN2NZ, self["n_value"], self["d_value"])
        found: Ints = elements * self.elem
        return found

    @cached_property
    def matrix(self) -> Ints:
        """Source bytes from the first to the last of a matrix."""
        return (self.rows - 1) * self["inner_stride"] + self.row_bytes

    @cached_property
    def source_hull(self) -> Ints:
        """Source bytes from the first to the last of all matrices."""
        return (self["group_count"] - 1) * self["outer_stride"] + self.matrix

    @cached_property
    def small_blocks(self) -> Ints:
        """Blocks of a group in small-C0 mode."""
        return -(-self["n_value"] * SMALL_C0 * self.elem // C0_BYTES)

    @cached_property
    def column_hull(self) -> Ints:
        """Blocks from the first to the last row of a C0 column."""
        return (self["n_value"] - 1) * self["dst_loop2"] + 1

    @cached_property
    def group_hull(self) -> Ints:
        """Blocks from the first to the last of a group."""
        normal = self.column_hull + (self.columns - 1) * self["dst_loop3"]
        return np.where(self.small, self.small_blocks, normal)

    @cached_property
    def bytes(self) -> Ints:
        """Bytes written, zero fill included."""
        blocks = np.where(self.small, self.small_blocks, self["n_value"] * self.columns)
        return np.where(self.live, blocks * self["group_count"] * C0_BYTES, 0)

    @cached_property
    def end(self) -> Ints:
        """First destination byte after a live op."""
        hull = (self["group_count"] - 1) * self["dst_loop4"] + self.group_hull
        found: Ints = self["loc_addr"] + hull * C0_BYTES
        return found
