// SPDX-License-Identifier: Apache-2.0
// Complaints of a design, one for each number of +complaint=NUMBER. Those in a clock come once, with
// the fourth done, but for 2, which comes with each from then on.
`default_nettype none
`timescale 1ns / 1ps

module complaints (
    input wire clk_i,
    input wire done_i
);
  integer number, dones;
  reg q;
  initial begin
    dones = 0;
    if (!$value$plusargs("complaint=%d", number)) number = 0;
    if (number == 13) $error("before the first clock");
  end

  wire bad = done_i && dones == 3;
  always @(posedge clk_i) begin
    if (done_i) dones <= dones + 1;
    if (bad && number == 1) $error("seen, %0d dones", dones);
    if (done_i && dones >= 3 && number == 2) $error("each time");
    if (bad && number == 3) $fatal(1, "too bad");
    if (bad && number == 4) $warning("a little bad");
    if (bad && number == 5) $info("not bad");
    if (bad && number == 6) $stop;
    if (bad && number == 7) $finish;
    assert (!(bad && number == 8));
    assert (!(bad && number == 9)) else $error("no way");
    assert (!(bad && number == 10)) else $warning("not this way");
    if (bad && number == 11) $display("ERROR in a line of text");
    if (number == 12) unique case (bad) 1'b0: q <= 1'b1; endcase
    if (bad && number == 14) $error("first line\nsecond line");
    if (bad && number == 15) $error("seen, an expected one");
  end
  final if (number == 16) $error("after the last clock");
`ifdef VERILATOR
  assert property (@(posedge clk_i) !(bad && number == 17));
`endif
endmodule

`default_nettype wire
