// SPDX-License-Identifier: Apache-2.0
//
// Routes lines to destinations. A plain nd2nz line is an L1 block. A small-C0 nd2nz line holds
// the elements of one row, or of all rows of a block; they are spread to cells of four channels and
// collected until the block is full. A dn2nz line goes on to the transpose tiles.
// Throughput: one line per clock. Latency: none, except for an incomplete small-C0 block.
// Spec: nd2nz.md 3, 4.
//
//   clk          _/~\_/~\_/~\_/~\_
//   line_valid   _/~~~~~~~\_______      two rows that fill one small-C0 block
//   block_valid  _____/~~~\_______      with the line that fills it; stays until block_ready
`default_nettype none
`include "pto_records.vh"

module pto_nz_place (
  input  wire               clk_i,         // clock
  input  wire               rst_ni,        // asynchronous reset, active low
  input  wire               line_valid_i,  // a line is there
  output wire               line_ready_o,  // it is taken
  input  wire pto_nz_line_t line_of_i,     // its row, and its place in it
  input  wire [255:0]       line_i,        // the line
  output wire               tile_valid_o,  // the line goes to a tile
  input  wire               tile_ready_i,  // it is taken
  output wire [4:0]         tile_chunk_o,  // its number in its row
  output wire               block_valid_o, // a block is there
  input  wire               block_ready_i, // it is taken
  output wire               block_cut_o,   // it is a mere end of an op
  output wire pto_block_t   block_at_o,    // its destination
  output wire [255:0]       block_o        // the block
);
  wire pto_nz_row_t row = line_of_i.row;

  reg [14:0]  addr_q;                        // block of the line that follows in the row
  reg [4:0]   chunk_q;                       // its number
  reg         part_q;                        // collect_q holds cells of an incomplete block
  reg [255:0] collect_q;

  function [255:0] spread;                   // rows of `chans` elements to cells of four
    input [255:0] value;
    input [1:0]   elem;
    input [2:0]   chans;
    integer k, e, c, lane, from;
    begin
      spread = 256'd0;
      for (e = 0; e < 3; e = e + 1)
        for (c = 1; c <= 4; c = c + 1)
          if (elem == e[1:0] && chans == c[2:0])
            for (k = 0; k < 32; k = k + 1) begin
              lane = (k >> e) % 4;           // channel of byte k
              from = (((k >> e) / 4) * c + lane) * (1 << e) + k % (1 << e);
              if (lane < c) spread[8*k +: 8] = value[8*from +: 8];
            end
    end
  endfunction

  wire [2:0]   slot      = row.slot;
  wire [1:0]   elem      = row.elem;
  wire [255:0] cells     = spread(line_i, elem, row.chans)
                        << {slot << elem, 5'd0};           // a cell is 4 elements
  wire [255:0] collected = part_q ? collect_q | cells : cells;
  wire         collect   = row.small_c0 && !row.full && !row.cut;  // no block yet

  assign tile_valid_o  = line_valid_i && row.tiled;
  assign tile_chunk_o  = line_of_i.first ? 5'd0 : chunk_q;
  assign block_valid_o = line_valid_i && !row.tiled && !collect;
  assign block_cut_o   = row.cut;
  wire   block_fin     = row.cut || (row.final_row && line_of_i.last);
  wire [14:0] block_addr = line_of_i.first ? row.base : addr_q;
  assign block_at_o    = {block_fin, row.id, block_addr};
  assign block_o       = row.small_c0 ? collected : line_i;
  assign line_ready_o  = row.tiled ? tile_ready_i : collect || block_ready_i;

  always @(posedge clk_i) begin
    if (line_valid_i && line_ready_o) begin
      addr_q    <= block_addr + row.pace;
      chunk_q   <= tile_chunk_o + 5'd1;
      collect_q <= collected;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) part_q <= 1'b0;
    else if (line_valid_i && line_ready_o) part_q <= collect && !row.tiled;
  end
  wire unused = &{1'b0, line_of_i, row};
endmodule

`default_nettype wire
