// SPDX-License-Identifier: Apache-2.0
//
// 32 bits of an atomic op, one, two or four elements: old value in GM with the result of the op.
// Rounding and tests: pto_fix_atomic.vh. Throughput: one per clock. Latency: one clock.
// Spec: fixpipe.md section 9.
//
//   clk     _/~\_/~\_/~\_
//   take    _/~~~\_______
//   data_o  -----< ok >--     until the next take
`default_nettype none

module pto_gm_combine (
  input  wire        clk_i,                  // clock
  input  wire        take_i,                 // take the inputs
  input  wire        on_i,                   // combine, else pass y_i
  input  wire [31:0] old_i,                  // what GM held
  input  wire [31:0] y_i,                    // result
  input  wire [2:0]  type_i,                 // atomic type
  input  wire [1:0]  op_i,                   // 0 add, 1 max, 2 min
  input  wire        nosat_i,                // f16: no saturation, NaN as it is
  output reg  [31:0] data_o                  // what to write
);
  localparam [2:0] F32 = 3'd1, F16 = 3'd2, S16 = 3'd3, S32 = 3'd4, S8 = 3'd5, BF16 = 3'd6;

  `include "pto_fix_convert.vh"
  `include "pto_fix_atomic.vh"

  function [31:0] combined;
    input [31:0] old;
    input [31:0] y;
    input [2:0]  kind;
    input [1:0]  op;
    input        nosat;
    case (kind)
      F32:     combined = fix_atomic_f32(old, y, op);
      S32:     combined = fix_atomic_s32(old, y, op);
      F16:     combined = {fix_atomic_f16(old[31:16], y[31:16], op, nosat),
                           fix_atomic_f16(old[15:0], y[15:0], op, nosat)};
      BF16:    combined = {fix_atomic_bf16(old[31:16], y[31:16], op),
                           fix_atomic_bf16(old[15:0], y[15:0], op)};
      S16:     combined = {fix_atomic_s16(old[31:16], y[31:16], op),
                           fix_atomic_s16(old[15:0], y[15:0], op)};
      S8:      combined = {fix_atomic_s8(old[31:24], y[31:24], op),
                           fix_atomic_s8(old[23:16], y[23:16], op),
                           fix_atomic_s8(old[15:8], y[15:8], op),
                           fix_atomic_s8(old[7:0], y[7:0], op)};
      default: combined = y;
    endcase
  endfunction

  always @(posedge clk_i) begin
    if (take_i) data_o <= on_i ? combined(old_i, y_i, type_i, op_i, nosat_i) : y_i;
  end
endmodule

`default_nettype wire
