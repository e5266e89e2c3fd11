# SPDX-License-Identifier: Apache-2.0
"""Finished builds are used again for equal inputs alone, also in another checkout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tb.run import build as build_module
from tb.run import plan as plan_module
from tb.run import products
from tb.run.build import Build, build
from tb.run.plan import BuildPlan
from tests.hdl.mini import manifest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(products.BUILDS_ENV, str(tmp_path / "cache"))
    return tmp_path / "cache"


def made(folder: Path) -> Path:
    folder.mkdir()
    (folder / "program").write_text("made")
    (folder / "program").chmod(0o755)
    return folder / "program"


def test_an_entry_is_found_whole_or_not_at_all(cache: Path, tmp_path: Path) -> None:
    program = made(tmp_path / "build")
    assert products.find("a") is None
    assert products.keep("a", {"p": program, "q": tmp_path / "missing"}) is None
    assert not list((cache / "builds").iterdir())
    folder = products.keep("a", {"p": program})
    assert folder is not None
    assert folder == products.find("a") == products.keep("a", {"p": program})
    assert (folder / "p").read_text() == "made"
    assert os.access(folder / "p", os.X_OK)
    assert [entry.name for entry in (cache / "builds").iterdir()] == ["a"]


def test_the_entries_used_longest_ago_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = made(tmp_path / "build")
    monkeypatch.setattr(products, "MOST_BYTES", 2 * program.stat().st_size)
    for number, digest in enumerate(("a", "b", "c")):
        folder = products.keep(digest, {"p": program})
        assert folder is not None
        os.utime(folder, (number, number))
        if digest == "b":
            assert products.find("a") == folder.with_name("a")
    assert [name for name in "abc" if products.find(name)] == ["a", "c"]


def test_without_a_folder_nothing_is_kept(cache: Path, tmp_path: Path) -> None:
    cache.write_text("in the way")
    assert products.keep("a", {"p": made(tmp_path / "build")}) is None


@pytest.mark.sim
def test_another_checkout_builds_nothing_and_a_changed_input_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[BuildPlan] = []
    compiled = build_module._build_with_library

    def counted(plan: BuildPlan, *rest: Any) -> None:
        calls.append(plan)
        compiled(plan, *rest)

    monkeypatch.setattr(build_module, "_build_with_library", counted)
    folders = []

    def built(checkout: str, **changes: Any) -> Build:
        monkeypatch.setattr(plan_module, "BUILD_ROOT", tmp_path / checkout)
        plan = BuildPlan("icarus", (manifest("mte2"),), **changes)
        folders.append(plan.folder)
        return build(plan)

    one, other = built("one"), built("other")
    assert len(calls) == 1
    assert folders[0] != folders[1]
    assert one.folder == other.folder == one.library.parent  # type: ignore[union-attr]
    others: tuple[dict[str, Any], ...] = ({"waves": True}, {"gm_width": 512})
    for number, changes in enumerate(others, 2):
        assert built("one", **changes).folder != one.folder
        assert len(calls) == number
