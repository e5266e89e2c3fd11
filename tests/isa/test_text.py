# SPDX-License-Identifier: Apache-2.0
"""PTO text: round trip, and messages that name the rule."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from tb.isa.dma import MteGmUb, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.lower import V06Op
from tb.isa.nz import MteGmL1Frac
from tb.isa.parse import TextError, from_text
from tb.isa.text import AnyOp, to_text
from tests.isa.strategies import v06_ops

LEGACY: list[AnyOp] = [
    SetLoopSize("outtoub", 4, 1),
    SetLoopSize("ubtoout", 0, (1 << 21) - 1),
    SetLoopStride("outtoub", 1, 1 << 39, 2048),
    SetLoopStride("ubtoout", 2, 32, 1 << 39),
    SetMovPadVal("f16", 0x3C00),
    CopyGmToUbuf(5, 64, 0, 3, 40, 2, 4, 1, 3, 64, 96, Ptr("f16", "gm"), Ptr("f16", "ub"), 1),
    CopyGmToUbuf(5, 64, 0, 3, 40, 0, 0, 2, 3, 64, 96),
    CopyUbufToGm(64, 5, 0, 3, 40, 0, 128, 96, Ptr("f32", "ub"), Ptr("f32", "gm")),
    CopyUbufToUbuf(4096, 0, 0, 3, 64, 96, 128, Ptr("f32", "ub"), Ptr("f32", "ub"), 1),
]

BURST_TEXT = (
    "pto.mte_l1_bt %l1_0x0, %bt_0x0, %c1_i64 nburst(%c4_i64, %c0_i64, %c0_i64) : "
    "!pto.ptr<f16, l1>, !pto.ptr<f32, bt>, i64, i64, i64, i64"
)
GOOD = to_text(MteGmUb(0, 0, 32, 1, 0, 0))


@given(v06_ops())
def test_v06_round_trip(op: V06Op) -> None:
    assert from_text(to_text(op)) == op


@pytest.mark.parametrize("op", LEGACY, ids=lambda op: type(op).__name__)
def test_legacy_round_trip(op: AnyOp) -> None:
    assert from_text(to_text(op)) == op


def test_text_reads_like_the_documents() -> None:
    op = MteUbGm(32, 16, 40, 3, 64, 64)
    assert to_text(op) == (
        "pto.mte_ub_gm %ub_0x20, %gm_0x10, %c0_i64, %c40_i64 nburst(%c3_i64, %c64_i64, %c64_i64) "
        ": !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64"
    )


NZ_TEXT = (
    "pto.mte_gm_l1_frac %gm_0x0, %l1_0x0, nd2nz, shape(%c32_i64, %c16_i64), "
    "src_layout(%c32_i64, %c1024_i64), dst_group(%c2_i64, %c1_i64, %c16_i64, %c64_i64), "
    "ctrl(%c0_i64, %false) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, "
    "src_layout(i64, i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
)


def test_repack_reads_like_the_documents() -> None:
    op = MteGmL1Frac(0, 0, "nd2nz", 32, 16, 32, 2, 1, 16, 64, 1024)
    assert to_text(op) == NZ_TEXT
    assert from_text(NZ_TEXT) == op
    alone = NZ_TEXT.replace(", %c1024_i64", "").replace("src_layout(i64, i64)", "src_layout(i64)")
    assert from_text(alone) == dataclasses.replace(op, src_outer_stride=None)


def test_sub_block_survives() -> None:
    op = dataclasses.replace(MteUbGm(32, 16, 40, 3, 64, 64), ub_sub=1)
    assert from_text(to_text(op)) == op


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (GOOD.replace(" nburst(%c1_i64, %c0_i64, %c0_i64)", ""), "DMA-L01"),
        (GOOD.replace("nburst(", "nburst(%c1_i64, "), "DMA-L01"),
        (GOOD.replace(" :", " nburst(%c1_i64, %c0_i64, %c0_i64) :", 1), "DMA-L01"),
        (GOOD.replace(" :", " loop(%c1_i64, %c0_i64) :", 1), "DMA-L01"),
        (GOOD.replace(" :", " pad(%i8_0x0, %c1_i64) :", 1) + ", pad i8", "DMA-L02"),
        (GOOD.replace(" :", " pad() :", 1) + ", pad i8", "DMA-L02"),
        (GOOD.replace(" :", " pad(%i8_0x0) :", 1), "pad T"),
        (GOOD.replace(" :", " spin(%c1_i64) :", 1), "clause"),
        (GOOD.replace("%c32_i64", "%len"), "constant"),
        (GOOD.replace(", %c32_i64", ""), "operands"),
        (GOOD.replace("!pto.ptr<i8, ub>, ", ""), "two"),
        (GOOD.replace("mte_gm_ub", "mte_gm_moon"), "unknown"),
        ("hello", "not a PTO op"),
        (NZ_TEXT.replace("src_layout(%c32_i64, %c1024_i64)", "src_layout()"), "ND-L02"),
        (NZ_TEXT.replace("dst_group(%c2_i64, ", "dst_group("), "ND-L02"),
        (NZ_TEXT.replace("src_layout(%c32_i64, ", "src_layout(%c1_i64, %c1_i64, "), "ND-L02"),
        (NZ_TEXT.replace("shape(%c32_i64, ", "shape("), "n_value"),
        (NZ_TEXT.replace("ctrl(%c0_i64, %false)", "ctrl(%c0_i64)"), "smallc0_en"),
        (NZ_TEXT.replace("ctrl(", "shape("), "each once"),
        (NZ_TEXT.replace("nd2nz, shape(", "nz, shape("), "dn2nz"),
        (BURST_TEXT.replace("nburst(%c4_i64, ", "nburst("), "DMA-L01"),
        (BURST_TEXT.replace("nburst(", "loop("), "clause"),
        (BURST_TEXT.replace(", %c1_i64 nburst", " nburst"), "operands"),
    ],
)
def test_bad_text_is_explained(line: str, message: str) -> None:
    with pytest.raises(TextError, match=message):
        from_text(line)
