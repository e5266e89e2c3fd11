# SPDX-License-Identifier: Apache-2.0
"""A long random run gives back the GM that it does not need, and goes on with the background."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.sim import runs

FAR = """
from tb.isa.op import replace


def constraints(default):
    return replace(default, far=1.0)
"""
"""Most rows are far from each other, so that a short run has many pages."""


@pytest.mark.sim
@pytest.mark.long
def test_memory_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(FAR)
    far = str(tmp_path / "far.py")
    record = runs.run("random", sim="verilator", transactions=6000, seed=3, constraints=far)
    runs.assert_passed(record)
    batches = 6000 / 24
    assert record.full_compares > 1 + batches / 64, "no comparison because of many pages"
    course = record.times.course
    assert len(course) == record.full_compares
    assert course[-1].transactions == record.transactions
    assert any(two.megabytes < one.megabytes - 20 for one, two in pairwise(course))
