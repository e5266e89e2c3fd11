// SPDX-License-Identifier: Apache-2.0
//
// 32 bits of an atomic op, one, two or four elements: old value in GM with the result of the op, in
// four stages. A stage keeps its word until it takes the next. Arithmetic: pto_fix_atomic.vh.
// Throughput: one per clock. Latency: four clocks, or one for a word that passes the stages.
// Spec: fixpipe.md section 9.
//
//   clk     _/~\_/~\_/~\_/~\_/~\_/~\_
//   take    _< 1 X 2 X 4 X 8 >_______     the stages, one bit each
//   data_o  -----------------< ok >--     until the next take of stage 3
`default_nettype none

module pto_gm_combine (
  input  wire        clk_i,   // clock
  input  wire [3:0]  take_i,  // stages that take a word
  input  wire        pass_i,  // stage 3 takes y_i
  input  wire        on_i,    // stage 0: evaluate the word, else the result is any
  input  wire [31:0] old_i,   // what GM held
  input  wire [31:0] y_i,     // result
  input  wire [2:0]  type_i,  // atomic type, 0: y_i is what to write
  input  wire [1:0]  op_i,    // 0 add, 1 max, 2 min
  input  wire        nosat_i, // f16: no saturation, NaN as it is
  output reg  [31:0] data_o   // what to write
);
  `include "pto_fix_convert.vh"
  `include "pto_fix_atomic.vh"

  reg        on0_q, on1_q, on2_q;
  reg [2:0]  kind0_q, kind1_q, kind2_q;
  reg        nosat0_q, nosat1_q, nosat2_q;   // of sums alone
  reg [61:0] a0_q, b0_q;                     // upper and lower half, or the word and nothing
  reg [37:0] a1_q, b1_q;
  reg [34:0] a2_q, b2_q;

  always @(posedge clk_i) begin
    if (take_i[0]) begin
      on0_q <= on_i;
      if (on_i) begin
        kind0_q  <= type_i;
        nosat0_q <= nosat_i || op_i != 2'd0;
        a0_q     <= fix_atomic_operands(old_i, y_i, type_i, op_i, nosat_i);
        if (fix_atomic_half(type_i))
          b0_q <= fix_atomic_operands({old_i[15:0], 16'd0}, {y_i[15:0], 16'd0},
                                      {type_i[2], 2'd2}, op_i, nosat_i);
      end
    end
    if (take_i[1]) begin
      on1_q <= on0_q;
      if (on0_q) begin
        {kind1_q, nosat1_q} <= {kind0_q, nosat0_q};
        a1_q <= fix_atomic_sum(a0_q, kind0_q);
        if (fix_atomic_half(kind0_q)) b1_q <= fix_atomic_sum(b0_q, ATOMIC_F16);
      end
    end
    if (take_i[2]) begin
      on2_q <= on1_q;
      if (on1_q) begin
        {kind2_q, nosat2_q} <= {kind1_q, nosat1_q};
        a2_q <= fix_atomic_normal(a1_q, kind1_q);
        if (fix_atomic_half(kind1_q)) b2_q <= fix_atomic_normal(b1_q, ATOMIC_F16);
      end
    end
    if (take_i[3]) begin
      if (pass_i)     data_o <= y_i;
      else if (on2_q) data_o <= fix_atomic_result(a2_q, b2_q, kind2_q, nosat2_q);
    end
  end
endmodule

`default_nettype wire
