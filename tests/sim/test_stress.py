# SPDX-License-Identifier: Apache-2.0
"""Stress, errors and resets on the reference engines: they pass, and the injections are counted."""

from __future__ import annotations

import os
import re

import pytest

from tb.harness.layout import CHANNELS
from tb.record.record import RunRecord
from tb.run.folder import run_folder
from tests.sim.runs import assert_passed, run

pytestmark = pytest.mark.sim

ERRORS = {"LOCAL", "RD_DECERR", "RD_SLVERR", "WR_DECERR", "WR_SLVERR"}
KINDS = {
    f"{kind} of {side}" for kind in ("SLVERR", "DECERR", "local errors")
    for side in ("reads", "writes")
}  # fmt: skip
STALLS = {f"stalls {channel}" for channel in CHANNELS if channel != "desc"}
FRESH = int(os.environ.get("PTO_FRESH_SEED", "4242"))


def checked(record: RunRecord, test: str, transactions: int) -> RunRecord:
    """Asserts that a run passed, and that it counts what it injected."""
    assert_passed(record)
    injected = record.injected
    assert "faults" in injected or not set(record.statuses) & ERRORS
    # Ops dropped by a reset are not counted.
    assert record.transactions == transactions or "resets" in injected
    assert test != "faults" or "resets" not in injected
    assert any(name.startswith("stalls") for name in injected)
    return record


@pytest.mark.parametrize("seed", [1, FRESH])
@pytest.mark.parametrize("test", ["stress", "faults", "reset"])
def test_engines_survive(test: str, seed: int) -> None:
    record = checked(run(test, seed=seed, transactions=4000), test, 4000)
    # Few write-backs wait for flags or parameters, and only `faults` has errors by the hundred.
    assert set(record.injected) >= STALLS - {"stalls flag", "stalls par"} | {"faults"}
    if test == "faults":
        assert set(record.injected) >= KINDS
    if test == "faults" and seed == 1:
        assert set(record.injected) >= STALLS
    assert (record.injected.get("resets", 0) > 0) == (test != "faults")
    table = (run_folder(record.settings) / "coverage.txt").read_text()
    groups = set(re.findall(r"^(knobs|faults|resets|rules):", table, re.M))
    expected = {"stress": {"knobs", "faults", "resets", "rules"}, "faults": {"knobs", "faults"}}
    assert groups == expected.get(test, {"knobs", "faults", "resets"})
    assert "hit though declared unreachable" not in table


@pytest.mark.share("tb/hdl", "rtl_stubs")
@pytest.mark.parametrize("test", ["stress", "faults", "reset"])
def test_engines_survive_four_state(test: str) -> None:
    # Of 200 some seeds draw one setting of the knobs, without a stall.
    checked(run(test, sim="icarus", seed=FRESH, transactions=600), test, 600)


def test_same_seed_same_stress() -> None:
    one, other = (run("stress", seed=9, transactions=600) for _ in range(2))
    assert one.injected == other.injected
    assert one.clocks == other.clocks
