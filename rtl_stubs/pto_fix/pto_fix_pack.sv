// SPDX-License-Identifier: Apache-2.0
//
// Packs the results of a word, or of a chunk of a transposed column, to bytes without gaps: 16
// elements of 4, 8, 16 or 32 bits, element 0 lowest, a 4-bit element with even index in the low
// nibble. Words and columns come from two sides, in the order of their ops: a word waits until the
// transposer is empty, and the transposer gets its rows only from words that have passed.
// Throughput: one chunk per clock. Latency: one clock. Spec: fixpipe.md section 2.
//
//   clk        _/~\_/~\_/~\_/~\_
//   in_valid   _/~~~\___________
//   out_valid  _____/~~~~~~~\___      stays until out_ready
`default_nettype none

module pto_fix_pack (
  input  wire         clk_i,        // clock
  input  wire         rst_ni,       // asynchronous reset, active low
  input  wire         word_valid_i, // a word of results is there
  output wire         word_ready_o, // it is taken
  input  wire [511:0] word_data_i,  // 16 elements in the low bits of 32 each
  input  wire [4:0]   word_count_i, // those that count, 1 to 16
  input  wire         word_high_i,  // elements 8 to 15 count
  input  wire [1:0]   word_size_i,  // bytes of an element: (1 << size) / 2
  input  wire         tile_busy_i,  // the transposer is not empty
  input  wire         tile_valid_i, // a chunk of a column is there
  output wire         tile_ready_o, // it is taken
  input  wire [511:0] tile_data_i,  // 16 elements in the low bits of 32 each
  input  wire [4:0]   tile_count_i, // those that count, 1 to 16
  input  wire [1:0]   tile_size_i,  // as word_size_i
  output wire         out_valid_o,  // a chunk of bytes is there
  input  wire         out_ready_i,  // it is taken
  output wire [511:0] out_data_o,   // bytes, those above the count are not defined
  output wire [6:0]   out_bytes_o   // those that count, 1 to 64
);
  reg         out_valid_q;
  reg [511:0] out_data_q;
  reg [6:0]   out_bytes_q;

  wire room = !out_valid_q || out_ready_i;
  assign word_ready_o = room && !tile_busy_i;
  assign tile_ready_o = room;
  wire   take_word    = word_valid_i && word_ready_o;
  wire   take_tile    = tile_valid_i && tile_ready_o;

  function [511:0] dense;
    input [511:0] value;
    input [1:0]   size;
    integer k;
    begin
      dense = 512'd0;
      case (size)
        2'd0:    for (k = 0; k < 16; k = k + 1) dense[4*k +: 4] = value[32*k +: 4];
        2'd1:    for (k = 0; k < 16; k = k + 1) dense[8*k +: 8] = value[32*k +: 8];
        2'd2:    for (k = 0; k < 16; k = k + 1) dense[16*k +: 16] = value[32*k +: 16];
        default: dense = value;
      endcase
    end
  endfunction

  function [6:0] bytes;
    input [4:0] count;
    input [1:0] size;
    bytes = (size == 2'd0) ? {3'd0, count[4:1]} : {2'd0, count} << (size - 2'd1);
  endfunction

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else if (take_word || take_tile) out_valid_q <= 1'b1;
    else if (out_ready_i) out_valid_q <= 1'b0;
  end

  always @(posedge clk_i) begin
    if (take_tile) begin
      out_data_q  <= dense(tile_data_i, tile_size_i);
      out_bytes_q <= bytes(tile_count_i, tile_size_i);
    end else if (take_word) begin
      out_data_q  <= word_high_i ? {256'd0, word_data_i[511:256]}    // f32 only
                                 : dense(word_data_i, word_size_i);
      out_bytes_q <= bytes(word_count_i, word_size_i);
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
  assign out_bytes_o = out_bytes_q;
endmodule

`default_nettype wire
