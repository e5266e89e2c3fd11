# SPDX-License-Identifier: Apache-2.0
"""The ports par and flag of slot fix, its reads over writes, and their checks, in simulation."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tb.common.paths import HDL
from tb.isa.fix.table import FIX_LAYOUT
from tb.isa.ops import OPS
from tests.hdl.mini import UNIT_FLAG_LSB, FlagFault, Session, flag_build, run
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
    "checkers_fire",
)

EXPECTED = {
    FlagFault.FLAG_FALLS: "FLAG-HELD",
    FlagFault.FLAG_MOVES: "FLAG-STABLE",
    FlagFault.NO_MASK: "FLAG-MASK",
    FlagFault.NEEDLESS_READ: "FLAG-READ",
    FlagFault.NEEDLESS_CLEAR: "FLAG-CLEAR",
    FlagFault.CLEAR_AT_DONE: "FLAG-AT-DONE",
    FlagFault.FLAG_OPEN: "DONE-EARLY-FLAG",
    FlagFault.FLAG_IDLE: "IDLE-TRAFFIC",
    FlagFault.FLAG_RESET: "FLAG-RESET",
    FlagFault.PAR_FALLS: "PAR-HELD",
    FlagFault.PAR_MOVES: "PAR-STABLE",
    FlagFault.PAR_ODD: "PAR-ALIGN",
    FlagFault.PAR_SPACE: "PAR-SPACE",
    FlagFault.PAR_OUTSIDE: "PAR-OUTSIDE",
    FlagFault.PAR_OPEN: "DONE-EARLY-PAR",
    FlagFault.PAR_IDLE: "IDLE-TRAFFIC",
    FlagFault.PAR_RESET: "PAR-RESET",
    FlagFault.AR_BEFORE_B: "AR-OVER-WRITE",
    FlagFault.AR_BEFORE_AW: "AR-OVER-WRITE",
    FlagFault.X_PAR_REQ: "X-PAR",
    FlagFault.X_FLAG_REQ: "X-FLAG",
    FlagFault.X_PAR_ADDR: "X-PAR",
    FlagFault.X_FLAG_MASK: "X-FLAG",
    FlagFault.X_RESET: "X-FLAG",
}
"""The rule that each fault must break; the others are wrong bytes or early clears."""

SILENT = {
    FlagFault.NONE,
    FlagFault.IGNORES_FLAGS,
    FlagFault.JUNK_FLAGS,
    FlagFault.CLEARS_FIRST,
    FlagFault.CLEARS_EARLY,
}


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(flag_build(request.param), TESTS, folder, module=MODULE)


@pytest.mark.sim
@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


@pytest.mark.sim
def test_every_check_fires(session: Session) -> None:
    seen = json.loads((session.folder / "result.json").read_text())
    for fault in SILENT:
        assert seen[fault.name] == []
    missing = {
        name: messages
        for name, messages in seen.items()
        if FlagFault[name] in EXPECTED
        and not any(f": {EXPECTED[FlagFault[name]]}: " in line for line in messages)
    }
    assert not missing
    assert set(EXPECTED) == set(FlagFault) - SILENT


@pytest.mark.sim
@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("waits_for_flags", "reads_parameters", "reads_over_writes")
    result = run(flag_build("icarus", width), tests, tmp_path, module=MODULE)
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
