# SPDX-License-Identifier: Apache-2.0
"""The command line: bad arguments end with one clear message, exit code 2 and no record."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tb.cli.options import transaction_numbers
from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.common.paths import ROOT
from tb.dut.selection import parse_ops, sendable
from tb.record.record import ProgramReport, RunRecord
from tb.record.settings import RunSettings
from tests.command import pto_dv

BASE = "make SIM=verilator TEST=random SEED=1 N=20000"


@pytest.mark.long
def test_packages_without_the_sources_refuse_to_run(tmp_path: Path) -> None:
    """An installed wheel has the Python files only."""
    shutil.copytree(ROOT / "tb", tmp_path / "tb", ignore=shutil.ignore_patterns("hdl", "*.pyc"))
    for words in (["--help"], ["run"], ["new-dut", "x", "--slot", "mte2"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", "from tb.cli.main import main; main()", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert not done.stdout
        assert f"where: {tmp_path / 'rtl_stubs'}" in done.stderr
        assert "legal: a clone" in done.stderr
        assert "make setup" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tb"]


def test_package_indices_refuse_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "Private :: Do Not Upload" in project["classifiers"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sim", "modelsim"], ["modelsim", "verilator, icarus"]),
        (["--test", "nonsense"], ["nonsense", "random"]),
        (["--ops", "mte_gm_moon"], ["mte_gm_moon", "mte_gm_ub", "copy_ubuf_to_gm"]),
        (["--ops", ","], ["OPS is ','", "--ops", "mte_gm_ub, mte_ub_gm"]),
        (["--dut", " , "], ["DUT is ' , '", "manifests"]),
        (["--waves-from", "7", "--waves-to", "6"], ["WAVES_FROM is '7'", "WAVES=1"]),
        (["--n", "many"], ["N is 'many'", "1..100000000"]),
        (["--n", "0"], ["N is '0'"]),
        (["--n", "-5"], ["N is '-5'"]),
        (["--seed", "x"], ["SEED is 'x'"]),
        (["--seed", "-1"], ["SEED is '-1'"]),
        (["--gm-width", "64"], ["GM_WIDTH is '64'", "128, 256, 512"]),
        (["--local-width", "wide"], ["LOCAL_WIDTH is 'wide'"]),
        (["--profile", "a6"], ["profile 'a6'", "seed or a5", "PROFILE="]),
        (["--repro", "5,x"], ["REPRO is '5,x'", "separated by commas"]),
        (["--watchdog-clocks", "99"], ["watchdog-clocks is 99", "WATCHDOG=", "100..2147483647"]),
        (["--mismatch-limit", "0"], ["mismatch-limit is 0", "1 or more"]),
    ],
)
def test_bad_argument(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    done = pto_dv("run", *arguments, "--json", str(record))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert not record.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [["explain", "mte_ub_ub 0, 4096, 2 nburst(3, 1, 0)"], ["explain", "--table"], ["tests"],
     ["--help"], ["verify", "examples/programs/load_tile.pto"]],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_output_that_cannot_be_written_is_an_error(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = pto_dv(*words, output=full)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the output: No space left")
    assert done.stderr.count("\n") == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run"], "--json"), (["verify", "examples/programs"], "--json"), (["doctor"], "--json"),
        (["explain", "mte_ub_ub 0, 4096, 2 nburst(3, 1, 0)"], "--json"),
        (["explain", "mte_ub_ub 0, 4096, 2 nburst(3, 1, 0)"], "--picture"),
    ],
    ids=lambda words: str(words[0]),
)  # fmt: skip
def test_no_folders_are_made_elsewhere(words: list[str], option: str, tmp_path: Path) -> None:
    done = pto_dv(*words, option, str(tmp_path / "not/there/x.svg"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    for word in (f"{tmp_path / 'not/there'}", option, "sim_build"):
        assert word in done.stderr
    assert not (tmp_path / "not").exists()


def test_the_version_is_that_of_the_project() -> None:
    done = pto_dv("--version")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert (done.returncode, done.stdout) == (0, f"pto-dv {version}\n")


@pytest.mark.long
def test_unknown_command_and_option_are_refused() -> None:
    assert pto_dv("fly").returncode == 2
    assert pto_dv("run", "--color").returncode == 2


@pytest.mark.long
def test_tests_are_listed() -> None:
    done = pto_dv("tests")
    assert done.returncode == 0
    for name in ("random", "directed", "illegal", "corner"):
        assert f"\n{name}" in f"\n{done.stdout}"


def test_repro_transactions_are_numbers() -> None:
    assert transaction_numbers(" 5, 17,") == "5,17"
    with pytest.raises(ValidationError):
        RunSettings(repro="five")


def test_ops_are_unique_and_in_table_order() -> None:
    assert parse_ops("copy_ubuf_to_gm, mte_gm_ub,mte_gm_ub") == ("mte_gm_ub", "copy_ubuf_to_gm")
    assert parse_ops("") == ()


def test_ops_are_restricted_to_those_of_the_engines() -> None:
    assert sendable((), ("mte_gm_ub",)) == ("mte_gm_ub", "copy_gm_to_ubuf")
    assert sendable(("copy_gm_to_ubuf", "mte_ub_gm"), ("mte_gm_ub",)) == ("copy_gm_to_ubuf",)
    with pytest.raises(PtoError, match="no engine"):
        sendable(("mte_ub_gm",), ("mte_gm_ub",))


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        (
            {
                "seed": 7,
                "transactions": 50,
                "ops": ("mte_gm_ub",),
                "gm_width": 512,
                "sim": "icarus",
            },
            "make SIM=icarus TEST=random SEED=7 N=50 OPS=mte_gm_ub GM_WIDTH=512",
        ),
        ({"repro": "5,17"}, f"{BASE} REPRO=5,17"),
        ({"profile": "seed"}, BASE),
        ({"profile": "a5"}, f"{BASE} PROFILE=a5"),
        ({"profile": "a5, alpha = sequential"}, f"{BASE} 'PROFILE=a5, alpha = sequential'"),
        # Without PROFILE the run would take the profile of the manifest.
        ({"profile": "seed", "duts": ("x",)}, f"{BASE} DUT=x PROFILE=seed"),
        ({"duts": ("x",)}, f"{BASE} DUT=x"),
    ],
)
def test_repeat_command_has_every_setting(settings: dict[str, Any], command: str) -> None:
    assert RunSettings(**settings).command() == command


@pytest.mark.long
@pytest.mark.parametrize("command", ["run", "program", "verify", "nightly", "new-dut"])
def test_an_unknown_profile_is_refused_by_every_command(command: str, tmp_path: Path) -> None:
    words = {
        "program": ["examples/programs/load_padded.pto"],
        "verify": ["examples/programs/load_padded.pto"],
        "nightly": ["--folder", str(tmp_path / "made")],
        "new-dut": ["thing", "--slot", "mte2", "--folder", str(tmp_path / "made")],
    }.get(command, [])
    done = pto_dv(command, *words, "--profile", "a5, tail = kept")
    assert done.returncode == 2
    assert "keep or fill" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "made").exists()


HALF = ProgramReport(path="x.pto", function="f", not_executed=["sub-block 1", "mad at x.pto:9"])
WARNED = ProgramReport(path="x.pto", function="f", warnings=["x.pto:1:1: warning: hazard"])


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({}, "FAIL (error) "),
        ({"status": "pass"}, "PASS "),
        ({"settings": RunSettings()}, "profile seed; repeat: make"),
        ({"settings": RunSettings(profile="a5")}, "profile a5; repeat: make"),
        (
            {"status": "pass", "programs": [HALF, HALF]},
            "; NOT EXECUTED: sub-block 1; mad at x.pto:9; repeat: make",
        ),
        ({"status": "pass", "programs": [WARNED]}, " 0 mismatches, 1 warning, coverage "),
        ({"status": "pass", "programs": [WARNED] * 2}, " 0 mismatches, 2 warnings, coverage "),
    ],
)
def test_the_last_line(fields: dict[str, Any], part: str) -> None:
    line = RunRecord(**{"settings": RunSettings(), "command": "make", **fields}).last_line()
    assert part in line
    assert line.startswith("PASS " if "status" in fields else "FAIL (error) ")
    assert ("NOT EXECUTED" in line) == ("NOT EXECUTED" in part)


def test_record_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    record = RunRecord(settings=RunSettings(), command="make")
    target = tmp_path / "deep" / "record.json"
    write_json(target, record)
    assert RunRecord.model_validate_json(target.read_text()) == record
    assert list(target.parent.iterdir()) == [target]


def test_unwritable_record_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PtoError, match="cannot write"):
        write_json(tmp_path / "file" / "record.json", {"a": 1})
