# SPDX-License-Identifier: Apache-2.0
"""Programs of users with their expected bytes, computed by hand: numerics, layouts, events."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tb.common.paths import ROOT

CASES = Path(__file__).parent / "cases"
OF_A5 = ("nopad_narrow",)
"""Programs that only profile a5 takes."""

pytestmark = [pytest.mark.long, pytest.mark.sim]


def replay(paths: list[Path], record: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the record of a replay."""
    command = [sys.executable, "-m", "tb", "program", *map(str, paths), "--sim", "icarus"]
    done = subprocess.run(
        [*command, "--json", str(record), *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert record.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(record.read_text())


@pytest.mark.parametrize("profile", ["seed", "a5"])
def test_the_bytes_are_those_of_the_setup_files(profile: str, tmp_path: Path) -> None:
    found = sorted(CASES.glob("*.pto"))
    paths = [path for path in found if (path.stem in OF_A5) == (profile == "a5")]
    assert paths
    code, record = replay(paths, tmp_path / "record.json", "--profile", profile)
    assert (code, record["status"]) == (0, "pass"), record["message"]
    assert [one["verdict"] for one in record["programs"]] == ["pass"] * len(paths)
    assert record["bytes_checked"] > 0


def test_one_other_byte_is_a_failure(tmp_path: Path) -> None:
    for name in ("fp8_limits.pto", "fp8_limits.toml"):
        text = (CASES / name).read_text()
        (tmp_path / name).write_text(text.replace("7f 7f 79", "7f 7e 79"))
    code, record = replay([tmp_path / "fp8_limits.pto"], tmp_path / "record.json")
    assert (code, record["status"]) == (1, "fail")
    assert record["mismatches"] == 1
