# SPDX-License-Identifier: Apache-2.0
"""The harness with an engine in every slot, and the clocks of slots that are idle."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hdl.mini import Session, bench_build, run
from tests.hdl.simulators import TWINS

pytestmark = pytest.mark.sim

MODULE = "tests.hdl.slots_bench"
TESTS = (
    "all_slots",
    "source_widths",
    "holes",
    "idle_slots",
    "late_activity",
    "open_accesses",
    "knobs_reach_stopped_slots",
    "pins_start_a_stopped_slot",
    "reset_starts_a_stopped_slot",
)


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(bench_build("slots", request.param), TESTS, folder, module=MODULE)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("all_slots", "source_widths")
    result = run(bench_build("slots", "icarus", width), tests, tmp_path, module=MODULE)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]
