# SPDX-License-Identifier: Apache-2.0
"""The list of bugs fits the engine sources; needs no simulator."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.bugs.campaign import ENGINES, Bug, Setting, StaleBugError, load_bugs, plant

BUGS = load_bugs()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_fits_its_source(bug: Bug, tmp_path: Path) -> None:
    shutil.copytree(ROOT / ENGINES, tmp_path / ENGINES)
    plant(bug, tmp_path)
    assert (tmp_path / bug.file).read_text() != (ROOT / bug.file).read_text()


def test_bugs_are_distinct() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert len({(bug.file, bug.find, bug.replace) for bug in BUGS}) == len(BUGS)


def test_default_run_faces_forty_bugs_and_each_engine_its_own() -> None:
    assert sum(bug.setting == Setting() for bug in BUGS) >= 40
    for engine in ("pto_mte1", "pto_mte2", "pto_mte3", "pto_fix", "common"):
        assert any(f"/{engine}/" in bug.file for bug in BUGS)


@pytest.mark.parametrize("find", ["no such text", "assign", ""])
def test_stale_bug_is_told(find: str, tmp_path: Path) -> None:
    bug = BUGS[0].model_copy(update={"find": find})
    shutil.copytree(ROOT / ENGINES, tmp_path / ENGINES)
    with pytest.raises(StaleBugError, match=f"{bug.name}: .* occurs [0-9]+ times in {bug.file}"):
        plant(bug, tmp_path)
