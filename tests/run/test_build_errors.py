# SPDX-License-Identifier: Apache-2.0
"""Builds that fail say what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tb.run.launch import BuildError, new_runner


@pytest.mark.parametrize(
    ("program", "end", "verilator"),
    [
        ("iverilog", "kill -ABRT $$", True),
        ("iverilog", "exit 139", True),  # as its driver hands on a segmentation fault
        ("iverilog", "exit 2", False),
        ("other", "exit 139", False),
    ],
)
def test_a_compiler_that_dies_on_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, end: str, *, verilator: bool
) -> None:
    for fake in (tmp_path / "iverilog", tmp_path / program):
        fake.write_text(f"#!/bin/sh\necho 'assert: elab_type.cc: failed assertion'\n{end}\n")
        fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    runner = new_runner("icarus")
    runner.env = dict(os.environ)
    with pytest.raises(BuildError) as refused:
        runner._execute_build([[str(tmp_path / program)]], tmp_path)
    assert "elab_type.cc" in refused.value.what
    assert ("SIM=verilator" in refused.value.remedy) == verilator
    assert "read the log" in refused.value.remedy
