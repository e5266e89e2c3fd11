# SPDX-License-Identifier: Apache-2.0
"""Every D rule of ``mte_gm_l1`` and ``mte_l1_ub`` broken in many ways, and their limits kept."""

from __future__ import annotations

from functools import partial

import numpy as np

from sequences.blocks import Op
from sequences.constraints import GM_SIZE, L1_SIZE, UB_SIZE
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
from tb.isa.dma import Loop, MteGmL1, MteL1Ub
from tb.isa.dma_table import (
    GM_STRIDE_BITS,
    LEN_BITS,
    LOCAL_STRIDE_BITS,
    LOOP_COUNT_BITS,
    MAX_LOOPS,
    N_BURST_BITS,
)
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES, Ptr
from tb.isa.spaces import UB_BLOCK

Strided = MteGmL1 | MteL1Ub
FORMS = ("mte_gm_l1", "mte_l1_ub")

_GM_MAX, _LOCAL_MAX = (1 << GM_STRIDE_BITS) - 1, (1 << LOCAL_STRIDE_BITS) - 1


def _up(value: int) -> int:
    return -(-value // UB_BLOCK) * UB_BLOCK


def _base(rng: np.random.Generator, *, from_gm: bool) -> Op:
    """Returns a small legal op whose rows and three loops all iterate.

    On-chip rows leave at least 64 bytes free and GM rows at least 4.
    """
    dtype = str(rng.choice(list(DTYPES)))
    whole = UB_BLOCK * int(rng.integers(1, 5))
    length = whole + ELEMENT_BYTES[dtype] if from_gm else whole
    rows = int(rng.integers(2, 5))
    dst = _up(length) + UB_BLOCK * int(rng.integers(2, 5))
    src = length + int(rng.integers(4, 100)) if from_gm else dst + UB_BLOCK * int(rng.integers(3))
    src_hull, dst_hull = src * rows, dst * rows
    loops = []
    for _ in range(MAX_LOOPS):
        count = int(rng.integers(2, 4))
        more = int(rng.integers(0, 50)) if from_gm else UB_BLOCK * int(rng.integers(0, 3))
        loops.append(Loop(count, src_hull + more, dst_hull + UB_BLOCK * int(rng.integers(0, 3))))
        src_hull, dst_hull = loops[-1].src_stride * count, loops[-1].dst_stride * count
    room = (L1_SIZE if from_gm else UB_SIZE) - dst_hull
    to = UB_BLOCK * int(rng.integers(0, room // UB_BLOCK))
    if from_gm:
        start = int(rng.integers(0, 1 << 20))
        return MteGmL1(
            start, to, length, rows, src, dst, tuple(loops), Ptr(dtype, "gm"), Ptr(dtype, "l1")
        )
    start = UB_BLOCK * int(rng.integers(0, (L1_SIZE - src_hull) // UB_BLOCK))
    return MteL1Ub(
        start, to, length, rows, src, dst, tuple(loops), Ptr(dtype, "l1"), Ptr(dtype, "ub"),
        int(rng.integers(0, 2)),
    )  # fmt: skip


def _names(from_gm: bool) -> tuple[str, str]:
    return ("gm_src", "l1_dst") if from_gm else ("l1_src", "ub_dst")


def _sizes(from_gm: bool) -> tuple[int, int]:
    return (GM_SIZE, L1_SIZE) if from_gm else (L1_SIZE, UB_SIZE)


def spans(op: Strided) -> tuple[int, int]:
    """Returns the bytes from the first to the last one at the source and at the destination."""
    src = (op.n_burst - 1) * op.src_stride + op.len_burst
    dst = (op.n_burst - 1) * op.dst_stride + op.len_burst
    for loop in op.loops:
        src += (loop.count - 1) * loop.src_stride
        dst += (loop.count - 1) * loop.dst_stride
    return src, dst


def _at_end(op: Strided, *, from_gm: bool, over: tuple[int, int] = (0, 0)) -> Strided:
    """Returns ``op`` ending with its memories, or ``over`` bytes behind their ends."""
    source, destination = _names(from_gm)
    room = [size - span for size, span in zip(_sizes(from_gm), spans(op), strict=True)]
    src = room[0] if from_gm else room[0] // UB_BLOCK * UB_BLOCK
    values = {source: src + over[0], destination: room[1] // UB_BLOCK * UB_BLOCK + over[1]}
    return changed(op, **values)


def _stride_fields(from_gm: bool) -> list[tuple[str, int]]:
    src = GM_STRIDE_BITS if from_gm else LOCAL_STRIDE_BITS
    fields = [
        ("len_burst", LEN_BITS), ("n_burst", N_BURST_BITS), ("src_stride", src),
        ("dst_stride", LOCAL_STRIDE_BITS),
    ]  # fmt: skip
    for k in range(MAX_LOOPS):
        fields += [
            (f"loop{k}.count", LOOP_COUNT_BITS),
            (f"loop{k}.src_stride", src),
            (f"loop{k}.dst_stride", LOCAL_STRIDE_BITS),
        ]
    return fields


def _alignment(from_gm: bool) -> list[Break]:
    source, destination = _names(from_gm)
    bases = [destination] if from_gm else [source, destination]
    sides = ["dst_stride"] if from_gm else ["src_stride", "dst_stride"]
    found = [
        Break(f"{name} + {by}", 6, shift(name, by)) for name in bases for by in (1, 2, 8, 16, 31)
    ]
    strides = [*sides, *[f"loop{k}.{side}" for k in range(MAX_LOOPS) for side in sides]]
    found += [
        Break(f"{name} + {by}", 7, shift(name, by)) for name in strides for by in (1, 4, 16, 31)
    ]
    return found


def _short(from_gm: bool) -> list[Break]:
    unit = 1 if from_gm else UB_BLOCK

    def below(name: str, by: int) -> Change:
        return lambda op: changed(op, **{name: max(op.len_burst - by, 0)})

    def block_short(op: Strided) -> Strided:
        return changed(op, dst_stride=_up(op.len_burst) - UB_BLOCK)

    return [
        Break(f"src_stride len - {unit}", 8, below("src_stride", unit)),
        Break("src_stride len - 32", 8, below("src_stride", UB_BLOCK)),
        Break("src_stride 0", 8, put("src_stride", 0)),
        Break("dst_stride one block short", 8, block_short),
        Break("dst_stride 0", 8, put("dst_stride", 0)),
    ]


def _parts(from_gm: bool) -> list[Break]:
    if from_gm:
        return []
    found = [Break(f"len + {by}", 11, shift("len_burst", by)) for by in (1, 2, 8, 16, 31)]
    lone = chain(put("n_burst", 1), put("len_burst", 40))
    return [*found, Break("one row of 40 bytes", 11, lone), Break("len 1", 11, put("len_burst", 1))]


def _outside(from_gm: bool) -> list[Break]:
    source, destination = _names(from_gm)
    src_size, dst_size = _sizes(from_gm)
    bases = [(destination, x) for x in (dst_size, dst_size + 32, 1 << 24, (1 << 32) + 64, 1 << 64)]
    wide = (
        [(1 << 41) + 5, (1 << 44) + 7, (1 << 64) + 64] if from_gm else [1 << 24, 1 << 44, 1 << 64]
    )
    first = src_size + 1 if from_gm else src_size + UB_BLOCK
    bases += [(source, x) for x in (src_size, first, *wide)]
    found = [Break(f"{name} {value:#x}", 12, put(name, value)) for name, value in bases]
    end = partial(_at_end, from_gm=from_gm)
    found += [
        Break(f"source ends {by} too far", 12, partial(end, over=(by, 0)))
        for by in ((1, 2, 4096) if from_gm else (UB_BLOCK, 4096))
    ]
    found += [
        Break("destination ends in the block behind", 12, partial(end, over=(0, UB_BLOCK))),
        Break("last source row far out", 12, put("src_stride", _GM_MAX if from_gm else 1 << 20)),
        Break("last row far out", 12, put("dst_stride", _LOCAL_MAX - 31)),
        Break("last iteration far out", 12, put("loop2.dst_stride", _LOCAL_MAX - 31)),
        Break("source loop far out", 12, put("loop0.src_stride", _GM_MAX if from_gm else 1 << 20)),
        Break("many rows", 12, put("n_burst", (1 << N_BURST_BITS) - 1)),
        Break("many iterations", 12, put("loop0.count", (1 << LOOP_COUNT_BITS) - 1)),
    ]
    return found


def _idle(from_gm: bool) -> list[Break]:
    """An op that moves nothing breaks rules like any other, but for DMA-L12."""
    _, destination = _names(from_gm)
    zero_rows, zero_loop = put("n_burst", 0), put("loop0.count", 0)
    found = [
        Break("no rows, stride too wide", 5, chain(put("dst_stride", 1 << 21), zero_rows)),
        Break("no bytes, base + 16", 6, chain(shift(destination, 16), put("len_burst", 0))),
        Break("no iterations, stride + 4", 7, chain(shift("dst_stride", 4), zero_loop)),
        Break("no iterations, stride 0", 8, chain(put("dst_stride", 0), zero_loop)),
    ]
    if not from_gm:
        found.append(Break("no rows, len + 8", 11, chain(shift("len_burst", 8), zero_rows)))
    return found


def _combined(from_gm: bool) -> dict[int, Change]:
    source, destination = _names(from_gm)
    step = 1 if from_gm else UB_BLOCK
    changes: dict[int, Change] = {
        5: put("loop2.count", 1 << LOOP_COUNT_BITS),
        6: shift(destination, 16),
        7: shift("loop0.dst_stride", 1),
        8: lambda op: changed(op, src_stride=op.len_burst - step),
        12: put(source, GM_SIZE + 3 if from_gm else L1_SIZE + 64),
    }
    if not from_gm:
        changes[11] = shift("len_burst", 8)
    return changes


def _near(rng: np.random.Generator, *, from_gm: bool) -> dict[str, Op]:
    op = _base(rng, from_gm=from_gm)
    assert isinstance(op, Strided)
    source, destination = _names(from_gm)
    src_size, dst_size = _sizes(from_gm)
    src_max = _GM_MAX if from_gm else _LOCAL_MAX
    longest = (1 << LEN_BITS) - (1 if from_gm else UB_BLOCK)
    empty = changed(op, len_burst=0, src_stride=64, dst_stride=64)
    lone = changed(op, n_burst=1, loops=())
    once = changed(op, loops=(changed(op.loops[0], count=1), *op.loops[1:]))
    tight = changed(op, dst_stride=_up(op.len_burst), loops=())
    low = changed(lone, **{source: 0, destination: 0})
    unaligned = put("loop0.dst_stride", _LOCAL_MAX)(once)
    found: dict[str, Op] = {
        "n_burst 65535": changed(empty, n_burst=(1 << N_BURST_BITS) - 1),
        "NOP outside": changed(empty, **{source: src_size + 64, destination: dst_size}),
        "NOP far outside": changed(op, n_burst=0, **{source: 1 << 43, destination: (1 << 24) - 32}),
        "NOP, longest source stride": changed(empty, src_stride=src_max // 32 * 32),
        "NOP, longest destination stride": changed(empty, dst_stride=_LOCAL_MAX // 32 * 32),
        "one row, longest strides": changed(lone, src_stride=src_max, dst_stride=_LOCAL_MAX),
        "one row, strides 0": changed(lone, src_stride=0, dst_stride=0),
        "one row, strides unaligned": changed(lone, src_stride=33, dst_stride=47),
        "longest row": changed(low, len_burst=longest),
        "last byte of the destination": _at_end(op, from_gm=from_gm),
        "strides equal len": changed(tight, src_stride=op.len_burst),
        "loop once, stride 2^21-1": unaligned,
        "loop once, longest source stride": put("loop0.src_stride", src_max)(once),
        "no iterations": put("loop1.count", 0)(op),
        "most iterations of nothing": put("loop1.count", (1 << LOOP_COUNT_BITS) - 1)(empty),
        "all strides of all loops": changed(
            empty, loops=(Loop((1 << 21) - 1, src_max // 32 * 32, _LOCAL_MAX // 32 * 32),) * 3
        ),
    }
    return found


def strided_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every case of ``mte_gm_l1`` or ``mte_l1_ub``."""
    from_gm = form == "mte_gm_l1"
    breaks = [
        *too_wide(_stride_fields(from_gm), 5), *_alignment(from_gm), *_short(from_gm),
        *_parts(from_gm), *_outside(from_gm), *_idle(from_gm),
    ]  # fmt: skip
    return make_cases(
        rng, form, partial(_base, from_gm=from_gm), breaks, _combined(from_gm),
        partial(_near, from_gm=from_gm),
    )  # fmt: skip
