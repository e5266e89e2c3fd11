# SPDX-License-Identifier: Apache-2.0
"""``TEST=speed``: the reference engines keep their limits, and an engine that does not fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sequences.streams.speed import stream_names
from tb.common.paths import ROOT
from tests.sim.runs import assert_passed, run
from tests.wording import says

pytestmark = pytest.mark.sim

LIMITED = """
module = "pto_mte1"
slot = "mte1"
sources = ["{rtl}/pto_mte1/*.sv", "{rtl}/common/**/*.sv"]
include_dirs = ["{rtl}/common"]

[capabilities]
ops = ["mte_l1_ub", "mte_l1_bt"]
clocks = {{ "mte_l1_ub 8 KiB" = 0.5, "mte_l1_ub small ops" = {{ 256 = 1.0 }} }}
"""


SHARED = pytest.mark.share("rtl_stubs")

ILLEGAL_UNDER_A5 = {"nz2nd s4 to UB", "nz2nz(1) f32 to L1"}


@pytest.mark.parametrize(
    ("width", "profile"),
    [
        (256, "seed"),
        pytest.param(128, "seed", marks=SHARED),
        pytest.param(512, "seed", marks=SHARED),
        pytest.param(256, "a5", marks=SHARED),
    ],
)
def test_reference_engines_keep_the_limits_of_all_streams(width: int, profile: str) -> None:
    record = run("speed", gm_width=width, local_width=width, profile=profile, fast_build=True)
    assert_passed(record)
    illegal = ILLEGAL_UNDER_A5 if profile == "a5" else set()
    assert {one.stream for one in record.speed} == set(stream_names()) - illegal
    assert {name for name in illegal if any(name in line for line in record.left_out)} == illegal
    assert all(one.limit is not None for one in record.speed)


def test_clocks_do_not_depend_on_simulator_or_seed() -> None:
    ops = ("mte_gm_l1", "mte_l1_bt", "mte_ub_l1", "mte_l1_fb")
    icarus = run("speed", sim="icarus", ops=ops, seed=2)
    assert_passed(icarus)
    assert {one.op for one in icarus.speed} == set(ops)
    assert icarus.speed == run("speed", ops=ops, fast_build=True).speed


@pytest.mark.parametrize("settings", [{"local_width": 128}, {"outstanding": 1}])
def test_runs_that_limits_are_not_made_for_only_measure(settings: dict[str, Any]) -> None:
    record = run("speed", sim="icarus", ops=("mte_gm_l1",), **settings)
    assert_passed(record)
    assert record.speed
    assert all(one.limit is None for one in record.speed)


def test_a_stream_beyond_its_limit_fails_and_all_are_measured(tmp_path: Path) -> None:
    manifest = tmp_path / "dut.toml"
    manifest.write_text(LIMITED.format(rtl=ROOT / "rtl_stubs"))
    record = run("speed", sim="icarus", duts=(str(manifest),))
    assert record.status == "fail"
    assert record.exit_code == 1
    assert says(record.message, "DUT slower limits manifest")
    assert record.failures == ["TOO SLOW: mte_l1_ub 8 KiB: 1.0 clocks a word, limit 0.5"]
    (detail,) = record.details
    assert (detail.kind, detail.slot, detail.op) == ("speed", "mte1", "mte_l1_ub")
    limits = {one.stream: one.limit for one in record.speed}
    assert limits["mte_l1_ub small ops"] == 1.0
    assert limits["mte_l1_bt 128 f16"] is None
