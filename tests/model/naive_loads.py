# SPDX-License-Identifier: Apache-2.0
"""Loads of L0 by the formulas of docs/spec/l0_loads.md, sections 1, 2 and 4, half byte by half
byte.

A load is read from an op, or from its descriptor. Memories are arrays of half bytes, because
elements have 4 bits and more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb.isa.l0.op import L0Load

BITS = {
    "f4E2M1x2": 4,
    "f4E1M2x2": 4,
    "i8": 8,
    "hif8": 8,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "f16": 16,
    "bf16": 16,
    "i16": 16,
    "f32": 32,
    "i32": 32,
}
ELEM_BITS = (8, 16, 32, 4)
"""Bits of an element by the field ``elem`` of a descriptor."""

SEGMENT = {"l0a": 0x00000, "l0b": 0x20000, "l0a_mx": 0x40000, "l0b_mx": 0x60000}
"""First byte of each memory in L0."""

Load = L0Load


def memory_of(op: Load) -> str:
    """Returns the memory that a load writes."""
    return op.spec.name.removeprefix("mte_l1_")


def is_scales(op: Load) -> bool:
    """True for a load of scales."""
    return memory_of(op).endswith("_mx")


def bits_of(op: Load) -> int:
    """Returns the bits of an element."""
    return BITS[op.src_type.dtype]


def half_bytes(memory: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns the half bytes of ``uint8[n]``, the low one of each byte first."""
    return np.stack((memory & 15, memory >> 4), axis=-1).ravel()


def pairs(op: Load) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the half byte of L1 and that of L0 of each half byte that a load moves.

    They are in the order of the loops of the specification.
    """
    src, dst = op.src, op.dst
    first = SEGMENT[memory_of(op)]
    if is_scales(op):
        x = np.arange(op.m_step)[:, None, None]
        y = np.arange(op.k_step)[None, :, None]
        half = np.arange(64)[None, None, :]
        start = (op.m_start + x) * op.src_stride + op.k_start + y
        source = 2 * (src + start * 32) + half
        target = 2 * (first + dst // 16 + (x * op.dst_stride + y) * 32) + half
        return np.broadcast_arrays(source, target)  # type: ignore[return-value]
    bits = bits_of(op)
    c0, size = 256 // bits, bits // 4
    p = np.arange(16 * op.m_step)[:, None, None]
    q = np.arange(c0 * op.k_step)[None, :, None]
    half = np.arange(size)[None, None, :]
    fractal = (op.k_start + q // c0) * op.src_stride + op.m_start + p // 16
    source = 2 * (src + fractal * 512 + p % 16 * 32) + q % c0 * size + half
    r, c = (q, p) if op.transpose else (p, q)
    place = (c // c0 * op.dst_stride + r // 16) * 512 + r % 16 * 32
    target = 2 * (first + dst + place) + c % c0 * size + half
    return np.broadcast_arrays(source, target)  # type: ignore[return-value]


def nibbles_of(op: Load) -> dict[int, int]:
    """Returns destination to source half-byte addresses."""
    source, target = pairs(op)
    return dict(zip(target.ravel().tolist(), source.ravel().tolist(), strict=True))


def move(op: Load, l1: NDArray[np.uint8], l0: NDArray[np.uint8]) -> None:
    """Moves the elements of a legal load, half bytes of ``l1`` to half bytes of ``l0``."""
    if op.m_step and op.k_step:
        source, target = pairs(op)
        l0[target] = l1[source]


def execute(op: Load, l1: NDArray[np.uint8], l0: NDArray[np.uint8]) -> None:
    """Writes what a legal load writes to the memories of L0, which are one."""
    new = half_bytes(l0)
    move(op, half_bytes(l1), new)
    l0[:] = new[::2] | new[1::2] << 4
