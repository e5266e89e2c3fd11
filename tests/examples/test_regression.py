# SPDX-License-Identifier: Apache-2.0
"""The examples with a wrapper in slots mte2 and mte3: their regression in both at once."""

from __future__ import annotations

import pytest

from tests.examples.planted import EXAMPLES, manifests, run
from tests.sim.runs import assert_passed

FORMS = {"mte_gm_ub", "mte_gm_l1", "copy_gm_to_ubuf", "mte_ub_gm", "copy_ubuf_to_gm"}
ERRORS = {"RD_SLVERR", "RD_DECERR", "WR_SLVERR", "WR_DECERR", "LOCAL"}


@pytest.mark.sim
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            name, marks=pytest.mark.share(f"examples/{name}", "rtl_stubs/adapters", "tb/hdl")
        )
        for name in ("axi_copy", "stream_dma")
    ],
)
@pytest.mark.parametrize(
    ("sim", "test", "transactions"),
    [
        ("verilator", "random", 6000),
        ("verilator", "corner", 1),
        ("verilator", "directed", 1),
        ("verilator", "illegal", 1000),
        ("verilator", "errors", 3000),
        ("verilator", "faults", 3000),
        ("verilator", "stress", 3000),
        ("verilator", "reset", 1200),
        ("icarus", "random", 120),
        ("icarus", "illegal", 60),
        ("icarus", "stress", 60),
        ("icarus", "errors", 60),
        ("icarus", "reset", 60),
    ],
)
def test_regression(example: str, sim: str, test: str, transactions: int) -> None:
    duts = manifests(EXAMPLES / example)
    record = run(test, duts, sim=sim, transactions=transactions, seed=21)
    assert_passed(record)
    assert set(record.ops) <= FORMS
    if test == "random" and sim == "verilator":
        assert set(record.ops) == FORMS
    if test == "illegal":
        assert record.statuses["RULE"] > transactions // 50
    if test == "errors":
        assert set(record.statuses) - {"OK"}, "no error was injected"
    if test == "faults":
        assert set(record.statuses) >= ERRORS
