# SPDX-License-Identifier: Apache-2.0
"""Corners of atomic stores: values of every class against each other, and rows inside a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sequences.blocks import block_of, lower_program
from sequences.fixpipe.ctrl import ctrl_of
from sequences.illegal.legacy import to_legacy
from tb.isa.block import Fill, OpBlock
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import Loop, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_DST, ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.op import replace
from tb.isa.program import Entry
from tb.isa.spaces import Space

GM = 1 << 20
PAGE = 4096
_FRACTION = {"f32": 23, "f16": 10, "bf16": 7}


def _specials(kind: str) -> NDArray[np.int64]:
    """Returns bit patterns of a type: every class of number, both signs, and neighbours."""
    bits = 8 * ATOMIC_BYTES[ATOMIC_TYPES[kind]]
    fraction = _FRACTION.get(kind)
    if fraction is None:
        top = (1 << (bits - 1)) - 1
        positive = [0, 1, 2, 3, top // 2, top // 2 + 1, top - 1, top]
        return np.array([*positive, *[~value & (1 << bits) - 1 for value in positive]])
    infinity = (1 << (bits - 1)) - (1 << fraction)
    one = (infinity >> fraction >> 1) << fraction
    positive = [
        0, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity | 1,
        infinity | 1 << (fraction - 1), infinity | (1 << fraction) - 1, one, one + 1, one - 1,
        one + 3,
        # A half, one and one and a half units of the last place of 1, and one far below it.
        one - ((fraction + 1) << fraction), one - (fraction << fraction),
        one - (fraction << fraction) + (1 << (fraction - 1)), one - ((fraction + 3) << fraction),
        # The half unit of the largest number, and its neighbours.
        infinity - ((fraction + 2) << fraction), infinity - ((fraction + 2) << fraction) - 1,
        infinity - ((fraction + 1) << fraction),
    ]  # fmt: skip
    return np.array([*positive, *[value | 1 << (bits - 1) for value in positive]])


def _stored(values: NDArray[np.int64], kind: str) -> NDArray[np.uint8]:
    size = ATOMIC_BYTES[ATOMIC_TYPES[kind]]
    return np.ascontiguousarray(values.astype(f"<u{size}")).view(np.uint8)


def _ctrl(kind: str, what: str, nosat: int) -> int:
    return ctrl_of("nosat" if nosat else "", ATOMIC_TYPES[kind], ATOMIC_OPS[what])


def _store(kind: str, length: int, rows: int = 1, gap: int = 0, at: int = GM) -> MteUbGm:
    step = -(-length // 32) * 32
    dtype = ATOMIC_DST[kind][0]
    return MteUbGm(
        0, at, length, rows, step, length + gap, src_type=Ptr(dtype, "ub"),
        dst_type=Ptr(dtype, "gm"),
    )  # fmt: skip


def _values(legacy: bool) -> Iterator[OpBlock]:
    """Yields every special value added to, or compared with, every other one."""
    for kind, what, nosat in product(ATOMIC_TYPES, ATOMIC_OPS, (0, 1)):
        special = _specials(kind)
        old, new = (x.ravel() for x in np.meshgrid(special, special))
        fills = (
            Fill(Space.GM, GM, _stored(old, kind)), Fill(Space.UB0, 0, _stored(new, kind))
        )  # fmt: skip
        op = _store(kind, len(old) * ATOMIC_BYTES[ATOMIC_TYPES[kind]])
        yield _block([(op, _ctrl(kind, what, nosat))], legacy, fills)


def _rows(legacy: bool, bus_bytes: int) -> Iterator[OpBlock]:
    """Yields rows that begin, end and meet at every element of a word, and at a page."""
    for kind in ("s8", "f16", "s32"):
        size = ATOMIC_BYTES[ATOMIC_TYPES[kind]]
        ctrl = _ctrl(kind, "add", 1)
        batch: list[tuple[MteUbGm, int]] = []
        reached = GM
        for at, elements, gap in product(range(0, bus_bytes, size), (1, 2, 3, 7), (0, 1, 2)):
            op = _store(kind, elements * size, 9, gap * size, reached + at)
            batch.append((op, ctrl))
            reached += 4 * bus_bytes + 9 * (elements + gap) * size
            reached += -reached % bus_bytes
            if len(batch) == 16:
                yield _block(batch, legacy)
                batch = []
        for before in range(0, 2 * bus_bytes, max(size, 4)):
            at = GM + 64 * PAGE - before
            yield _block([(_store(kind, bus_bytes + size, 2, 0, at), ctrl)], legacy)
        # The end of each iteration meets the start of the next inside a word.
        tight = _store(kind, 3 * size, 3)
        loops = tuple(Loop(2, 256 << k, 9 * size << k) for k in range(2))
        batch += [(replace(tight, loops=loops, gm_dst=GM + 128 * PAGE + size), ctrl)]
        yield _block(batch, legacy)
    # Op after op on one word, each on its own bytes, and plain stores between them.
    ops = []
    for number in range(32):
        ctrl = _ctrl("s8", "add", 0) if number % 3 else 0
        ops.append((replace(_store("s8", 1, at=GM + number), ub_src=32 * number), ctrl))
    yield _block(ops, legacy)
    long = _store("f32", 4 * 5000, 3, 4, GM + 4)
    yield _block([(long, _ctrl("f32", "max", 0)), (replace(long, gm_dst=2 * GM), 0)], legacy)


def _block(ops: list[tuple[MteUbGm, int]], legacy: bool, fills: tuple[Fill, ...] = ()) -> OpBlock:
    items = []
    for op, ctrl in ops:
        entry: Entry = (op,)
        if legacy:
            sets, copy = to_legacy(op)
            entry = (*sets, copy)
        program = (SetCtrl(ctrl), *entry, SetCtrl(0)) if ctrl else entry
        items.append(lower_program(program, DmaRegisters())[0])
    return replace(block_of(items), fills=fills)


FORMS: Mapping[str, bool] = {"mte_ub_gm": False, "copy_ubuf_to_gm": True}
"""Forms of the store, and whether each is the register form."""


def atomic_blocks(bus_bytes: int, names: set[str]) -> Iterator[OpBlock]:
    """Yields the corners of atomic stores in the forms of ``names``."""
    for form, legacy in FORMS.items():
        if form in names:
            yield from _values(legacy)
            yield from _rows(legacy, bus_bytes)
