# SPDX-License-Identifier: Apache-2.0
"""Loads of L0 for the tests of the engine: their rules by docs/spec/l0_loads.md, section 5, and
draws.

It shares no code with the reference model or with the rules of tb/isa.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tb.isa.dtypes import Ptr
from tb.isa.l0.op import LOAD_CLASSES, L0Load
from tests.model.naive_loads import ELEM_BITS, bits_of, is_scales, memory_of

TYPES = ("i8", "f16", "f32", "f4E2M1x2")
"""A type for each value of the field ``elem``."""

L1_BYTES = 524288
L0_BYTES = {"l0a": 65536, "l0b": 65536, "l0a_mx": 4096, "l0b_mx": 4096}


def ends(op: L0Load) -> tuple[int, int]:
    """Returns the first bytes after source and destination, of fields of any size."""
    if is_scales(op):
        source = (op.m_start + op.m_step - 1) * op.src_stride + op.k_start + op.k_step
        target = (op.m_step - 1) * op.dst_stride + op.k_step
        return op.src_addr + 32 * source, op.dst_addr // 16 + 32 * target
    source = (op.k_start + op.k_step - 1) * op.src_stride + op.m_start + op.m_step
    c0 = 256 // bits_of(op)
    r, c = 16 * op.m_step, c0 * op.k_step
    if op.transpose:
        r, c = c, r
    target = ((c - 1) // c0) * op.dst_stride + (r - 1) // 16 + 1
    return op.src_addr + 512 * source, op.dst_addr + 512 * target


def violated(op: L0Load) -> int:
    """Returns the number of the lowest D rule that is violated, 0 if there is none."""
    starts, steps = (op.m_start, op.k_start), (op.m_step, op.k_step)
    strides = (op.src_stride, op.dst_stride)
    if max(starts) >= 1 << 16 or max(steps) >= 1 << 8:
        return 3
    if max(strides) >= 1 << 16 or min(strides) < 1:
        return 3
    # Scales: the pointer to data a multiple of 16, that to scales of 32.
    if op.src_addr % 32 or op.dst_addr % 512:
        return 4
    if op.transpose and not is_scales(op):
        bits = bits_of(op)
        if (bits == 8 and op.m_step % 2) or (bits == 4 and op.m_step % 4):
            return 5
        if bits == 32 and op.k_step % 2:
            return 5
    if op.m_step and op.k_step:
        source, target = ends(op)
        if source > L1_BYTES or target > L0_BYTES[memory_of(op)]:
            return 6
    return 0


def load(name: str, **fields: int) -> L0Load:
    """Returns a descriptor of one fractal at address 0, or with other fields."""
    values: dict[str, Any] = {
        "transpose": 0,
        "src_addr": 0,
        "dst_addr": 0,
        "m_start": 0,
        "k_start": 0,
        "m_step": 1,
        "k_step": 1,
        "src_stride": 1,
        "dst_stride": 1,
        **fields,
    }
    types = [Ptr(TYPES[values.pop("elem", 0)], space) for space in ("l1", name)]
    return LOAD_CLASSES[f"mte_l1_{name}"](**values, src_type=types[0], dst_type=types[1])


def draw(random: np.random.Generator, most: int) -> L0Load:
    """Returns a legal load whose destination bytes are each written once.

    Args:
        random: Source of random numbers.
        most: Most fractals, or fragments divided by 4.
    """

    def below(low: int, high: int) -> int:
        return int(random.integers(low, high))

    def one_of(*values: int) -> int:
        return values[below(0, len(values))]

    while True:
        name = str(random.choice(["l0a", "l0b", "l0a_mx", "l0b_mx"], p=[0.4, 0.4, 0.1, 0.1]))
        scales = name.endswith("_mx")
        elem, transpose = (0, 0) if scales else (int(random.integers(4)), int(random.integers(2)))
        m, k = (int(value) for value in random.integers(1, 9, 2))
        if random.random() < 0.1:
            m, k = (m, k * 12) if random.random() < 0.5 else (m * 12, k)
        if transpose:
            m *= {0: 2, 3: 4}.get(elem, 1)
            k *= 2 if elem == 2 else 1
        if m * k > (4 * most if scales else most):
            continue
        depth, columns = (m, k)
        if scales:
            depth, columns = (k, m)
        elif transpose:
            c0 = 256 // ELEM_BITS[elem]
            depth, columns = c0 * k // 16, 16 * m // c0
        inner = k if scales else m
        stride = one_of(inner, inner + 1, below(1, inner + 1), below(1, 64))
        gap = one_of(0, 0, 1, 2, below(0, 16))
        op = load(
            name,
            elem=elem,
            transpose=transpose,
            src_addr=32 * one_of(0, 1, 16, below(0, 16384)),
            dst_addr=512 * one_of(0, 1, below(0, 128)),
            m_start=one_of(0, 0, 1, below(0, 64)),
            k_start=one_of(0, 0, 1, below(0, 32)),
            m_step=m,
            k_step=k,
            src_stride=stride,
            dst_stride=depth + gap if columns > 1 else below(1, 65536),
        )
        if not violated(op):
            return op
