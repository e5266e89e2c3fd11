# SPDX-License-Identifier: Apache-2.0
"""A PATH of fake executables, and a project root for what set-up writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.setup import tools, verilator


class FakePath:
    """A folder that is the whole PATH, and the executables put into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, prints: str = "", code: int = 0) -> Path:
        """Add an executable that prints a text and ends with a code, whatever it is asked."""
        file = self.folder / name
        file.write_text(
            f"#!/bin/sh\ncat <<'EOF'\n{prints}\nEOF\nexit {code}\n".replace("cat", "/bin/cat")
        )
        file.chmod(0o755)
        return file


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePath:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return FakePath(folder)


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project root of the test's own, so that shims are written there."""
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    monkeypatch.setattr(verilator, "SHIM", tmp_path / "sim_build" / "tools" / "bin" / "verilator")
    return tmp_path / "sim_build"
