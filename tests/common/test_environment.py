# SPDX-License-Identifier: Apache-2.0
"""A shell of another project neither breaks a run nor changes it in silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.environment import foreign, foreign_note, own_modules_first
from tb.common.paths import ROOT
from tests.wording import says

OTHERS = {
    "COCOTB_TESTCASE": "foo",
    "COCOTB_TEST_FILTER": "foo",
    "COCOTB_RANDOM_SEED": "5",
    "GPI_EXTRA": "libnothing.so:x",
    "PYGPI_PYTHON_BIN": "/none/python",
    "LIBPYTHON_LOC": "/none/libpython.so",
    "COCOTB_USER_COVERAGE": "1",
}


def test_variables_of_another_project_are_named() -> None:
    names = [*OTHERS, "PATH", "PTO_RUNS", "MODULEPATH", "LM_LICENSE_FILE", "PYTHONPATH"]
    assert foreign(names) == sorted(OTHERS)
    assert not foreign_note(["PATH", "XCOCOTB_TESTCASE"])
    note = foreign_note(["COCOTB_RANDOM_SEED", "GPI_EXTRA"])
    assert says(note, "COCOTB_RANDOM_SEED GPI_EXTRA SEED=")
    assert "TEST=" not in note
    assert "SEED=" not in foreign_note(["GPI_EXTRA"])


def test_folders_of_pythonpath_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = str(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((other, str(ROOT))))
    monkeypatch.setattr(sys, "path", [str(ROOT), other, "/usr/lib", other])
    own_modules_first()
    assert sys.path == [str(ROOT), "/usr/lib", other]


@pytest.mark.long
@pytest.mark.sim
def test_a_run_is_as_without_them(tmp_path: Path) -> None:
    for name in ("cocotb", "numpy", "pyuvm"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise ImportError('another {name}')\n")
    words = ["run", "--sim", "icarus", "--n", "20", "--json", str(tmp_path / "record.json")]
    env = {**os.environ, **OTHERS, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tb", *words],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "PASS 20 transactions" in done.stdout
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("ignored")]
    assert all(name in line for name in OTHERS)
