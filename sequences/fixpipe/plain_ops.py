# SPDX-License-Identifier: Apache-2.0
"""Small legal write-backs of every kind, in which every operand matters, and their variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from sequences.blocks import changed
from sequences.constraints import FB_SIZE, GM_SIZE, L0C_SIZE, L1_SIZE, UB_SIZE
from sequences.fixpipe.parameters import Records
from tb.isa.block import Fill
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
    lower_fix,
)
from tb.isa.footprint import destinations, source
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS, UB_BLOCK, Space

MAKERS: dict[str, type[MteL0cGm] | type[MteL0cL1] | type[MteL0cUb]] = {
    "mte_l0c_gm": MteL0cGm,
    "mte_l0c_l1": MteL0cL1,
    "mte_l0c_ub": MteL0cUb,
}
"""Ops by name."""

ENDS: dict[str, int] = {"mte_l0c_gm": GM_SIZE, "mte_l0c_l1": L1_SIZE, "mte_l0c_ub": UB_SIZE}
"""Bytes of the destination by op."""

ROW = 64
"""Elements between rows: whole blocks for every type."""

ALPHAS = FB_SEGMENTS["pre_relu"] << FB_SEGMENT_SHIFT
"""Address of the segment of fb for alphas."""

_ONE = 0x3F800000


def space_of(op: FixOp) -> str:
    """Returns the keyword of the destination."""
    return op.spec.destination


def plain(rng: np.random.Generator, form: str) -> FixOp:
    """Returns f32 to f16 with parameters per channel, clip and loop3: two groups of columns."""
    m, n = 2 * int(rng.integers(1, 5)), 2 * int(rng.integers(9, 21))
    stride = 16 * int(rng.integers(1, 3))
    gm = form == "mte_l0c_gm"
    unit = 4 if gm else UB_BLOCK
    parts: dict[str, Any] = {
        "src": 64 * int(rng.integers(0, 512)),
        "dst": unit * int(rng.integers(0, 1 << (20 if gm else 11))),
        "m": m,
        "n": n,
        "src_stride": stride,
        "dst_stride": ROW,
        "pre_quant": PreQuant(
            "qf322f16_pre_vec",
            FbPtr(str(rng.choice(("f32", "f16", "bf16"))), 128 * int(rng.integers(0, 8))),
        ),
        "pre_relu": PreRelu(
            "vector_relu",
            FbPtr("f32", int(rng.choice((0, ALPHAS, ALPHAS))) + 64 * int(rng.integers(0, 32))),
            Scalar("f16", 0x3C00),
        ),
        "layout": "nz2nd",
        "loop3": Loop3(int(rng.integers(2, 4)), 3 * stride, ROW * ROW),
        "sat": str(rng.choice(("", "sat", "preserve_nan", "nosat"))),
        "dst_type": Ptr("f16", form[-2:]),
    }
    if gm:
        parts |= {"sid": int(rng.integers(0, 4)), "l2_cache_ctrl": int(rng.integers(0, 16))}
    elif form == "mte_l0c_ub":
        parts["sub_block"] = int(rng.integers(0, 2))
    return MAKERS[form](**parts)


def _with_mode(op: FixOp, mode: str, dtype: str, clip: Scalar | None, acc: str = "f32") -> FixOp:
    assert op.pre_quant is not None
    assert op.pre_relu is not None
    return changed(
        op,
        pre_quant=changed(op.pre_quant, mode=mode),
        pre_relu=changed(op.pre_relu, clip=clip),
        src_type=Ptr(acc, "l0c"),
        dst_type=Ptr(dtype, space_of(op)),
    )


def four_bit(op: FixOp) -> FixOp:
    """Returns the op with i4 elements."""
    return _with_mode(op, "qf322s4_pre_vec", "i4", Scalar("i16", 3))


def to_type(dtype: str) -> Any:
    """Returns the change of the op of :func:`plain` to another destination type."""

    def change(op: FixOp) -> FixOp:
        if dtype == "i4":
            return four_bit(op)
        if dtype in ("i8", "ui8"):
            of = "i16" if dtype == "ui8" else "i8"
            return _with_mode(op, "qf322b8_pre_vec", dtype, Scalar(of, 100))
        if dtype == "i16":
            return _with_mode(op, "deqs16_vec", dtype, Scalar("i16", 1000), "i32")
        return op

    return change


def f32_rows(op: FixOp) -> FixOp:
    """Returns the op with f32 elements, without clip."""
    return _with_mode(op, "qf322f32_pre_vec", "f32", None)


def nz(op: FixOp) -> FixOp:
    """Returns the op with nz2nz: f32, two groups of 16 columns."""
    return changed(f32_rows(op), layout="nz2nz", split=0, loop3=None, n=32, dst_stride=4 * ROW)


def dn(op: FixOp) -> FixOp:
    """Returns the op with nz2dn, K 1."""
    return changed(op, layout="nz2dn", k=1)


def scalar(op: FixOp) -> FixOp:
    """Returns the op with scalars instead of parameters per channel."""
    assert op.pre_relu is not None
    return changed(
        op,
        pre_quant=PreQuant("qf322f16_pre_scalar", Scalar("f32", _ONE)),
        pre_relu=changed(op.pre_relu, mode="scalar_relu", payload=Scalar("bf16", 0x3E80)),
    )


def _halved(op: FixOp, split: str, n: int) -> FixOp:
    return changed(
        op, layout="", pre_quant=None, pre_relu=None, loop3=None, n=n, ub_split=split,
        sub_block=0, dst_type=Ptr("f32", "ub"),
    )  # fmt: skip


def split_m(op: FixOp) -> FixOp:
    """Returns the op with its rows split over both sub-blocks."""
    return _halved(op, "split_m", 33)


def split_n(op: FixOp) -> FixOp:
    """Returns the op with its columns split over both sub-blocks."""
    return _halved(op, "split_n", 64)


def at_end(op: FixOp) -> FixOp:
    """Returns the op at the last bytes of L0C and of its destination."""
    desc = lower_fix(op)
    read, write = source(desc), destinations(desc)[0]
    unit = 1 if space_of(op) == "gm" else UB_BLOCK
    length = -(-(write.end - write.base) // unit) * unit
    return changed(op, src=L0C_SIZE - (read.end - read.base), dst=ENDS[op.spec.name] - length)


def fb_rows(rng: np.random.Generator) -> tuple[Fill, ...]:
    """Returns finite parameters in both segments of FB."""
    records = Records(rng)
    return (
        Fill(Space.FB, 0, records.quant[9][: FB_SIZE // 8].view(np.uint8)),
        Fill(Space.FB, ALPHAS, records.alpha[: FB_SIZE // 4].view(np.uint8)),
    )
