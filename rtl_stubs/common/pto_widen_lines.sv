// SPDX-License-Identifier: Apache-2.0
//
// Turns lines of bias elements into destination words of 32-bit slots. A raw line is a word; a
// line of 16-bit elements is two, widened one half at a time, and only the halves that hold slots
// of the row are output. Slots outside the row are not defined.
// Throughput: one word per clock, also across rows. Latency: one clock, of raw lines none.
// Limits: WordBytes is 16, 32 or 64. Spec: bias_fb.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_
//   line_valid  _/~~~~~~~\_______     16-bit elements, a row of two words
//   line_ready  _____/~~~\_______
//   out_valid   _____/~~~~~~~\___     each word stays until out_ready
`default_nettype none

module pto_widen_lines #(
  parameter integer WordBytes = 32           // bytes of a line and of a word
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   row_valid_i,  // a row is there
  output wire                   row_ready_o,  // it is taken
  input  wire [1:0]             row_widen_i,  // 0 raw, 1 bf16, 2 f16
  input  wire                   row_half_i,   // half of the first line that has the first slot
  input  wire [16:0]            row_words_i,  // words, at least 1
  input  wire                   line_valid_i, // a line is there
  output wire                   line_ready_o, // it is used up
  input  wire [8*WordBytes-1:0] line_i,       // the line
  output wire                   out_valid_o,  // a word is there
  input  wire                   out_ready_i,  // it is taken
  output wire [8*WordBytes-1:0] out_o         // the word
);
  localparam integer WordBits = 8 * WordBytes;

  `include "pto_widen.vh"

  reg                active_q;
  reg [1:0]          widen_q;
  reg                half_q;
  reg [16:0]         left_q;                 // words not yet given
  reg                out_full_q;
  reg [WordBits-1:0] out_q;

  wire raw   = widen_q != 2'd1 && widen_q != 2'd2;
  wire pass  = active_q && raw && !out_full_q;             // a raw line is a word as it is
  wire last  = left_q == 17'd1;
  wire step  = active_q && line_valid_i && (raw ? pass && out_ready_i : !out_full_q || out_ready_i);

  assign row_ready_o  = !active_q || (step && last);
  assign line_ready_o = step && (raw || half_q || last);
  assign out_valid_o  = out_full_q || (pass && line_valid_i);
  assign out_o        = out_full_q ? out_q : line_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      out_full_q <= 1'b0;
    end else begin
      if (row_ready_o) active_q <= row_valid_i;
      if (step && !raw) out_full_q <= 1'b1;
      else if (out_ready_i) out_full_q <= 1'b0;
    end
  end

  function [WordBits-1:0] widened;           // half a line of 16-bit elements as slots
    input [WordBits/2-1:0] elements;
    input                  f16;
    integer k;
    for (k = 0; k < WordBytes / 4; k = k + 1)
      widened[32*k +: 32] = f16 ? pto_widen_f16(elements[16*k +: 16])
                                : pto_widen_bf16(elements[16*k +: 16]);
  endfunction

  wire [WordBits/2-1:0] part = half_q ? line_i[WordBits-1:WordBits/2] : line_i[WordBits/2-1:0];

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      widen_q <= row_widen_i;
      half_q  <= row_half_i;
      left_q  <= row_words_i;
    end else if (step) begin
      half_q <= !half_q;
      left_q <= left_q - 17'd1;
    end
    if (step && !raw) out_q <= widened(part, widen_q == 2'd2);
  end
endmodule

`default_nettype wire
