# SPDX-License-Identifier: Apache-2.0
"""The streams of ``TEST=speed``: one for each behaviour of a unit that has a rate.

Names are keys of manifests, so they do not change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sequences.streams.tiles import rated_tiles, scaled, tile
from sequences.streams.workload import (
    F32_ADD,
    Workload,
    l0_loads,
    local_copies,
    repack,
    repacks,
    stores,
)
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import FbPtr, MteL0cGm, MteL0cUb, PreQuant, PreRelu
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace

LONG = 8192
"""Bytes of an op of one long row."""

UNALIGNED = 13
"""GM address of an unaligned row, modulo its word."""

ROWS = 64
"""Short rows or bursts of an op."""

PLACES = 8

QUEUE_OPS = 64
"""Ops of a stream that measures the queue of a unit."""


def _rows(name: str, make: Callable[[int], Op], size: int) -> Workload:
    """Returns a stream of :data:`PLACES` ops of :data:`ROWS` rows each."""
    return Workload(name, "rows", ROWS, ROWS * size, PLACES, make)


def _queue(name: str, size: int, make: Callable[[int], Op]) -> Workload:
    """Returns a stream of small ops, each of ``size`` bytes."""
    return Workload(name, "ops", 1, size, QUEUE_OPS, make)


def _gm_loads(width: int) -> list[Workload]:
    """Returns loads from GM to UB and L1, and fills; words have ``width`` bytes."""
    words, gap, step = LONG // width, width + 128, ROWS * 256
    pad = Pad("i8", 7, 0, 0)
    loops = (Loop(4, 16 * gap, 16 * 128), Loop(4, 64 * gap, 64 * 128))
    return [
        Workload(
            "mte_gm_ub long rows", "words", words, LONG, PLACES,
            lambda k: MteGmUb(k * LONG, k * LONG, LONG, 1, LONG, LONG),
        ),
        Workload(
            "mte_gm_ub unaligned rows", "words", words, LONG, PLACES,
            lambda k: MteGmUb(UNALIGNED + 2 * k * LONG, k * LONG, LONG, 1, LONG, LONG),
        ),
        _rows(
            "mte_gm_ub short rows",
            lambda k: MteGmUb(k * step, k * step, width, ROWS, gap, 128), width,
        ),
        _rows(
            "mte_gm_ub padded rows",
            lambda k: MteGmUb(k * step, k * step, width - 8, ROWS, gap, 128, (), pad), 128,
        ),
        _rows(
            "mte_gm_ub loops",
            lambda k: MteGmUb(k * step, k * step, width, 4, gap, 128, loops), width,
        ),
        _queue(
            "mte_gm_ub small ops", width,
            lambda k: MteGmUb(k * 4096, k * 256, width, 1, width, width),
        ),
        _rows(
            "mte_gm_l1 short rows",
            lambda k: MteGmL1(k * step, k * step, width, ROWS, gap, 128), width,
        ),
        _rows(
            "raw_fill_l1 long runs",
            lambda k: RawFillL1(k * step, 0, 0x1234, ROWS, 4, 1), 128,
        ),
        _queue("raw_fill_l1 small ops", 32, lambda k: RawFillL1(k * 256, 0, 0x1234, 1, 1, 0)),
    ]  # fmt: skip


def _nz_loads() -> list[Workload]:
    """Returns NZ repacks of small C0 and of small matrices."""

    def small(place: int, mode: str) -> MteGmL1Frac:
        inner = 8 if mode == "nd2nz" else 512
        at = place * 2048
        return MteGmL1Frac(at, at, mode, 256, 4, inner, 1, 1, 256, 1, smallc0_en=1)

    return [
        Workload("nd2nz small C0", "C0 blocks", 64, 2048, PLACES, lambda k: small(k, "nd2nz")),
        Workload("dn2nz small C0", "C0 blocks", 64, 2048, PLACES, lambda k: small(k, "dn2nz")),
        replace(repack("nd2nz", 8, 16), name="nd2nz small ops", unit="ops", units=1),
    ]


def _mte1() -> list[Workload]:
    """Returns short bursts and small ops from L1."""
    f16, f32 = Ptr("f16", "l1"), Ptr("f32", "bt")
    load, types = LOAD_CLASSES["mte_l1_l0b"], (Ptr("f16", "l1"), Ptr("f16", "l0b"))
    step = ROWS * 128
    return [
        _rows(
            "mte_l1_ub short bursts",
            lambda k: MteL1Ub(k * step, k * step, 2, ROWS, 2, 2), 64,
        ),
        _queue("mte_l1_ub small ops", 32, lambda k: MteL1Ub(k * 256, k * 256, 1, 1, 0, 0)),
        _queue(
            "mte_l1_bt small ops", 64,
            lambda k: MteL1Bt(k * 64, k * 64, 16, 1, 0, 0, f16, f32),
        ),
        _queue(
            "mte_l1_l0b small ops", 512,
            lambda k: load(k * 512, k * 512, 0, 0, 1, 1, 1, 1, 0, *types),
        ),
    ]  # fmt: skip


def _mte3(width: int) -> list[Workload]:
    """Returns stores and copies from UB; words have ``width`` bytes."""
    types, step = (Ptr("f32", "ub"), Ptr("f32", "gm")), ROWS * 256
    join = width + 4
    return [
        Workload(
            "mte_ub_gm unaligned rows", "words", LONG // width, LONG, PLACES,
            lambda k: MteUbGm(k * LONG, UNALIGNED + 2 * k * LONG, LONG, 1, LONG, LONG),
        ),
        _rows(
            "mte_ub_gm short rows",
            lambda k: MteUbGm(k * step, k * step, width, ROWS, 128, width + 128), width,
        ),
        _rows(
            "mte_ub_gm joined rows",
            lambda k: MteUbGm(k * step, k * step, join, ROWS, 128, join), join,
        ),
        replace(
            _rows(
                "mte_ub_gm joined rows, f32 add",
                lambda k: MteUbGm(k * step, k * step, join, ROWS, 128, join, (), 0, *types), join,
            ),
            ctrl=F32_ADD,
        ),
        _queue(
            "mte_ub_gm small ops", width,
            lambda k: MteUbGm(k * 256, k * 4096, width, 1, width, width),
        ),
        _rows(
            "mte_ub_ub short bursts",
            lambda k: MteUbUb(k * 8192, (16 + k) * 8192, 2, ROWS, 2, 2), 64,
        ),
        _rows(
            "mte_ub_l1 short bursts",
            lambda k: MteUbL1(k * 8192, k * 8192, 2, ROWS, 2, 2), 64,
        ),
        _queue("mte_ub_l1 small ops", 32, lambda k: MteUbL1(k * 256, k * 256, 1, 1, 0, 0)),
    ]  # fmt: skip


def _fix() -> list[Workload]:
    """Returns write-backs with vectors of parameters, of many rows and small, and FB loads."""
    ub = MteL0cUb(0, 0, 64, 64, 64, 64)
    half = replace(ub, pre_quant=scaled("qf322f16_pre_scalar"), dst_type=Ptr("f16", "ub"))
    vectors = replace(
        half,
        pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f32", 0)),
        pre_relu=PreRelu("vector_relu", FbPtr("f32", 2048)),
    )
    rows = MteL0cGm(0, 0, 256, 16, 256, 64)
    small = replace(half, m=16, n=16, src_stride=16, dst_stride=16)
    return [
        tile("nz2nd f16 to UB, vectors", vectors, 16),
        tile("nz2nd f32 to GM, short rows", rows, 32),
        replace(tile("mte_l0c_ub small ops", small, 16, QUEUE_OPS), unit="ops", units=1),
        _queue("mte_l1_fb small ops", 64, lambda k: MteL1Fb(k * 64, k * 64, 1, 1, 0, 0)),
    ]


def _far(work: Workload) -> Workload:
    """Returns a stream with GM far away: it needs bursts of several beats, and many of them."""
    return replace(work, name=f"{work.name}, far GM", far=True)


def _alone(work: Workload) -> Workload:
    """Returns one op of a stream of small ops: its latency."""
    return replace(work, name=work.name.replace("small ops", "one small op"), places=1)


@cache
def speed_streams(width: int) -> tuple[Workload, ...]:
    """Returns every stream; ``width`` is that of GM bus and local ports in bytes."""
    long_load, *loads = _gm_loads(width)
    matrices, (long_store, *updates) = repacks(), stores(width)
    far = map(_far, (long_load, *matrices[:2], long_store))
    found = (
        long_load, *loads, *matrices, *_nz_loads(), *local_copies(width), *l0_loads(), *_mte1(),
        long_store, *updates, *_mte3(width), *rated_tiles(), *_fix(), *far,
    )  # fmt: skip
    return (*found, *(_alone(work) for work in found if work.unit == "ops"))


@cache
def stream_names(slot: str = "") -> tuple[str, ...]:
    """Returns the names of the streams of a slot, by default of all."""
    return tuple(work.name for work in speed_streams(32) if slot in ("", work.slot))
