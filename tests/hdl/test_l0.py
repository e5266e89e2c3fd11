# SPDX-License-Identifier: Apache-2.0
"""Loads to L0 in the engine of slot mte1: values of the specification, rules, errors and rates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hdl.mini import Session, reference_build, run

pytestmark = pytest.mark.sim

MODULE = "tests.hdl.l0_bench"
TESTS = (
    "worked",
    "every_square",
    "random_loads",
    "large_loads",
    "rules",
    "random_rules",
    "errors",
    "units",
    "rate",
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return run(
        reference_build("l0", "mte1", "verilator"),
        TESTS,
        tmp_path_factory.mktemp("l0"),
        module=MODULE,
    )


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


@pytest.mark.share("rtl_stubs/pto_mte1", "tb/hdl")
@pytest.mark.parametrize("width", [128, 256, 512])
def test_widths(width: int, tmp_path: Any) -> None:
    tests = ("every_square", "random_loads", "errors", "units", "rate")
    result = run(reference_build("l0", "mte1", "icarus", width), tests, tmp_path, module=MODULE)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]
