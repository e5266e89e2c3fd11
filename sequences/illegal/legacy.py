# SPDX-License-Identifier: Apache-2.0
"""Every D rule broken by the register forms of GM-UB copies, and legal ops at the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sequences.illegal.cases import Case
from sequences.illegal.strided import KINDS, base_op, near, padded, strided_breaks
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
)
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.dma.table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS, LOOP_COUNT_BITS, PAD_LIMIT
from tb.isa.dtypes import Ptr, element_bytes
from tb.isa.ops import LEGACY_FORMS
from tb.isa.profile import current

REGISTER_FORMS = ("copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms that read registers."""

LOOPS = 2
"""Loops that registers hold."""


def to_legacy(op: MteGmUb | MteUbGm) -> tuple[tuple[LegacySet, ...], LegacyCopy]:
    """Returns the register writes and the legacy copy of a v0.6 op of at most two loops.

    Raises:
        ValueError: the op has more loops than there are registers.
    """
    if len(op.loops) > 2:
        raise ValueError(f"{len(op.loops)} loops: legacy registers hold 2")
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


def _base(rng: np.random.Generator, form: str, *, pad: bool = False) -> MteGmUb | MteUbGm:
    op = base_op(rng, KINDS[LEGACY_FORMS[form]], LOOPS)
    assert isinstance(op, MteGmUb | MteUbGm)
    if isinstance(op, MteGmUb):
        return padded(op) if pad else replace(op, pad=None)
    return op


def legacy_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of a register form."""
    kind = KINDS[LEGACY_FORMS[form]]
    cases = []

    def add(name: str, rule: int, op: object) -> None:
        assert isinstance(op, MteGmUb | MteUbGm)
        sets, copy = to_legacy(op)
        cases.append(Case(name, form, rule, (*sets, copy)))

    for item in strided_breaks(kind):
        if not item.v06_only:
            add(item.name, item.rule, item.change(base_op(rng, kind, LOOPS)))
    for name, op in near(rng, kind, LOOPS).items():
        add(name, 0, op)
    return [*cases, *_copy_operands(rng, form), *_refused_sets(rng, form)]


def _copy_operands(rng: np.random.Generator, form: str) -> list[Case]:
    """Violations of operands that only legacy copies have."""
    sets, copy = to_legacy(_base(rng, form))
    cases = []

    def add(name: str, rule: int, changed: LegacyCopy, before: tuple[LegacySet, ...]) -> None:
        cases.append(Case(name, form, rule, (*before, changed)))

    if isinstance(copy, CopyUbufToGm):
        for value in (16, 17, 1 << 40):
            bad = replace(copy, l2_cache_ctl=value)
            add(f"l2_cache_ctl {value}, ub_src + 16", 5, replace(bad, ub_src=bad.ub_src + 16), sets)
        add("l2_cache_ctl 15", 0, replace(copy, l2_cache_ctl=15), sets)
        add("sid 15", 0, replace(copy, sid=15), sets)
        return cases
    unselected = current().pad_unselected == "error"
    for value in (1, PAD_LIMIT, 255) if unselected else ():
        add(f"left {value}, no select", 5, replace(copy, left_padding=value), sets)
        add(f"right {value}, no select", 5, replace(copy, right_padding=value), sets)
    # The pad register may be read, so it must be known.
    sets = (*sets, SetMovPadVal("i8", 0xA5))
    for value in (2, 3, 1 << 20):
        add(f"data_select_bit {value}", 5, replace(copy, data_select_bit=value), sets)
    while True:
        sets, copy = to_legacy(_base(rng, form, pad=True))
        if element_bytes(copy.src_type.dtype) > 1:
            break
    assert isinstance(copy, CopyGmToUbuf)
    for value in (1 if current().legacy_pad_unit == "bytes" else 17, 31, 33):
        add(f"left {value}", 9, replace(copy, left_padding=value), sets)
        add(f"right {value}", 9, replace(copy, right_padding=value), sets)
    if not unselected:
        bare = replace(copy, data_select_bit=0)
        add("padded by counts", 0, bare, sets)
        add("right 33, no select", 9, replace(bare, right_padding=33), sets)
        add("left 256, no select", 5, replace(bare, left_padding=256), sets)
        add(
            "no room, no select",
            10,
            replace(
                bare,
                dst_stride=bare.len_burst // 32 * 32 + 32,
                left_padding=PAD_LIMIT // element_bytes(copy.src_type.dtype),
            ),
            sets,
        )
    add("sid 2^70", 0, replace(copy, sid=1 << 70), sets)
    return [*cases, *_wide_elements(rng, form)]


def _wide_elements(rng: np.random.Generator, form: str) -> list[Case]:
    """Elements of 8 bytes with ``data_select_bit`` 1: DMA-L03, whatever else is wrong (A-68)."""
    op = _base(rng, form)
    op = replace(op, src_type=Ptr("i64", "gm"), dst_type=Ptr("i64", "ub"))
    sets, copy = to_legacy(op)
    assert isinstance(copy, CopyGmToUbuf)
    sets, bad = (*sets, SetMovPadVal("i32", 0x5A)), replace(copy, data_select_bit=1)
    broken = {
        "alone": bad,
        "no rows": replace(bad, n_burst=0),
        "no bytes": replace(bad, len_burst=0),
        "no rows, ub_dst + 16": replace(bad, n_burst=0, ub_dst=bad.ub_dst + 16),
        "len too wide": replace(bad, len_burst=1 << 22),
        "l2 too wide": replace(bad, l2_cache_ctl=4),
        "ub_dst + 16": replace(bad, ub_dst=bad.ub_dst + 16),
        "dst_stride + 8": replace(bad, dst_stride=bad.dst_stride + 8),
        "dst_stride 0": replace(bad, dst_stride=0),
        "left 33 B": replace(bad, left_padding=33),
        "far outside": replace(bad, ub_dst=1 << 24, gm_src=1 << 44),
    }
    cases = [
        Case(f"padded 8-byte elements, {name}", form, 3, (*sets, one))
        for name, one in broken.items()
    ]
    if current().pad_unselected == "register":
        counted = replace(bad, data_select_bit=0, right_padding=1)
        cases.append(Case("8-byte elements, right 1, no select", form, 3, (*sets, counted)))
        nop = replace(counted, n_burst=0, ub_dst=counted.ub_dst + 16)
        cases.append(Case("the same, no rows, ub_dst + 16", form, 3, (*sets, nop)))
    wide = replace(copy, data_select_bit=3)
    off = replace(copy, ub_dst=copy.ub_dst + 16)
    return [
        *cases,
        Case("8-byte elements, data_select_bit 3", form, 5, (*sets, wide)),
        Case("8-byte elements, no select, ub_dst + 16", form, 6, (*sets, off)),
        Case("8-byte elements, no select", form, 0, (*sets, copy)),
    ]


def _refused_sets(rng: np.random.Generator, form: str) -> list[Case]:
    """Legal copies after a ``set_*`` op that its register rejects with DMA-L05 (A-19)."""
    store = form == "copy_ubuf_to_gm"
    side = UBTOOUT if store else OUTTOUB
    gm, ub = 1 << GM_STRIDE_BITS, 1 << LOCAL_STRIDE_BITS
    src, dst = (ub, gm) if store else (gm, ub)
    count = 1 << LOOP_COUNT_BITS
    refused: list[LegacySet] = [
        SetLoopSize(side, count, 0),
        SetLoopSize(side, 0, count),
        SetLoopSize(side, count << 12, 2),
    ]
    for level in (1, 2):
        refused += [SetLoopStride(side, level, src, 32), SetLoopStride(side, level, 32, dst)]
    if not store:
        refused += [SetMovPadVal("i8", 256), SetMovPadVal("bf16", 1 << 16)]
        refused += [SetMovPadVal("f32", 1 << 32)]
    cases = []
    for bad in refused:
        op = _base(rng, form, pad=True)
        sets, copy = to_legacy(op)
        cases.append(Case(f"refused {type(bad).__name__}", form, 0, (*sets, bad, copy)))
    return cases
