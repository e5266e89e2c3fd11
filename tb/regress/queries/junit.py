# SPDX-License-Identifier: Apache-2.0
"""A regression run as JUnit XML, and results of pytest read from it.

A regression run has a suite for each configuration, a case for each run.

A run that failed, hung or is flaky is a ``failure``; one that crashed, has no record or lost its
workers is an ``error``; one that was not run is ``skipped``. The text and the properties of a case
have the command that repeats it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

from junitparser import Error, Failure, JUnitXmlError, Skipped
from junitparser.xunit2 import JUnitXml, TestCase, TestSuite

from tb.common.errors import PtoError
from tb.common.files import regular, write_bytes
from tb.regress.queries.difference import configuration
from tb.regress.queries.plan import Suites
from tb.regress.queries.views import Bucket, RegressionRun, RegressionView, RunRow, RunState

ERRORS: frozenset[RunState] = frozenset({"crash", "error", "lost", "interrupted"})
"""States in which the run came to no verdict."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(view: RegressionView, path: Path) -> Path:
    """Writes the regression run as JUnit XML; a reader sees the old file or the whole new one.

    Raises:
        PtoError: the file cannot be written.
    """
    data = io.BytesIO()
    junit(view).write(data)
    write_bytes(
        path,
        data.getvalue(),
        remedy="make room, or make the folder writable, then: pto-dv report",
    )
    return path


def junit(view: RegressionView) -> JUnitXml:
    """Returns the regression run as a JUnit document, its runs in the order of the plan."""
    buckets = {bucket.id: bucket for bucket in view.buckets}
    suites: dict[str, list[RunRow]] = {}
    for run in view.runs:
        suites.setdefault(configuration(run), []).append(run)
    document = JUnitXml(f"{view.regression_run.regression} {view.regression_run.name}")
    for config, runs in suites.items():
        document.append(_suite(view.regression_run, config, runs, buckets))
    document.update_statistics()
    return document


def _suite(
    regression_run: RegressionRun, config: str, runs: list[RunRow], buckets: Mapping[str, Bucket]
) -> TestSuite:
    suite = TestSuite(_clean(config))
    suite.hostname = _clean(regression_run.host)
    suite.timestamp = regression_run.started.isoformat(timespec="seconds")
    facts = {
        "regression_run": regression_run.name,
        "regression": regression_run.regression,
        "commit": regression_run.commit,
        "duts": ", ".join(regression_run.duts),
        "simulator": next((run.simulator for run in runs if run.simulator), ""),
        "command": regression_run.command,
    }
    for name, value in facts.items():
        if value:
            suite.add_property(name, _clean(value))
    # All at once: `add_testcase` counts the whole suite each time.
    suite.add_testcases([_case(run, buckets.get(run.bucket)) for run in runs])
    return suite


def _case(run: RunRow, bucket: Bucket | None) -> TestCase:
    case = TestCase(_clean(run.key), _clean(run.test), round(run.seconds, 3))
    facts = {
        "run": str(run.id),
        "state": run.state,
        "seed": str(run.seed),
        "profile": run.profile,
        "bucket": run.bucket,
        "command": run.command,
        "folder": run.folder,
    }
    for name, value in facts.items():
        if value:
            case.add_property(name, _clean(value))
    if run.state == "pass":
        return case
    if run.state == "planned":
        case.append(Skipped("not run"))
        return case
    first_line = run.message.splitlines()[0] if run.message else run.state
    kind = Error if run.state in ERRORS else Failure
    result = kind(
        _clean(f"{run.state}: {first_line}"), _clean(bucket.kind if bucket else run.state)
    )
    result.text = _clean(_report(run, bucket))
    case.append(result)
    return case


def _report(run: RunRow, bucket: Bucket | None) -> str:
    """Returns what is known of a failing run as lines: message, group, report, what repeats it."""
    lines: list[str] = [run.message or run.state]
    if bucket is not None:
        lines.append(f"bucket {bucket.id}: {bucket.title}")
        if bucket.example_run.id == run.id:
            lines.append(bucket.example.text)
        else:
            lines.append(f"report: see {bucket.example_run.key}")
        lines += [
            f"run again: {rerun.state} {rerun.message}".rstrip()
            for rerun in bucket.reruns
            if rerun.run == run.id
        ]
    if run.command:
        lines.append(f"repeat: {run.command}")
    return "\n".join(line for line in lines if line)


def _clean(text: str) -> str:
    """Returns a text without the characters that XML cannot hold, such as those of colours."""
    return _NOT_XML.sub("?", text)


def read_suites(path: Path) -> Suites:
    """Returns the results of a run of pytest: cases that passed and that failed, by function.

    Raises:
        PtoError: the file cannot be read, or is not a JUnit XML.
    """
    try:
        document = JUnitXml.fromfile(str(regular(path)))
    except (OSError, SyntaxError, JUnitXmlError) as error:
        raise PtoError(
            f"results of pytest cannot be read: {error}", where=str(path),
            legal="JUnit XML of pytest --junitxml=FILE",
        ) from None  # fmt: skip
    found: dict[str, dict[str, list[int]]] = {}
    for suite in document:
        for case in suite:
            if case.is_skipped:
                continue
            function = case.name.partition("[")[0]
            counts = found.setdefault(_file(case.classname), {}).setdefault(function, [0, 0])
            counts[not case.is_passed] += 1
    return found


def _file(classname: str) -> str:
    """Returns the file of a case of pytest: ``tests.isa.test_text.TestNames`` is in test_text."""
    parts = classname.split(".")
    last = max((at for at, part in enumerate(parts) if part.startswith("test_")), default=-1)
    return "/".join(parts[: last + 1 or None]) + ".py"
