// SPDX-License-Identifier: Apache-2.0
//
// Transpose of loads to L0. A ring of 256 lines of 32 bytes holds squares and, of loads without
// transpose, single lines, all in their order. The memory is 64 banks of a nibble: a line of a
// square is rotated by its number when it is written, so that the elements of a column are in
// different banks, each with a separate address, and are read in one clock.
// Throughput: one line in and one line out per clock, also from square to square and from op to
// op. Latency: two clocks, from the last line of a square to its first column or from a single
// line to itself.
// Buffering: a square takes 64, 32, 16 or 8 lines and begins at a multiple of that; it is free
// again with its last column: at least three squares of 64, so one is filled while one is read.
// Spec: l0_loads.md 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   line_valid  _/~~~\___________________     last line of a square
//   out_valid   _________/~~~~~~~~~~~~~~~     a line per column, each until out_ready
`default_nettype none
`include "pto_records.vh"

module pto_l0_tile #(
  parameter integer Banks = 64               // nibbles of a line; fewer in proofs alone
) (
  input  wire               clk_i,        // clock
  input  wire               rst_ni,       // asynchronous reset, active low
  input  wire               line_valid_i, // a line is there
  output wire               line_ready_o, // it is taken
  input  wire pto_l0_line_t line_at_i,    // its place in its square
  input  wire [4*Banks-1:0] line_i,       // the line
  input  wire               at_valid_i,   // the destination of the next line out is there
  output wire               at_ready_o,   // it is taken
  input  wire pto_l0_line_t at_i,         // column of a square, or a single line
  input  wire               at_end_i,     // the last of its square, or of none
  input  wire pto_block_t   at_block_i,   // the destination
  output wire               out_valid_o,  // a line is there
  input  wire               out_ready_i,  // it is taken
  output wire pto_block_t   out_block_o,  // its destination
  output wire [4*Banks-1:0] out_o         // the line
);
  localparam integer Lines     = 4 * Banks;  // of the ring
  localparam integer IndexBits = $clog2(Banks);
  localparam integer RingBits  = $clog2(Lines);
  localparam [RingBits:0]    ONE    = {{RingBits{1'b0}}, 1'b1};
  localparam [RingBits:0]    SQUARE = Banks[RingBits:0];         // lines of the largest square
  localparam [RingBits:0]    LAST   = SQUARE - ONE;              // the last of them

  // Addresses have a bit more than the ring, which separates full from empty.
  reg [RingBits:0] fill_q;                   // next line in
  reg [RingBits:0] whole_q;                  // end of the lines and whole squares in the ring
  reg [RingBits:0] read_q;                   // end of the square or line read last
  reg [RingBits:0] free_q;                   // end of those that were taken

  function [RingBits:0] up;                  // to the next multiple of the lines of a square
    input [RingBits:0] value;
    input [1:0]        unit;
    up = (value + (LAST >> unit)) & ~(LAST >> unit);
  endfunction

  // ---- fill ----
  wire [IndexBits-1:0] fill_index = line_at_i.index[IndexBits-1:0];
  wire [IndexBits-1:0] fill_last  = LAST[IndexBits-1:0] >> line_at_i.unit;
  wire                 fill_first = line_at_i.turn && fill_index == {IndexBits{1'b0}};
  wire [RingBits:0]    fill_at    = fill_first ? up(fill_q, line_at_i.unit) : fill_q;
  wire [RingBits:0]    fill_used  = fill_at - free_q;
  wire                 fill       = line_valid_i && line_ready_o;
  wire [4*Banks-1:0]   stored;
  pto_rotate #(
    .Lanes    (Banks),
    .LaneBits (4)
  ) u_store (
    .value_i (line_i),
    .by_i    (line_at_i.turn ? fill_index << line_at_i.unit : {IndexBits{1'b0}}),
    .value_o (stored)
  );
  assign line_ready_o = !fill_used[RingBits]; // of the lines of the ring

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_q  <= {(RingBits + 1){1'b0}};
      whole_q <= {(RingBits + 1){1'b0}};
    end else if (fill) begin
      fill_q <= fill_at + ONE;
      if (!line_at_i.turn || fill_index == fill_last) whole_q <= fill_at + ONE;
    end
  end

  // ---- column to read (a), column at the memory's output (b) ----
  reg                 b_valid_q, b_end_q, b_turn_q;
  reg [1:0]           b_unit_q;
  reg [IndexBits-1:0] b_index_q;
  reg [RingBits-1:0]  b_base_q;              // first line of the square
  reg [RingBits:0]    b_next_q;              // first one after it
  pto_block_t         b_block_q;

  wire              b_free = !b_valid_q || out_ready_i;
  wire [RingBits:0] a_base = at_i.turn ? up(read_q, at_i.unit) : read_q;
  wire [RingBits:0] a_next = a_base + (at_i.turn ? SQUARE >> at_i.unit : ONE);
  wire              a_step = at_valid_i && read_q != whole_q && b_free;
  assign at_ready_o = read_q != whole_q && b_free;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      read_q    <= {(RingBits + 1){1'b0}};
      free_q    <= {(RingBits + 1){1'b0}};
    end else begin
      if (b_free) b_valid_q <= a_step;
      if (a_step && at_end_i) read_q <= a_next;
      if (b_valid_q && out_ready_i && b_end_q) free_q <= b_next_q;
    end
  end

  always @(posedge clk_i) begin
    if (a_step) begin
      b_end_q   <= at_end_i;
      b_turn_q  <= at_i.turn;
      b_unit_q  <= at_i.unit;
      b_index_q <= at_i.index[IndexBits-1:0];
      b_base_q  <= a_base[RingBits-1:0];
      b_next_q  <= a_next;
      b_block_q <= at_block_i;
    end
  end

  // ---- memory: while a line waits, it is read again ----
  wire                 turn_now  = b_free ? at_i.turn : b_turn_q;
  wire [1:0]           unit_now  = b_free ? at_i.unit : b_unit_q;
  wire [IndexBits-1:0] index_now = b_free ? at_i.index[IndexBits-1:0] : b_index_q;
  wire [RingBits-1:0]  base_now  = b_free ? a_base[RingBits-1:0] : b_base_q;
  wire [IndexBits-1:0] rows_mask = turn_now ? LAST[IndexBits-1:0] >> unit_now : {IndexBits{1'b0}};
  wire [4*Banks-1:0]   fetched;

  genvar b;
  generate
    for (b = 0; b < Banks; b = b + 1) begin : gen_bank
      localparam [IndexBits-1:0] BANK = b[IndexBits-1:0];
      // Bank b holds of column j the nibble of line b/unit - j.
      wire [IndexBits-1:0] row_here = (BANK >> unit_now) - index_now;
      pto_ram #(
        .Width(4),
        .Depth(Lines)
      ) u_ram (
        .clk_i,
        .wr_en_i   (fill),
        .wr_addr_i (fill_at[RingBits-1:0]),
        .wr_data_i (stored[4*b +: 4]),
        .rd_addr_i (base_now | {2'd0, row_here & rows_mask}),
        .rd_data_o (fetched[4*b +: 4])
      );
    end
  endgenerate

  assign out_valid_o = b_valid_q;
  assign out_block_o = b_block_q;
  pto_rotate #(
    .Lanes    (Banks),
    .LaneBits (4)
  ) u_fetch (
    .value_i (fetched),
    .by_i    (b_turn_q ? {IndexBits{1'b0}} - (b_index_q << b_unit_q) : {IndexBits{1'b0}}),
    .value_o (out_o)
  );

  wire unused = &{1'b0, fill_used[RingBits-1:0], line_at_i, at_i};
endmodule

`default_nettype wire
