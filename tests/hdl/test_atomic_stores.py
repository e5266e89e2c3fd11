# SPDX-License-Identifier: Apache-2.0
"""Atomic stores of the reference engine pto_mte3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hdl.mini import LOCAL_ENV, OPS_ENV, Session, reference_build, run

pytestmark = pytest.mark.sim

MODULE = "tests.hdl.atomic_bench"
FEW = ("worked_values", "random_stores", "long_rows", "rules", "errors")
TESTS = (*FEW, "updates", "other_units", "changes_between", "resets", "rates")
BUILDS = {
    "verilator 256": ("verilator", 256, 256, 16, TESTS, 400),
    "verilator 128 512": ("verilator", 128, 512, 4, (*FEW, "rates"), 200),
    "verilator 512 128": ("verilator", 512, 128, 1, FEW, 200),
    "icarus 256": ("icarus", 256, 256, 16, ("worked_values", "random_stores"), 60),
}
"""Simulator, widths of GM and local ports, bursts in flight, tests, random ops."""


MARKS = [
    pytest.param(
        name,
        marks=[] if name == "verilator 256" else pytest.mark.share("tb/hdl", "rtl_stubs/pto_mte3"),
    )
    for name in BUILDS
]


@pytest.fixture(scope="module", params=MARKS)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    sim, gm_width, local_width, outstanding, tests, ops = BUILDS[request.param]
    return run(
        reference_build("stores", "mte3", sim, gm_width, local_width, outstanding),
        tests,
        tmp_path_factory.mktemp("stores"),
        {LOCAL_ENV: str(local_width), OPS_ENV: str(ops)},
        module=MODULE,
    )


def test_in_simulation(session: Session) -> None:
    failed = {name: text for name, text in session.failures.items() if text is not None}
    assert not failed, "\n".join(failed.values())
    assert session.exit_code == 0
    rates = session.folder / "result.json"
    if rates.exists():
        print(json.dumps(json.loads(Path(rates).read_text()), indent=1))
