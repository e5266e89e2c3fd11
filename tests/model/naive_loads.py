# SPDX-License-Identifier: Apache-2.0
"""Loads of L0 by the loops of spec/l0_loads.md, sections 2 and 4, half byte by half byte."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb.isa.l0.op import L0Load
from tb.isa.spaces import segment_base

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


def nibbles_of(op: L0Load) -> dict[int, int]:
    """Returns destination to source half-byte addresses, in the order of the spec's loops."""
    found: dict[int, int] = {}
    memory = 2 * segment_base(op.spec.memory)
    if op.spec.scales:
        for x in range(op.m_step):
            for y in range(op.k_step):
                for b in range(64):
                    to = 2 * (op.dst // 16) + (x * op.dst_stride + y) * 64 + b
                    row = (op.m_start + x) * op.src_stride + op.k_start + y
                    found[memory + to] = 2 * op.src + row * 64 + b
        return found
    bits = BITS[op.src_type.dtype]
    c0, size = 256 // bits, bits // 4

    def nz(row: int, column: int) -> int:
        fractal = (column // c0) * op.dst_stride + row // 16
        return fractal * 1024 + row % 16 * 64 + column % c0 * size

    for p in range(16 * op.m_step):
        for q in range(c0 * op.k_step):
            fractal = (op.k_start + q // c0) * op.src_stride + op.m_start + p // 16
            came = 2 * op.src + fractal * 1024 + p % 16 * 64 + q % c0 * size
            goes = memory + 2 * op.dst + (nz(q, p) if op.transpose else nz(p, q))
            found.update({goes + i: came + i for i in range(size)})
    return found


def half_bytes(memory: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.stack((memory & 15, memory >> 4), axis=-1).ravel()


def execute(op: L0Load, l1: NDArray[np.uint8], l0: NDArray[np.uint8]) -> None:
    """Writes what a legal load writes to the memories of L0, which are one."""
    moved = nibbles_of(op)
    old, new = half_bytes(l1), half_bytes(l0)
    for goes, came in moved.items():
        new[goes] = old[came]
    l0[:] = new[::2] | new[1::2] << 4
