# SPDX-License-Identifier: Apache-2.0
"""A small program for the tests of the command, and the command run in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import tb.programs.command
from tb.cli import main as cli

COPY = """
func.func @copy(%in: !pto.ptr<f32, gm>, %out: !pto.ptr<f32, gm>, %rows: i64) {
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
  %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %in, %ub, %c0, %c128 nburst(%rows, %c128, %c128)
    : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %ub, %out, %c128 nburst(%rows, %c128, %c128)
    : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
  return
}
"""
"""Copies rows of 128 bytes; line 6 is the load and line 10 the store."""

ARGS = ("--arg", "0=random:4096", "--arg", "1=empty:4096", "--arg", "2=32")


@dataclass(frozen=True)
class Done:
    """Result of a command: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def run_command(capsys: pytest.CaptureFixture[str], *words: str) -> Done:
    """Runs ``pto-dv program`` in this process."""
    capsys.readouterr()
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["pto-dv", "program", *words])
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    text = capsys.readouterr()
    return Done(code, text.out, text.err)


def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> str:
    """Returns the message of a refused command, which must not run or print anything else."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("something ran")

    monkeypatch.setattr(tb.programs.command, "run_once", started)
    done = run_command(capsys, *words)
    assert done.code == 2, done
    assert not done.out
    assert done.err.startswith("error: ")
    return done.err


def files_of(folder: Path) -> list[str]:
    """Returns everything below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
