# SPDX-License-Identifier: Apache-2.0
"""The list of bugs fits the engine sources; needs no simulator."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.bugs.campaign import REPORTED, Bug, Setting, StaleBugError, load_bugs, plant

BUGS = (*load_bugs(), *load_bugs(REPORTED))


def copied(bug: Bug, top: Path) -> None:
    """Copies the source of a bug below ``top``."""
    (top / bug.file).parent.mkdir(parents=True)
    shutil.copy(ROOT / bug.file, top / bug.file)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_fits_its_source(bug: Bug, tmp_path: Path) -> None:
    copied(bug, tmp_path)
    plant(bug, tmp_path)
    assert (tmp_path / bug.file).read_text() != (ROOT / bug.file).read_text()


def test_bugs_are_distinct() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert len({(bug.file, bug.find, bug.replace) for bug in BUGS}) == len(BUGS)


def test_default_run_has_forty_bugs_and_some_of_each_engine() -> None:
    assert sum(bug.setting == Setting() for bug in BUGS) >= 40
    for engine in ("pto_mte1", "pto_mte2", "pto_mte3", "pto_fix", "common"):
        assert any(f"/{engine}/" in bug.file for bug in BUGS)


@pytest.mark.parametrize("find", ["no such text", "assign", ""])
def test_stale_bug_is_reported(find: str, tmp_path: Path) -> None:
    bug = BUGS[0].model_copy(update={"find": find})
    copied(bug, tmp_path)
    with pytest.raises(StaleBugError, match=f"{bug.name}: .* occurs [0-9]+ times in {bug.file}"):
        plant(bug, tmp_path)


def test_a_row_is_a_bug(tmp_path: Path) -> None:
    path = tmp_path / "bugs.toml"
    path.write_text(
        '["a"]\nx = ["common/a.v", "", "m", "f", "r"]\n'
        '["b"]\ny = ["b.v", "corner mte2+fix mte_gm_ub,mte_l1_fb", "m", "f", "r"]\n'
        'z = ["b.v", "illegal - - a5,tail=keep", "m", "f", "r"]\n'
    )
    ops = ("mte_gm_ub", "mte_l1_fb")
    rest = {"models": "m", "find": "f", "replace": "r"}
    assert load_bugs(path) == (
        Bug(name="x", file="rtl_stubs/common/a.v", **rest),
        Bug(name="y", file="rtl_stubs/b.v", test="corner", slots=("mte2", "fix"), ops=ops, **rest),
        Bug(name="z", file="rtl_stubs/b.v", test="illegal", profile="a5, tail = keep", **rest),
    )
    assert [str(bug.setting) for bug in load_bugs(path)] == [
        "random",
        "corner mte2+fix mte_gm_ub,mte_l1_fb",
        "illegal - - a5,tail=keep",
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"a.v", "", "m", "f"', "bug x: a row has the parts file, setting"),
        ('"a.v", "", "m", "f", "r", "s"', "bug x: a row has the parts file, setting"),
        ('"a.v", "random mte2 mte_gm_ub a5 s", "m", "f", "r"', "bug x: .* at most a test"),
        ('"a.v", "random mte2 - a6", "m", "f", "r"', "profile 'a6' is unknown"),
        ('"a.v", "mte2", "m", "f", "r"', "test"),
        ('"a.v", "random mte4", "m", "f", "r"', "slots"),
    ],
)
def test_a_wrong_row_is_refused(row: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bugs.toml"
    path.write_text(f'["a"]\nx = [{row}]\n')
    with pytest.raises(ValueError, match=message):
        load_bugs(path)
