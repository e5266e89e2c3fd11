# SPDX-License-Identifier: Apache-2.0
"""A change reaches the tests that depend on it, and no others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.tiers.reach import NoChangesError, changed_files, reached

FILES = {
    "tb/isa/fields.py": "",
    "tb/isa/ops.py": "from tb.isa import (\n    fields,\n)\n",
    "tb/isa/table.toml": "",
    "tb/isa/deep/one.py": 'PAGE = "docs/ops.md"\n',
    "tb/hdl/top.v": "",
    "scoreboards/model/nz.py": "import tb.isa.ops\n",
    "sequences/draw.py": "def late():\n    from tb.isa.fields import Field\n",
    "tests/conftest.py": "from scoreboards.model.nz import model\n",
    "tests/house/test_pages.py": "",
    "tests/isa/test_ops.py": "from tb.isa.ops import OPS\n",
    "tests/isa/test_page.py": "from tb.isa.deep.one import PAGE\n",
    "tests/model/conftest.py": "from scoreboards.model import nz\n",
    "tests/model/test_nz.py": "",
    "tests/model/corpus/deep/a.pto": "",
    "tests/sequences/test_draw.py": "from sequences import draw\n",
    "tests/hdl/test_top.py": 'SOURCES = ROOT / "tb/hdl"\nRTL = "rtl_stubs/"\n',
}
ALWAYS = "house/test_pages"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("tb/isa/fields.py", "isa/test_ops model/test_nz sequences/test_draw"),
        ("tb/isa/ops.py", "isa/test_ops model/test_nz"),
        ("sequences/draw.py", "sequences/test_draw"),
        ("tests/isa/test_ops.py", "isa/test_ops"),
        ("tests/model/conftest.py", "model/test_nz"),
        ("tb/isa/table.toml", "isa/test_ops model/test_nz sequences/test_draw"),
        ("tests/model/corpus/deep/a.pto", "model/test_nz"),
        ("tb/hdl/top.v", "hdl/test_top"),
        ("rtl_stubs/common/a.v", "hdl/test_top"),
        ("docs/ops.md", "isa/test_page"),
        ("docs/other.md", ""),
        ("scoreboards/gone.py", ""),
        (
            "tests/conftest.py",
            "hdl/test_top isa/test_ops isa/test_page model/test_nz sequences/test_draw",
        ),
    ],
)
def test_a_change_reaches(changed: str, tests: str, top: Path) -> None:
    expected = {f"tests/{name}.py" for name in (ALWAYS, *tests.split())}
    assert set(reached(top, [changed])) == expected


def test_this_test_is_reached_by_what_it_tests() -> None:
    name = Path(__file__).relative_to(ROOT)
    assert str(name) in reached(ROOT, ["tests/tiers/reach.py"])
    assert str(name) not in reached(ROOT, ["tb/explain/maps.py"])


def git(top: Path, *words: str) -> None:
    names = ("-c", "user.name=n", "-c", "user.email=n@example.com")
    subprocess.run(["git", *names, *words], cwd=top, check=True, capture_output=True)


def test_changes_since_a_commit(top: Path) -> None:
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "one")
    (top / "tb/hdl/top.v").write_text("module top;\n")
    git(top, "commit", "-qam", "two")
    assert changed_files(top) == ("tb/hdl/top.v",)
    (top / "new.py").write_text("")
    (top / "tb/isa/ops.py").unlink()
    assert changed_files(top) == ("new.py", "tb/isa/ops.py")
    assert changed_files(top, "HEAD~1") == ("new.py", "tb/hdl/top.v", "tb/isa/ops.py")
    with pytest.raises(NoChangesError, match="no files differ from nowhere"):
        changed_files(top, "nowhere")


def test_without_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoChangesError, match="no files differ from HEAD"):
        changed_files(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoChangesError, match="git does not start"):
        changed_files(tmp_path)
