# SPDX-License-Identifier: Apache-2.0
"""Pages of failures: the list of buckets, and one page per bucket."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tb.record.failure import Failure
from tb.regress.queries.views import FAILED, Bucket, Known, RegressionView, RunRow
from tb.report.page import Page, bucket_path, existing
from tb.report.picture import Drawing, address_text, draw

MOST_RUNS = 200
"""Runs that the page of a bucket lists."""


@dataclass(frozen=True)
class Artifact:
    """A file that came of a run: ``waves`` or ``timeline``.

    Attributes:
        kind: Its kind.
        path: As the database has it.
        exists: Whether it was there when the page was written.
        command: Command that opens it, empty for a timeline.
    """

    kind: str
    path: str
    exists: bool
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
        id, title, first_regression, regression_runs: Of the bucket.
        new: Whether no earlier regression run has it.
        runs: How many of this regression run.
        state, command: Of its first run.
        first: First line of the report.
        tests: Tests of its runs with how many.
        noted: The entry of the testplan on it.
        follows: Bucket that it follows from and its title, or None.
    """

    id: str
    title: str
    first_regression: str
    regression_runs: int
    new: bool
    runs: int
    state: str
    command: str
    first: str
    tests: tuple[tuple[str, int], ...]
    noted: Known | None
    follows: tuple[str, str] | None


def failure_pages(view: RegressionView) -> Iterator[Page]:
    """Yields the list of buckets and the page of each; the list has a line where nothing failed."""
    by_id = {run.id: run for run in view.runs}
    runs = [[by_id[at] for at in bucket.runs if at in by_id] for bucket in view.buckets]
    rows = [_row(view, *item) for item in zip(view.buckets, runs, strict=True)]
    known = {bucket.id for bucket in view.buckets}
    loose = [run for run in view.runs if run.state in FAILED and run.bucket not in known]
    data = {
        "rows": rows,
        "loose": loose[:MOST_RUNS],
        "more_loose": len(loose) - MOST_RUNS,
        "failing": sum(run.state in FAILED for run in view.runs),
    }
    count = len(rows) + bool(loose)
    yield Page("failures.html", "Failures", "failures.html.j2", data, count=count)
    for number, (bucket, row) in enumerate(zip(view.buckets, rows, strict=True)):
        around = {
            "before": rows[number - 1].id if number else None,
            "after": rows[number + 1].id if number + 1 < len(rows) else None,
            "place": (number + 1, len(rows)),
        }
        data = {"row": row} | around | _context(view, bucket, runs[number])
        yield Page(bucket_path(row.id), row.title, "failure.html.j2", data, section="failures.html")


def _row(view: RegressionView, bucket: Bucket, runs: Sequence[RunRow]) -> BucketRow:
    tests = Counter(run.test for run in runs)
    text = bucket.example.text or bucket.example_run.message
    cause = next((one for one in view.buckets if one.id == bucket.follows), None)
    return BucketRow(
        bucket.id,
        bucket.title,
        bucket.first_regression,
        bucket.regression_runs,
        bucket.first_regression == view.regression_run.name,
        len(bucket.runs),
        bucket.example_run.state,
        bucket.example_run.command,
        text.partition("\n")[0],
        tuple(sorted(tests.items(), key=lambda item: (-item[1], item[0]))),
        view.noted.get(bucket.id),
        (cause.id, cause.title) if cause else None,
    )


def _context(view: RegressionView, bucket: Bucket, runs: Sequence[RunRow]) -> dict[str, Any]:
    example, drawing = bucket.example, _drawing(bucket)
    return {
        "signature": _signature(bucket),
        "facts": _facts(example),
        "runs": [vars(run) | {"files": existing(run.folder)} for run in runs[:MOST_RUNS]],
        "more_runs": len(runs) - MOST_RUNS,
        "later": bucket.later,
        "results": list(_results(bucket)),
        "drawing": drawing,
        "damaged": drawing is None and bool(example.picture and example.picture.rows),
        "text": example.text,
        "rerun": view.rerun(bucket.example_run.id),
        "shrunk": bucket.shrunk,
    }


def _signature(bucket: Bucket) -> dict[str, str]:
    """Returns what the failures of a bucket have in common."""
    words = {
        "kind": bucket.kind,
        "slot": bucket.slot,
        "op": bucket.op,
        "field": bucket.field,
        "rule": bucket.rule,
        "memory": bucket.space,
        "address": bucket.address_class,
    }
    return {word: value for word, value in words.items() if value}


def _facts(example: Failure) -> dict[str, str]:
    """Returns what is known of the first failure."""
    at, address = example.transaction, example.address
    space = example.space
    words = {
        "transaction": "" if at is None else str(at),
        "clocks": _clocks(example.begin_clock, example.end_clock),
        "op": example.op,
        "slot": example.slot,
        "first wrong byte": ""
        if address is None
        else f"{space.upper()} {address_text(space, address)}",
        "rule": example.rule,
    }
    return {word: value for word, value in words.items() if value}


def _clocks(begin: int, end: int) -> str:
    return f"{begin} to {end}" if end else f"from {begin}" if begin else ""


def _drawing(bucket: Bucket) -> Drawing | None:
    picture = bucket.example.picture
    if picture is None or not picture.rows:
        return None
    try:
        return draw(picture)
    except ValueError:
        # A record that was damaged keeps its text; the page has a note in place of the picture.
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
    command = shlex.join(["surfer", path]) if kind == "waves" else ""
    return Artifact(kind, path, bool(existing(path)), command)
