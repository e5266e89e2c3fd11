# SPDX-License-Identifier: Apache-2.0
"""Commands about earlier regression runs: to report, list, compare, remove and repeat them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tb.common.errors import PtoError
from tb.common.files import regular
from tb.common.paths import ROOT, relative
from tb.nightly.place import database_url
from tb.regress.results.missing import require_file
from tb.regress.workers.farm_file import Farm, load_farm

if TYPE_CHECKING:
    from tb.regress.results.store import Store

# The library of the database takes longest to import, then what writes pages and compares coverage:
# each command imports what it needs once there is a database.


def report_command(
    regression_run: str,
    farm: Path | None,
    db: str,
    plan: Path | None = None,
    tests: Path | None = None,
    faults: Path | None = None,
) -> int:
    """Writes the pages of a regression run again; returns 0.

    Args:
        regression_run: Its name.
        farm: Farm file that names the database.
        db: URL of the database.
        plan: Testplan; None for that of the regression run.
        tests: Results of pytest to show, JUnit XML.
        faults: Results of planted faults to show, JSON of `pto-dv qualify`.
    """
    with _existing(farm, db) as store:
        from tb.coverage.exclusions import load_exclusions
        from tb.coverage.export.code_exclusions import load_code_exclusions
        from tb.nightly.publish import EXCLUSIONS, Publisher
        from tb.regress.plan.testplan import TESTPLAN, load_testplan
        from tb.regress.queries import history, junit, text

        found = history.regression_run(store, regression_run)
        if tests is not None:
            store.note_suites(found.name, junit.read_suites(tests))
        if faults is not None:
            store.note_faults(found.name, *_planted(faults))
        folder = Path(found.folder)
        exclusions = load_exclusions(EXCLUSIONS), load_code_exclusions(EXCLUSIONS, ROOT)
        made = Publisher(store, found.name, folder, *exclusions)
        if found.status == "interrupted":
            # If it was killed, its totals may be missing.
            left = found.figures.not_run
            made.conclude("interrupted" if left else "complete", found.figures, [])
        kept = Path(store.options(found.name).get("plan", TESTPLAN))
        view = made.publish(load_testplan(plan or (kept if kept.exists() else TESTPLAN)))
    page = relative(folder / "report/index.html")
    text.show(text.closing(view, page, passed=view.passed))
    return 0


def _planted(path: Path) -> tuple[int, int]:
    """Returns how many planted faults were found, and how many were judged."""
    try:
        rate = json.loads(regular(path).read_text())["rate"]
        return int(rate["killed"]), int(rate["judged"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PtoError(
            f"results of planted faults cannot be read: {error}",
            where=str(path),
            legal="qualify.json of `make qualify`",
        ) from None


def history_command(limit: int, farm: Path | None, db: str) -> int:
    """Lists regression runs; returns 0."""
    with _existing(farm, db) as store:
        from tb.regress.queries import history, text

        text.show(text.history(history.regression_runs(store, limit)))
    return 0


def diff_command(before: str, after: str, farm: Path | None, db: str) -> int:
    """Prints the changes between two regression runs; returns 1 when a test newly fails."""
    with _existing(farm, db) as store:
        from tb.coverage.exclusions import apply_exclusions, load_exclusions
        from tb.nightly.publish import EXCLUSIONS
        from tb.regress.queries import history, text

        exclude = partial(apply_exclusions, load_exclusions(EXCLUSIONS))
        moved = history.difference(store, before, after, exclude)
    text.show(text.difference(moved))
    return 1 if moved.newly_failing else 0


def prune_command(keep: int, farm: Path | None, db: str) -> int:
    """Removes old regression runs; returns 0."""
    with _existing(farm, db) as store:
        prune(store, keep)
    return 0


def prune(store: Store, keep: int) -> None:
    """Removes all but the newest regression runs of each regression, with their folders.

    Those of other engines or items count apart; one that a process owns stays.

    Args:
        store: The database.
        keep: How many stay.
    """
    from tb.regress.queries import history

    left: Counter[tuple[object, ...]] = Counter()
    for found in history.regression_runs(store, None):
        if found.status == "running":
            continue
        kind = (found.regression, found.duts, found.items)
        left[kind] += 1
        if left[kind] <= keep or not store.remove(found.name):
            continue
        folder = Path(found.folder)
        if folder.name == found.name:
            shutil.rmtree(folder, ignore_errors=True)
        rest = f", but {relative(folder)} is still there" if folder.exists() else ""
        print(f"removed  {found.name}{rest}")


@contextmanager
def _existing(farm: Path | None, db: str) -> Iterator[Store]:
    url = database_url(db, load_farm(farm) if farm else Farm())
    require_file(url)
    from tb.regress.results.store import Store

    with Store.open(url, create=False) as store, store.whole():
        yield store


def rerun_command(run_id: int, waves: bool, farm: Path | None, db: str) -> int:
    """Repeats a run of the database and notes how it ended; returns its exit code."""
    with _existing(farm, db) as store:
        from tb.nightly.worker import outcome_of
        from tb.regress.plan.rerun import rerun_settings
        from tb.regress.queries import history
        from tb.run.run import run_once
        from tb.run.testlist import planned_test

        regression_run, job, record = store.planned(run_id)
        settings = job.settings
        if waves:
            whole = settings.model_copy(update={"waves": True, "timeline": True})
            settings = rerun_settings(record) if record is not None else whole
        print(f"run {run_id} of regression run {regression_run}: {settings.command()}", flush=True)
        root = Path(history.regression_run(store, regression_run).folder)
        folder = root / "runs" / job.key / "rerun"
        again = run_once(settings, planned_test(settings.test), folder=folder)
        outcome = outcome_of(job, again, folder)
        flaky = store.note_rerun(run_id, outcome, state=again.status, identity="")
        before = record.status if record else "no record"
    print(f"run {run_id} was {before}, is {again.status}" + (": flaky" if flaky else ""))
    return again.exit_code
