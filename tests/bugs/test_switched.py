# SPDX-License-Identifier: Apache-2.0
"""Switched bugs behave as they do alone; changes that cannot be switched are errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.setup import tools
from tests.bugs.campaign import load_bugs
from tests.bugs.switched import SWITCH, CannotSwitchError, plant_switched, switchable

UNIT = """\
`default_nettype none
// 3 + 5 = ; begin end: no code
`include "unit.vh"
module unit #(parameter integer W = 4) (
  input  wire         clk_i,
  input  wire [W-1:0] a_i,
  input  wire [W-1:0] b_i,
  output wire [W-1:0] mean_o,
  output wire         any_o,
  output reg  [W:0]   acc_q,
  output reg  [W-1:0] kind_q,
  output wire [W-1:0] low_o
);
  localparam [W-1:0] STEP = 4'd1;
  function [3:0] twice;
    input [3:0] value;
    twice = value << 1;
  endfunction
  assign mean_o = (a_i + b_i) >> 1;
  wire signed [W-1:0] less = $signed(a_i) >>> 1;
  assign any_o = |a_i;
  always @(posedge clk_i) begin
    if (a_i > b_i) acc_q <= acc_q + STEP;
    else if (a_i == b_i) acc_q <= acc_q + twice(a_i);
    else begin
      acc_q <= {1'b0, less};
    end
    case (a_i[1:0])
      2'd0, 2'd1: kind_q <= a_i;
      default:    kind_q <= shared(b_i);
    endcase
  end
  leaf #(.W(W)) u_leaf (
    .value_i (a_i - b_i),
    .low_o   (low_o)
  );
endmodule

module leaf #(parameter integer W = 4) (input wire [W-1:0] value_i, output wire [W-1:0] low_o);
  assign low_o = value_i;
endmodule
"""

HEADER = """\
function [3:0] shared;
  input [3:0] value;
  integer k;
  begin
    shared = 4'd0;
    for (k = 0; k < 4; k = k + 1) if (value[k]) shared = shared + 4'd1;
  end
endfunction
"""

BENCH = """\
module bench;
  reg clk = 0;
  reg [3:0] a, b;
  wire [3:0] mean, kind, low;
  wire any;
  wire [4:0] acc;
  integer k;
  unit dut (.clk_i(clk), .a_i(a), .b_i(b), .mean_o(mean), .any_o(any), .acc_q(acc), .kind_q(kind),
            .low_o(low));
  initial begin
    for (k = 0; k < 256; k = k + 1) begin
      {a, b} = k; #1 clk = 1; #1 clk = 0; #1;
      $display("%d %d %d %d %d %d", k, mean, any, acc, kind, low);
    end
  end
endmodule
"""

CHANGES = (
    ("unit.v", "(a_i + b_i) >> 1", "(5'd0 + a_i + b_i) >> 1"),
    ("unit.v", "(a_i + b_i) >> 1", "({1'b0, a_i} - b_i) >> 1"),
    ("unit.v", "$signed(a_i) >>> 1", "a_i >> 1"),
    ("unit.v", "|a_i;", "1'b1;"),
    ("unit.v", "a_i > b_i", "a_i >= b_i"),
    ("unit.v", "acc_q + twice(a_i)", "acc_q"),
    ("unit.v", "    else if (a_i == b_i) acc_q <= acc_q + twice(a_i);\n", ""),
    ("unit.v", "value << 1", "value << 2"),
    ("unit.v", "{1'b0, less};", "{1'b0, less}; acc_q[0] <= 1'b1;"),
    ("unit.v", ".value_i (a_i - b_i)", ".value_i (b_i - a_i)"),
    ("unit.v", "assign low_o = value_i;", "assign low_o = value_i & 4'd7;"),
    ("unit.vh", "if (value[k])", "if (!value[k])"),
    ("unit.vh", "shared = 4'd0;", "shared = 4'd1;"),
)


def write(top: Path) -> Path:
    top.mkdir()
    for name, text in (("unit.v", UNIT), ("unit.vh", HEADER), ("bench.v", BENCH)):
        # The header is included inside the module: a function outside belongs to no module.
        moved = text.replace('`include "unit.vh"\n', "").replace(
            "  localparam", '  `include "unit.vh"\n  localparam'
        )
        (top / name).write_text(moved)
    return top


def output(top: Path, number: int = 0) -> str:
    compiler = Path(tools.icarus().path)
    build = [compiler, "-g2012", "-I", top, "-o", top / "bench", top / "bench.v", top / "unit.v"]
    subprocess.run([str(word) for word in build], check=True)
    run = [str(compiler.with_name("vvp")), "-n", str(top / "bench"), f"+{SWITCH}={number}"]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.long
def test_each_number_is_its_bug_and_none_is_the_unchanged_unit(tmp_path: Path) -> None:
    together = write(tmp_path / "together")
    plant_switched(together, [(number, *change) for number, change in enumerate(CHANGES, 1)])
    healthy = output(write(tmp_path / "healthy"))
    assert output(together) == healthy
    for number, (name, find, replace) in enumerate(CHANGES, 1):
        alone = write(tmp_path / f"alone-{number}")
        text = (alone / name).read_text()
        assert text.count(find) == 1, find
        (alone / name).write_text(text.replace(find, replace))
        expected = output(alone)
        assert expected != healthy, f"the bench is blind to {replace}"
        assert output(together, number) == expected, replace


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("STEP = 4'd1", "STEP = 4'd2"),
        (".low_o   (low_o)", ".low_o   ()"),
        ("assign any_o = |a_i;", "assign low_o = |a_i;"),
        ("output reg  [W:0]", "output reg  [W-1:0]"),
        ("assign any_o = |a_i;\n", ""),
    ],
)
def test_other_changes_cannot_be_switched(find: str, replace: str, tmp_path: Path) -> None:
    assert UNIT.count(find) == 1
    assert not switchable(UNIT, find, replace)
    top = write(tmp_path / "unit")
    with pytest.raises(CannotSwitchError):
        plant_switched(top, [(1, "unit.v", find, replace)])


@pytest.mark.long
def test_nearly_all_bugs_of_the_list_can_be_switched() -> None:
    bugs = load_bugs()
    able = [bug for bug in bugs if switchable((ROOT / bug.file).read_text(), bug.find, bug.replace)]
    assert len(able) > 0.9 * len(bugs)
