# SPDX-License-Identifier: Apache-2.0
"""PTO text of ops, as printed in logs; tests/language reads it back."""

from __future__ import annotations

import dataclasses

from tb.isa.dma.legacy import CopyGmToUbuf
from tb.isa.dma.op import MteUbGm
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.text import to_text


def test_text_reads_like_the_documents() -> None:
    op = MteUbGm(32, 16, 40, 3, 64, 64)
    assert to_text(op) == (
        "pto.mte_ub_gm %ub_0x20, %gm_0x10, %c40_i64 nburst(%c3_i64, %c64_i64, %c64_i64) "
        ": !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64"
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
    alone = NZ_TEXT.replace(", %c1024_i64", "").replace("src_layout(i64, i64)", "src_layout(i64)")
    assert to_text(dataclasses.replace(op, src_outer_stride=None)) == alone


def test_a_vector_core_is_named_after_its_op() -> None:
    op = dataclasses.replace(MteUbGm(32, 16, 40, 3, 64, 64), ub_sub=1)
    assert to_text(op).endswith(", i64 // ub_sub 1")


def test_operands_of_several_bits_are_integers() -> None:
    text = to_text(CopyGmToUbuf(5, 64, 0, 3, 40, 0, 0, 2, 3, 64, 96))
    assert ", %c2_i64, %c3_i64, %c64_i64, %c96_i64 : " in text
    assert "i1" not in text.partition(" : ")[2]
