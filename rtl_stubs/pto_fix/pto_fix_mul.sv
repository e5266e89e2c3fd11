// SPDX-License-Identifier: Apache-2.0
//
// Multiplier of a lane: product of two f32, or a value that passes. Data only: pto_fix_lanes has
// the handshakes. Throughput: one product per clock. Latency: 3 clocks, product, normalisation and
// rounding. Rounding: fix_mul_* of pto_fix_arith.vh. Spec: fixpipe.md sections 4 and 6.
//
//   clk     _/~\_/~\_/~\_/~\_
//   take_i   001 010 100          a word moves into stage 1, 2, 3
//   y_o     _____________/~~~     held until the next word moves into stage 3
`default_nettype none

module pto_fix_mul (
  input  wire        clk_i,  // clock
  input  wire [3:1]  take_i, // per stage: a word moves into it
  input  wire        mul_i,  // multiply, else pass
  input  wire [31:0] a_i,    // factor
  input  wire [31:0] b_i,    // factor
  input  wire [31:0] pass_i, // value that passes
  output wire [31:0] y_o     // product, or the value
);
  `include "pto_fix_mul.vh"

  reg        mul1_q, mul2_q;
  reg [60:0] x1_q, x2_q;                     // of the product
  reg [31:0] pass1_q, pass2_q, y_q;

  always @(posedge clk_i) begin
    if (take_i[1]) begin
      mul1_q <= mul_i;
      if (mul_i) x1_q    <= fix_mul_product(a_i, b_i);
      else       pass1_q <= pass_i;
    end
    if (take_i[2]) begin
      mul2_q <= mul1_q;
      if (mul1_q) x2_q    <= fix_mul_normal(x1_q);
      else        pass2_q <= pass1_q;
    end
    if (take_i[3]) begin
      if (mul2_q) y_q <= fix_mul_round(x2_q);
      else        y_q <= pass2_q;
    end
  end

  assign y_o = y_q;
endmodule

`default_nettype wire
