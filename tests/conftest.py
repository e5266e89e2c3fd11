# SPDX-License-Identifier: Apache-2.0
"""Tiers of tests, tables of injected bugs, and simulations as forks of loaded ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import settings

from tb.dut.user_code import USER_TEST_ENV
from tb.run import launch
from tb.run.launch import Process, start_process
from tb.run.warm import WarmSimulator
from tests.bugs.table import pytest_terminal_summary
from tests.tiers.plugin import pytest_addoption, pytest_configure

__all__ = ["pytest_addoption", "pytest_configure", "pytest_terminal_summary"]

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER:
    # Two workers may have a run of the same name at the same time.
    os.environ["PTO_RUNS"] = f"runs-{WORKER}"

# On a busy machine an example may take longer than Hypothesis allows by default.
settings.register_profile("busy", settings(), deadline=None)
settings.load_profile("busy")


@contextmanager
def warm_simulations() -> Iterator[None]:
    """Forks simulations of this process from loaded ones, which saves a second each.

    Commands that a test starts, and so what users run, load each simulation by itself.
    """
    warm = WarmSimulator(most=3)

    def start(words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO) -> Process:
        ours = env["COCOTB_TEST_MODULES"].startswith("tb.") and not env.get(USER_TEST_ENV)
        alone = any(str(folder) in word for word in words)  # with a file of the run: waves
        return (start_process if alone or not ours else warm.start)(words, folder, env, log)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "start_process", start)
        yield
    warm.close()


@pytest.fixture(scope="session", autouse=True)
def warm_simulators() -> Iterator[None]:
    """Warm simulations of all tests."""
    with warm_simulations():
        yield
