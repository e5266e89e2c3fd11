# SPDX-License-Identifier: Apache-2.0
"""Files, folders and links that are named as programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.programs.files import find_programs
from tests.wording import says


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs at three depths and other files."""
    for name in ("b.pto", "a.pto", "deep/er/c.pto", "folder.pto/d.pto", "deep/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("module {}\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "gone.pto").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*given: str) -> list[str]:
    return [str(path) for path in find_programs(given)]


def test_a_folder_means_the_files_below_it(folder: Path) -> None:
    assert names(".") == ["a.pto", "b.pto", "deep/er/c.pto", "folder.pto/d.pto"]
    assert names("folder.pto") == ["folder.pto/d.pto"]
    assert names(str(folder / "deep")) == [str(folder / "deep/er/c.pto")]


def test_order_is_that_of_the_names_given(folder: Path) -> None:
    assert names("b.pto", "deep", "a.pto") == ["b.pto", "deep/er/c.pto", "a.pto"]


def test_each_file_counts_once_under_any_name(folder: Path) -> None:
    (folder / "link.pto").symlink_to("a.pto")
    assert names("a.pto", "./a.pto", str(folder / "a.pto"), "deep/../a.pto") == ["a.pto"]
    assert names("link.pto", "a.pto") == ["link.pto"]
    assert names("a.pto", ".") == ["a.pto", "b.pto", "deep/er/c.pto", "folder.pto/d.pto"]


def test_a_file_that_is_named_may_have_any_name(folder: Path) -> None:
    assert names("deep/notes.txt") == ["deep/notes.txt"]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ((), "no program is named"),
        (("a.pto", "no.pto"), "no.pto does not exist"),
        (("gone.pto",), "gone.pto does not exist"),
        (("empty",), "folder empty holds no .pto file"),
        (("/dev/null",), "/dev/null is no file"),
        (("x" * 5000,), "File name too long"),
        (("a\0b",), "a\0b"),
    ],
)
def test_wrong_names(folder: Path, given: tuple[str, ...], facts: str) -> None:
    with pytest.raises(PtoError) as error:
        find_programs(given)
    assert facts in str(error.value)
    assert says(error.value.remedy, ".pto files folders")
