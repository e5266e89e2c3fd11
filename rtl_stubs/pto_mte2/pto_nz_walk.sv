// SPDX-License-Identifier: Apache-2.0
//
// Walks the source rows of NZ jobs: groups, C0 columns, chunks of a row, rows, the last innermost.
// A plain job has one column of all its rows and one chunk per row. A tiled job goes tile by tile:
// at most 32 / unit rows, of each a chunk of 2^TileLog2 units. Each row leaves with the destination
// of its lines: L1 block of the first line (plain), its slot in a small-C0 block, or its place in a
// transpose tile; and with the bytes of GM to read for it. A dense matrix is read as one, with its
// first row. After an error of its op a row that would read leaves as the end of the op (cut).
// Throughput: one row per clock, also across jobs. Latency: job to row two clocks.
// Spec: nd2nz.md 2 to 4; docs/contract.md, errors.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\_______________      job of two rows
//   row_valid  _________/~~~~~~~\___      each stays until row_ready
`default_nettype none
`include "pto_records.vh"

module pto_nz_walk #(
  parameter integer GmBytes  = 32,           // bytes of a bus word: 16, 32 or 64
  parameter integer TileLog2 = 7             // log2 of the units of a chunk
) (
  input  wire                       clk_i,       // clock
  input  wire                       rst_ni,      // asynchronous reset, active low
  input  wire                       job_valid_i, // a job is there
  output wire                       job_ready_o, // it is taken
  input  wire [3:0]                 job_id_i,    // op number
  input  wire pto_nz_job_t          job_i,       // the job
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,       // per op: an access failed
  output wire                       row_valid_o, // a row is there
  input  wire                       row_ready_i, // it is taken
  output wire pto_nz_row_t          row_o,       // the row
  output wire                       reads_o,     // bytes are to be read with it
  output wire pto_gm_row_t          read_o       // those bytes
);
  localparam integer LaneBits = $clog2(GmBytes);

  // ---- the current job, and the row in work ----
  reg          active_q;
  reg [3:0]    id_q;
  pto_nz_job_t job_q;
  reg [11:0]   groups_left_q;
  reg [15:0]   rows_left_q;                  // tiled: from the current column on
  reg [17:0]   left_q;                       // bytes from the current chunk on
  reg          head_q;                       // in the first chunk of its rows
  reg          start_q;                      // first row of its matrix
  reg [4:0]    index_q;                      // tiled: row of the tile
  reg          share_q;                      // begins in the last word of the row before
  reg [2:0]    slot_q;                       // small-C0: cell of the block
  reg [39:0]   addr_q;                       // GM address
  reg [39:0]   chunk_q;                      // that of the first row of the tile
  reg [39:0]   column_q;                     // that of the next C0 column
  reg [39:0]   group_q;                      // that of the matrix
  reg [14:0]   base_q;                       // first L1 block
  reg [14:0]   base_column_q;                // that of the C0 column
  reg [14:0]   base_group_q;                 // that of the matrix

  // ---- the row that leaves ----
  reg          out_valid_q;
  reg          out_reads_q;
  pto_nz_row_t out_q;
  pto_gm_row_t out_read_q;

  // ---- which row is next: 0 row, 1 chunk, 2 column, 3 group, 4 none ----
  wire        tiled     = job_q.tiled;
  wire [1:0]  unit      = job_q.small_c0 ? 2'd3 : job_q.elem;   // log2 of its bytes
  wire [15:0] most      = 16'd32 >> unit;
  wire [17:0] chunk     = 18'd1 << (TileLog2[3:0] + {2'd0, unit});
  wire        end_col   = !tiled || rows_left_q <= most;
  wire        end_chunk = !tiled || left_q <= chunk;
  wire [5:0]  tile_rows = end_col ? rows_left_q[5:0] : most[5:0];
  wire [4:0]  last_row  = tile_rows[4:0] - 5'd1;
  wire        end_row   = tiled ? index_q == last_row : rows_left_q == 16'd1;
  wire [2:0]  level     = !end_row ? 3'd0 : !end_chunk ? 3'd1 : !end_col ? 3'd2
                        : (groups_left_q != 12'd0) ? 3'd3 : 3'd4;
  wire        group_end = level == 3'd3 || level == 3'd4;

  // Rows of a dense matrix are complete: its bytes are read, or made up, all or none.
  wire reads = !job_q.dense || start_q;
  wire cut   = reads && err_i[id_q];
  wire free  = !out_valid_q || row_ready_i;
  wire step  = active_q && free;
  assign job_ready_o = !active_q || (step && (cut || level == 3'd4));

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q    <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (job_ready_o) active_q <= job_valid_i;
      if (free) out_valid_q <= active_q;
    end
  end

  // ---- the row ----
  wire [3:0]  cells     = 4'd8 >> job_q.elem;   // rows of a small-C0 block
  wire        slot_end  = job_q.pack || {1'b0, slot_q} == cells - 4'd1;
  wire        row_full  = slot_end || group_end;
  wire [14:0] tile_pace = job_q.small_c0 ? 15'd1 : job_q.loop2;
  wire [17:0] len       = end_chunk ? left_q : chunk;

  always @(posedge clk_i) begin
    if (free) begin
      out_reads_q         <= reads && !cut;
      out_read_q          <= {1'b0, level == 3'd4, id_q, addr_q,
                              job_q.dense ? job_q.span : {5'd0, len}};
      out_q.cut           <= cut;
      out_q.id            <= id_q;
      out_q.lane          <= {{(6 - LaneBits){1'b0}}, addr_q[LaneBits-1:0]};
      out_q.share         <= share_q;
      out_q.final_row     <= cut || level == 3'd4;
      out_q.tiled         <= tiled;
      out_q.small_c0      <= job_q.small_c0;
      out_q.elem          <= job_q.elem;
      out_q.chans         <= job_q.chans;
      out_q.slot          <= slot_q;
      out_q.full          <= row_full;
      out_q.base          <= base_q;
      out_q.pace          <= tiled ? tile_pace : job_q.loop3;
      out_q.index         <= index_q;
      out_q.count         <= tile_rows;
      out_q.close         <= level != 3'd0;
      out_q.len           <= (job_q.pack && group_end) ? {12'd0, job_q.tail} : len;
    end
  end

  assign row_valid_o = out_valid_q;
  assign row_o       = out_q;
  assign reads_o     = out_reads_q;
  assign read_o      = out_read_q;

  // ---- the next row ----
  // A word ends a row of a dense matrix and begins the next unless the row, or the gap, reaches its
  // end. Such a row is one piece, also in a tile.
  wire [LaneBits-1:0] gap        = job_q.inner[LaneBits-1:0] - job_q.row[LaneBits-1:0];
  wire [LaneBits-1:0] end_lane   = addr_q[LaneBits-1:0] + job_q.row[LaneBits-1:0]
                                 - {{(LaneBits - 1){1'b0}}, 1'b1};
  wire [LaneBits:0]   reach      = {1'b0, end_lane} + {1'b0, gap} + {{LaneBits{1'b0}}, 1'b1};
  wire                share_d    = job_q.dense && !reach[LaneBits];
  wire [39:0]         next_row   = addr_q + job_q.inner;
  wire [39:0]         next_chunk = chunk_q + {22'd0, chunk};
  wire [39:0]         next_group = group_q + job_q.outer;
  wire [39:0]         next_col   = head_q ? next_row : column_q;
  wire [14:0]         base_col   = base_column_q + job_q.loop3;
  wire [14:0]         base_group = base_group_q + job_q.loop4;

  always @(posedge clk_i) begin
    if (job_ready_o) begin
      id_q          <= job_id_i;
      job_q         <= job_i;
      groups_left_q <= job_i.groups;
      rows_left_q   <= job_i.rows;
      left_q        <= job_i.row;
      head_q        <= 1'b1;
      start_q       <= 1'b1;
      index_q       <= 5'd0;
      share_q       <= 1'b0;
      slot_q        <= 3'd0;
      addr_q        <= job_i.src;
      chunk_q       <= job_i.src;
      group_q       <= job_i.src;
      base_q        <= job_i.dst;
      base_column_q <= job_i.dst;
      base_group_q  <= job_i.dst;
    end else if (step) begin
      start_q <= 1'b0;
      index_q <= (level == 3'd0) ? index_q + 5'd1 : 5'd0;
      slot_q  <= row_full ? 3'd0 : slot_q + 3'd1;
      case (level)
        3'd0: begin
          addr_q  <= next_row;
          share_q <= share_d;
          if (!tiled) begin
            rows_left_q <= rows_left_q - 16'd1;
            if (!job_q.small_c0 || row_full) base_q <= base_q + tile_pace;
          end
        end
        3'd1: begin
          addr_q  <= next_chunk;
          chunk_q <= next_chunk;
          left_q  <= left_q - chunk;
          head_q  <= 1'b0;
          if (head_q) column_q <= next_row;
          base_q  <= base_q + (tile_pace << TileLog2);
        end
        3'd2: begin
          addr_q        <= next_col;
          chunk_q       <= next_col;
          share_q       <= share_d;
          rows_left_q   <= rows_left_q - most;
          left_q        <= job_q.row;
          head_q        <= 1'b1;
          base_q        <= base_col;
          base_column_q <= base_col;
        end
        default: begin
          addr_q        <= next_group;
          chunk_q       <= next_group;
          group_q       <= next_group;
          share_q       <= 1'b0;
          rows_left_q   <= job_q.rows;
          left_q        <= job_q.row;
          head_q        <= 1'b1;
          start_q       <= 1'b1;
          groups_left_q <= groups_left_q - 12'd1;
          base_q        <= base_group;
          base_column_q <= base_group;
          base_group_q  <= base_group;
        end
      endcase
    end
  end

  wire unused = &{1'b0, job_q};              // kept apart: what changes from row to row
endmodule

`default_nettype wire
