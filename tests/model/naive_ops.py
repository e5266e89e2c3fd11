# SPDX-License-Identifier: Apache-2.0
"""The other ops of docs/spec/dma.md, docs/spec/nd2nz.md and docs/spec/bias_fb.md, byte by byte in
plain Python.

:func:`effect` gives the origin of each destination byte, :func:`lowest_rule` the D rule that is
broken; both follow the spec's formulas without regard to speed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.fill.op import RawFillL1
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.spaces import Space
from tests.model import naive_rules
from tests.model.naive import SIZE_OF_TYPE, Memory, Regs, plain, rows

Copy = MteGmL1 | MteL1Ub | MteUbUb | MteUbL1 | MteGmL1Frac | MteL1Bt | MteL1Fb | CopyUbufToUbuf
Op = Copy | RawFillL1

CAPACITY = {**naive_rules.CAPACITY, Space.BT: 4096, Space.FB: 4096}

Source = int | tuple[int, int] | None
"""A source address; of a widened slot (element address, byte of the result); None for zero."""


@dataclass
class Effect:
    """The origin of every written byte.

    Attributes:
        source, target: Memories.
        made_from: Destination address to its origin.
        twice: A destination byte was generated twice: undefined (DMA-L13, ND-L09).
        unit: Bytes of a source element where an address means one.
        widen: Source type of a widening, or "".
    """

    source: Space
    target: Space
    made_from: dict[int, Source] = field(default_factory=dict)
    twice: bool = False
    unit: int = 1
    widen: str = ""

    def put(self, address: int, source: Source) -> None:
        """Notes one destination byte."""
        self.twice |= address in self.made_from
        self.made_from[address] = source

    @property
    def read(self) -> set[int]:
        """Source addresses."""
        found = set()
        for source in self.made_from.values():
            if isinstance(source, tuple):
                found |= {source[0] + b for b in range(self.unit)}
            elif source is not None:
                found.add(source)
        return found

    def apply(self, memories: Mapping[Space, Memory]) -> None:
        """Writes all bytes; every source byte is read with its value before the op."""
        old = bytes(memories[self.source])
        target = memories[self.target]
        for address, source in self.made_from.items():
            if source is None:
                target[address] = 0
            elif isinstance(source, tuple):
                element, byte = source
                if element + self.unit > len(old):
                    raise IndexError
                bits = int.from_bytes(old[element : element + self.unit], "little")
                target[address] = widen(self.widen, bits).to_bytes(4, "little")[byte]
            else:
                target[address] = old[source]


def widen(dtype: str, bits: int) -> int:
    """The rows of docs/spec/bias_fb.md section 2; finite f16 by way of Python's floats."""
    if dtype == "bf16":
        return bits << 16
    if dtype != "f16":
        return bits
    if bits >> 10 & 31 == 31:
        return (bits >> 15) << 31 | 255 << 23 | (bits & 0x3FF) << 13
    value = struct.unpack("<e", struct.pack("<H", bits))[0]
    return int.from_bytes(struct.pack("<f", value), "little")


def ub(op: MteUbUb | MteUbL1 | CopyUbufToUbuf) -> Space:
    return Space.UB1 if op.ub_sub else Space.UB0


def fill(op: RawFillL1) -> dict[int, int]:
    """Returns the bytes that a legal fill writes (docs/spec/dma.md, section 9), by address."""
    first, size, found = op.dst + op.byte_offset, op.fill_word_bits // 8, {}
    for r in range(op.repeat):
        for b in range(32 * op.blocks):
            byte = op.raw >> 8 * (b % size) & 255
            found[first + r * (op.blocks + op.gap) * 32 + b] = byte
    return found


def effect(op: Copy) -> Effect:
    """Returns the effect of a legal copy."""
    if isinstance(op, MteGmL1 | MteL1Ub):
        return _strided(op)
    if isinstance(op, MteUbUb):
        return _gaps(op, 32, ub(op), op.ub_src, ub(op), op.ub_dst)
    if isinstance(op, MteUbL1):
        return _gaps(op, 32, ub(op), op.ub_src, Space.L1, op.l1_dst)
    if isinstance(op, MteL1Fb):
        return _gaps(op, 64, Space.L1, op.l1_src, Space.FB, op.fb_dst)
    if isinstance(op, MteL1Bt):
        return _bias(op)
    if isinstance(op, CopyUbufToUbuf):
        found = Effect(ub(op), ub(op))
        for r in range(op.n_burst):
            for b in range(op.len_burst):
                found.put(op.dst + r * op.dst_stride + b, op.src + r * op.src_stride + b)
        return found
    return _nz(op)


def _strided(op: MteGmL1 | MteL1Ub) -> Effect:
    copy = plain(op, Regs())
    found = Effect(copy.source, copy.target)
    for row in rows(copy):
        for b in range(row.end):
            found.put(row.dst + b, row.src + b if b < row.length else None)
    return found


def _gaps(
    op: MteUbUb | MteUbL1 | MteL1Fb, unit: int, source: Space, src: int, target: Space, dst: int
) -> Effect:
    found = Effect(source, target)
    for r in range(op.n_burst):
        for b in range(op.len_burst * unit):
            found.put(
                dst + r * (op.len_burst + op.dst_gap) * unit + b,
                src + r * (op.len_burst + op.src_gap) * unit + b,
            )
    return found


def _bias(op: MteL1Bt) -> Effect:
    size = SIZE_OF_TYPE[op.src_type.dtype]
    found = Effect(Space.L1, Space.BT, unit=size, widen=op.src_type.dtype)
    for b in range(op.n_burst):
        for u in range(op.len_burst):
            slot = op.bt_dst + 4 * (b * (op.len_burst + op.dst_gap) + u)
            element = op.l1_src + size * (b * (op.len_burst + op.src_gap) + u)
            for byte in range(4):
                found.put(slot + byte, (element, byte))
    return found


def _nz(op: MteGmL1Frac) -> Effect:
    found = Effect(Space.GM, Space.L1)
    size = SIZE_OF_TYPE[op.src_type.dtype]
    c0, outer, inner = 32 // size, op.src_outer_stride or 0, op.src_inner_stride
    if not op.n_value or not op.d_value:
        return found

    def lane(address: int, g: int, n: int, d: int) -> None:
        element: int | None = None
        if n < op.n_value and d < op.d_value:
            element = op.gm_src + g * outer
            element += n * inner + d * size if op.mode_name == "nd2nz" else d * inner + n * size
        for byte in range(size):
            found.put(address + byte, None if element is None else element + byte)

    for g in range(op.group_count):
        base = op.l1_dst + 32 * g * op.dst_loop4_stride
        if op.smallc0_en:
            rows = -(-op.n_value * 4 * size // 32) * 32 // (4 * size)
            for n, d in product(range(rows), range(4)):
                lane(base + (n * 4 + d) * size, g, n, d)
            continue
        columns = -(-op.d_value // c0)
        for n, c, k in product(range(op.n_value), range(columns), range(c0)):
            block = base + 32 * (c * op.dst_loop3_stride + n * op.dst_loop2_stride)
            lane(block + k * size, g, n, c * c0 + k)
    return found


def _out(space: Space, end: int) -> bool:
    return end > CAPACITY[space]


def lowest_rule(op: Op) -> int:
    """Returns the number of the lowest D rule the op breaks, or 0.

    A ``copy_ubuf_to_ubuf`` that breaks one is not issued.
    """
    if isinstance(op, MteGmL1 | MteL1Ub):
        return naive_rules.lowest_rule(plain(op, Regs()))
    if isinstance(op, MteGmL1Frac):
        return _nz_rule(op)
    if isinstance(op, CopyUbufToUbuf):
        return _legacy_rule(op)
    if isinstance(op, RawFillL1):
        return _fill_rule(op)
    return _gap_rule(op)


def _fill_rule(op: RawFillL1) -> int:
    if max(op.repeat, op.blocks, op.gap) > 32767 or op.raw >= 2**32 or op.byte_offset < 0:
        return 2
    first, runs = op.dst + op.byte_offset, op.repeat - 1
    if first % 32:
        return 3
    blocks = runs * (op.blocks + op.gap) + op.blocks if op.repeat and op.blocks else 0
    return 4 if blocks and _out(Space.L1, first + 32 * blocks) else 0


def _gap_rule(op: MteUbUb | MteUbL1 | MteL1Bt | MteL1Fb) -> int:
    widths, alignment, bounds = (5, 6, 12) if isinstance(op, MteUbUb | MteUbL1) else (2, 3, 4)
    count_bits = 16 if isinstance(op, MteUbUb | MteUbL1) else 12
    if isinstance(op, MteUbUb):
        src, dst, src_unit, dst_unit, dst_align = op.ub_src, op.ub_dst, 32, 32, 32
        source, target = Space.UB0, Space.UB0
    elif isinstance(op, MteUbL1):
        src, dst, src_unit, dst_unit, dst_align = op.ub_src, op.l1_dst, 32, 32, 32
        source, target = Space.UB0, Space.L1
    elif isinstance(op, MteL1Fb):
        src, dst, src_unit, dst_unit, dst_align = op.l1_src, op.fb_dst, 64, 64, 64
        source, target = Space.L1, Space.FB
    else:
        size = SIZE_OF_TYPE[op.src_type.dtype]
        src, dst, src_unit, dst_unit, dst_align = op.l1_src, op.bt_dst, size, 4, 64
        source, target = Space.L1, Space.BT
    if max(op.len_burst, op.src_gap, op.dst_gap) >= 2**16 or op.n_burst >= 2**count_bits:
        return widths
    if src % 32 or dst % dst_align:
        return alignment
    if target is Space.FB:
        if dst >> 16 > 1:
            return bounds
        dst &= 0xFFFF  # each segment is a memory of its own
    if op.len_burst and op.n_burst:
        src_units = (op.n_burst - 1) * (op.len_burst + op.src_gap) + op.len_burst
        dst_units = (op.n_burst - 1) * (op.len_burst + op.dst_gap) + op.len_burst
        if _out(source, src + src_units * src_unit) or _out(target, dst + dst_units * dst_unit):
            return bounds
    return 0


def _legacy_rule(op: CopyUbufToUbuf) -> int:
    strides = [op.src_stride, op.dst_stride]
    if op.len_burst >= 2**16 or op.n_burst >= 2**16 or max(strides) >= 2**21:
        return 5
    if op.src % 32 or op.dst % 32:
        return 6
    if op.n_burst > 1 and any(stride % 32 for stride in strides):
        return 7
    if op.n_burst > 1 and any(stride < op.len_burst for stride in strides):
        return 8
    if op.len_burst % 32:
        return 11
    if op.len_burst and op.n_burst:
        for base, stride in ((op.src, op.src_stride), (op.dst, op.dst_stride)):
            if _out(Space.UB0, base + (op.n_burst - 1) * stride + op.len_burst):
                return 12
    return 0


def _nz_rule(op: MteGmL1Frac) -> int:
    size = SIZE_OF_TYPE[op.src_type.dtype]
    outer, inner = op.src_outer_stride or 0, op.src_inner_stride
    loops = (op.dst_loop2_stride, op.dst_loop3_stride, op.dst_loop4_stride)
    if op.n_value > 16384 or op.d_value > 65535 or op.group_count > 4095 or max(loops) >= 2**16:
        return 3
    if inner >= 2**40 or outer >= 2**40 or op.l2_cache_ctrl >= 16 or op.smallc0_en >= 2:
        return 3
    if op.group_count == 0:
        return 4
    if op.smallc0_en and op.d_value > 4:
        return 5
    if op.l1_dst % 32:
        return 6
    if not op.smallc0_en:
        if op.n_value > 1 and not loops[0]:
            return 7
        if op.d_value > 32 // size and not loops[1]:
            return 7
    if op.group_count > 1 and not loops[2]:
        return 7
    if op.n_value and op.d_value:
        g, n, d = op.group_count - 1, op.n_value - 1, op.d_value - 1
        last = n * inner + d * size if op.mode_name == "nd2nz" else d * inner + n * size
        block = g * loops[2]
        if op.smallc0_en:
            dst_end = op.l1_dst + 32 * block + -(-op.n_value * 4 * size // 32) * 32
        else:
            block += n * loops[0] + d // (32 // size) * loops[1]
            dst_end = op.l1_dst + 32 * block + 32
        if _out(Space.GM, op.gm_src + g * outer + last + size) or _out(Space.L1, dst_end):
            return 8
    return 0
