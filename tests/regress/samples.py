# SPDX-License-Identifier: Apache-2.0
"""Small jobs, outcomes and coverages to put into a database, and ways to look into it."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import select, update

from tb.coverage.export.exchange import to_json
from tb.coverage.model import Coverage, CoverGroup, Cross, excluding, point
from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.signature import bucket_id, signature_of
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.store import Finished, Store
from tb.regress.workers.job import Job, Outcome

START = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
FAILURE = Failure(kind="data", op="mte_gm_ub", text="row 3 differs")
# The quick kind: these processes open a database of their own, and no other thread is there.
FORK = multiprocessing.get_context("fork")
BUCKET = bucket_id(signature_of(FAILURE))


def job(key: str, **settings: Any) -> Job:
    """A run of the plan."""
    return Job(key=key, kind="run", settings=RunSettings(**settings), config="verilator", folder="")


def jobs(number: int) -> list[Job]:
    """Runs that differ by their seeds: ``r0``, ``r1``, ..."""
    return [job(f"r{seed}", seed=seed) for seed in range(number)]


def outcome(
    planned: Job, *, status: Any = "pass", coverage: str = "", seconds: float = 8.0, **more: Any
) -> Outcome:
    """Outcome of a run, as a worker returns it."""
    message = "" if status == "pass" else "3 mismatches"
    details = [FAILURE] if status == "fail" else []
    record = RunRecord(
        status=status,
        message=message,
        settings=planned.settings,
        transactions=planned.settings.transactions,
        bytes_checked=1000,
        failures=[item.text for item in details],
        details=details,
    )
    return Outcome.model_validate(
        {
            "key": planned.key,
            "kind": "run",
            "worker": "host:1",
            "started": START,
            "ended": START + timedelta(seconds=seconds),
            "record": record,
            "coverage": coverage,
            **more,
        }
    )


def group(name: str = "mte_gm_ub", bus_bytes: int = 32) -> CoverGroup:
    """A group with a definition that depends on the bus width."""
    points = (
        point("len", ["0", "1", "2..", "never"], never="too long"),
        point("mod", [str(at) for at in range(bus_bytes // 8)], "address modulo the bus"),
    )
    cross = Cross("len x mod", ("len", "mod"), (excluding("none", len="0", mod="1"),))
    return CoverGroup(name, points, (cross,), "a copy")


def coverage(seed: int, groups: Sequence[CoverGroup] | None = None) -> Coverage:
    """Counts that depend on the seed; every third has bins out of scope."""
    random = np.random.default_rng(seed)
    found = Coverage(groups or (group(), group("traffic", 16)))
    for counts in found.groups.values():
        for name, hits in counts.hits.items():
            hits += random.integers(0, 2**40, len(hits)) * (random.random(len(hits)) < 0.3)
            if seed % 3 == 0:
                counts.scope[name] = random.random(len(hits)) < 0.5
    return found


def text(found: Coverage) -> str:
    """A coverage as a run writes it."""
    return json.dumps(to_json(found), indent=2)


def total(seeds: Sequence[int]) -> Coverage:
    """Sum of the coverage of these seeds."""
    found = coverage(seeds[0])
    for seed in seeds[1:]:
        found.merge(coverage(seed))
    return found


def begin(store: Store, planned: list[Job] | None = None, signature: str = "plan") -> str:
    """A regression run of this process."""
    regression_run = store.begin_regression(
        regression="nightly", signature=signature, folder_root="nightly"
    )
    store.plan_runs(regression_run, planned if planned is not None else jobs(3), "manifests")
    return regression_run


def column(store: Store, what: Any, *where: Any) -> list[Any]:
    """A column of a table in the order of its rows."""
    with store.reading() as session:
        return list(session.scalars(select(what).where(*where).order_by(what.class_.id)))


def run_id(found: Finished | None) -> int:
    """The number of a run that was written."""
    assert found is not None
    return found.id


def state(store: Store, found: Finished | None) -> str:
    """The state of a run, as it is now."""
    (state,) = column(store, RunTable.state, RunTable.id == run_id(found))
    return str(state)


def put(store: Store, regression_run: str, **values: Any) -> None:
    """Changes a regression run's row without the store."""
    with store._writer.begin() as connection:
        connection.execute(
            update(RegressionRunTable)
            .where(RegressionRunTable.name == regression_run)
            .values(**values)
        )


def dead_pid() -> int:
    """The number of a process that is gone."""
    with subprocess.Popen(["true"]) as process:
        return process.pid


def at_once(target: Callable[..., None], *arguments: tuple[Any, ...]) -> None:
    """Calls a function in processes that wait for each other; a barrier is its last argument."""
    go = FORK.Barrier(len(arguments))
    processes = [FORK.Process(target=target, args=(*given, go)) for given in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(180)
    assert [process.exitcode for process in processes] == [0] * len(processes)
