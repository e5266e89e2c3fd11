# SPDX-License-Identifier: Apache-2.0
"""``doctor --op``: places that an op needs beside its row."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.dut import op_places
from tb.dut.op_places import op_command
from tb.isa.ops import OPS
from tests.wording import line_says


@pytest.mark.parametrize("name", OPS)
def test_every_op_is_in_all_its_places(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert op_command(name) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:9]] == ["ok"] * 8
    assert [line.split()[:2] for line in lines[9:]] == [["by", "hand"]] * 3


def test_a_place_without_the_op_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("rtl_stubs", "sequences/examples/data", "tb/regress/plan"):
        shutil.copytree(ROOT / path, tmp_path / path)
    manifest = tmp_path / "rtl_stubs/pto_mte1/manifest.toml"
    manifest.write_text(manifest.read_text().replace('"BT-L03", ', "").replace('"mte_l1_bt",', ""))
    monkeypatch.setattr(op_places, "ROOT", tmp_path)
    assert op_command("mte_l1_bt") == 1
    output = capsys.readouterr().out
    assert line_says(output, "MISSING manifest rtl_stubs/pto_mte1/manifest.toml ops")
    assert line_says(output, "MISSING rules BT-L03 d_rules")
    assert line_says(output, "MISSING text tests/language/corpus")
    assert line_says(output, "ok unit rtl_stubs/pto_mte1/pto_mte1.sv")


def test_an_op_without_a_row_is_refused() -> None:
    with pytest.raises(PtoError, match=r"mte_l1_ubb.*did you mean mte_l1_ub"):
        op_command("mte_l1_ubb")
