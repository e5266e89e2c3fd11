# SPDX-License-Identifier: Apache-2.0
"""Bins of one value of a knob: sampled under it, out of scope under the other, merged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
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
from tb.isa.profile import A5, KNOBS, SEED, Profile, using
from tests.coverage.counting import hits, one

ALPHA = PreRelu("scalar_relu", Scalar("f32", 0x3E800000))


def half(op: MteGmUb) -> MteGmUb:
    return replace(op, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub"))


def knob_bins(found: dict[str, str]) -> dict[str, str]:
    """Returns the bins of the points about fill and compact groups."""
    return {name: label for name, label in found.items() if name.startswith(("fill", "compact"))}


@pytest.mark.long
def test_rows_with_fill() -> None:
    op = half(MteGmUb(0, 0, 5, 3, 16, 32))
    assert knob_bins(one(op)) == {}
    with using(A5):
        found = one(op)
        assert knob_bins(found) == {"fill": "2", "fill_mod": "5", "fill_phase": "part of one"}
        assert knob_bins(one(replace(op, len_burst=32))) == {}
        assert knob_bins(one(MteUbGm(0, 0, 5, 1, 32, 16))) == {}
        assert knob_bins(one(MteGmL1(0, 0, 20, 1, 0, 0))) == {"fill": "1", "fill_mod": "20"}
        # With its fill the row ends at the end of the memory.
        top = (1 << 18) - 32
        assert one(MteGmUb(0, top, 5, 1, 0, 0))["ub_place"] == "ends at top"
    assert one(MteGmUb(0, top, 5, 1, 0, 0))["ub_place"] == "in last block"


def test_loops_step_over_fill() -> None:
    op = MteGmUb(0, 0, 33, 1, 0, 0, (Loop(2, 40, 64),))
    for profile in (SEED, A5):
        with using(profile):
            assert one(op)["ub_loop0_stride"] == "next"


@pytest.mark.long
@pytest.mark.parametrize(
    ("length", "rows", "want"),
    [
        (5, 3, {"compact": "fill", "compact_rows": "3..15", "compact_len": "below 32"}),
        (16, 2, {"compact": "whole blocks", "compact_rows": "2", "compact_len": "below 32"}),
        (48, 65, {"compact": "fill", "compact_rows": "65..", "compact_len": "above 32"}),
    ],
)
def test_compact_groups(length: int, rows: int, want: dict[str, str]) -> None:
    op = MteGmUb(0, 0, length, rows, length, length)
    with using(A5):
        found = one(op)
        assert knob_bins(found) == {**want, "compact_elem": "1"}
        assert found["ub_row_stride"] == "compact"
        assert one(MteGmUb(0, 0, 64, 3, 64, 64))["ub_row_stride"] == "tight"
        assert one(MteGmL1(0, 0, length, rows, length, length))["compact"] == want["compact"]
    with using(Profile(compact="legal")):
        kept = one(op)["compact"]
        assert kept == ("whole blocks" if length * rows % 32 == 0 else "kept")


@pytest.mark.long
def test_rows_that_repeat() -> None:
    with using(A5):
        assert one(MteGmUb(0, 0, 32, 3, 0, 32))["gm_row_stride"] == "0"
        assert one(MteGmUb(0, 0, 32, 3, 31, 32))["gm_row_stride"] == "below len"
        assert one(MteGmL1(0, 0, 32, 3, 8, 32))["gm_row_stride"] == "below len"
    labels = FunctionalCoverage().groups["mte_ub_gm"].group.by_name["gm_row_stride"].labels
    assert "below len" not in labels, "a store never repeats"


def test_ends_of_padded_rows() -> None:
    def padded(length: int, right: int, stride: int) -> dict[str, str]:
        op = half(MteGmUb(0, 0, length, 2, 32, stride, (), Pad("f16", 0x3C00, 0, right)))
        found = one(op)
        return {name: found[name] for name in ("pad_end", "pad_moved") if name in found}

    with using(A5):
        assert padded(10, 0, 64) == {"pad_end": "before it", "pad_moved": "no"}
        assert padded(30, 2, 96) == {"pad_end": "before it", "pad_moved": "yes"}
        assert padded(30, 1, 32) == {"pad_end": "at the stride", "pad_moved": "no"}


@pytest.mark.long
def test_long_rows() -> None:
    with using(A5):
        assert one(MteGmUb(0, 0, 65536, 1, 0, 0))["len"] == "65536..131071"
        assert one(MteGmL1(0, 0, 131072, 1, 0, 0))["len"] == "131072.."
        assert one(MteGmUb(0, 0, 0, (1 << 21) - 1, 0, 0))["nop_max"] == "n_burst 2097151"
    assert one(MteGmUb(0, 0, 65535, 1, 0, 0))["len"] == "65535"


def alpha_bins(mode: str, event: FixEvent) -> set[str]:
    """Returns the points of alpha that an op with a ReLU has bins of."""
    quant = PreQuant(mode, Scalar("f32", 0x3F800000))
    op = MteL0cGm(0, 0, 4, 16, 16, 32, pre_quant=quant, pre_relu=ALPHA)
    coverage = FunctionalCoverage()
    coverage.sample(from_ops([op]), None, np.array([event]))
    coverage.flush()
    counts = coverage.groups[NAME]
    names = [x.name for x in counts.group.points if x.name.startswith("alpha_")]
    return {name for name in names if hits(counts, name) and counts.wanted(name).any()} - {
        "alpha_sign", "alpha_low",
    }  # fmt: skip


@pytest.mark.long
def test_accumulators_below_zero() -> None:
    below, zero = FixEvent.ALPHA_NEGATIVE, FixEvent.ALPHA_MINUS_ZERO
    scaled, plain = "qf322f32_pre_scalar", "no_convert"
    assert alpha_bins(scaled, below) == {"alpha_behind_scale"}
    assert alpha_bins(plain, below) == {"alpha_alone"}
    with using(A5):
        assert alpha_bins(scaled, below) == {"alpha_for_scale"}
        assert alpha_bins(plain, below) == {"alpha_alone"}
        assert alpha_bins(scaled, zero) == {"alpha_zero_scaled"}
        assert alpha_bins(plain, zero) == {"alpha_zero_alone"}


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
    op = half(MteGmUb(0, 0, 5, 3, 16, 32))
    runs = []
    for profile in (SEED, A5):
        with using(profile):
            coverage = FunctionalCoverage(forms=("mte_gm_ub",))
            coverage.sample(from_ops([op]))
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
