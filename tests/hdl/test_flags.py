# SPDX-License-Identifier: Apache-2.0
"""The ports par and flag of slot fix, and its reads over writes, in simulation."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tb.common.paths import HDL
from tb.isa.fix.table import FIX_LAYOUT
from tb.isa.ops import OPS
from tests.hdl.mini import UNIT_FLAG_LSB, Session, bench_build, run
from tests.hdl.simulators import TWINS

MODULE = "tests.hdl.flags_bench"
TESTS = (
    "waits_for_flags",
    "waits_for_flags_set_again",
    "wrong_waits_read_wrong_bytes",
    "clears_are_counted",
    "reads_parameters",
    "stalls",
    "read_modify_write",
    "reads_over_writes",
    "open_reads_keep_the_clock",
)


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(bench_build("flags", request.param), TESTS, folder, module=MODULE)


@pytest.mark.sim
@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


@pytest.mark.sim
@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("waits_for_flags", "reads_parameters", "reads_over_writes")
    result = run(bench_build("flags", "icarus", width), tests, tmp_path, module=MODULE)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]


def test_the_checker_has_the_position_of_unit_flag() -> None:
    text = (HDL / "pto_par_flag_checker.v").read_text()
    field = dict(FIX_LAYOUT.items())["unit_flag"]
    numbers = re.search(r"UnitFlagLsb = (\d+), UnitFlagWidth = (\d+)", text)
    assert numbers
    assert (int(numbers[1]), int(numbers[2])) == (field.lsb, field.field.container)
    assert field.lsb == UNIT_FLAG_LSB
    codes = re.search(r"FIRST_OP = 8'd(\d+), LAST_OP = 8'd(\d+)", text)
    assert codes
    write_back = {spec.opcode for spec in OPS.values() if spec.layout is FIX_LAYOUT}
    assert write_back == set(range(int(codes[1]), int(codes[2]) + 1))
