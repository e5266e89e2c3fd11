# SPDX-License-Identifier: Apache-2.0
"""Bins that random stimulus reaches; legal ops never hit bins declared unreachable."""

from __future__ import annotations

import pytest

from tb.coverage.fix.view import WRITE_BACKS
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import Coverage
from tb.coverage.table import table
from tb.coverage.view import FORMS
from tb.isa.profile import PROFILES, using
from tests.coverage.counting import Executed, collect, traffic

pytestmark = pytest.mark.long


@pytest.mark.share("sequences", "tb/coverage", "tb/isa")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("form", FORMS)
def test_5000_ops_of_one_form_reach_95_percent(form: str, profile: str) -> None:
    with using(PROFILES[profile]):
        coverage = collect(traffic(1, 5000, (form,)), forms=(form,), events=Executed())
    print(f"{form}: {coverage.percent:.2f} %")
    for name, counts in coverage.groups.items():
        assert counts.percent >= 95, (name, table(coverage, complete=False))
    assert coverage.impossible == []


@pytest.mark.parametrize("profile", PROFILES)
def test_10000_write_backs_reach_95_percent(profile: str) -> None:
    forms = tuple(spec.name for spec in WRITE_BACKS)
    with using(PROFILES[profile]):
        coverage = collect(traffic(2, 10000, forms), forms=forms, events=Executed())
    for name, counts in coverage.groups.items():
        assert counts.percent >= 95, (name, table(coverage, complete=False))
    assert coverage.impossible == []


@pytest.mark.parametrize("bus", [16, 64])
def test_other_bus_widths(bus: int) -> None:
    forms = ("mte_gm_l1", "mte_gm_l1_frac", "mte_l0c_gm")
    coverage = collect(traffic(2, 15000, forms, bus), bus, forms, events=Executed())
    assert coverage.percent >= 95, table(coverage, complete=False)
    assert coverage.impossible == []


@pytest.mark.parametrize("profile", PROFILES)
def test_20000_mixed_ops_reach_97_percent(profile: str) -> None:
    with using(PROFILES[profile]):
        coverage = collect(traffic(1, 20000), events=Executed())
    print(table(coverage, complete=False))
    assert coverage.percent >= 97
    assert min(counts.percent for counts in coverage.groups.values()) >= 90
    assert coverage.impossible == []


def test_block_by_block_is_the_same_as_all_at_once() -> None:
    blocks = traffic(3, 600)
    together = collect(blocks)
    merged = Coverage([])
    for block in blocks:
        alone = FunctionalCoverage()
        alone.sample(block)
        alone.flush()
        merged.merge(alone)
    for name, counts in together.groups.items():
        for item, values in counts.hits.items():
            # Events are drawn again for every collection.
            if not item.startswith("data_"):
                assert merged.groups[name].hits[item].tolist() == values.tolist(), (name, item)
