# SPDX-License-Identifier: Apache-2.0
"""GM behind cocotbext-axi: the engines under a memory and a protocol check that others wrote."""

from __future__ import annotations

import pytest

from tests.sim.test_runs import assert_passed, run

pytestmark = pytest.mark.sim


@pytest.mark.parametrize(("sim", "transactions"), [("verilator", 40), ("icarus", 12)])
def test_axi_ram(sim: str, transactions: int) -> None:
    assert_passed(run("axi_ram", sim=sim, transactions=transactions, seed=2))
