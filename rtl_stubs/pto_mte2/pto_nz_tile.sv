// SPDX-License-Identifier: Apache-2.0
//
// Transpose of dn2nz tiles: takes the source rows of a tile line by line and gives one L1 block
// per tile column: element r of the block is the element of row r. The memory is 32 byte banks;
// a line is rotated by the place of its row when it is written, so that the bytes of a column
// are in 32 different banks, each with a separate address, and are read in one clock.
// Units are elements, or 8 bytes for small-C0: the 8/E elements of four rows are one block, sorted
// into cells after the read.
// Throughput: one line in and one block out per clock. Latency: last line of a tile to its first
// block three clocks. Buffering: a ring of 8 regions of 32 lines; a tile takes 1 to 4 of them, a
// region is free again with its last block: two full tiles, or eight of up to 32 columns.
// Limits: a tile has at most 128 units per row. Spec: nd2nz.md 3, 4.
//
//   clk          _/~\_/~\_/~\_/~\_/~\_/~\_
//   line_valid   _/~~~~~~~\_______________      tile of two rows, one line each
//   block_valid  _________________/~~~~~~~      a block per column, each until block_ready
`default_nettype none
`include "pto_records.vh"

module pto_nz_tile (
  input  wire               clk_i,         // clock
  input  wire               rst_ni,        // asynchronous reset, active low
  input  wire               line_valid_i,  // a line is there
  output wire               line_ready_o,  // it is taken
  input  wire [255:0]       line_i,        // the line
  input  wire pto_nz_line_t line_of_i,     // its row, at most 128 units, and its place in it
  input  wire [4:0]         line_chunk_i,  // its number in its row
  output wire               block_valid_o, // a block is there
  input  wire               block_ready_i, // it is taken
  output wire               block_cut_o,   // it is a mere end of an op
  output wire pto_block_t   block_at_o,    // its destination
  output wire [255:0]       block_o        // the block
);
  localparam integer TileWidth = 1 + 1 + 4 + 2*15 + 7 + 6 + 1 + 2;

  wire pto_nz_row_t row = line_of_i.row;

  // ---- fill ----
  reg [2:0] fill_q;                          // first region of the tile being filled
  reg [3:0] free_q;                          // free regions from there on
  wire      push_ready;
  wire      release_one;                     // a region was read for the last time

  wire [1:0]  unit      = row.small_c0 ? 2'd3 : row.elem;
  wire [11:0] at        = ({7'd0, line_chunk_i} << (3'd5 - {1'b0, unit})) | {7'd0, row.index};
  wire [10:0] last_unit = (row.len[10:0] - 11'd1) >> unit;            // units of the row less 1
  wire        has_room  = {2'd0, at[6:5]} < free_q;
  wire        closes    = row.cut || (line_of_i.last && row.close);
  assign      line_ready_o = row.cut ? push_ready : has_room && (!closes || push_ready);
  wire        take      = line_valid_i && line_ready_o;
  wire        fill      = take && !row.cut;
  wire [3:0]  taken     = (fill && closes) ? {2'd0, last_unit[6:5]} + 4'd1 : 4'd0;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_q <= 3'd0;
      free_q <= 4'd8;
    end else begin
      fill_q <= fill_q + taken[2:0];
      free_q <= free_q - taken + {3'd0, release_one};
    end
  end

  wire [4:0]   index = row.index;
  wire [255:0] stored;
  pto_rotate u_store (
    .value_i (line_i),
    .by_i    (index << unit),
    .value_o (stored)
  );

  // ---- tiles that are full ----
  wire        tile_valid, tile_ready, t_null, t_fin, t_small;
  wire [3:0]  t_id;
  wire [14:0] t_base, t_pace;
  wire [6:0]  t_last;
  wire [5:0]  t_count;
  wire [1:0]  t_elem;

  pto_fifo #(
    .Width(TileWidth),
    .Depth(8)
  ) u_tiles (
    .clk_i, .rst_ni,
    .wr_valid_i (take && closes),
    .wr_ready_o (push_ready),
    .wr_data_i  ({row.cut, row.final_row, row.id, row.base, row.pace,
                  row.cut ? 7'd0 : last_unit[6:0], row.count, row.small_c0, row.elem}),
    .rd_valid_o (tile_valid),
    .rd_ready_i (tile_ready),
    .rd_data_o  ({t_null, t_fin, t_id, t_base, t_pace, t_last, t_count, t_small, t_elem})
  );

  // ---- column to read (a), column at the memory's output (b) ----
  reg        a_valid_q, a_null_q, a_fin_q, a_small_q;
  reg [3:0]  a_id_q;
  reg [14:0] a_addr_q, a_pace_q;
  reg [6:0]  a_at_q, a_last_q;               // column, last column
  reg [2:0]  a_region_q;                     // first region of the tile
  reg [5:0]  a_count_q;
  reg [1:0]  a_elem_q;
  reg        b_valid_q, b_null_q, b_fin_q, b_small_q, b_last_q;
  reg [3:0]  b_id_q;
  reg [14:0] b_addr_q;
  reg [6:0]  b_at_q;
  reg [2:0]  b_region_q;
  reg [5:0]  b_count_q;
  reg [1:0]  b_elem_q;
  reg [2:0]  drain_q;                        // first region of the next tile to be read

  wire b_free = !b_valid_q || block_ready_i;
  wire a_last = a_at_q == a_last_q;
  wire a_step = a_valid_q && b_free;
  assign tile_ready  = !a_valid_q || (a_step && a_last);
  assign release_one = b_valid_q && block_ready_i && !b_null_q && (b_last_q || &b_at_q[4:0]);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      drain_q   <= 3'd0;
    end else begin
      if (tile_ready) a_valid_q <= tile_valid;
      if (b_free) b_valid_q <= a_valid_q;
      if (tile_valid && tile_ready && !t_null) drain_q <= drain_q + {1'b0, t_last[6:5]} + 3'd1;
    end
  end

  always @(posedge clk_i) begin
    if (tile_ready) begin
      a_null_q   <= t_null;
      a_fin_q    <= t_fin;
      a_small_q  <= t_small;
      a_id_q     <= t_id;
      a_addr_q   <= t_base;
      a_pace_q   <= t_pace;
      a_at_q     <= 7'd0;
      a_last_q   <= t_last;
      a_region_q <= drain_q;
      a_count_q  <= t_count;
      a_elem_q   <= t_elem;
    end else if (a_step) begin
      a_at_q     <= a_at_q + 7'd1;
      a_addr_q   <= a_addr_q + a_pace_q;
    end
    if (a_step) begin
      b_null_q   <= a_null_q;
      b_fin_q    <= a_fin_q && a_last;
      b_small_q  <= a_small_q;
      b_last_q   <= a_last;
      b_id_q     <= a_id_q;
      b_addr_q   <= a_addr_q;
      b_at_q     <= a_at_q;
      b_region_q <= a_region_q;
      b_count_q  <= a_count_q;
      b_elem_q   <= a_elem_q;
    end
  end

  // ---- memory: while a block waits, its column is read again ----
  wire [6:0] at_now     = b_free ? a_at_q : b_at_q;
  wire [2:0] region_now = b_free ? a_region_q : b_region_q;
  wire [1:0] unit_now   = b_free ? (a_small_q ? 2'd3 : a_elem_q) : (b_small_q ? 2'd3 : b_elem_q);
  wire [4:0] rows_mask  = 5'd31 >> unit_now;                       // rows of a full tile less 1
  wire [2:0] region_rd  = region_now + {1'b0, at_now[6:5]};
  wire [2:0] region_wr  = fill_q + {1'b0, at[6:5]};
  wire [255:0] fetched;

  genvar b;
  generate
    for (b = 0; b < 32; b = b + 1) begin : gen_bank
      localparam [4:0] BANK = b[4:0];
      // Bank b holds of column j the byte of row b/unit - j.
      wire [4:0] row_here = (BANK >> unit_now) - at_now[4:0];
      pto_ram #(
        .Width(8),
        .Depth(256)
      ) u_ram (
        .clk_i,
        .wr_en_i   (fill),
        .wr_addr_i ({region_wr, at[4:0]}),
        .wr_data_i (stored[8*b +: 8]),
        .rd_addr_i ({region_rd, (at_now[4:0] & ~rows_mask) | (row_here & rows_mask)}),
        .rd_data_o (fetched[8*b +: 8])
      );
    end
  endgenerate

  // ---- the block: back to lane 0, rows beyond the last are 0, small-C0 sorted into cells ----
  function [255:0] sort;                     // four rows of 8 bytes to cells of four elements
    input [255:0] value;
    input [1:0]   elem;
    integer k, e, from;
    begin
      sort = value;
      for (e = 0; e < 3; e = e + 1)
        if (elem == e[1:0])
          for (k = 0; k < 32; k = k + 1) begin
            from = ((k >> e) % 4) * 8 + ((k >> e) / 4) * (1 << e) + k % (1 << e);
            sort[8*k +: 8] = value[8*from +: 8];
          end
    end
  endfunction

  wire [1:0]   b_unit  = b_small_q ? 2'd3 : b_elem_q;
  wire [4:0]   b_back  = b_at_q[4:0] << b_unit;
  wire [5:0]   b_bytes = b_count_q << b_unit;                      // 32 rows of 1 byte at most
  wire [255:0] turned;
  pto_rotate u_fetch (
    .value_i (fetched),
    .by_i    (5'd0 - b_back),
    .value_o (turned)
  );
  reg [255:0] column;
  always @* begin
    column = turned;
    if (!b_bytes[5]) column = turned & ~({256{1'b1}} << {b_bytes, 3'b000});
    if (b_small_q) column = sort(column, b_elem_q);
  end

  assign block_valid_o = b_valid_q;
  assign block_cut_o   = b_null_q;
  assign block_at_o    = {b_fin_q, b_id_q, b_addr_q};
  assign block_o       = column;

  wire unused = &{1'b0, line_of_i, row, at[11:7], last_unit[10:7]};
endmodule

`default_nettype wire
