# SPDX-License-Identifier: Apache-2.0
"""The strided copies once more, in plain Python: slow, and simple enough to trust.

Written from docs/spec/dma.md, sections 1 to 3, docs/spec/order_and_atomics.md, section 6, and
docs/spec/profiles.md: neither the rules nor the footprints of ``tb.isa`` are used. A copy is read
from an op, or from its descriptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm
from tb.isa.dma.op import DmaOp, MteGmL1, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.profile import current
from tb.isa.spaces import Space
from tests.model.naive_fix import atomic

SIZE_OF_TYPE = {"i8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8}
ATOMIC_TYPES = ("", "f32", "f16", "s16", "s32", "s8", "bf16")
ATOMIC_BYTES = (1, 4, 2, 2, 4, 1, 2)
ATOMIC_OPS = ("add", "max", "min")

Memory = bytearray | NDArray[np.uint8]
Copy = MteGmUb | MteUbGm | MteGmL1 | MteL1Ub | CopyGmToUbuf | CopyUbufToGm


@dataclass
class Regs:
    """Loop registers of one direction, (count, src, dst) inner loop first, and the pad value."""

    outtoub: list[tuple[int, int, int]] = field(default_factory=lambda: [(1, 0, 0), (1, 0, 0)])
    ubtoout: list[tuple[int, int, int]] = field(default_factory=lambda: [(1, 0, 0), (1, 0, 0)])
    pad: int = 0


@dataclass
class Plain:
    """A copy with its operands under the names of the spec's pseudo code.

    Attributes:
        name: Of the v0.6 op.
        source, target: Memories.
        src, dst: Addresses.
        len: Bytes of a row; 32-byte blocks of ``mte_l1_ub``.
        n: Rows.
        src_stride, dst_stride: Steps of rows in bytes; gaps in blocks of ``mte_l1_ub``.
        loops: (count, src, dst), inner loop first.
        element: Bytes of an element.
        l2: Cache control.
        padded: Rows are padded with ``value``: ``data_select_bit``, 1 for a pad clause.
        legacy: The form is ``copy_gm_to_ubuf``.
        left, right: Operands of the padding.
        atomic_type, atomic_op, nosat: Of CTRL.
    """

    name: str
    source: Space
    target: Space
    src: int
    dst: int
    len: int
    n: int
    src_stride: int
    dst_stride: int
    loops: list[tuple[int, int, int]]
    element: int = 1
    l2: int = 0
    padded: int = 0
    left: int = 0
    right: int = 0
    legacy: int = 0
    value: int = 0
    atomic_type: int = 0
    atomic_op: int = 0
    nosat: int = 0

    @property
    def blocks(self) -> bool:
        """Lengths and gaps are in blocks."""
        return self.name == "mte_l1_ub"

    @property
    def row(self) -> int:
        """Data bytes of a row."""
        return 32 * self.len if self.blocks else self.len

    @property
    def src_step(self) -> int:
        """Bytes from a row read to the next."""
        return 32 * (self.len + self.src_stride) if self.blocks else self.src_stride

    @property
    def dst_step(self) -> int:
        """Bytes from a row written to the next."""
        return 32 * (self.len + self.dst_stride) if self.blocks else self.dst_stride

    @property
    def live(self) -> bool:
        """Bytes are moved."""
        return bool(self.len and self.n) and all(count for count, _, _ in self.loops)

    @property
    def pads(self) -> bool:
        """Padding is selected, by its bit or by counts of the legacy form (section 3)."""
        by_counts = current().pad_unselected == "register" and self.legacy and self.padded == 0
        return self.padded == 1 or bool(by_counts and self.left + self.right > 0)

    @property
    def pad_bytes(self) -> tuple[int, int]:
        """L and R."""
        unit = self.element
        if self.legacy and current().legacy_pad_unit == "bytes":
            unit = 1
        return self.left * unit, self.right * unit

    @property
    def group(self) -> bool:
        """The rows are a compact group: nothing lies between them on the chip."""
        stride = self.src_stride if self.target is Space.GM else self.dst_stride
        with_gm = Space.GM in (self.source, self.target)
        return current().compact == "legal" and with_gm and self.n > 1 and stride == self.len

    @property
    def fills(self) -> bool:
        """The rows of an unpadded load from GM are filled up to a block."""
        return current().tail == "fill" and self.source is Space.GM and not self.pads


def plain(op: Copy, regs: Regs) -> Plain:
    """Reads the operands of any copy."""
    if isinstance(op, MteGmL1):
        return Plain(
            "mte_gm_l1", Space.GM, Space.L1, op.gm_src, op.l1_dst, op.len_burst, op.n_burst,
            op.src_stride, op.dst_stride, loops_of(op),
        )  # fmt: skip
    ub = Space.UB1 if op.ub_sub else Space.UB0
    if isinstance(op, MteL1Ub):
        return Plain(
            "mte_l1_ub", Space.L1, ub, op.l1_src, op.ub_dst, op.len_burst, op.n_burst,
            op.src_gap, op.dst_gap, loops_of(op),
        )  # fmt: skip
    element = SIZE_OF_TYPE[op.src_type.dtype]
    if isinstance(op, MteUbGm | CopyUbufToGm):
        loops = loops_of(op) if isinstance(op, MteUbGm) else list(regs.ubtoout)
        return Plain(
            "mte_ub_gm", ub, Space.GM, op.ub_src, op.gm_dst, op.len_burst, op.n_burst,
            op.src_stride, op.dst_stride, loops, element, op.l2_cache_ctl,
        )  # fmt: skip
    loops = loops_of(op) if isinstance(op, MteGmUb) else list(regs.outtoub)
    out = Plain(
        "mte_gm_ub", Space.GM, ub, op.gm_src, op.ub_dst, op.len_burst, op.n_burst,
        op.src_stride, op.dst_stride, loops, element, op.l2_cache_ctl,
    )  # fmt: skip
    if isinstance(op, CopyGmToUbuf):
        out.padded, out.value = op.data_select_bit, regs.pad % 256**element
        out.left, out.right, out.legacy = op.left_padding, op.right_padding, 1
    elif op.pad is not None:
        out.padded, out.value = 1, op.pad.value
        out.left, out.right = op.pad.left or 0, op.pad.right or 0
    return out


def loops_of(op: MteGmUb | MteUbGm | MteGmL1 | MteL1Ub) -> list[tuple[int, int, int]]:
    """Returns the loops that an op has as operands."""
    return [(loop.count, loop.src_stride, loop.dst_stride) for loop in op.loops]


def read_descriptor(desc: DmaOp) -> Plain:
    """Reads the fields of the descriptor of any strided copy."""
    ub = Space.UB1 if desc.ub_sub else Space.UB0
    name = desc.spec.name
    source, target = {
        "mte_gm_ub": (Space.GM, ub),
        "mte_ub_gm": (ub, Space.GM),
        "mte_gm_l1": (Space.GM, Space.L1),
        "mte_l1_ub": (Space.L1, ub),
    }[name]
    ends, strides = (desc.ext_addr, desc.loc_addr), (desc.ext_stride, desc.loc_stride)
    loops = [(loop.count, loop.ext_stride, loop.loc_stride) for loop in desc.field_loops]
    if name == "mte_ub_gm":
        ends, strides = ends[::-1], strides[::-1]
        loops = [(count, of, to) for count, to, of in loops]
    return Plain(
        name, source, target, *ends, desc.len, desc.n_burst, *strides, loops, desc.elem_bytes,
        desc.l2, desc.pad_en, desc.pad_left, desc.pad_right, desc.pad_legacy,
        int(desc.pad_value), desc.atomic_type, desc.atomic_op, desc.nosat,
    )  # fmt: skip


class Row(NamedTuple):
    """A row: data bytes from ``src``, and what is written from ``dst`` on.

    ``left`` pad bytes, ``length`` data bytes, and others up to ``end`` bytes in all.
    """

    src: int
    dst: int
    left: int
    length: int
    end: int


def align32(x: int) -> int:
    return x + (-x) % 32


def row_end(op: Plain, r: int) -> int:
    """Returns the bytes that row ``r`` writes: F or T of section 2 where there are such."""
    if op.group and (op.pads or op.fills):
        last = align32(op.n * op.row) - (op.n - 1) * op.row
        return last if r == op.n - 1 else op.row
    if op.pads and current().pad_end == "stride":
        return op.dst_stride
    if op.pads:
        return align32(op.row + sum(op.pad_bytes))
    return align32(op.row) if op.fills else op.row


def rows(op: Plain) -> Iterator[Row]:
    """Yields the rows of a legal copy in the order of the specification."""
    if not op.live:
        return
    left = op.pad_bytes[0] if op.pads else 0
    outer_first = op.loops[::-1]
    for index in product(*(range(count) for count, _, _ in outer_first)):
        s, d = op.src, op.dst
        for i, (_, src_stride, dst_stride) in zip(index, outer_first, strict=True):
            s += i * src_stride
            d += i * dst_stride
        for r in range(op.n):
            yield Row(s + r * op.src_step, d + r * op.dst_step, left, op.row, row_end(op, r))


@dataclass
class Effect:
    """Addresses a copy read and wrote.

    Attributes:
        read, written: Addresses.
        twice: A byte was written twice (DMA-L13, DMA-L18).
    """

    read: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    twice: bool = False


def copy(op: Plain, memories: Mapping[Space, Memory]) -> Effect:
    """Executes a copy byte by byte; the memories must hold all it touches."""
    effect = Effect()
    source, target = memories[op.source], memories[op.target]
    pad = op.value.to_bytes(op.element, "little")
    for row in rows(op):
        span = range(row.dst, row.dst + row.end)
        effect.twice |= not effect.written.isdisjoint(span)
        effect.written.update(span)
        effect.read.update(range(row.src, row.src + row.length))
        if op.atomic_type:
            update(op, row, source, target)
            continue
        for b in range(row.end):
            at = row.dst + b
            if row.left <= b < row.left + row.length:
                target[at] = source[row.src + b - row.left]
            elif op.pads:
                target[at] = pad[at % op.element]
            elif op.target is Space.L1:
                target[at] = 0
            else:
                target[at] = source[row.src + b % op.element]
    return effect


def update(op: Plain, row: Row, source: Memory, target: Memory) -> None:
    """Updates a row in GM, element by element."""
    size = ATOMIC_BYTES[op.atomic_type]
    for b in range(0, row.length, size):
        old, new = (
            int.from_bytes(bytes(memory[at : at + size]), "little")
            for memory, at in ((target, row.dst + b), (source, row.src + b))
        )
        value = atomic(
            ATOMIC_TYPES[op.atomic_type], ATOMIC_OPS[op.atomic_op], old, new, c48=bool(op.nosat)
        )
        for k, byte in enumerate(value.to_bytes(size, "little")):
            target[row.dst + b + k] = byte


def written(op: Plain) -> NDArray[np.int64]:
    """Returns the addresses that a legal copy writes, ascending."""
    return _addresses((row.dst, row.end) for row in rows(op))


def read(op: Plain) -> NDArray[np.int64]:
    """Returns the addresses that a legal copy reads, ascending."""
    return _addresses((row.src, row.length) for row in rows(op))


def _addresses(spans: Iterator[tuple[int, int]]) -> NDArray[np.int64]:
    parts = [np.arange(start, start + length) for start, length in spans]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))
