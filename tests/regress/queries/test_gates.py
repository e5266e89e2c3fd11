# SPDX-License-Identifier: Apache-2.0
"""Gates of a regression, and known failures."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.nightly.command import GATE, exit_code
from tb.regress.plan.testplan import load_testplan
from tb.regress.queries import history
from tb.regress.queries.text import as_text, closing
from tb.regress.queries.views import RegressionView
from tb.regress.results.store import Store
from tb.report.overview import verdict
from tests.regress import made

PLAN = """
[[behaviour]]
name = "rows"
milestone = "V1"
description = "Rows."
tests = ["random"]

[[regression]]
name = "nightly"
doc = "all"

[[regression.runs]]
tests = ["random"]
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two regression runs of the same engines: the second one has a data mismatch."""
    found = Store.open(f"sqlite:///{tmp_path_factory.mktemp('gates')}/results.db")
    for number in (0, 1):
        when = made.START + timedelta(days=number)
        made.add_regression(found, when, runs=12, number=1 - number, plans=_plans(number))
    return found


def _plans(number: int) -> made.Plans:
    return lambda jobs: {jobs[0].key: made.Plan(made.DATA, "fail")} if number else {}


def view(store: Store, folder: Path, text: str = "", name: str = history.LATEST) -> RegressionView:
    path = folder / "plan.toml"
    path.write_text(PLAN + text)
    return history.view(store, name, load_testplan(path))


def first(store: Store) -> str:
    return history.regression_runs(store)[-1].name


@pytest.mark.parametrize(
    ("gates", "broken"),
    [
        ("", []),
        ("coverage = 0.0\nproven = 100.0", []),
        ("coverage = 99.5", ["coverage is 31.91 %: at least 99.5 %"]),
        ("lost_bins = 0", []),
    ],
)
def test_gates_of_a_run_that_passed(
    store: Store, tmp_path: Path, gates: str, broken: list[str]
) -> None:
    found = view(store, tmp_path, f"[regression.gates]\n{gates}", first(store))
    assert len(found.gates) == len(broken)
    for sentence, begin in zip(found.gates, broken, strict=True):
        assert sentence.startswith(begin)
    assert not found.failing
    assert found.passed == (not broken)
    assert exit_code(found) == (GATE if broken else 0)
    assert exit_code(found, changed=True) == 1
    assert verdict(found).word == ("FAIL" if broken else "PASS")
    assert all(sentence in verdict(found).text for sentence in found.gates)


def test_gates_of_a_run_that_failed(store: Store, tmp_path: Path) -> None:
    gates = "[regression.gates]\nproven = 50.0\nlost_bins = 3"
    found = view(store, tmp_path, gates)
    assert found.difference
    lost = len(found.difference.lost)
    assert lost > 3
    assert list(found.gates) == [
        "0.0 % of the testplan is proven: at least 50 %",
        f"{lost} bins lost since {first(store)}: at most 3",
    ]
    assert (found.passed, exit_code(found)) == (False, 1)
    assert not view(store, tmp_path, gates.replace("3", str(lost)).replace("50", "0")).gates


def test_bins_are_lost_against_the_last_complete_run(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/results.db") as store:
        for day, (number, left) in enumerate(((1, 0), (0, 6), (0, 0))):
            when = made.START + timedelta(days=day)
            made.add_regression(store, when, runs=12, number=number, left=left, plans=_plans(0))
        found = view(store, tmp_path, "[regression.gates]\nlost_bins = 0")
        cut, complete = (one.name for one in history.regression_runs(store)[1:])
    assert found.difference
    assert (found.difference.before, found.difference.lost) == (cut, ())
    (sentence,) = found.gates
    assert f"lost since {complete}: at most 0" in sentence


def test_without_a_run_it_is_no_matter_of_gates(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/results.db") as store:
        made.add_regression(store, made.START, runs=2, left=2)
        found = view(store, tmp_path, "[regression.gates]\ncoverage = 1.0")
    assert found.gates
    assert (found.failing, found.passed, exit_code(found)) == ([], False, 1)


def known(store: Store, until: date | None, bucket: str = "") -> str:
    (found,) = history.buckets(store, history.regression_run(store).name)
    entry = f'[[known]]\nbucket = "{bucket or found.id}"\nreason = "next drop"\n'
    return entry + (f"until = {until}\n" if until else "")


def test_a_known_failure_fails_nothing_until_its_end(store: Store, tmp_path: Path) -> None:
    today = date.today()
    found = view(store, tmp_path, known(store, today))
    (bucket,) = found.buckets
    assert found.known == {bucket.id: f"next drop, until {today}"}
    assert (found.failing, found.passed, exit_code(found)) == ([], True, 0)
    assert verdict(found).word == "PASS"
    assert "1 failed as known" in verdict(found).text
    assert not any("counts again" in note for note in found.notes)
    over = view(store, tmp_path, known(store, today - timedelta(days=1)))
    assert (len(over.failing), over.passed, exit_code(over)) == (1, False, 1)
    assert any(f"known failure {bucket.id} counts again" in note for note in over.notes)


def test_a_bucket_has_its_owner_and_link_and_still_fails(store: Store, tmp_path: Path) -> None:
    text = known(store, None) + 'owner = "DMA"\nlink = "https://issues.example/412"\n'
    found = view(store, tmp_path, text)
    assert (len(found.failing), found.passed, found.known) == (1, False, {})
    assert not any("known failure" in note for note in found.notes)
    shown = as_text(closing(found, "page", passed=False))
    assert "(next drop, DMA, https://issues.example/412)" in shown


def test_a_known_failure_that_is_gone_is_a_note(store: Store, tmp_path: Path) -> None:
    found = view(store, tmp_path, known(store, date.today(), "B0123456789"))
    assert any("known failure B0123456789 was not seen: next drop" in x for x in found.notes)
    assert not found.passed


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[regression.gates]\ncoverage = 101.0", "key coverage is 101.0"),
        ("[regression.gates]\nbins = 3", "bins"),
        ('[[known]]\nbucket = "B1"\nreason = "x"\nuntil = 2027-01-31', "bucket"),
        ('[[known]]\nbucket = "B0123456789"\nuntil = 2027-01-31', "reason"),
        ('[[known]]\nbucket = "B0123456789"\nreason = "x"\nuntil = "soon"', "until"),
        ('[[known]]\nbucket = "B0123456789"\nreason = "x"\nlink = "javascript:x"', "link"),
    ],
)
def test_wrong_gates_and_known_failures_are_refused(
    store: Store, tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(PtoError) as caught:
        view(store, tmp_path, text)
    assert what in f"{caught.value}"
