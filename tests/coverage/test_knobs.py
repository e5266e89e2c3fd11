# SPDX-License-Identifier: Apache-2.0
"""Bins of one value of a knob: sampled under it, out of scope under the other, merged."""

from __future__ import annotations

import json

import pytest

from tb.coverage.export.exchange import from_json
from tb.coverage.fix.path import NAME
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import CoverageError, CoverGroup, point
from tb.coverage.scope import Scope, exists
from tb.isa.block import from_ops
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.events import FixEvent
from tb.isa.fix.op import MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.op import Op, replace
from tb.isa.profile import A5, KNOBS, SEED, Profile, using
from tests.coverage.counting import all_hits, cover, hits, one

TOP = (1 << 18) - 32
KEPT = Profile(compact="legal")


def half(op: MteGmUb) -> MteGmUb:
    return replace(op, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub"))


def rows(length: int, count: int) -> MteGmUb:
    return MteGmUb(0, 0, length, count, length, length)


def padded(length: int, right: int, stride: int) -> MteGmUb:
    return half(MteGmUb(0, 0, length, 2, 32, stride, (), Pad("f16", 0x3C00, 0, right)))


HALF = half(MteGmUb(0, 0, 5, 3, 16, 32))
LOOPS = MteGmUb(0, 0, 33, 1, 0, 0, (Loop(2, 40, 64),))
ROWS: list[tuple[Profile, Op, dict[str, str]]] = [
    (SEED, HALF, {}),
    (A5, HALF, {"fill": "2", "fill_mod": "5", "fill_phase": "part of one"}),
    (A5, replace(HALF, len_burst=32), {}),
    (A5, MteUbGm(0, 0, 5, 1, 32, 16), {}),
    (A5, MteGmL1(0, 0, 20, 1, 0, 0), {"fill": "1", "fill_mod": "20"}),
    # With its fill the row ends at the end of the memory.
    (A5, MteGmUb(0, TOP, 5, 1, 0, 0),
     {"ub_place": "ends at top", "fill": "1", "fill_mod": "5", "fill_phase": "whole elements"}),
    (SEED, MteGmUb(0, TOP, 5, 1, 0, 0), {"ub_place": "in last block"}),
    (SEED, LOOPS, {"ub_loop0_stride": "next"}),
    (A5, LOOPS, {"ub_loop0_stride": "next", "fill": "1", "fill_mod": "1",
                 "fill_phase": "whole elements"}),
    # Compact groups
    (A5, rows(5, 3), {"compact": "fill", "compact_rows": "3..15", "compact_len": "below 32",
                      "compact_elem": "1", "ub_row_stride": "compact"}),
    (A5, rows(16, 2), {"compact": "whole blocks", "compact_rows": "2", "compact_len": "below 32",
                       "compact_elem": "1", "ub_row_stride": "compact"}),
    (A5, rows(48, 65), {"compact": "fill", "compact_rows": "65..", "compact_len": "above 32",
                        "compact_elem": "1", "ub_row_stride": "compact"}),
    (A5, rows(64, 3), {"ub_row_stride": "tight"}),
    # Rows that repeat
    (A5, MteGmUb(0, 0, 32, 3, 0, 32), {"gm_row_stride": "0"}),
    (A5, MteGmUb(0, 0, 32, 3, 31, 32), {"gm_row_stride": "below len"}),
    (A5, MteGmL1(0, 0, 32, 3, 8, 32), {"gm_row_stride": "below len"}),
    # Ends of padded rows
    (A5, padded(10, 0, 64), {"pad_end": "before it", "pad_moved": "no"}),
    (A5, padded(30, 2, 96), {"pad_end": "before it", "pad_moved": "yes"}),
    (A5, padded(30, 1, 32), {"pad_end": "at the stride", "pad_moved": "no"}),
    # Long rows
    (A5, MteGmUb(0, 0, 65536, 1, 0, 0), {"len": "65536..131071"}),
    (A5, MteGmL1(0, 0, 131072, 1, 0, 0), {"len": "131072.."}),
    (A5, MteGmUb(0, 0, 0, (1 << 21) - 1, 0, 0), {"nop_max": "n_burst 2097151"}),
    (SEED, MteGmUb(0, 0, 65535, 1, 0, 0), {"len": "65535"}),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "op", "want"), ROWS)
def test_bins_under_a_profile(profile: Profile, op: Op, want: dict[str, str]) -> None:
    """A row without a point of fill or compact groups is not counted in any of them."""
    with using(profile):
        found = one(op)
    knobs = {name for name in found if name.startswith(("fill", "compact"))}
    assert {name: found.get(name) for name in knobs | want.keys()} == want


@pytest.mark.parametrize(
    ("length", "count", "a5", "kept"),
    [(5, 3, "fill", "kept"), (16, 2, "whole blocks", "whole blocks"), (48, 65, "fill", "kept")],
)
def test_compact_groups(length: int, count: int, a5: str, kept: str) -> None:
    with using(A5):
        assert one(MteGmL1(0, 0, length, count, length, length))["compact"] == a5
    with using(KEPT):
        assert one(rows(length, count))["compact"] == kept


def test_a_store_never_repeats() -> None:
    group = FunctionalCoverage(forms=("mte_ub_gm",)).groups["mte_ub_gm"].group
    assert "below len" not in group.by_name["gm_row_stride"].labels


BELOW, ZERO = FixEvent.ALPHA_NEGATIVE, FixEvent.ALPHA_MINUS_ZERO


@pytest.mark.parametrize(
    ("profile", "scaled", "event", "want"),
    [
        (SEED, True, BELOW, "alpha_behind_scale"),
        (SEED, False, BELOW, "alpha_alone"),
        (A5, True, BELOW, "alpha_for_scale"),
        (A5, False, BELOW, "alpha_alone"),
        (A5, True, ZERO, "alpha_zero_scaled"),
        (A5, False, ZERO, "alpha_zero_alone"),
    ],
)
def test_accumulators_below_zero(
    profile: Profile, scaled: bool, event: FixEvent, want: str
) -> None:
    mode = "qf322f32_pre_scalar" if scaled else "no_convert"
    quant = PreQuant(mode, Scalar("f32", 0x3F800000))
    relu = PreRelu("scalar_relu", Scalar("f32", 0x3E800000))
    op = MteL0cGm(0, 0, 4, 16, 16, 32, pre_quant=quant, pre_relu=relu)
    with using(profile):
        counts = cover(from_ops([op]), event, forms=("mte_l0c_gm",)).groups[NAME]
    found = {name for name in all_hits(counts) if counts.wanted(name).any() and " " not in name}
    alphas = {name for name in found if name.startswith("alpha_")}
    assert alphas - {"alpha_sign", "alpha_low"} == {want}


def test_modes_outside_of_the_list_are_out_of_scope() -> None:
    with using(A5):
        coverage = FunctionalCoverage()
    path, gm = coverage.groups[NAME], coverage.groups["mte_l0c_gm"]
    holes = path.holes("mode")
    assert not [x for x in holes if x.startswith(("deqs", "req4", "qf162", "qf322s4"))]
    assert {"req8_vec to i8", "no_convert to ui32"} <= set(holes)
    assert not {"i16", "s4"} & set(path.holes("dst"))
    assert path.holes("stage") == ["f32", "i32"]
    assert "4" not in gm.holes("bits")
    assert not [x for x in gm.holes("atomic") if x.startswith("s16")]
    assert path.holes("met_tie_up") == [
        "f16", "bf16", "e4m3", "hif8", "s8", "u8", "hif8 hybrid",
    ]  # fmt: skip


def test_definitions_do_not_depend_on_the_profile() -> None:
    seed = FunctionalCoverage(illegal=True)
    with using(A5):
        a5 = FunctionalCoverage(illegal=True)
    for name, counts in seed.groups.items():
        assert counts.group == a5.groups[name].group
    for name, counts in seed.groups.items():
        for item in counts.group.points:
            mine, theirs = counts.wanted(item.name), a5.groups[name].wanted(item.name)
            for at, found in enumerate(item.bins):
                if found.needs and not found.unreachable:
                    assert mine[at] == exists(found.needs, SEED)
                    assert theirs[at] == exists(found.needs, A5)
                else:
                    assert mine[at] == theirs[at]


def test_runs_of_both_profiles_merge() -> None:
    runs = []
    for profile in (SEED, A5):
        with using(profile):
            coverage = cover(from_ops([HALF]), forms=("mte_gm_ub",))
            runs.append(from_json(json.loads(json.dumps(coverage.to_json()))))
    seed, a5 = runs
    assert seed.groups["mte_gm_ub"].wanted("fill").sum() == 0
    assert hits(a5.groups["mte_gm_ub"], "fill") == {"2": 1}
    assert a5.groups["mte_gm_ub"].wanted("ub_place").sum() == 3
    seed.merge(a5)
    both = seed.groups["mte_gm_ub"]
    assert both.wanted("fill").all()
    assert both.wanted("ub_place").all()
    assert hits(both, "len")["4..7"] == 2
    names = [item.needs for item in both.group.by_name["fill"].bins]
    assert names == ["tail = fill"] * 4
    # No profile has a compact group without its fill.
    assert both.holes("compact") == ["pad", "fill", "whole blocks"]


def test_every_bin_names_knobs_and_values() -> None:
    found = {
        part
        for counts in FunctionalCoverage(illegal=True).groups.values()
        for item in counts.group.points
        for one_bin in item.bins
        for part in one_bin.needs.split(", ")
        if part
    }
    assert found <= {f"{knob.name} = {value}" for knob in KNOBS.values() for value in knob.values}
    # These two change what ops do that both profiles send.
    others = {"legacy_pad_unit", "b8_scalar_sign"}
    assert {part.split()[0] for part in found} == set(KNOBS) - others


def test_an_unknown_knob_is_refused() -> None:
    group = CoverGroup("small", (point("a", ["x", "y"], needs={"x": "tail = wag"}),))
    with pytest.raises(CoverageError, match="tail = wag"):
        Scope().masks(group)
    with pytest.raises(CoverageError, match="no bins"):
        point("a", ["x"], needs={"z": "tail = fill"})
