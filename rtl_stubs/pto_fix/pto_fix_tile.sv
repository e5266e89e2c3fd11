// SPDX-License-Identifier: Apache-2.0
//
// Transposes tiles for nz2dn: takes rows of up to 16 columns, gives the columns one after the
// other, each in chunks of 16 rows. Storage is a ring of rows in 16 banks; lane l of row r lies in
// bank (l + r) mod 16, so that a row is written, and 16 rows of a column are read, in one clock.
// Throughput: one row in and one chunk out per clock; a tile of r rows and c columns takes the
// larger of r and c * ceil(r / 16) clocks, and the next one fills while it is read.
// Latency: last row of a tile to its first chunk 3 clocks. Limits: a tile has at most half the
// rows of the ring, so that two of them fit. Spec: fixpipe.md section 2, nz2dn.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   in_valid   _/~~~~~~~\___________________      tile of two rows
//   in_close   _____/~~~\___________________
//   out_valid  _________________/~~~~~~~\___      a chunk per column, each until out_ready
`default_nettype none

module pto_fix_tile #(
  parameter integer RowBits   = 7,           // log2 of the rows of the ring
  parameter integer InfoWidth = 2            // bits that accompany a tile
) (
  input  wire                 clk_i,       // clock
  input  wire                 rst_ni,      // asynchronous reset, active low
  input  wire                 in_valid_i,  // a row is there
  output wire                 in_ready_o,  // it is taken
  input  wire [511:0]         in_data_i,   // 16 elements of 32 bits
  input  wire [4:0]           in_cols_i,   // those that count, 1 to 16, the same in a tile
  input  wire                 in_close_i,  // last row of its tile
  input  wire [InfoWidth-1:0] in_info_i,   // goes with the tile
  output wire                 out_valid_o, // a chunk is there
  input  wire                 out_ready_i, // it is taken
  output wire [511:0]         out_data_o,  // 16 elements
  output wire [4:0]           out_count_o, // those that count, 1 to 16
  output wire [InfoWidth-1:0] out_info_o,  // what came with the tile
  output wire                 busy_o       // there are elements inside
);
  localparam integer Rows = 1 << RowBits;
  localparam [RowBits:0] ALL = {1'b1, {RowBits{1'b0}}};

  // ---- fill ----
  reg [RowBits-1:0] row_q;                   // place of the next row
  reg [RowBits-1:0] count_q;                 // rows of its tile so far
  reg [RowBits:0]   free_q;                  // free rows
  wire              tiles_ready;
  wire [4:0]        freed;                   // rows read for the last time
  wire               take = in_valid_i && in_ready_o;
  assign in_ready_o = free_q != {(RowBits + 1){1'b0}} && tiles_ready;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q   <= {RowBits{1'b0}};
      count_q <= {RowBits{1'b0}};
      free_q  <= ALL;
    end else begin
      if (take) begin
        row_q   <= row_q + 1'b1;
        count_q <= in_close_i ? {RowBits{1'b0}} : count_q + 1'b1;
      end
      free_q <= free_q - {{RowBits{1'b0}}, take} + {{(RowBits - 4){1'b0}}, freed};
    end
  end

  // ---- tiles that are complete ----
  wire                 tile_valid, tile_take;
  wire [RowBits-1:0]   tile_last;            // rows less 1
  wire [4:0]           tile_cols;
  wire [InfoWidth-1:0] tile_info;

  pto_fifo #(
    .Width(RowBits + 5 + InfoWidth),
    .Depth(8)
  ) u_tiles (
    .clk_i, .rst_ni,
    .wr_valid_i (take && in_close_i),
    .wr_ready_o (tiles_ready),
    .wr_data_i  ({count_q, in_cols_i, in_info_i}),
    .rd_valid_o (tile_valid),
    .rd_ready_i (tile_take),
    .rd_data_o  ({tile_last, tile_cols, tile_info})
  );

  // ---- read: chunk by chunk, column by column ----
  reg [RowBits-1:0] base_q;                  // first row of the tile
  reg [RowBits-1:0] done_q;                  // rows of this column already read
  reg [3:0]         col_q;
  reg               got_valid_q;             // a chunk is at the outputs of the banks
  reg               out_valid_q;

  wire               out_step  = !out_valid_q || out_ready_i;
  wire               read      = tile_valid && (!got_valid_q || out_step);
  wire [RowBits-1:0] left      = tile_last - done_q;             // rows left less 1
  wire               col_end   = left < {{(RowBits - 5){1'b0}}, 5'd16};
  wire               last_col  = {1'b0, col_q} == tile_cols - 5'd1;
  wire [4:0]         rows_here = col_end ? {1'b0, left[3:0]} + 5'd1 : 5'd16;
  wire [RowBits-1:0] first     = base_q + done_q;
  wire [3:0]         turn      = first[3:0] + col_q;             // bank of the first element
  assign tile_take = read && col_end && last_col;
  assign freed     = (read && last_col) ? rows_here : 5'd0;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      base_q      <= {RowBits{1'b0}};
      done_q      <= {RowBits{1'b0}};
      col_q       <= 4'd0;
      got_valid_q <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (read) begin
        done_q <= col_end ? {RowBits{1'b0}} : done_q + {{(RowBits - 5){1'b0}}, 5'd16};
        if (col_end) col_q <= last_col ? 4'd0 : col_q + 4'd1;
        if (tile_take) base_q <= base_q + tile_last + 1'b1;
      end
      if (read) got_valid_q <= 1'b1;
      else if (out_step) got_valid_q <= 1'b0;
      if (out_step) out_valid_q <= got_valid_q;
    end
  end

  // ---- banks ----
  function [511:0] turned;                   // lanes towards higher ones
    input [511:0] value;
    input [3:0]   by;
    reg [9:0] bits;
    begin
      bits   = {1'b0, by, 5'd0};
      turned = (value << bits) | (value >> (10'd512 - bits));
    end
  endfunction

  reg  [511:0] banked;                       // the row, lane by bank
  wire [511:0] got;
  always @(*) begin
    banked = 512'd0;
    if (take) banked = turned(in_data_i, row_q[3:0]);
  end

  genvar b;
  generate
    for (b = 0; b < 16; b = b + 1) begin : gen_bank
      localparam [3:0] BANK = b;
      reg [31:0] mem_q [0:Rows-1];
      reg [31:0] got_q;
      wire [3:0]         place = BANK - turn;                    // element of the chunk
      wire [RowBits-1:0] row   = first + {{(RowBits - 4){1'b0}}, place};
      always @(posedge clk_i) begin
        if (take) mem_q[row_q] <= banked[32*b +: 32];
        if (read) got_q <= mem_q[row];
      end
      assign got[32*b +: 32] = got_q;
    end
  endgenerate

  // ---- back to lanes ----
  reg [3:0]           got_turn_q;
  reg [4:0]           got_count_q;
  reg [InfoWidth-1:0] got_info_q;
  reg [511:0]         out_data_q;
  reg [4:0]           out_count_q;
  reg [InfoWidth-1:0] out_info_q;

  always @(posedge clk_i) begin
    if (read) begin
      got_turn_q  <= turn;
      got_count_q <= rows_here;
      got_info_q  <= tile_info;
    end
    if (out_step && got_valid_q) begin
      out_data_q  <= turned(got, 4'd0 - got_turn_q);
      out_count_q <= got_count_q;
      out_info_q  <= got_info_q;
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
  assign out_count_o = out_count_q;
  assign out_info_o  = out_info_q;
  assign busy_o      = free_q != ALL || got_valid_q || out_valid_q;
endmodule

`default_nettype wire
