# SPDX-License-Identifier: Apache-2.0
"""What only the register forms of GM-UB copies can break: registers, and operands of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sequences.blocks import Program
from sequences.illegal.bases import DRAWN, REGISTER_LOOPS, bases
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    LegacyCopy,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    fits,
)
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.dma.table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS, LOOP_COUNT_BITS, PAD_LIMIT
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.op import replace
from tb.isa.profile import current

Sets = tuple[LegacySet, ...]
Named = Iterator[tuple[str, Program]]


def to_legacy(op: MteGmUb | MteUbGm) -> tuple[Sets, LegacyCopy]:
    """Returns the register writes and the legacy copy of a v0.6 op of at most two loops.

    Raises:
        ValueError: the op has more loops than there are registers.
    """
    if len(op.loops) > REGISTER_LOOPS:
        raise ValueError(f"{len(op.loops)} loops: legacy registers hold {REGISTER_LOOPS}")
    load = isinstance(op, MteGmUb)
    side = OUTTOUB if load else UBTOOUT
    counts = [loop.count for loop in op.loops] + [1, 1]
    sets: list[LegacySet] = [SetLoopSize(side, counts[0], counts[1])]
    for level in (1, 2):
        here = op.loops[level - 1] if level <= len(op.loops) else None
        strides = (here.src_stride, here.dst_stride) if here else (0, 0)
        sets.append(SetLoopStride(side, level, *strides))
    if not isinstance(op, MteGmUb):
        return tuple(sets), CopyUbufToGm(
            op.ub_src, op.gm_dst, 0, op.n_burst, op.len_burst, op.l2_cache_ctl, op.dst_stride,
            op.src_stride,
            op.src_type, op.dst_type, op.ub_sub,
        )  # fmt: skip
    left = right = 0
    if op.pad:
        size = element_bytes(op.src_type.dtype) if current().legacy_pad_unit == "bytes" else 1
        left, right = (op.pad.left or 0) * size, (op.pad.right or 0) * size
        sets.append(SetMovPadVal(op.pad.dtype, op.pad.value))
    return tuple(sets), CopyGmToUbuf(
        op.gm_src, op.ub_dst, 0, op.n_burst, op.len_burst, left, right, int(op.pad is not None),
        op.l2_cache_ctl, op.src_stride, op.dst_stride, op.src_type, op.dst_type, op.ub_sub,
    )  # fmt: skip


def to_program(op: MteGmUb | MteUbGm, ctrl: int) -> Program:
    """Returns an op with CTRL in its register form, empty where a register rejects a value."""
    sets, copy = to_legacy(op)
    if not all(fits(write) for write in sets):
        return ()
    return (SetCtrl(ctrl), *sets, copy, SetCtrl(0)) if ctrl else (*sets, copy)


def register_programs(rng: np.random.Generator, form: str) -> Named:
    """Yields name and program of what only a register form can break, and legal neighbours."""
    drawn = [base.op for base in bases(rng, form, DRAWN)]
    if form == "copy_ubuf_to_gm":
        yield from _hints(drawn[0])
        yield from _refused_sets(drawn, UBTOOUT)
        return
    plain = next(op for op in drawn if op.pad is None and len(op.loops) == REGISTER_LOOPS)
    padded = next(op for op in drawn if op.pad and element_bytes(op.src_type.dtype) > 1)
    yield from _selects(plain)
    yield from _pads(padded)
    yield from _wide_elements(plain)
    yield from _refused_sets(drawn, OUTTOUB)


def _hints(op: MteUbGm) -> Named:
    sets, copy = to_legacy(op)
    assert isinstance(copy, CopyUbufToGm)
    for value in (15, 16, 17, 1 << 40):
        hint = replace(copy, l2_cache_ctl=value)
        yield f"l2_cache_ctl {value}", (*sets, hint)
        yield f"l2_cache_ctl {value}, ub_src + 16", (*sets, replace(hint, ub_src=copy.ub_src + 16))
    yield "sid 15", (*sets, replace(copy, sid=15))


def _selects(op: MteGmUb) -> Named:
    """Yields counts of pads that are not selected, and selects that do not exist."""
    sets, copy = to_legacy(op)
    assert isinstance(copy, CopyGmToUbuf)
    # The pad register may be read, so it must be known.
    sets = (*sets, SetMovPadVal("i8", 0xA5))
    for value in (1, PAD_LIMIT, 255, 256):
        for name in ("left_padding", "right_padding"):
            yield f"{name} {value}, no select", (*sets, replace(copy, **{name: value}))
    for value in (2, 3, 1 << 20):
        yield f"data_select_bit {value}", (*sets, replace(copy, data_select_bit=value))
    yield "sid 2^70", (*sets, replace(copy, sid=1 << 70))


def _pads(op: MteGmUb) -> Named:
    """Yields pads of parts of an element, too long ones, and rows without room for them."""
    sets, copy = to_legacy(op)
    assert isinstance(copy, CopyGmToUbuf)
    full = PAD_LIMIT // element_bytes(op.src_type.dtype)
    short = {"dst_stride": copy.len_burst // 32 * 32 + 32, "left_padding": full}
    for select in (0, 1):
        some = replace(copy, data_select_bit=select)
        yield f"select {select}", (*sets, some)
        yield f"select {select}, no room", (*sets, replace(some, **short))
        for value in (1, 17, 31, 33, 256):
            for name in ("left_padding", "right_padding"):
                yield f"select {select}, {name} {value}", (*sets, replace(some, **{name: value}))


def _wide_elements(op: MteGmUb) -> Named:
    """Yields elements of 8 bytes with ``data_select_bit`` 1: DMA-L03 beside other rules (A-68)."""
    sets, copy = to_legacy(replace(op, src_type=Ptr("i64", "gm"), dst_type=Ptr("i64", "ub")))
    assert isinstance(copy, CopyGmToUbuf)
    others: dict[str, dict[str, int]] = {
        "alone": {},
        "no rows": {"n_burst": 0},
        "no bytes": {"len_burst": 0},
        "no rows, ub_dst + 16": {"n_burst": 0, "ub_dst": copy.ub_dst + 16},
        "len too wide": {"len_burst": 1 << 22},
        "l2 too wide": {"l2_cache_ctl": 4},
        "ub_dst + 16": {"ub_dst": copy.ub_dst + 16},
        "dst_stride + 8": {"dst_stride": copy.dst_stride + 8},
        "dst_stride 0": {"dst_stride": 0},
        "left 33 B": {"left_padding": 33},
        "right 1": {"right_padding": 1},
        "far outside": {"ub_dst": 1 << 24, "gm_src": 1 << 44},
    }
    sets = (*sets, SetMovPadVal("i32", 0x5A))
    for name, values in others.items():
        for select in (0, 1, 3):
            bad = replace(copy, data_select_bit=select, **values)
            yield f"8-byte elements, select {select}, {name}", (*sets, bad)


def _refused_sets(drawn: list[Any], side: str) -> Named:
    """Yields copies after a ``set_*`` op that its register rejects with DMA-L05 (A-19)."""
    gm, ub = 1 << GM_STRIDE_BITS, 1 << LOCAL_STRIDE_BITS
    src, dst = (ub, gm) if side == UBTOOUT else (gm, ub)
    count = 1 << LOOP_COUNT_BITS
    refused: list[LegacySet] = [
        SetLoopSize(side, count, 0),
        SetLoopSize(side, 0, count),
        SetLoopSize(side, count << 12, 2),
    ]
    for level in (1, 2):
        refused += [SetLoopStride(side, level, src, 32), SetLoopStride(side, level, 32, dst)]
    if side == OUTTOUB:
        refused += [SetMovPadVal("i8", 256), SetMovPadVal("bf16", 1 << 16)]
        refused += [SetMovPadVal("f32", 1 << 32)]
    for bad, op in zip(refused, drawn, strict=False):
        sets, copy = to_legacy(op)
        yield f"refused {type(bad).__name__}", (*sets, bad, copy)
