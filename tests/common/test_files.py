# SPDX-License-Identifier: Apache-2.0
"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sequences.outside.files import read
from tb.common.errors import PtoError
from tb.common.files import read_toml, write_bytes
from tb.coverage.exclusions import load_exclusions
from tb.dut.filelist import read_file_list
from tb.dut.manifest import load_manifest
from tb.dut.user_code import read_source
from tb.language.reader import read_file
from tb.programs.data import read_data
from tb.programs.request import read_setup
from tb.regress.plan.testplan import load_testplan
from tb.regress.workers.farm_file import load_farm
from tests.wording import says


def test_a_file_is_replaced_and_no_temporary_file_remains(tmp_path: Path) -> None:
    path = tmp_path / "new/file.txt"
    for data in (b"one", b"two"):
        write_bytes(path, data)
        assert path.read_bytes() == data
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_sets_the_permissions(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_bytes(tmp_path / "file", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PtoError, match="cannot write file: No space left") as caught:
        write_bytes(path, b"new", remedy="sweep")
    assert caught.value.remedy == "sweep"
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to("there/file")
    for data in (b"one", b"two"):
        write_bytes(link, data)
        assert link.is_symlink()
        assert (tmp_path / "there/file").read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_a_pipe_is_written_into_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_bytes(pipe, b"x")
    reader.join(timeout=60)
    assert read == [b"x"]
    assert pipe.is_fifo()


READERS: dict[str, Callable[[Path], object]] = {
    "manifest": load_manifest,
    "file list": read_file_list,
    "farm": load_farm,
    "setup": read_setup,
    "testplan": load_testplan,
    "exclusions": load_exclusions,
    "python": read_source,
    "program": read_file,
    "data": lambda path: read_data(path, "--arg"),
    "outside": lambda path: read(path, ()),
}
"""Readers of files that a user names."""

OF_TOML = ("manifest", "farm", "setup", "testplan", "exclusions")


@pytest.mark.parametrize("name", READERS)
def test_what_may_never_end_is_not_read(name: str) -> None:
    with pytest.raises(PtoError) as refused:
        READERS[name](Path("/dev/null"))
    assert "device or a pipe, no regular file" in str(refused.value), refused.value


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PtoError, match=r"cannot read it: .* pipe, no regular file"):
        read_toml(tmp_path / "pipe", "it", "")


@pytest.mark.parametrize("name", OF_TOML)
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a = " + "[" * 20_000, "nested too deep"),
        ("a = " + "1" * 5_000, "not TOML"),
        ("a = 1\na b", r"not TOML .*x.toml:2:3"),
    ],
    ids=["deep", "long", "wrong"],
)
def test_toml_that_cannot_be_read(name: str, text: str, facts: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(PtoError) as refused:
        READERS[name](path)
    assert says(str(refused.value), facts), refused.value
    assert str(path) in refused.value.where


def test_a_byte_order_mark_is_no_part_of_a_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbf" + "a = 'ä'\n".encode())
    assert read_toml(path, "it", "") == ("a = 'ä'\n", {"a": "ä"})
