# SPDX-License-Identifier: Apache-2.0
"""Coverage of many runs in one database is their exact sum."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from tb.coverage.export.exchange import to_json
from tb.coverage.model import Coverage, CoverGroup, Cross, point
from tb.regress.queries.views import Figures
from tb.regress.results.database import HitsTable, RegressionRunTable
from tb.regress.results.store import Store
from tb.regress.workers.job import Job
from tests.processor import processor_seconds
from tests.regress.samples import begin, column, coverage, group, job, jobs, outcome, text, total


def finish(store: Store, regression: str, planned: Job, found: Coverage) -> None:
    store.finish_run(regression, outcome(planned, coverage=text(found)), state="pass")


def cover(store: Store, seeds: range, end: Any = "complete") -> str:
    planned = [job(f"r{seed}", seed=seed) for seed in seeds]
    regression = begin(store, planned)
    for item in planned:
        finish(store, regression, item, coverage(item.settings.seed))
    if end:
        store.end_regression(regression, end, Figures())
    return regression


@pytest.mark.long
def test_merged_coverage_is_the_sum_of_all_runs(store: Store) -> None:
    """Of regression runs that ended, one that was interrupted and one that runs."""
    first = cover(store, range(7))
    second = cover(store, range(7, 12), "interrupted")
    cover(store, range(12, 15), "")
    assert to_json(store.merged()) == to_json(total(range(15)))
    assert to_json(store.merged([first])) == to_json(total(range(7)))
    assert to_json(store.merged([first, second])) == to_json(total(range(12)))
    assert to_json(store.merged([])) == to_json(Coverage(()))
    runs = dict.fromkeys(column(store, RegressionRunTable.id))
    sizes = [column(store, HitsTable.runs, HitsTable.regression_id == number) for number in runs]
    assert [sum(rows) for rows in sizes] == [14, 10, 6]
    assert [set(rows) for rows in sizes] == [{7}, {1}, {1}], "summed at the end alone"


@pytest.mark.long
def test_sums_of_a_regression_run_never_hide_a_run(store: Store) -> None:
    """A run that comes after the regression run was summed up counts, and counts once."""
    planned = jobs(3)
    regression = begin(store, planned)
    for item in planned[:2]:
        finish(store, regression, item, coverage(item.settings.seed))
    store.end_regression(regression, "complete", Figures())
    assert to_json(store.merged()) == to_json(total(range(2)))
    finish(store, regression, planned[2], coverage(2))
    assert to_json(store.merged()) == to_json(total(range(3)))
    store.end_regression(regression, "complete", Figures())
    store.end_regression(regression, "complete", Figures())
    assert to_json(store.merged()) == to_json(total(range(3)))


def test_definitions_are_kept_once(store: Store) -> None:
    cover(store, range(5), "")
    assert len(column(store, HitsTable.id)) == 10
    with store.reading() as session:
        assert session.scalar(select(func.count(HitsTable.group_id.distinct()))) == 2


def test_groups_defined_differently_stay_apart(store: Store) -> None:
    narrow, wide = [group(bus_bytes=16)], [group(bus_bytes=32)]
    shared = group("rules", 16)
    planned = [job("a", gm_width=128), job("b", seed=2), job("c", seed=3)]
    regression = begin(store, planned)
    given = [coverage(1, [*narrow, shared]), coverage(2, [*wide, shared]), coverage(4, wide)]
    for item, counts in zip(planned, given, strict=True):
        finish(store, regression, item, counts)
    found = store.merged()
    assert found.groups["mte_gm_ub (gm 128)"].hits["len"].tolist() == [
        *given[0].groups["mte_gm_ub"].hits["len"]
    ]
    assert list(found.groups) == ["mte_gm_ub (gm 128)", "rules", "mte_gm_ub"]
    for name, hits in found.groups["rules"].hits.items():
        parts = [one.groups["rules"].hits[name] for one in given[:2]]
        assert (hits == parts[0] + parts[1]).all()
    assert found.groups["mte_gm_ub (gm 128)"].group.name == "mte_gm_ub (gm 128)"


def test_all_time_coverage_has_the_definitions_of_a_regression_run(store: Store) -> None:
    """Groups with another definition in an earlier version of the bench cannot be added up."""
    planned = jobs(1)
    old = begin(store, planned)
    finish(store, old, planned[0], coverage(1, [group(bus_bytes=16), group("rules", 16)]))
    new = cover(store, range(2), "")
    assert list(store.merged(definitions_of=new).groups) == ["mte_gm_ub", "traffic"]
    assert to_json(store.merged(definitions_of=new)) == to_json(store.merged([new]))
    assert list(store.merged(definitions_of=old).groups) == ["mte_gm_ub", "rules"]


@pytest.mark.long
def test_a_run_is_written_and_merged_fast(store: Store) -> None:
    """As many bins as a run on all engines has. 9 ms of our own time are usual."""
    labels = [str(number) for number in range(100)]
    points = (point("one", labels), point("two", labels))
    many = [CoverGroup("many", points, (Cross("all", ("one", "two")),))]
    given = text(coverage(1, many))
    planned = jobs(60)
    regression = begin(store, planned)
    with processor_seconds(60 * 0.05):
        for item in planned:
            store.finish_run(regression, outcome(item, coverage=given), state="pass")
    with processor_seconds(1.0):
        store.merged()
