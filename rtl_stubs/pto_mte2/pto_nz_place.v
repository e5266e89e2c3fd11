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

module pto_nz_place #(
  parameter integer BlockWidth = 15          // bits of a 32-byte block number in L1
) (
  input  wire                  clk_i,         // clock
  input  wire                  rst_ni,        // asynchronous reset, active low
  input  wire                  line_valid_i,  // a line is there
  output wire                  line_ready_o,  // it is taken
  input  wire [255:0]          line_i,        // the line
  input  wire                  line_null_i,   // no line: the op ends here, cut short
  input  wire                  line_first_i,  // first line of its row
  input  wire                  line_last_i,   // last line of its row
  input  wire                  line_final_i,  // of the last row of its op
  input  wire                  line_tiled_i,  // goes to a tile
  input  wire                  line_small_i,  // small-C0 packing
  input  wire [1:0]            line_elem_i,   // log2 of the element size
  input  wire [2:0]            line_chans_i,  // small-C0: channels
  input  wire [2:0]            line_slot_i,   // small-C0: its first cell
  input  wire                  line_full_i,   // small-C0: it fills its block
  input  wire [BlockWidth-1:0] line_base_i,   // block of the first line of its row
  input  wire [BlockWidth-1:0] line_pace_i,   // to the block of the next line
  output wire                  tile_valid_o,  // the line goes to a tile
  input  wire                  tile_ready_i,  // it is taken
  output wire [4:0]            tile_chunk_o,  // its number in its row
  output wire                  block_valid_o, // a block is there
  input  wire                  block_ready_i, // it is taken
  output wire                  block_write_o, // it is to be written, else a mere end of an op
  output wire                  block_fin_o,   // last block of its op
  output wire [BlockWidth-1:0] block_addr_o,  // block number
  output wire [255:0]          block_o        // the block
);
  reg [BlockWidth-1:0] addr_q;               // block of the line that follows in the row
  reg [4:0]            chunk_q;              // its number
  reg                  part_q;               // collect_q holds cells of an incomplete block
  reg [255:0]          collect_q;

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

  wire [255:0] cells     = spread(line_i, line_elem_i, line_chans_i)
                        << {line_slot_i << line_elem_i, 5'd0};     // a cell is 4 elements
  wire [255:0] collected = part_q ? collect_q | cells : cells;
  wire         collect   = line_small_i && !line_full_i && !line_null_i;  // no block yet

  assign tile_valid_o  = line_valid_i && line_tiled_i;
  assign tile_chunk_o  = line_first_i ? 5'd0 : chunk_q;
  assign block_valid_o = line_valid_i && !line_tiled_i && !collect;
  assign block_write_o = !line_null_i;
  assign block_fin_o   = line_null_i || (line_final_i && line_last_i);
  assign block_addr_o  = line_first_i ? line_base_i : addr_q;
  assign block_o       = line_small_i ? collected : line_i;
  assign line_ready_o  = line_tiled_i ? tile_ready_i : collect || block_ready_i;

  always @(posedge clk_i) begin
    if (line_valid_i && line_ready_o) begin
      addr_q    <= block_addr_o + line_pace_i;
      chunk_q   <= tile_chunk_o + 5'd1;
      collect_q <= collected;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) part_q <= 1'b0;
    else if (line_valid_i && line_ready_o) part_q <= collect && !line_tiled_i;
  end
endmodule

`default_nettype wire
