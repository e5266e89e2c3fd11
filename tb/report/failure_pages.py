# SPDX-License-Identifier: Apache-2.0
"""Pages of failures: the list of buckets, and one page per bucket."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tb.regress.queries.views import FAILED, Bucket, RegressionView, RunRow
from tb.report.page import Page, bucket_path
from tb.report.picture import Drawing, address_text, draw

MOST_RUNS = 200
"""Runs that the page of a bucket lists."""


@dataclass(frozen=True)
class Artifact:
    """A file that came of a run.

    Attributes:
        kind: ``waves`` or ``timeline``.
        path: As the database has it.
        command: Command that opens it, empty for a timeline.
    """

    kind: str
    path: str
    command: str


@dataclass(frozen=True)
class Result:
    """One execution of a bucket's example, or of another of its runs that was done again.

    Attributes:
        who: ``run 1003`` or ``run 1003 again``.
        state, when, message: Of that execution; ``when`` is None for the run itself.
        files: Its files.
    """

    who: str
    state: str
    when: datetime | None
    message: str
    files: tuple[Artifact, ...] = ()


@dataclass(frozen=True)
class BucketRow:
    """A bucket in the list.

    Attributes:
        bucket: It.
        path: Of its page.
        new: Whether no earlier regression run has it.
        tests: Tests of its runs with how many.
        signature: (word, value) of what its failures have in common.
    """

    bucket: Bucket
    path: str
    new: bool
    tests: tuple[tuple[str, int], ...]
    signature: tuple[tuple[str, str], ...]


def failure_pages(view: RegressionView) -> Iterator[Page]:
    """Yields the list of buckets and the page of each; nothing failed, and the list says so."""
    by_id = {run.id: run for run in view.runs}
    rows = [_row(view, bucket, by_id) for bucket in view.buckets]
    known = {bucket.id for bucket in view.buckets}
    loose = [run for run in view.runs if run.state in FAILED and run.bucket not in known]
    yield Page(
        "failures.html",
        "Failures",
        "failures.html.j2",
        {"rows": rows, "loose": loose, "failing": sum(run.state in FAILED for run in view.runs)},
        count=len(rows) + bool(loose),
    )
    for number, row in enumerate(rows):
        around = {
            "before": rows[number - 1] if number else None,
            "after": rows[number + 1] if number + 1 < len(rows) else None,
            "place": (number + 1, len(rows)),
        }
        data = _context(row, by_id) | around
        yield Page(row.path, row.bucket.title, "failure.html.j2", data, section="failures.html")


def _row(view: RegressionView, bucket: Bucket, by_id: dict[int, RunRow]) -> BucketRow:
    tests: dict[str, int] = {}
    for run in _runs(bucket, by_id):
        tests[run.test] = tests.get(run.test, 0) + 1
    words = (
        ("kind", bucket.kind),
        ("slot", bucket.slot),
        ("op", bucket.op),
        ("field", bucket.field),
        ("rule", bucket.rule),
        ("memory", bucket.space),
        ("address", bucket.address_class),
    )
    return BucketRow(
        bucket,
        bucket_path(bucket.id),
        bucket.first_regression == view.regression_run.name,
        tuple(sorted(tests.items(), key=lambda item: (-item[1], item[0]))),
        tuple((word, value) for word, value in words if value),
    )


def _runs(bucket: Bucket, by_id: dict[int, RunRow]) -> list[RunRow]:
    return [by_id[number] for number in bucket.runs if number in by_id]


def _context(row: BucketRow, by_id: dict[int, RunRow]) -> dict[str, Any]:
    bucket = row.bucket
    runs, example, drawing = _runs(bucket, by_id), bucket.example, _drawing(bucket)
    facts = [
        ("transaction", "" if example.transaction is None else str(example.transaction)),
        ("clocks", _clocks(example.begin_clock, example.end_clock)),
        ("op", example.op),
        ("slot", example.slot),
        (
            "first wrong byte",
            ""
            if example.address is None
            else f"{example.space.upper()} {address_text(example.space, example.address)}",
        ),
        ("rule", example.rule),
    ]
    return {
        "row": row,
        "bucket": bucket,
        "runs": runs[:MOST_RUNS],
        "more_runs": len(runs) - MOST_RUNS,
        "facts": [(word, value) for word, value in facts if value],
        "results": list(_results(bucket)),
        "drawing": drawing,
        "damaged": drawing is None and bool(example.picture and example.picture.rows),
        "rerun": f".venv/bin/pto-dv rerun {bucket.example_run.id}",
    }


def _clocks(begin: int, end: int) -> str:
    return f"{begin} to {end}" if end else f"from {begin}" if begin else ""


def _drawing(bucket: Bucket) -> Drawing | None:
    picture = bucket.example.picture
    if picture is None or not picture.rows:
        return None
    try:
        return draw(picture)
    except ValueError:
        # A record that was damaged keeps its text; the page says that there is no picture.
        return None


def _results(bucket: Bucket) -> Iterator[Result]:
    run = bucket.example_run
    # A flaky run is in a bucket for the one time that it did not pass.
    kind = bucket.example.kind
    failed = kind if kind in FAILED else "fail"
    state = failed if run.state == "flaky" else run.state
    yield Result(f"run {run.id}", state, None, run.message)
    for again in bucket.reruns:
        files = [("waves", again.waves), ("timeline", again.timeline)]
        yield Result(
            f"run {again.run} again",
            again.state,
            again.when,
            again.message,
            tuple(_artifact(kind, path) for kind, path in files if path),
        )


def _artifact(kind: str, path: str) -> Artifact:
    return Artifact(kind, path, shlex.join(["surfer", path]) if kind == "waves" else "")
