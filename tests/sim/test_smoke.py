# SPDX-License-Identifier: Apache-2.0
"""A short run on each simulator, the part of ``make check`` that simulates."""

from __future__ import annotations

import pytest

from tests.sim.runs import assert_passed, run


@pytest.mark.smoke
@pytest.mark.sim
@pytest.mark.parametrize(("sim", "transactions"), [("icarus", 60), ("verilator", 300)])
def test_a_short_run_passes(sim: str, transactions: int) -> None:
    record = run("random", sim=sim, transactions=transactions, seed=3, fast_build=True)
    assert_passed(record)
