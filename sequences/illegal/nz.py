# SPDX-License-Identifier: Apache-2.0
"""Every D rule of ``mte_gm_l1_frac`` broken in many ways, and legal ops at the limits."""

from __future__ import annotations

import numpy as np

from sequences.blocks import Op
from sequences.constraints import GM_SIZE, L1_SIZE
from sequences.illegal.cases import (
    Break,
    Case,
    Change,
    chain,
    changed,
    make_cases,
    put,
    shift,
    too_wide,
)
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, Ptr
from tb.isa.footprint import destination, source
from tb.isa.nz.op import MteGmL1Frac, lower_nz
from tb.isa.nz.table import (
    C0_BYTES,
    D_BITS,
    DST_STRIDE_BITS,
    GM_STRIDE_BITS,
    GROUP_BITS,
    L2_BITS,
    MAX_D,
    MAX_GROUPS,
    MAX_N,
    MODES,
    N_BITS,
)

_TYPES = tuple(name for name, size in ELEMENT_BYTES.items() if size <= 4)
_GM_MAX, _STEP_MAX = (1 << GM_STRIDE_BITS) - 1, (1 << DST_STRIDE_BITS) - 1

assert set(_TYPES) <= set(DTYPES)


def _base(rng: np.random.Generator) -> MteGmL1Frac:
    """Returns a small legal repack of several rows, C0 columns and groups."""
    dtype = str(rng.choice(_TYPES))
    size = ELEMENT_BYTES[dtype]
    c0 = C0_BYTES // size
    n = int(rng.integers(2, 40))
    d = c0 + int(rng.integers(1, 2 * c0))
    mode = MODES[int(rng.integers(0, 2))]
    rows, row = (n, d * size) if mode == MODES[0] else (d, n * size)
    inner = row + int(rng.integers(0, 20))
    groups, columns = int(rng.integers(2, 4)), -(-d // c0)
    step = int(rng.integers(1, 3))
    height = n * step + int(rng.integers(0, 4))
    return MteGmL1Frac(
        int(rng.integers(0, 1 << 20)),
        C0_BYTES * int(rng.integers(0, 1024)),
        mode,
        n,
        d,
        inner,
        groups,
        step,
        height,
        columns * height + int(rng.integers(0, 4)),
        rows * inner + int(rng.integers(0, 20)),
        int(rng.integers(0, 16)),
        0,
        Ptr(dtype, "gm"),
        Ptr(dtype, "l1"),
    )


def _small(op: MteGmL1Frac) -> MteGmL1Frac:
    """Returns ``op`` in small-C0 mode, loops 2 and 3 unused."""
    return changed(
        op, smallc0_en=1, d_value=3, dst_loop2_stride=0, dst_loop3_stride=0, dst_loop4_stride=20
    )


def _wide() -> list[Break]:
    fields = [
        ("n_value", N_BITS), ("d_value", D_BITS), ("src_inner_stride", GM_STRIDE_BITS),
        ("src_outer_stride", GM_STRIDE_BITS), ("group_count", GROUP_BITS),
        ("dst_loop2_stride", DST_STRIDE_BITS), ("dst_loop3_stride", DST_STRIDE_BITS),
        ("dst_loop4_stride", DST_STRIDE_BITS), ("l2_cache_ctrl", L2_BITS), ("smallc0_en", 1),
    ]  # fmt: skip
    found = too_wide(fields, 3)
    for name, most, bits in (
        ("n_value", MAX_N, N_BITS),
        ("d_value", MAX_D, D_BITS),
        ("group_count", MAX_GROUPS, GROUP_BITS),
    ):
        for value in (most + 1, most + 17, (1 << bits) - 1):
            found.append(Break(f"{name} = {value}", 3, put(name, value)))
    small = put("n_value", MAX_N + 1)
    found.append(Break("small-C0, n_value 16385", 3, chain(_small, small)))
    return found


def _counts() -> list[Break]:
    found = [Break("group_count 0", 4, put("group_count", 0))]
    found += [Break(f"small-C0, D = {d}", 5, chain(_small, put("d_value", d))) for d in (5, 6, 100)]
    found.append(Break("small-C0, D = 65535", 5, chain(_small, put("d_value", MAX_D))))
    found += [
        Break("group_count 0, small-C0", 4, chain(_small, put("group_count", 0))),
        Break("group_count 0, no rows", 4, chain(put("group_count", 0), put("n_value", 0))),
        Break("group_count 0, no elements", 4, chain(put("group_count", 0), put("d_value", 0))),
        Break("small-C0, D = 5, no rows", 5, chain(_small, put("d_value", 5), put("n_value", 0))),
    ]
    return found


def _alignment() -> list[Break]:
    found = [Break(f"l1_dst + {by}", 6, shift("l1_dst", by)) for by in (1, 2, 4, 8, 16, 31)]
    return [
        *found,
        Break("l1_dst + 16, no rows", 6, chain(shift("l1_dst", 16), put("n_value", 0))),
        Break("l1_dst + 16, small-C0", 6, chain(_small, shift("l1_dst", 16))),
    ]


def _zero_steps() -> list[Break]:
    two, three, four = (put(f"dst_loop{k}_stride", 0) for k in (2, 3, 4))
    wide = put("d_value", MAX_D)
    return [
        Break("loop2 0", 7, two),
        Break("loop3 0", 7, three),
        Break("loop4 0", 7, four),
        Break("loops 2 and 3 0", 7, chain(two, three)),
        Break("all loops 0", 7, chain(two, three, four)),
        Break("loop2 0, 2 rows", 7, chain(two, put("n_value", 2))),
        Break("loop3 0, one element more than C0", 7, lambda op: changed(three(op), d_value=33)),
        Break("loop4 0, small-C0", 7, chain(_small, four)),
        Break("loop2 0, no elements", 7, chain(two, put("d_value", 0))),
        Break("loop3 0, no rows", 7, chain(three, put("n_value", 0), wide)),
        Break("loop4 0, no rows", 7, chain(four, put("n_value", 0))),
    ]


def _span(op: MteGmL1Frac) -> tuple[int, int]:
    desc = lower_nz(op)
    read, write = source(desc), destination(desc)
    return read.end - read.base, write.end - write.base


def at_end(op: MteGmL1Frac) -> MteGmL1Frac:
    """Returns ``op`` ending with both memories."""
    read, write = _span(op)
    return changed(op, gm_src=GM_SIZE - read, l1_dst=L1_SIZE - write)


def _outside() -> list[Break]:
    bases = [("gm_src", x) for x in (GM_SIZE, GM_SIZE + 1, (1 << 44) + 7, (1 << 64) + 64)]
    bases += [("l1_dst", x) for x in (L1_SIZE, L1_SIZE + 32, 1 << 24, (1 << 32) + 64, 1 << 64)]
    found = [Break(f"{name} {value:#x}", 8, put(name, value)) for name, value in bases]
    found += [
        Break(f"GM end {by} too far", 8, chain(at_end, shift("gm_src", by))) for by in (1, 2, 4096)
    ]
    over = shift("l1_dst", C0_BYTES)
    lone = chain(put("n_value", 1), put("group_count", 1))
    found += [
        Break("L1 end in the next block", 8, chain(at_end, over)),
        Break("the same, small-C0", 8, chain(_small, at_end, over)),
        Break("last column past L1", 8, chain(lone, at_end, shift("dst_loop3_stride", 1))),
        Break("last row far out", 8, put("dst_loop2_stride", _STEP_MAX)),
        Break("last column far out", 8, put("dst_loop3_stride", _STEP_MAX)),
        Break("last group far out", 8, put("dst_loop4_stride", _STEP_MAX)),
        Break("last source row far out", 8, put("src_inner_stride", _GM_MAX)),
        Break("last matrix far out", 8, put("src_outer_stride", _GM_MAX)),
        Break("most rows", 8, put("n_value", MAX_N)),
        Break("most groups", 8, put("group_count", MAX_GROUPS)),
        Break("most groups, small-C0", 8, chain(_small, put("group_count", MAX_GROUPS))),
    ]
    return found


def _combined() -> dict[int, Change]:
    return {
        3: put("l2_cache_ctrl", 16),
        4: put("group_count", 0),
        5: chain(put("smallc0_en", 1), put("d_value", 40)),
        6: shift("l1_dst", 16),
        7: chain(*[put(f"dst_loop{k}_stride", 0) for k in (2, 3, 4)]),
        8: put("gm_src", GM_SIZE + 3),
    }


def _near(rng: np.random.Generator) -> dict[str, Op]:
    op = _base(rng)
    elem = ELEMENT_BYTES[op.src_type.dtype]
    small = _small(op)
    lone = changed(op, n_value=1, d_value=C0_BYTES // elem, group_count=1)
    strides = {f"dst_loop{k}_stride": 0 for k in (2, 3, 4)}
    most = {f"dst_loop{k}_stride": _STEP_MAX for k in (2, 3, 4)}
    bytes_op = changed(op, src_type=Ptr("i8", "gm"), dst_type=Ptr("i8", "l1"), gm_src=3, l1_dst=0)
    return {
        "one block, all loops 0": changed(lone, **strides),
        "one block, all loops 65535": changed(lone, **most),
        "one row, inner stride 2^40-1": changed(
            lone, mode="nd2nz", src_inner_stride=_GM_MAX, src_outer_stride=_GM_MAX
        ),
        "small-C0, loops 2 and 3 65535": changed(
            small, dst_loop2_stride=_STEP_MAX, dst_loop3_stride=_STEP_MAX
        ),
        "small-C0, D = 4": changed(small, d_value=4),
        "small-C0, one group, loops 0": changed(small, group_count=1, dst_loop4_stride=0),
        "matrix read again": changed(op, src_outer_stride=None),
        "row read again": changed(op, src_inner_stride=0),
        "last byte of both": at_end(op),
        "last byte of both, small-C0": at_end(small),
        "no rows": changed(op, n_value=0),
        "no elements": changed(op, d_value=0),
        "no rows, every other maximum": changed(
            op, n_value=0, d_value=MAX_D, group_count=MAX_GROUPS, src_inner_stride=_GM_MAX,
            src_outer_stride=_GM_MAX, l2_cache_ctrl=15, **most,
        ),
        "no elements, most rows": changed(op, n_value=MAX_N, d_value=0, dst_loop3_stride=0),
        "no rows or elements, loops 0": changed(
            op, n_value=0, d_value=0, group_count=1, **strides
        ),
        "NOP outside": changed(op, n_value=0, gm_src=GM_SIZE + 1, l1_dst=L1_SIZE),
        "NOP far outside": changed(op, d_value=0, gm_src=(1 << 44) - 1, l1_dst=(1 << 24) - 32),
        "D = 65535": changed(
            bytes_op, n_value=1, d_value=MAX_D, group_count=1, dst_loop3_stride=1
        ),
        "4095 groups": changed(
            bytes_op, n_value=1, d_value=1, group_count=MAX_GROUPS, dst_loop4_stride=1,
            src_outer_stride=1,
        ),
    }  # fmt: skip


def nz_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of ``mte_gm_l1_frac``."""
    breaks = [
        *_wide(), *_counts(), *_alignment(), *_zero_steps(), *_outside(),
    ]  # fmt: skip
    return make_cases(rng, form, _base, breaks, [_combined()], _near)
