# SPDX-License-Identifier: Apache-2.0
"""Bins of hand-made ops, family by family: what each op hits, and points that do not count it."""

from __future__ import annotations

import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.isa.block import from_descriptors, from_ops
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.events import BiasEvent
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    Scalar,
)
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.rules import first_d_violation, s_violations
from tests.coverage.counting import Made, all_hits, bins, cover, hits, labels, made

HALF = Ptr("f16", "l1"), Ptr("f32", "bt")
BURSTS = [
    made(MteUbUb(0, 32 * 40, 4, 3, 6, 0), "src_gap_unused",
         len="4..7", n_burst="3", src_gap="4..15", dst_gap="0", src_mod="0", dst_mod="0",
         len_mod="0", bytes="256..1023", src_place="starts at 0", dst_place="inside",
         order="behind", nop="live", ub_sub="0", dtype="i8"),
    # The source's last burst ends at (4 + 6) * 2 + 4 = 24 blocks.
    made(MteUbUb(0, 32 * 24, 4, 3, 6, 0), order="right behind"),
    made(MteUbUb(32 * 12, 0, 4, 3, 6, 0), order="right before"),
    made(MteUbUb(32 * 13, 0, 4, 3, 6, 0), order="before"),
    made(MteUbUb(0, 32 * 5, 4, 3, 6, 6), order="between"),
    made(MteUbL1(262144 - 64, 524288 - 64, 2, 1, 65535, 1024),
         src_gap="one burst", src_gap_unused="65535", dst_gap_unused="1024..",
         src_place="ends at top", dst_place="ends at top", src_mod="64"),
    made(MteUbL1(0, 0, 2, 1, 0, 1023), dst_gap_unused="1..1023"),
    made(MteL1Fb(1 << 20, 1 << 12, 65535, 0, 0, 0), "len",
         nop="count 0", nop_max="len 65535", nop_place="both outside"),
    made(MteL1Fb(0, 0, 0, 4095, 0, 0), nop_max="count 4095"),
    made(MteUbL1(0, 1 << 19, 0, 65535, 0, 0), nop_max="count 65535"),
    made(MteUbL1(0, 1 << 19, 0, 9, 0, 0), nop_place="destination outside"),
    made(MteL1Fb(0, 0, 0, 0, 0, 0), nop="both 0"),
    made(MteL1Fb(0, 0, 64, 1, 0, 0), dst_place="whole"),
    made(MteL1Fb(0, 64, 63, 1, 0, 0), dst_place="ends at top"),
    # Types of half a byte, and types that no other op has, are legal here (A-71).
    made(MteL1Fb(0, 0, 1, 1, 0, 0, Ptr("i4", "l1"), Ptr("si4", "fb")), "dtype", len="1"),
    made(MteL1Fb(0, 0, 1, 1, 0, 0, Ptr("i1", "l1"), Ptr("i1", "fb")), dtype="ui8", len="1"),
    made(MteL1Fb(0, 0x10000, 64, 1, 0, 0), segment="1 (pre_relu)", dst_place="whole"),
    made(MteL1Fb(0, 0x10FC0, 1, 1, 0, 0), dst_place="ends at top"),
    made(MteL1Fb(0, 0x10040, 0, 1, 0, 0), nop_place="inside"),
    made(MteL1Bt(0, 0, 1024, 1, 0, 0), dst_place="whole", len="1024..", bytes="1024.."),
    # Bias elements of 2 and of 4 bytes at the start of the second burst.
    made(MteL1Bt(32, 64, 3, 2, 4, 10, *HALF), type="f16 to f32",
         src_offset=str((3 + 4) * 2), dst_offset=str(3 + 10)),
    made(MteL1Bt(32, 64, 3, 2, 4, 14), src_offset=str((3 + 4) * 4 % 32), dst_offset="1"),
    made(MteL1Bt(32, 64, 3, 1, 4, 10, *HALF), "src_offset"),
]  # fmt: skip

PADDED = MteGmUb(0, 0, 33, 2, 40, 128, (), Pad("i8", 1, 0, 0))
NO_GM_LOAD = "l2 ub_sub pad"
STRIDED = [
    made(MteGmUb(4090, 0, 8, 3, 8, 64, (Loop(2, 24, 192), Loop(1, 0, 0)), Pad("i16", 7, 16, 0), 2,
                 Ptr("i16", "gm"), Ptr("ui16", "ub")),
         len="8..15", len_mod="8", gm_mod=str(4090 % 32), n_burst="3", n_loops="2",
         loop0_count="2", loop1_count="1", loop2_count="absent", loops_active="0",
         gm_row_stride="equal len", ub_row_stride="tight", gm_loop0_stride="next",
         ub_loop0_stride="next", gm_loop1_stride="one iteration", page="crosses 1",
         ub_place="starts at 0", l2="2", nop="live", bytes="1..63"),
    made(MteUbGm(64, (1 << 40) - 30, 10, 1, 0, 1 << 35, (Loop(3, 0, 10),)), "pad",
         gm_place="ends at 2^40", ub_loop0_stride="0", gm_stride_unused="aligned", n_burst="1"),
    made(MteUbGm(0, 0, 0, 65535, 0, 0, ()), "len", nop_max="n_burst 65535"),
    made(PADDED, pad_tail="65..", pad="i8", ub_row_stride="+64..256"),
    made(replace(PADDED, pad=None), "pad_tail", pad="off"),
    made(MteGmL1(31, 524288 - 128, 63, 2, 63, 64), NO_GM_LOAD,
         len="33..63", len_mod="31", gm_align="bus-1", gm_row_stride="equal len",
         l1_row_stride="tight", l1_place="in last block", n_burst="2", n_loops="0"),
    # Its last row ends 96 bytes earlier.
    made(MteGmL1(31, 524288 - 224, 63, 2, 63, 64), l1_place="inside"),
    made(MteL1Ub(524288 - 96, 32, 3, 1, 7, 0, (Loop(1, 5, 5),)),
         len="3", len_mod="96", l1_mod="32", ub_mod="32", l1_gap="one burst",
         l1_place="ends at top", ub_place="inside", ub_gap_unused="0", l1_gap_unused="1..1023",
         loop0_count="1", l1_loop0_stride="one iteration", bytes="64..255", ub_sub="0"),
    # DW-2: three bursts of 64 B, 32 B and 64 B apart, twice.
    made(MteL1Ub(0, 0, 2, 3, 1, 2, (Loop(2, 1024, 512),)),
         l1_gap="1", ub_gap="2..3", len_mod="64", n_burst="3", bytes="256..1023",
         l1_loop0_stride="beyond", ub_loop0_stride="beyond"),
    # The bursts in UB reach to byte 320.
    made(MteL1Ub(0, 0, 2, 3, 1, 2, (Loop(2, 256, 320),)), ub_loop0_stride="next"),
    made(MteL1Ub(0, 0, 0, 4095, 65535, 65535), nop_max="n_burst 4095"),
    made(MteL1Ub(0, 1 << 18, 0, 1, 0, 0), nop_place="UB outside"),
    made(MteL1Ub(1 << 19, 0, 0, 1, 0, 0), nop_place="L1 outside"),
]  # fmt: skip

# The worked values of docs/spec/nd2nz.md, section 5.
ND_E1 = MteGmL1Frac(0, 0, "nd2nz", 32, 16, 32, 2, 1, 16, 64, 1024)
ND_E2 = MteGmL1Frac(4095, 32, "nd2nz", 40, 50, 100, 1, 1, 48, 0)
ND_E6 = MteGmL1Frac(64, 64, "dn2nz", 16, 5, 32, 1, 16, 80, 1, 160)
ND_E8 = MteGmL1Frac(64, 64, "nd2nz", 6, 3, 6, 2, 0, 0, 4, 36, 5, 1)
BYTES = replace(
    ND_E1, src_type=Ptr("i8", "gm"), dst_type=Ptr("i8", "l1"), n_value=16384, d_value=1,
    group_count=1,
)  # fmt: skip
# Rows two blocks apart, with the second matrix between those of the first.
BETWEEN = replace(ND_E1, dst_loop2_stride=2, dst_loop4_stride=1)
INNER = {
    0: "0", 31: "below a row", 32: "tight", 33: "+1..31", 63: "+1..31", 64: "+32..4095",
    32 + 4096: "+4096..", (1 << 32) - 1: "+4096..", 1 << 32: "2^32..",
}  # fmt: skip
REPACKS = [
    made(ND_E1, "small_d small_tail",
         packing="nd2nz", d="C0", tail="0", n="32", groups="2", inner="tight", outer="tight",
         loop2="1", loop3="one column", loop4="padded", loop3_unused="other",
         gm_place="starts at 0", l1_place="starts at 0", gm_align="0", bytes="1024..4095",
         limit="smaller"),
    made(ND_E2, d="2C0+1..8C0-1", tail="2", n="33..63", columns="3..7", loop3="whole fractals",
         loop4="one group", outer="one matrix", outer_unused="0", loop4_unused="0",
         page="crosses 1", gm_align="bus-1", l1_mod="32"),
    made(ND_E6, packing="dn2nz", rows="16", tail="5", loop2="16..", loop3="one column",
         loop3_unused="other", loop4_unused="1", inner="tight", outer_unused="other"),
    made(ND_E8, "d tail columns loop2 loop3",
         packing="nd2nz small", small_d="3", small_tail="2", loop4="padded", loop2_unused="0",
         loop3_unused="0", l2="5", outer="tight"),
    made(BYTES, limit="n 16384"),
    made(replace(BYTES, n_value=1, d_value=65535), limit="d 65535"),
    made(replace(BYTES, n_value=1, group_count=4095, dst_loop4_stride=1), limit="groups 4095"),
    made(replace(ND_E1, n_value=0, d_value=65535, gm_src=1 << 41), "limit",
         nop="n 0", nop_max="d 65535", nop_place="GM outside"),
    made(BETWEEN, loop4="interleaved"),
    made(replace(BETWEEN, dst_loop4_stride=63), loop4="tight"),
    made(replace(BETWEEN, dst_loop4_stride=64), loop4="tight"),
    made(replace(BETWEEN, dst_loop4_stride=65), loop4="padded"),
    made(replace(ND_E1, d_value=32, dst_loop2_stride=2, dst_loop3_stride=1, group_count=1),
         loop3="interleaved"),
    *[made(replace(ND_E1, src_inner_stride=step, n_value=2), inner=name)
      for step, name in INNER.items()],
]  # fmt: skip

GM = MteL0cGm(0, 0, 18, 40, 32, 48)
L1 = MteL0cL1(64, 32, 18, 40, 32, 48)
UB = MteL0cUb(128, 96, 18, 64, 32, 64)
F16 = Ptr("f16", "gm")
FX_E2 = replace(GM, layout="nz2dn", k=1, dst_stride=24)
FX_E5 = MteL0cGm(0, 4, 8, 16, 16, 8, layout="nz2dn", k=2)
FX_E6 = MteL0cGm(0, 4095 * 4, 4, 16, 16, 20, layout="nz2nd", loop3=Loop3(2, 16, 80))
NZ0 = MteL0cL1(0, 0, 18, 32, 32, 320, layout="nz2nz", split=0)
NZ1 = MteL0cUb(0, 0, 18, 40, 32, 160, 1, layout="nz2nz", split=1)
LEGAL: tuple[FixOp, ...] = (GM, L1, UB, FX_E2, FX_E5, FX_E6, NZ0, NZ1)
# Rows 0, 3, ... 21: the group ends after word 21.
THIRDS = MteL0cGm(0, 0, 8, 17, 16, 8, layout="nz2dn", k=3)
TALL = MteL0cL1(0, 0, 4096, 16, 16, 16, layout="nz2nd")
WIDE = replace(GM, m=1, n=4095, src_stride=16, dst=(1 << 40) - 4 * 4095)
NO_ROWS = replace(GM, m=0, n=4095, src=1 << 20, dst=1 << 41, unit_flag=3)
NO_COLUMNS = replace(L1, n=0, m=65535, layout="nz2nz", dst_stride=8)
NO_REPEATS = replace(FX_E6, loop3=Loop3(0, 1, 1))
VECTOR = replace(
    GM, m=0, dst_type=F16, pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f32", 3968))
)  # fmt: skip
UPDATE = replace(
    GM, pre_quant=PreQuant("f32_f16", Scalar("f32", 0)), dst_type=F16, sat="nosat",
    atomic=Atomic("f16", "max"), layout="nz2nd",
)  # fmt: skip
SUM = replace(
    GM, src_type=Ptr("i32", "l0c"), dst_type=Ptr("i32", "gm"), atomic=Atomic("s32", "add")
)  # fmt: skip
WRITE_BACKS = [
    made(GM, "ub_sub atomic update atomic_sat",
         layout="omitted", tail="8", n_tail="8", rows="17..", m="17..31",
         src_stride="whole fractals", dst_stride="gap 32..4095 B", flag="none", loop3="absent",
         src_place="starts at 0", gm_align="0", kind="none", gm_place="starts at 0",
         page="starts at edge", dst="f32", bits="32"),
    made(FX_E2, "ub_sub", layout="nz2dn", k="1", dst_stride="gap below 32 B", row_mod="other"),
    made(FX_E5, "ub_sub", k="2", src_stride="one group", src_stride_unused="whole fractals",
         dst_stride="contiguous", row_mod="0", gm_align="other"),
    made(FX_E6, "ub_sub", loop3="2", loop3_src="apart", loop3_dst="tight", gm_mod="28",
         page="crosses 1", dst_stride="gap below 32 B"),
    made(L1, "ub_sub", layout="omitted", l1_mod="32", l1_place="inside", src_mod="1",
         dst_stride="gap 32..4095 B", row_mod="0"),
    made(NZ0, "ub_sub", layout="nz2nz", tail="0", dst_stride="gap 32..4095 B",
         l1_place="starts at 0", bytes="1024..4095"),
    made(NZ1, layout="nz2nz split", tail="8", ub_sub="1"),
    made(replace(UB, ub_split="split_m"), "ub_sub", layout="split_m", dst_stride="contiguous",
         bytes="4096..16383", ub_mod="96"),
    made(replace(UB, ub_split="split_n"), "ub_sub", layout="split_n",
         dst_stride="gap 32..4095 B", row_mod="0"),
    # Nine rows of 256 bytes each; 18 rows of 128 bytes, half a stride apart.
    made(replace(UB, ub_split="split_n", dst_stride=32), dst_stride="contiguous"),
    made(replace(UB, ub_split="split_m", m=2), dst_stride="one row"),
    made(replace(UB, ub_split="split_m", dst=262144 - 9 * 256), ub_place="ends at top"),
    *[made(replace(GM, m=32, src_stride=step), src_stride=name)
      for step, name in {0: "0", 16: "interleaved", 32: "tight", 48: "more"}.items()],
    made(THIRDS, src_stride="interleaved"),
    made(replace(THIRDS, src_stride=32), src_stride="whole fractals"),
    made(replace(THIRDS, src_stride=48), src_stride="more"),
    made(replace(FX_E6, loop3=Loop3(3, 0, 76)), loop3_src="0", loop3_dst="tight"),
    made(replace(FX_E6, loop3=Loop3(3, 3, 16)), loop3_src="interleaved", loop3_dst="interleaved"),
    made(replace(FX_E6, loop3=Loop3(3, 4, 80)), loop3_src="tight", loop3_dst="tight"),
    made(replace(FX_E6, loop3=Loop3(3, 5, 77)), loop3_src="apart", loop3_dst="apart"),
    made(replace(FX_E6, loop3=Loop3(1, 9, 9)), "loop3_src loop3_dst"),
    made(TALL, src_place="all", limit="m 4096"),
    made(replace(TALL, m=1, src=262144 - 64), src_place="ends at top"),
    made(replace(TALL, m=2, dst=524288 - 128), l1_place="ends at top"),
    made(WIDE, limit="n 4095", gm_place="ends at 2^40", page="crosses 2+"),
    made(replace(WIDE, dst=(1 << 32) - 4), gm_place="spans 2^32"),
    made(NO_ROWS, "layout flag", nop="m 0", nop_max="n 4095", nop_flag="clear",
         nop_place="both outside", nop_fb="none"),
    made(NO_COLUMNS, nop_max="m 65535"),
    made(replace(NO_COLUMNS, layout="nz2dn", k=1, m=8192), nop_max="m 8192"),
    made(NO_REPEATS, nop="count 0"),
    made(replace(NO_REPEATS, m=0), nop="several"),
    made(VECTOR, nop_fb="beyond"),
    made(replace(VECTOR, n=16), nop_fb="inside"),
    made(UPDATE, atomic="f16 max", atomic_type="f16", atomic_dst="f16", atomic_sat="f16 nosat",
         atomic_layout="nz2nd", update="atomic", bits="16", dst="f16"),
    made(SUM, "atomic_sat", atomic="s32 add"),
]  # fmt: skip


@pytest.mark.parametrize("row", [*BURSTS, *STRIDED, *REPACKS, *WRITE_BACKS])
def test_bins_of_an_op(row: Made) -> None:
    row.check()


def test_write_backs_by_hand_are_legal() -> None:
    for op in LEGAL:
        assert first_d_violation(lower(op)) is None, op
        assert not s_violations(op), op


BIAS_POINTS = {f"data_{event.name}".lower() for event in BiasEvent}


def test_data_classes_by_type() -> None:
    kinds = (("f32", "f32"), ("i32", "i32"), ("bf16", "f32"), ("f16", "f32"))
    ops = [MteL1Bt(0, 0, 4, 1, 0, 0, Ptr(x, "l1"), Ptr(to, "bt")) for x, to in kinds]
    events = [BiasEvent.ZERO | BiasEvent.INF, 255, 0, BiasEvent.INF]
    found = all_hits(cover(from_ops(ops), events).groups["mte_l1_bt"])
    data = {name: bins for name, bins in found.items() if name in BIAS_POINTS}
    assert data == {"data_zero": {"f32": 1}, "data_inf": {"f32": 1, "f16": 1}}
    assert found["type"] == {f"{source} to {target}": 1 for source, target in kinds}


@pytest.mark.parametrize(
    ("strides", "src", "dst"),
    [((0, 0), "not legal if used", "not legal if used"), ((64, 96), "legal", "legal"),
     ((65, 96), "not legal if used", "legal"), ((64, 32), "legal", "not legal if used")],
)  # fmt: skip
def test_strides_that_a_legacy_copy_does_not_use(
    strides: tuple[int, int], src: str, dst: str
) -> None:
    found = legacy_copy(CopyUbufToUbuf(0, 1024, 7, 1, 64, *strides))
    assert (found["src_stride_unused"], found["dst_stride_unused"]) == (src, dst)
    assert found["sid"] == "yes"


def test_strides_that_a_legacy_copy_uses() -> None:
    found = legacy_copy(CopyUbufToUbuf(0, 1024, 0, 2, 64, 64, 96))
    assert "src_stride_unused" not in found
    assert found["dst_gap"] == "1"


def legacy_copy(copy: CopyUbufToUbuf) -> dict[str, str]:
    """Returns the bins of a copy, which is not counted as the op that it becomes."""
    block = from_descriptors([lower_ubuf_copy(copy)], legacy={0: (copy,)})
    coverage = cover(block, forms=("mte_ub_ub", "copy_ubuf_to_ubuf"))
    assert coverage.groups["mte_ub_ub"].hits["nop"].sum() == 0
    return bins(coverage.groups["copy_ubuf_to_ubuf"])


def test_every_element_type_has_a_bin() -> None:
    ops = [MteUbUb(0, 1024, 1, 1, 0, 0, Ptr(name, "ub"), Ptr(name, "ub")) for name in DTYPES]
    assert hits(cover(from_ops(ops)).groups["mte_ub_ub"], "dtype") == dict.fromkeys(DTYPES, 1)


def test_bands_of_a_wide_bus() -> None:
    group = FunctionalCoverage(64, ("mte_gm_l1_frac",)).groups["mte_gm_l1_frac"].group
    wide = group.by_name["gm_mod"].labels
    assert (wide[0], len(wide)) == ("0..1", 32)


ALL, GM_ONLY = ("gm", "l1", "ub"), ("gm",)


@pytest.mark.parametrize(
    ("cross", "cell", "reachable"),
    [
        ("layout x tail x rows", "layout=nz2nz x tail=8 x rows=1", ()),
        ("layout x tail x rows", "layout=nz2nz split x tail=8 x rows=1", ALL),
        ("layout x tail x rows", "layout=split_m x tail=1..7 x rows=1", ()),
        ("layout x tail x rows", "layout=split_n x tail=8 x rows=17..", ()),
        ("layout x bits", "layout=nz2nz x bits=16", ()),
        ("layout x bits", "layout=split_m x bits=16", ()),
        ("layout x loop3", "layout=omitted x loop3=2", ()),
        ("layout x loop3", "layout=nz2dn x loop3=2", ALL),
        ("layout x dst_stride", "layout=nz2nz x dst_stride=gap below 32 B", GM_ONLY),
    ],
)
def test_cells_of_write_backs_that_cannot_be(
    cross: str, cell: str, reachable: tuple[str, ...]
) -> None:
    for memory in ALL:
        counts = FunctionalCoverage(forms=(f"mte_l0c_{memory}",)).groups[f"mte_l0c_{memory}"]
        cells = labels(counts, cross, counts.group.reachable[cross])
        assert (cell in cells) == (memory in reachable), memory
