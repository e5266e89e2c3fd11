# SPDX-License-Identifier: Apache-2.0
"""Source rows that overlap: every kind of stride at the last value with and without a remark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, SetLoopSize, SetLoopStride
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Loop3, MteL0cGm
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.text import AnyOp
from tb.language.rules.remarks import program_remarks
from tb.language.unknown import UNKNOWN
from tb.language.verify import verify_file
from tests.explain.records import record
from tests.language.steps import move, program
from tests.wording import says

HALF = {"src_type": Ptr("f16", "gm")}
LOAD = MteGmUb(0, 0, 96, 4, 96, 128, **HALF, dst_type=Ptr("f16", "ub"))
FRAC = MteGmL1Frac(0, 0, "nd2nz", 16, 64, 128, 1, 1, 16, 0)
TILE = MteL0cGm(0, 0, 32, 32, 32, 32)
A, SCALES = (LOAD_CLASSES[f"mte_l1_l0a{mx}"] for mx in ("", "_mx"))


def loop(stride: int, base: AnyOp = LOAD) -> AnyOp:
    return replace(base, loops=(Loop(2, stride, 1024),))


def legacy(stride: int) -> tuple[AnyOp, ...]:
    copy = CopyGmToUbuf(0, 0, 0, 1, 96, 0, 0, 0, 0, 0, 0)
    return SetLoopStride("outtoub", 1, stride, 96), SetLoopSize("outtoub", 2, 1), copy


CASES: dict[str, tuple[Callable[[int], Any], int, int, str]] = {
    "row of a load": (lambda x: replace(LOAD, src_stride=x), 96, 1,
        "mte_gm_ub rows of 96 bytes are 95 bytes apart 95 elements are 190 bytes"),
    "row of a load to L1": (
        lambda x: MteGmL1(0, 0, 96, 4, x, 128), 96, 1, "mte_gm_l1 95 bytes apart"),
    "row of a legacy load": (
        lambda x: CopyGmToUbuf(0, 0, 0, 4, 96, 0, 0, 0, 0, x, 96), 96, 1,
        "copy_gm_to_ubuf rows of 96 bytes are 95 bytes apart"),
    "loop of a load": (loop, 4 * 96, 1, "iterations of loop0 of 384 bytes are 383 bytes apart"),
    "loop between rows": (
        partial(loop, base=replace(LOAD, src_stride=192)), 96, 1,
        "iterations of loop0 of 672 bytes are 95 bytes apart"),
    "loop of a legacy load": (legacy, 96, 1, "iterations of loop0 of 96 bytes are 95 bytes"),
    "loop of a store": (
        lambda x: MteUbGm(0, 0, 64, 1, 64, 64, (Loop(2, x, 64),)), 64, 32,
        "mte_ub_gm iterations of loop0 of 64 bytes are 32 bytes apart"),
    "loop of a move from L1": (
        lambda x: MteL1Ub(0, 0, 2, 2, 0, 0, (Loop(2, x, 128),)), 128, 32,
        "mte_l1_ub iterations of loop0 of 128 bytes are 96 bytes apart"),
    "row of a repack": (lambda x: replace(FRAC, src_inner_stride=x), 128, 1,
        "rows of 128 bytes are 127 bytes apart 127 elements are 254 bytes"),
    "column of a repack": (
        lambda x: replace(FRAC, mode="dn2nz", src_inner_stride=x), 32, 1,
        "rows of 32 bytes are 31 bytes apart"),
    "matrix of a repack": (
        lambda x: replace(FRAC, group_count=2, dst_loop4_stride=64, src_outer_stride=x),
        2048, 1, "matrices of 2048 bytes are 2047 bytes apart"),
    "column of fractals": (
        lambda x: A(0, 0, 0, 0, 4, 2, x, 4), 4, 1,
        "C0 columns of 2048 bytes are 1536 bytes apart the stride counts fractals of 512 bytes"),
    "run of scales": (
        lambda x: SCALES(0, 0, 0, 0, 2, 4, x, 4), 4, 1,
        "of 128 bytes are 96 bytes apart the stride counts scales of 32 bytes"),
    "group of a write-back": (
        lambda x: replace(TILE, src_stride=x), 32, 16,
        "groups of 2048 bytes are 1024 bytes apart rows of 16 accumulators, 64 bytes"),
    "repeat of a write-back": (
        lambda x: replace(TILE, layout="nz2nd", loop3=Loop3(2, x, 1024)), 64, 1,
        "repeats of 4096 bytes are 4032 bytes apart"),
}  # fmt: skip
"""Op with a stride, the least stride without overlap, a step, what the remark says a step below."""

REPEATED = {"row of a load", "row of a load to L1", "row of a legacy load"}
"""Strides that profile seed does not let be shorter (DMA-L08)."""


def notes(made: Any, profile: Profile = A5) -> tuple[str, ...]:
    """Returns the remarks on ops under a profile."""
    with using(profile):
        ops = made if isinstance(made, tuple) else (made,)
        return program_remarks(program([move(op) for op in ops]))


@pytest.mark.parametrize("name", CASES)
def test_the_first_stride_that_is_too_short_has_a_remark(name: str) -> None:
    made, least, step, words = CASES[name]
    assert notes(made(least)) == ()
    (note,) = notes(made(least - step))
    assert says(note, words)
    assert bool(notes(made(least - step), SEED)) == (name not in REPEATED)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"column of fractals", "run of scales"}))
def test_a_stride_of_zero_repeats_rows_on_purpose(name: str) -> None:
    """Loads to L0 have none of 0 (LD-L03)."""
    assert notes(CASES[name][0](0)) == ()


@pytest.mark.parametrize(
    ("op", "count"),
    [
        (replace(LOAD, src_stride=48, gm_src=UNKNOWN), 1),
        (replace(LOAD, src_stride=48, ub_dst=UNKNOWN), 1),
        (replace(LOAD, src_stride=UNKNOWN), 0),
        (replace(LOAD, src_stride=48, n_burst=UNKNOWN), 0),
        (replace(LOAD, src_stride=48, len_burst=UNKNOWN), 0),
        (replace(LOAD, src_stride=48, n_burst=1), 0),
        (replace(LOAD, src_stride=48, n_burst=0), 0),
        (replace(FRAC, group_count=UNKNOWN, src_inner_stride=64), 1),
        (replace(TILE, src_stride=16, src=UNKNOWN), 1),
        (CopyUbufToGm(0, 0, 0, 4, 96, 0, 96, UNKNOWN), 0),
        (MteUbGm(0, 0, 32, 4096, 32, 32, (Loop(512, 32, 1 << 17),)), 1),
    ],
    ids=str,
)
def test_only_rows_that_are_known_to_overlap_have_a_remark(op: AnyOp, count: int) -> None:
    assert len(notes(op)) == count


TEXT = """func.func @kernel(%x: !pto.ptr<bf16, gm>) {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %false = arith.constant false
  %t = pto.castptr %c{dst} : i64 -> !pto.ptr<bf16, l1>
  pto.mte_gm_l1_frac %x, %t, nd2nz, shape(%c16, %c64), src_layout(%c{stride}),
    dst_group(%c1, %c1, %c16, %c0), ctrl(%c0, %false) : !pto.ptr<bf16, gm>, !pto.ptr<bf16, l1>,
    nd2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
  return
}}
"""


@pytest.mark.parametrize(("stride", "dst", "count"), [(64, 0, 1), (128, 0, 0), (64, 1, 0)])
def test_verify_and_explain_have_the_remark(
    stride: int, dst: int, count: int, tmp_path: Path
) -> None:
    """A stride in elements, and one in bytes; an op that breaks a rule has its finding alone."""
    path = tmp_path / "x.pto"
    path.write_text(TEXT.format(stride=stride, dst=dst))
    found = verify_file(path)
    assert len(found.findings) == dst
    for told in (found.notes, record(str(path))["notes"]):
        mine = [note for note in told if "64 elements are 128 bytes" in note]
        assert len(mine) == count
    assert not count or says(found.notes[0], f"{path}:9:3 note pto.mte_gm_l1_frac rows of 128")
