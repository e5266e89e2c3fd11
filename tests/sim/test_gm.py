# SPDX-License-Identifier: Apache-2.0
"""GM by cocotbext-axi: the engines with a third-party memory and protocol check."""

from __future__ import annotations

import pytest

from tests.sim.runs import assert_passed, run

pytestmark = pytest.mark.sim


@pytest.mark.parametrize(
    ("sim", "test", "transactions"),
    [
        ("verilator", "random", 120),
        ("verilator", "illegal", 60),
        ("verilator", "errors", 120),
        ("verilator", "directed", 1),
        ("verilator", "reset", 60),
        ("icarus", "random", 30),
    ],
)
def test_the_same_tests_pass(sim: str, test: str, transactions: int) -> None:
    record = run(test, sim=sim, gm="cocotbext", transactions=transactions, seed=2, fast_build=True)
    assert_passed(record)
    assert "GM=cocotbext" in record.command
    if test == "errors":
        assert {"RD_SLVERR", "RD_DECERR", "WR_SLVERR", "WR_DECERR"} & set(record.statuses)
