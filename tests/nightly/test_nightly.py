# SPDX-License-Identifier: Apache-2.0
"""Decisions of the commands about regression runs, before and after the runs."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut.manifest import load_manifests
from tb.nightly import command as nightly
from tb.nightly.command import NightlyOptions, nightly_command, seconds
from tb.nightly.history import prune_command, report_command
from tb.nightly.place import database_option, database_url
from tb.regress.queries import history
from tb.regress.results.database import RegressionRunTable
from tb.regress.results.regressions import now_utc
from tb.regress.results.store import Store
from tb.regress.workers.farm_file import Farm
from tests.regress import made
from tests.regress.samples import column, dead_pid


def change(store: Store, **values: Any) -> None:
    """Changes the regression run's row without the store; ``folder`` is part of its facts."""
    if folder := values.pop("folder", ""):
        (about,) = column(store, RegressionRunTable.about)
        values["about"] = {**about, "folder": folder}
    with store._database.begin() as connection:
        connection.execute(update(RegressionRunTable).values(**values))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1h30m", 5400), ("30m", 1800), ("90s", 90), ("90", 90), ("2h", 7200), ("1h5s", 3605)],
)
def test_a_budget(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["1h30", "5m30", "", "0", "soon", "-5m", "1.5h", "m"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(PtoError, match="BUDGET is"):
        seconds(text)


@pytest.mark.parametrize(
    ("options", "what", "remedy"),
    [
        (NightlyOptions(budget=30), "BUDGET is 30 s", ""),
        (NightlyOptions(regression="smoke", items=("randon-*",), dry_run=True),
         r"no run of regression smoke is called 'randon-\*'", "DRY_RUN=1"),
    ],
)  # fmt: skip
def test_what_cannot_begin_leaves_no_folder(
    tmp_path: Path, options: NightlyOptions, what: str, remedy: str
) -> None:
    with pytest.raises(PtoError, match=what) as caught:
        nightly_command(replace(options, folder=tmp_path / "results"))
    assert remedy in caught.value.remedy
    assert not (tmp_path / "results").exists()


def test_old_regression_runs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those with other items count apart; one in progress stays, and so does a strange folder."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/results.db"
    with Store.open(url) as store:
        live = made.add_regression(store, now_utc() - timedelta(minutes=1), runs=2, ended=False)
        items, old, older, new = (
            made.add_regression(store, made.START + timedelta(days=day), runs=2, items=items)
            for day, items in ((0, ["x"]), (2, ()), (1, ()), (3, ()))
        )
        (about,) = column(store, RegressionRunTable.about, RegressionRunTable.name == older)
        change = update(RegressionRunTable).where(RegressionRunTable.name == older)
        with store._database.begin() as connection:
            connection.execute(change.values(about={**about, "folder": "sim_build/nightly"}))
    for name in (live, items, old, older, new):
        Path("sim_build/nightly", name).mkdir(parents=True)
    assert prune_command(1, None, url) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"removed  {old}",
        f"removed  {older}, but sim_build/nightly is still there",
    ]
    with Store.open(url) as store:
        assert {one.name for one in history.regression_runs(store)} == {live, items, new}
    assert {path.name for path in Path("sim_build/nightly").iterdir()} == {live, items, older, new}


def test_engines_have_one_name_however_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = ["examples/axi_copy", "examples/axi_copy/dut.toml", str(ROOT / "examples/axi_copy")]
    found = {nightly.dut_name(*load_manifests([name])) for name in names}
    assert found == {"examples/axi_copy/dut.toml"}
    monkeypatch.chdir(ROOT / "examples")
    (name,) = {nightly.dut_name(*load_manifests([text])) for text in ("axi_copy", names[2])}
    assert load_manifests([name])[0].title == "axi_copy"


def test_the_command_of_a_regression_run_names_what_is_not_usual(tmp_path: Path) -> None:
    options = NightlyOptions(seeds=3, duts=("a b/dut.toml",), plan=tmp_path / "mine.toml")
    assert options.command(7) == (
        f"make nightly REGRESSION=nightly SEEDS=3 SEED=7 'DUT=a b/dut.toml' "
        f"PLAN={tmp_path}/mine.toml"
    )
    assert "PLAN" not in NightlyOptions().command(7)


def test_a_regression_run_never_gets_the_folder_of_another(tmp_path: Path) -> None:
    def begin(database: str) -> str:
        with Store.open(f"sqlite:///{tmp_path / database}") as store:
            return store.begin_regression(
                regression="nightly",
                signature="s",
                folder_root=str(tmp_path),
                claim=lambda name: nightly._claim(tmp_path, name),
            )

    names = [begin("one.db"), begin("two.db"), begin("one.db")]
    assert len(set(names)) == 3
    assert all((tmp_path / name).is_dir() for name in names)


def test_sources_count_and_pages_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tb/report/site.py", "tb/nightly/worker.py", "rtl_stubs/a.v"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    monkeypatch.setattr(nightly, "SOURCES", ("tb", "rtl_stubs"))
    before = nightly.source_digest()
    (tmp_path / "tb/report/site.py").write_text("two")
    assert nightly.source_digest() == before
    for name in ("tb/nightly/worker.py", "rtl_stubs/a.v"):
        (tmp_path / name).write_text("two")
        assert nightly.source_digest() != before
        (tmp_path / name).write_text("one")


@pytest.mark.long
def test_the_report_of_a_regression_run_that_was_killed_has_its_totals(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/results.db"
    with Store.open(url) as store:
        name = made.add_regression(store, made.START, runs=4, left=1, ended=False)
        silent = now_utc() - timedelta(hours=2)
        change(store, pid=2**22 + 1, heartbeat=silent, folder=f"{tmp_path}/regression")
        assert history.regression_run(store, name).status == "interrupted"
    assert report_command(name, None, url) == 0
    with Store.open(url, create=False) as store:
        regression_run = history.regression_run(store, name)
        assert regression_run.status == "interrupted"
        assert regression_run.coverage
        assert regression_run.groups
    assert (tmp_path / "regression/report/index.html").exists()


def test_a_live_coordinator_is_not_robbed_however_long_it_is_silent(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/results.db") as store:
        name = made.add_regression(store, made.START, runs=2, left=1, ended=False)

        change(store, pid=os.getppid(), heartbeat=now_utc() - timedelta(seconds=600))
        assert not store.adopt(name)
        with pytest.raises(PtoError, match="belongs to process"):
            store.end_regression(name, "complete", history.regression_run(store, name).figures)
        change(store, pid=dead_pid(), heartbeat=now_utc() - timedelta(seconds=1))
        assert store.adopt(name)


def test_commands_name_a_database_that_is_not_the_usual_one() -> None:
    assert database_option(database_url("", Farm())) == ""
    other = "sqlite:////tmp/a b/results.db"
    assert database_option(other) == f" --db '{other}'"


@pytest.mark.long
def test_the_command_that_repeats_a_run_names_its_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/results.db"
    with Store.open(url) as store:
        name = made.add_regression(store, made.START, runs=6, number=1)
        change(store, folder=str(tmp_path))
    assert report_command(name, None, url) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if "pto-dv rerun" in line]
    assert line.endswith(f" --db {url}")
    assert f"--db {url}" in (tmp_path / "report/runs.html").read_text()


def test_planted_faults_are_shown_on_the_first_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any there is no tile."""
    url, faults = f"sqlite:///{tmp_path}/results.db", tmp_path / "qualify.json"
    page = tmp_path / "report/index.html"
    with Store.open(url) as store:
        name = made.add_regression(store, made.START, runs=2)
        change(store, folder=str(tmp_path))
    report_command(name, None, url)
    assert "Planted faults" not in page.read_text()
    faults.write_text('{"rate": {"killed": 99, "judged": 100}}')
    report_command(name, None, url, faults=faults)
    assert "faults     99 of 100 planted faults found, 99.0 %" in capsys.readouterr().out
    assert "99 of 100 found" in page.read_text()
    faults.write_text("{}")
    with pytest.raises(PtoError, match="planted faults cannot be read"):
        report_command(name, None, url, faults=faults)


def test_a_dry_run_lists_the_runs_that_would_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = NightlyOptions(
        regression="smoke", seeds=2, base_seed=7, items=("random-*", "*stress*"), dry_run=True,
        folder=tmp_path / "results",
    )  # fmt: skip
    assert nightly_command(options) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    runs = dict(line.split(maxsplit=1) for line in lines if not line.startswith("left out"))
    assert {key.partition("-")[0] for key in runs} == {"random", "stress"}
    assert all(command.startswith("make SIM=") for command in runs.values())
    assert last == f"{len(runs)} runs on 3 builds, seed 7; nothing was run"
    assert not (tmp_path / "results").exists()
