# SPDX-License-Identifier: Apache-2.0
"""spec/dma.md sections 2 to 5 byte by byte in plain Python: slow, and simple enough to trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.profile import current
from tb.isa.spaces import Space

SIZE_OF_TYPE = {
    "i8": 1,
    "i16": 2,
    "f16": 2,
    "bf16": 2,
    "i32": 4,
    "f32": 4,
    "i64": 8,
}
GM_BYTES = 2**40
UB_BYTES = 262144

Memory = bytearray | NDArray[np.uint8]
Copy = MteGmUb | MteUbGm | CopyGmToUbuf | CopyUbufToGm


@dataclass
class Regs:
    """Loop registers of one direction, (count, src, dst) inner loop first, and the pad value."""

    outtoub: list[tuple[int, int, int]] = field(default_factory=lambda: [(1, 0, 0), (1, 0, 0)])
    ubtoout: list[tuple[int, int, int]] = field(default_factory=lambda: [(1, 0, 0), (1, 0, 0)])
    pad: int = 0


@dataclass
class Plain:
    """An op with its operands under the names of the spec's pseudo code."""

    to_ub: bool
    src: int
    dst: int
    len: int
    n: int
    src_stride: int
    dst_stride: int
    loops: list[tuple[int, int, int]]
    element: int
    ub: Space
    l2: int = 0
    padded: int = 0
    left: int = 0
    right: int = 0
    left_bytes: int = 0
    right_bytes: int = 0
    value: int = 0
    legacy: bool = False


def plain(op: Copy, regs: Regs) -> Plain:
    """Reads the operands of any copy."""
    ub = Space.UB1 if op.ub_sub else Space.UB0
    element = SIZE_OF_TYPE[op.src_type.dtype]
    if isinstance(op, MteUbGm):
        loops = [(x.count, x.src_stride, x.dst_stride) for x in op.loops]
        return Plain(
            False, op.ub_src, op.gm_dst, op.len_burst, op.n_burst, op.src_stride, op.dst_stride,
            loops, element, ub, op.l2_cache_ctl,
        )  # fmt: skip
    if isinstance(op, CopyUbufToGm):
        return Plain(
            False, op.ub_src, op.gm_dst, op.len_burst, op.n_burst, op.src_stride, op.dst_stride,
            list(regs.ubtoout), element, ub, op.l2_cache_ctl,
        )  # fmt: skip
    if isinstance(op, CopyGmToUbuf):
        return Plain(
            True, op.gm_src, op.ub_dst, op.len_burst, op.n_burst, op.src_stride, op.dst_stride,
            list(regs.outtoub), element, ub, op.l2_cache_ctl, op.data_select_bit,
            op.left_padding, op.right_padding, op.left_padding, op.right_padding,
            regs.pad % 256**element, legacy=True,
        )  # fmt: skip
    loops = [(x.count, x.src_stride, x.dst_stride) for x in op.loops]
    out = Plain(
        True, op.gm_src, op.ub_dst, op.len_burst, op.n_burst, op.src_stride, op.dst_stride,
        loops, element, ub, op.l2_cache_ctl,
    )  # fmt: skip
    if op.pad is not None:
        out.padded, out.value = 1, op.pad.value
        out.left, out.right = op.pad.left or 0, op.pad.right or 0
        out.left_bytes, out.right_bytes = out.left * element, out.right * element
    return out


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
    if op.len == 0 or op.n == 0 or any(count == 0 for count, _, _ in op.loops):
        return effect
    source = memories[Space.GM if op.to_ub else op.ub]
    target = memories[op.ub if op.to_ub else Space.GM]

    def put(address: int, byte: int) -> None:
        target[address] = byte
        effect.twice |= address in effect.written
        effect.written.add(address)

    def pad_byte(address: int) -> int:
        return op.value.to_bytes(op.element, "little")[address % op.element]

    outer_first = op.loops[::-1]
    for index in product(*(range(count) for count, _, _ in outer_first)):
        for r in range(op.n):
            s = op.src + r * op.src_stride
            d = op.dst + r * op.dst_stride
            for i, (_, src_stride, dst_stride) in zip(index, outer_first, strict=True):
                s += i * src_stride
                d += i * dst_stride
            if op.padded:
                for b in range(op.left_bytes):
                    put(d + b, pad_byte(d + b))
            for b in range(op.len):
                effect.read.add(s + b)
                put(d + op.left_bytes + b, source[s + b])
            if op.padded:
                for b in range(op.left_bytes + op.len, padded_end(op)):
                    put(d + b, pad_byte(d + b))
            elif op.to_ub:
                for b in range(op.len, tail_end(op.len, op.n, op.dst_stride, r)):
                    put(d + b, source[s + b % op.element])
    return effect


def align32(x: int) -> int:
    return x + (-x) % 32


def padded_end(op: Plain) -> int:
    """F of section 2."""
    if current().pad_end == "stride":
        return op.dst_stride
    return align32(op.left_bytes + op.len + op.right_bytes)


def is_group(length: int, rows: int, dst_stride: int) -> bool:
    """The rows of an unpadded load from GM are a compact group."""
    return current().compact == "legal" and rows > 1 and dst_stride == length


def tail_end(length: int, rows: int, dst_stride: int, row: int) -> int:
    """T of section 2, of an unpadded load from GM."""
    if current().tail == "keep":
        return length
    if not is_group(length, rows, dst_stride):
        return align32(length)
    if row < rows - 1:
        return length
    return align32(rows * length) - (rows - 1) * length


def lowest_rule(op: Plain) -> int:
    """Returns the lowest D rule the op breaks (section 5), or 0."""
    local, local_loops = (
        (op.dst_stride, [(c, d) for c, _, d in op.loops])
        if op.to_ub
        else (op.src_stride, [(c, s) for c, s, _ in op.loops])
    )
    broken = []
    if op.legacy and op.padded == 1 and op.element == 8:
        return 3
    group = op.to_ub and not op.padded and is_group(op.len, op.n, op.dst_stride)
    repeats = op.to_ub and current().row_repeat == "legal"
    src_bits, dst_bits = (40, 21) if op.to_ub else (21, 40)
    fits = [
        op.len < 2 ** current().len_bits,
        op.n < 2 ** current().len_bits,
        op.src_stride < 2**src_bits,
        op.dst_stride < 2**dst_bits,
        op.l2 < (4 if op.to_ub else 16),
        op.left < 2**8,
        op.right < 2**8,
        op.padded < 2,
        not op.padded or op.value < 256**op.element,
        op.padded or (op.left == 0 and op.right == 0),
    ]
    for count, src, dst in op.loops:
        fits += [count < 2**21, src < 2**src_bits, dst < 2**dst_bits]
    if not all(fits):
        broken.append(5)
    if (op.dst if op.to_ub else op.src) % 32:
        broken.append(6)
    if (op.n > 1 or op.padded) and local % 32 and not group:
        broken.append(7)
    if any(count > 1 and stride % 32 for count, stride in local_loops):
        broken.append(7)
    if op.n > 1 and ((op.src_stride < op.len and not repeats) or op.dst_stride < op.len):
        broken.append(8)
    if op.padded:
        e = op.element
        if op.len % e or op.left_bytes > 32 or op.right_bytes > 32:
            broken.append(9)
        if op.left_bytes % e or op.right_bytes % e:
            broken.append(9)
        if op.left_bytes + op.len + op.right_bytes > op.dst_stride:
            broken.append(10)
    if op.len and op.n and all(count for count, _, _ in op.loops):
        src_end = op.src + (op.n - 1) * op.src_stride + op.len
        dst_end = op.dst + (op.n - 1) * op.dst_stride
        if op.padded:
            dst_end += padded_end(op)
        else:
            dst_end += tail_end(op.len, op.n, op.dst_stride, op.n - 1) if op.to_ub else op.len
        for count, src, dst in op.loops:
            src_end += (count - 1) * src
            dst_end += (count - 1) * dst
        src_size, dst_size = (GM_BYTES, UB_BYTES) if op.to_ub else (UB_BYTES, GM_BYTES)
        if src_end > src_size or dst_end > dst_size:
            broken.append(12)
    return min(broken, default=0)
