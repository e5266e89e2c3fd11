# SPDX-License-Identifier: Apache-2.0
"""``pto-dv outside``: its lines, its file and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sequences.outside.files import DATA
from tests.command import pto_dv
from tests.wording import line_says

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("profile", "counts"), [("seed", (1751, 8)), ("a5", (1756, 3))])
def test_counts(profile: str, counts: tuple[int, int], tmp_path: Path) -> None:
    target = tmp_path / "new/verdicts.json"
    done = pto_dv("outside", "--profile", profile, "--json", str(target))
    assert done.returncode == 0, done.stderr
    agrees, differs = counts
    last = done.stdout.splitlines()[-1]
    assert last == (
        f"PASS 1764 rows: {agrees} agrees, {differs} differs, 5 unknown, 0 unexplained, "
        f"profile {profile}"
    )
    assert line_says(done.stdout, "PAD-4 unknown DMA-L05")
    data = json.loads(target.read_text())
    assert data["profile"] == profile
    assert data["counts"] == {
        "agrees": agrees, "differs": differs, "unknown": 5, "unexplained": 0
    }  # fmt: skip
    assert sum(group["agrees"] for group in data["groups"]) == agrees


def test_a_changed_byte_fails(tmp_path: Path) -> None:
    lines = (DATA / "writeback.csv").read_text().splitlines()
    cells = lines[5].split(",")
    place = lines[0].split(",").index("out_bits")
    cells[place] = f"{int(cells[place], 16) ^ 1:02X}"
    lines[5] = ",".join(cells)
    path = tmp_path / "changed.csv"
    path.write_text("\n".join(lines) + "\n")
    done = pto_dv("outside", "--writeback", str(path))
    assert done.returncode == 1
    assert line_says(done.stdout, "fn_qf2b8_pre line 6 unexplained no value knob")
    assert done.stdout.splitlines()[-1].startswith("FAIL 1764 rows")


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    done = pto_dv("outside", "--writeback", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert "none.csv" in done.stderr
    done = pto_dv("outside", "--profile", "a6")
    assert done.returncode == 2
    (tmp_path / "file").write_text("")
    done = pto_dv("outside", "--json", str(tmp_path / "file/x.json"))
    assert done.returncode == 2
    assert "cannot write" in done.stderr
