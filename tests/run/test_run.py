# SPDX-License-Identifier: Apache-2.0
"""A run that ends before its simulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.folder import MAILBOX, RECORD, load_record
from tb.run.run import run_once
from tb.run.testlist import planned_test


def test_an_interrupt_before_the_build_ignores_the_progress_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tb.run.run.plan_run", interrupted)
    (tmp_path / MAILBOX).write_bytes(b"of an earlier run")
    (tmp_path / RECORD).write_text("{}")
    settings = RunSettings(sim="icarus")
    record = run_once(
        settings, planned_test("random"), folder=tmp_path, console=Console(quiet=True)
    )
    assert (record.status, record.transactions, record.exit_code) == ("interrupted", 0, 130)
    assert load_record(tmp_path / RECORD) == record
    assert not (tmp_path / MAILBOX).exists()
