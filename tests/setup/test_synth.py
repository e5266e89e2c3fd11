# SPDX-License-Identifier: Apache-2.0
"""Figures of synthesis: read from what Yosys prints, compared with the page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError, ToolError
from tb.setup import synth
from tb.setup.lint import Top, find_tops
from tb.setup.synth import Row, drift, merged, read_table, table

ROWS = [Row("pto_x", 128, 70, 9, 64, 12, "a_q to b_q"), Row("pto_x", 256, 90, 9, 128, 14, "a_q")]


def has_yosys() -> bool:
    try:
        return synth.yosys_program().exists()
    except ToolError:
        return False


needs_yosys = pytest.mark.skipif(not has_yosys(), reason="no Yosys: make test installs it")


def test_a_missing_yosys_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an error in the sources of a user."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolError, match="Yosys is missing") as caught:
        synth.yosys_program()
    assert "tb.setup.install tests" in caught.value.remedy
    assert synth.MIN_YOSYS in caught.value.legal


ENGINE = """
module pto_x #(parameter integer GmDataWidth = 8, parameter integer LocalDataWidth = 8) (
  input wire clk_i, input wire [GmDataWidth-1:0] in_i, input wire [1:0] at_i, output wire out_o
);
  reg [GmDataWidth-1:0] in_q;
  reg out_q;
  reg [GmDataWidth-1:0] mem_q [0:3];
  wire [GmDataWidth-1:0] word = mem_q[at_i];
  always @(posedge clk_i) begin
    in_q <= in_i;
    mem_q[at_i] <= in_q;
    out_q <= ^{in_q, word};
  end
  assign out_o = out_q;
endmodule
"""
LATCH = "reg late; always @* if (at_i[0]) late = in_i[0];"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Top:
    """An engine with a register per bit, one more, a memory of four words, and no unit."""
    file = tmp_path / "rtl_stubs/pto_x/pto_x.sv"
    file.parent.mkdir(parents=True)
    file.write_text(ENGINE)
    monkeypatch.setattr(synth, "ROOT", tmp_path)
    return find_tops(tmp_path)[0]


@needs_yosys
@pytest.mark.long
@pytest.mark.parametrize("width", [8, 32])
def test_an_engine_is_counted(top: Top, width: int) -> None:
    (row,) = synth.synthesize(synth.yosys_program(), top, width)
    assert (row.name, row.bits, row.flip_flops) == ("pto_x", width, width + 1)
    assert row.memory_bits == 4 * width
    # A tree of exclusive ors over the register and the word.
    assert row.cells - row.flip_flops == 2 * width - 1
    assert row.levels == width.bit_length()
    assert row.path


@needs_yosys
@pytest.mark.long
@pytest.mark.parametrize(
    ("defect", "said"),
    [
        (LATCH, "t:$dlatch"),
        ("assign out_o = in_q[0];", "multiple conflicting drivers"),
        (
            "wire [1:0] ring = {ring[0], ring[1] ^ in_i[0]};\nassign out_o = ring[1];",
            "logic loop",
        ),
        ("pto_missing u_missing ();", "pto_missing"),
    ],
)
def test_what_is_no_hardware_is_refused(top: Top, defect: str, said: str) -> None:
    file = synth.ROOT / top.file
    file.write_text(ENGINE.replace("endmodule", f"{defect}\nendmodule"))
    with pytest.raises(PtoError, match="synthesis of pto_x at 8 bits") as caught:
        synth.synthesize(synth.yosys_program(), top, 8)
    assert said in str(caught.value)
    assert "script.ys" in str(caught.value)


def test_rows_are_read_from_the_page_as_they_were_written() -> None:
    assert list(read_table(f"# Page\n\n{table(ROWS)}\nmore\n").values()) == ROWS


def test_rows_that_differ_from_the_page_are_named() -> None:
    known = read_table(table(ROWS[:1]))
    slower = Row("pto_x", 128, 70, 8, 64, 13, "c_q")
    assert drift(ROWS[:1], known) == []
    assert drift([slower, ROWS[1]], known) == [
        "pto_x at 128 bits: flip-flops 9 -> 8, levels 12 -> 13",
        "pto_x at 256 bits is new",
    ]


def test_rows_of_units_that_are_gone_leave_the_page() -> None:
    unit = Row("pto_x/pto_part", 128, 7, 1, 0, 3, "d_q")
    known = read_table(table([ROWS[1], unit]))
    assert merged(ROWS[:1], known) == ROWS
    assert drift(ROWS[:1], known)[-1] == "pto_x/pto_part at 128 bits is gone"


def test_no_engine_on_the_page_has_a_deep_path() -> None:
    rows = read_table(synth.PAGE.read_text()).values()
    assert {row.bits for row in rows} == {128, 256, 512}
    assert max(row.levels for row in rows) <= synth.MOST_LEVELS


def test_an_unknown_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert synth.main(["pto_y"]) == 2
    assert "pto_mte2, pto_mte3, 128, 256, 512, --write" in capsys.readouterr().err
