# SPDX-License-Identifier: Apache-2.0
"""JUnit XML of a made-up regression run, read back."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import Error, Failure, Skipped
from junitparser.xunit2 import JUnitXml, TestCase

from tb.common.errors import PtoError
from tb.regress.queries.junit import ERRORS, junit, write
from tb.regress.queries.views import RegressionView
from tests.report.sample import sample_view


@pytest.fixture(scope="module")
def view() -> RegressionView:
    return sample_view()


def cases(document: JUnitXml) -> dict[str, TestCase]:
    return {
        str(case.name): case for suite in document for case in suite if isinstance(case, TestCase)
    }


@pytest.mark.long
def test_every_run_is_a_case_with_its_outcome(view: RegressionView, tmp_path: Path) -> None:
    path = write(view, tmp_path / "new" / "junit.xml")
    document = JUnitXml.fromfile(str(path))
    assert isinstance(document, JUnitXml)
    found = cases(document)
    assert set(found) == {run.key for run in view.runs}
    kinds = {"pass": None, "planned": Skipped}
    for run in view.runs:
        case = found[run.key]
        assert case.classname == run.test
        assert case.time == pytest.approx(run.seconds, abs=1e-3)
        wanted = kinds.get(run.state, Error if run.state in ERRORS else Failure)
        assert [type(result) for result in case.result] == ([] if wanted is None else [wanted])
        properties = {item.name: item.value for item in case.properties()}
        assert properties["seed"] == str(run.seed)
        assert properties["state"] == run.state
        assert properties["profile"] == run.profile
        assert properties.get("command", "") == run.command


@pytest.mark.long
def test_counts_and_suites(view: RegressionView) -> None:
    document = junit(view)
    states = Counter(run.state for run in view.runs)
    errors = sum(states[state] for state in ERRORS)
    assert document.tests == len(view.runs)
    assert document.errors == errors
    assert document.failures == len(view.runs) - states["pass"] - states["planned"] - errors
    assert sum(suite.skipped for suite in document) == states["planned"]
    by_config = Counter(f"{run.sim}-gm{run.gm_width}-local{run.local_width}" for run in view.runs)
    assert {suite.name: suite.tests for suite in document} == dict(by_config)
    for suite in document:
        assert suite.hostname == view.regression_run.host
        properties = {item.name: item.value for item in suite.properties()}
        assert properties["commit"] == view.regression_run.commit
        assert properties["regression_run"] == view.regression_run.name
        assert properties["regression"] == view.regression_run.regression
        assert "duts" not in properties, "there are none"
    runs = [replace(run, config="icarus-cov") for run in view.runs]
    assert [suite.name for suite in junit(replace(view, runs=runs))] == ["icarus-cov"]


@pytest.mark.long
def test_the_first_run_of_a_bucket_has_its_report(view: RegressionView) -> None:
    found = cases(junit(view))
    bucket = view.buckets[0]
    first, other = (
        next(run for run in view.runs if run.id == number) for number in bucket.runs[:2]
    )
    text = found[first.key].result[0].text
    assert bucket.example.text in text
    assert bucket.title in text
    assert f"repeat: {first.command}" in text
    text = found[other.key].result[0].text
    assert bucket.example.text not in text
    assert f"see {first.key}" in text


def test_a_flaky_run_has_both_outcomes(view: RegressionView) -> None:
    run = next(run for run in view.runs if run.state == "flaky")
    result = cases(junit(view))[run.key].result[0]
    assert result.message.startswith("flaky")
    assert "run again: pass" in result.text


def test_a_rerun_stands_with_the_run_it_repeats(view: RegressionView) -> None:
    bucket = next(item for item in view.buckets if len(item.runs) > 1 and item.reruns)
    again = replace(bucket.reruns[0], run=bucket.runs[1], state="hang")
    made = replace(view, buckets=[replace(bucket, reruns=(again,))])
    found, keys = cases(junit(made)), {run.id: run.key for run in view.runs}
    first, second = (found[keys[number]].result[0].text for number in bucket.runs[:2])
    assert "run again" not in first
    assert "run again: hang" in second


def test_characters_that_xml_cannot_hold(view: RegressionView, tmp_path: Path) -> None:
    run = view.runs[next(i for i, run in enumerate(view.runs) if run.state == "error")]
    odd = replace(run, message="\x1b[31mred\x1b[0m\x00 <&> \ud800 \ufffe ö\nline two")
    path = write(replace(view, runs=[odd]), tmp_path / "junit.xml")
    result = ET.parse(path).getroot().find(".//error")
    assert result is not None
    assert result.get("message") == "error: ?[31mred?[0m? <&> ? ? ö"
    assert "line two" in str(result.text)


def test_a_failing_write_leaves_the_old_file(
    view: RegressionView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(replace(view, runs=(), buckets=()), tmp_path / "junit.xml")
    assert ET.parse(path).getroot().get("tests") == "0"
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PtoError, match="No space left"):
        write(view, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["junit.xml"]
    with pytest.raises(PtoError, match=r"cannot write junit\.xml"):
        write(view, path / "junit.xml")
