// SPDX-License-Identifier: Apache-2.0
//
// Loop control of an NZ job, shared by the walker of the reads and the walker of the rows:
// groups, C0 columns, chunks of a row, rows, the last innermost. A plain job (tiled 0) has one
// column of all its rows and one chunk per row. A tiled job goes tile by tile: at most 32 / unit
// rows, of each a chunk of 2^TileLog2 units; the unit is 2^unit bytes.
// Throughput: one row per clock, also from one job to the next. Latency: one clock.
// Spec: nd2nz.md 2 to 4.
//
//   clk     _/~\_/~\_/~\_/~\_
//   load    _/~~~\___________      job of two rows
//   active  _____/~~~~~~~\___      level selects the next row; step goes there
`default_nettype none

module pto_nz_nest #(
  parameter integer RowWidth = 18,           // bits of the bytes of a row
  parameter integer TileLog2 = 7             // log2 of the units of a chunk
) (
  input  wire                clk_i,      // clock
  input  wire                rst_ni,     // asynchronous reset, active low
  input  wire                load_i,     // take a job, only with ready_o
  output wire                ready_o,    // no job, or the last row leaves this clock
  input  wire                kill_i,     // forget the job
  input  wire                tiled_i,    // tile by tile
  input  wire [1:0]          unit_i,     // log2 of the bytes of a unit
  input  wire [RowWidth-1:0] row_i,      // bytes of a row
  input  wire [15:0]         rows_i,     // rows of a group, at least 1
  input  wire [11:0]         groups_i,   // groups less 1
  output wire                active_o,   // a row is in work
  input  wire                step_i,     // go on to the next
  output wire [2:0]          level_o,    // which is: 0 row, 1 chunk, 2 column, 3 group, 4 none
  output wire [RowWidth-1:0] len_o,      // bytes of the row or chunk in work
  output wire                first_o,    // it is in the first chunk of its rows
  output wire [4:0]          index_o,    // tiled: its row of the tile
  output wire [5:0]          tile_rows_o // tiled: rows of the tile
);
  localparam [RowWidth-1:0] ONE = {{(RowWidth - 1){1'b0}}, 1'b1};

  reg                active_q;
  reg                tiled_q;
  reg [1:0]          unit_q;
  reg [RowWidth-1:0] row_q;
  reg [15:0]         rows_q;
  reg [11:0]         groups_left_q;
  reg [15:0]         rows_left_q;            // tiled: from the current column on
  reg [RowWidth-1:0] left_q;                 // bytes from the current chunk on
  reg                first_q;
  reg [4:0]          index_q;

  wire [15:0]         most      = 16'd32 >> unit_q;
  wire [RowWidth-1:0] chunk     = ONE << (TileLog2[3:0] + {2'd0, unit_q});
  wire                end_col   = !tiled_q || rows_left_q <= most;
  wire                end_chunk = !tiled_q || left_q <= chunk;
  wire [4:0]          last_row  = tile_rows_o[4:0] - 5'd1;
  wire                end_row   = tiled_q ? index_q == last_row : rows_left_q == 16'd1;

  assign tile_rows_o = end_col ? rows_left_q[5:0] : most[5:0];
  assign level_o     = !end_row ? 3'd0 : !end_chunk ? 3'd1 : !end_col ? 3'd2
                     : (groups_left_q != 12'd0) ? 3'd3 : 3'd4;
  assign len_o       = end_chunk ? left_q : chunk;
  assign first_o     = first_q;
  assign index_o     = index_q;
  assign active_o    = active_q;
  assign ready_o     = !active_q || (step_i && level_o == 3'd4);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (kill_i) active_q <= 1'b0;
    else if (ready_o) active_q <= load_i;
  end

  always @(posedge clk_i) begin
    if (ready_o) begin
      tiled_q       <= tiled_i;
      unit_q        <= unit_i;
      row_q         <= row_i;
      rows_q        <= rows_i;
      groups_left_q <= groups_i;
      rows_left_q   <= rows_i;
      left_q        <= row_i;
      first_q       <= 1'b1;
      index_q       <= 5'd0;
    end else if (step_i) begin
      index_q <= (level_o == 3'd0) ? index_q + 5'd1 : 5'd0;
      case (level_o)
        3'd0: begin
          if (!tiled_q) rows_left_q <= rows_left_q - 16'd1;
        end
        3'd1: begin
          left_q  <= left_q - chunk;
          first_q <= 1'b0;
        end
        3'd2: begin
          rows_left_q <= rows_left_q - most;
          left_q      <= row_q;
          first_q     <= 1'b1;
        end
        default: begin
          rows_left_q   <= rows_q;
          left_q        <= row_q;
          first_q       <= 1'b1;
          groups_left_q <= groups_left_q - 12'd1;
        end
      endcase
    end
  end
endmodule

`default_nettype wire
