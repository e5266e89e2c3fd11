# SPDX-License-Identifier: Apache-2.0
"""The lint report and its discovery of engines; the tools themselves are run by `make lint`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.setup import lint
from tests.wording import line_says


def _engine(root: Path, name: str, *others: str) -> None:
    folder = root / "rtl_stubs" / name
    folder.mkdir(parents=True)
    for file in (name, *others):
        (folder / f"{file}.sv").write_text("")


def test_finds_tops_by_name(tmp_path: Path) -> None:
    _engine(tmp_path, "pto_b", "pto_a_part")
    _engine(tmp_path, "pto_a")
    (tmp_path / "rtl_stubs" / "pto_empty").mkdir()
    (tmp_path / "rtl_stubs" / "common").mkdir()
    (tmp_path / "rtl_stubs" / "common" / "pto_fifo.sv").write_text("")
    first, second = lint.find_tops(tmp_path)
    assert first.name == "pto_a"
    assert [str(path) for path in second.sources] == [
        "rtl_stubs/pto_b/pto_b.sv",
        "rtl_stubs/pto_b/pto_a_part.sv",
        "rtl_stubs/common/pto_fifo.sv",
    ]


def test_the_same_problem_is_reported_once() -> None:
    findings = [lint.Finding("icarus", f"pto_x GM {width}", "bad line") for width in (128, 256)]
    text = lint.report([*findings, lint.Finding("ruff", "check")])
    assert text.count("bad line") == 1
    assert "FAILED icarus: pto_x GM 128 and 1 more" in text
    assert "icarus     FAIL 2 of 2" in text
    assert "ruff       ok   1" in text


def test_nothing_to_check_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    assert lint.main(["icarus"]) == 2
    assert line_says(capsys.readouterr().err, "no engine check")


def test_unknown_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(["spelling"]) == 2
    assert "legal: ruff, mypy, verilator, icarus" in capsys.readouterr().err


def test_exit_code_follows_the_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint, "GROUPS", {"good": lambda: [lint.Finding("good", "all")]})
    assert lint.main([]) == 0
    monkeypatch.setattr(lint, "GROUPS", {"bad": lambda: [lint.Finding("bad", "all", "no")]})
    assert lint.main([]) == 1
    assert capsys.readouterr().out.endswith("lint: FAIL\n")
