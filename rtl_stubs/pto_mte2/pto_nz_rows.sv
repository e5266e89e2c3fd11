// SPDX-License-Identifier: Apache-2.0
//
// Walks the source rows of NZ jobs a second time, in the order of their beats, and gives for each
// the start in its bus word and the destination of its lines: L1 block of the first line (plain),
// its slot in a small-C0 block, or its place in a transpose tile.
// Throughput: one row per clock, also across jobs. Latency: job to row two clocks; four jobs wait.
// Spec: nd2nz.md 2 to 4.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________      job of two rows
//   row_valid  _________/~~~~~~~\     each stays until row_ready
`default_nettype none
`include "pto_records.vh"

module pto_nz_rows #(
  parameter integer GmBytes  = 32,           // bytes of a bus word: 16, 32 or 64
  parameter integer TileLog2 = 7             // log2 of the blocks of a tile
) (
  input  wire              clk_i,       // clock
  input  wire              rst_ni,      // asynchronous reset, active low
  input  wire              job_valid_i, // a job is there
  output wire              job_ready_o, // it is taken
  input  wire [3:0]        job_id_i,    // op number
  input  wire pto_nz_job_t job_i,       // the job
  input  wire              abort_ack_i, // op abort_id_i ends here, cut short
  input  wire [3:0]        abort_id_i,  // that op
  output wire              row_valid_o, // a row is there
  input  wire              row_ready_i, // it is taken
  output wire pto_nz_row_t row_o        // the row
);
  localparam integer LaneBits = $clog2(GmBytes);
  localparam integer JobWidth = 4 + 6 + 3 + 6 + 18 + 16 + 12 + 3*LaneBits + 4*15;

  // ---- jobs with beats being read ----
  wire                next_valid, next_ready;
  wire [JobWidth-1:0] next_job;
  wire [3:0]          n_id;
  wire                n_tiled, n_small, n_dense, n_pack;
  wire [1:0]          n_elem;
  wire [2:0]          n_chans;
  wire [5:0]          n_tail;
  wire [17:0]         n_row;
  wire [15:0]         n_rows;
  wire [11:0]         n_groups;
  wire [LaneBits-1:0] n_src, n_inner, n_outer;
  wire [14:0]         n_dst, n_loop2, n_loop3, n_loop4;

  pto_fifo #(
    .Width(JobWidth),
    .Depth(4)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (job_valid_i),
    .wr_ready_o (job_ready_o),
    .wr_data_i  ({job_id_i, job_i.tiled, job_i.small_c0, job_i.elem, job_i.dense, job_i.pack,
                  job_i.chans, job_i.tail, job_i.row, job_i.rows, job_i.groups,
                  job_i.src[LaneBits-1:0], job_i.inner[LaneBits-1:0], job_i.outer[LaneBits-1:0],
                  job_i.dst, job_i.loop2, job_i.loop3, job_i.loop4}),
    .rd_valid_o (next_valid),
    .rd_ready_i (next_ready),
    .rd_data_o  (next_job)
  );
  assign {n_id, n_tiled, n_small, n_elem, n_dense, n_pack, n_chans, n_tail, n_row, n_rows,
          n_groups, n_src, n_inner, n_outer, n_dst, n_loop2, n_loop3, n_loop4} = next_job;

  // ---- the current job ----
  reg [3:0]          id_q;
  reg                tiled_q, small_q, dense_q, pack_q;
  reg [1:0]          elem_q;
  reg [2:0]          chans_q;
  reg [5:0]          tail_q;
  reg [LaneBits-1:0] inner_q, outer_q;
  reg [LaneBits-1:0] lane_q;                 // of the current row
  reg [LaneBits-1:0] column_lane_q;          // of the first row of the current tile
  reg [LaneBits-1:0] group_lane_q;           // of the first row of the current group
  reg [LaneBits-1:0] row_q, gap_q;           // bytes of a row and between rows, when dense
  reg                share_q;
  reg [2:0]          slot_q;
  reg [14:0]         loop3_q, loop4_q;
  reg [14:0]         pace_q;                 // tiled: blocks per tile column; small: 1
  reg [14:0]         advance_q;              // to the next row (plain)
  reg [14:0]         base_q, column_q, group_q;

  wire        active, first_unused;
  wire [2:0]  level;
  wire [17:0] len;
  wire [4:0]  index;                         // row of the tile
  wire [5:0]  count;                         // rows of the tile
  wire        step = active && row_ready_i;

  pto_nz_nest #(
    .RowWidth (18),
    .TileLog2 (TileLog2)
  ) u_nest (
    .clk_i, .rst_ni,
    .load_i      (next_valid),
    .ready_o     (next_ready),
    .kill_i      (abort_ack_i && active && id_q == abort_id_i),
    .tiled_i     (n_tiled),
    .unit_i      (n_small ? 2'd3 : n_elem),
    .row_i       (n_row),
    .rows_i      (n_rows),
    .groups_i    (n_groups),
    .active_o    (active),
    .step_i      (step),
    .level_o     (level),
    .len_o       (len),
    .first_o     (first_unused),
    .index_o     (index),
    .tile_rows_o (count)
  );

  wire       group_end = level == 3'd3 || level == 3'd4;
  wire [3:0] cells     = 4'd8 >> elem_q;     // rows of a small-C0 block
  wire       slot_end  = pack_q || {1'b0, slot_q} == cells - 4'd1;

  wire        row_full  = slot_end || group_end;
  wire [17:0] row_len   = (pack_q && group_end) ? {12'd0, tail_q} : len;
  wire [5:0]  row_lane  = {{(6 - LaneBits){1'b0}}, lane_q};

  assign row_valid_o = active;
  assign row_o = {id_q, row_lane, share_q, level == 3'd4, tiled_q, small_q, elem_q, chans_q, slot_q,
                  row_full, base_q, tiled_q ? pace_q : loop3_q, index, count, level != 3'd0,
                  row_len};

  // ---- the next row ----
  // A word ends a dense row and begins the next unless the row, or the gap, reaches its end.
  // A dense row is one piece, also in a tile.
  wire [LaneBits-1:0]   end_lane = lane_q + row_q - {{(LaneBits - 1){1'b0}}, 1'b1};
  wire [LaneBits:0]     reach    = {1'b0, end_lane} + {1'b0, gap_q} + {{LaneBits{1'b0}}, 1'b1};
  wire                  share_d  = dense_q && !reach[LaneBits];
  wire [LaneBits-1:0]   next_lane  = lane_q + inner_q;
  wire [LaneBits-1:0]   next_glane = group_lane_q + outer_q;
  wire [14:0]           next_col   = column_q + loop3_q;
  wire [14:0]           next_group = group_q + loop4_q;

  always @(posedge clk_i) begin
    if (next_ready) begin
      id_q          <= n_id;
      tiled_q       <= n_tiled;
      small_q       <= n_small;
      dense_q       <= n_dense;
      pack_q        <= n_pack;
      elem_q        <= n_elem;
      chans_q       <= n_chans;
      tail_q        <= n_tail;
      inner_q       <= n_inner;
      outer_q       <= n_outer;
      lane_q        <= n_src;
      column_lane_q <= n_src;
      group_lane_q  <= n_src;
      row_q         <= n_row[LaneBits-1:0];
      gap_q         <= n_inner - n_row[LaneBits-1:0];
      share_q       <= 1'b0;
      slot_q        <= 3'd0;
      loop3_q       <= n_loop3;
      loop4_q       <= n_loop4;
      pace_q        <= n_small ? 15'd1 : n_loop2;
      advance_q     <= n_loop2;
      base_q        <= n_dst;
      column_q      <= n_dst;
      group_q       <= n_dst;
    end else if (step) begin
      slot_q <= row_full ? 3'd0 : slot_q + 3'd1;
      case (level)
        3'd0: begin
          lane_q  <= next_lane;
          share_q <= share_d;
          if (!tiled_q) begin
            if (!small_q) base_q <= base_q + advance_q;
            else if (row_full) base_q <= base_q + pace_q;
          end
        end
        3'd1: begin
          lane_q <= column_lane_q;
          base_q <= base_q + (pace_q << TileLog2);
        end
        3'd2: begin
          lane_q        <= next_lane;
          column_lane_q <= next_lane;
          share_q       <= share_d;
          base_q        <= next_col;
          column_q      <= next_col;
        end
        default: begin
          lane_q        <= next_glane;
          column_lane_q <= next_glane;
          group_lane_q  <= next_glane;
          share_q       <= 1'b0;
          base_q        <= next_group;
          column_q      <= next_group;
          group_q       <= next_group;
        end
      endcase
    end
  end

  wire unused = &{1'b0, first_unused, job_i};
endmodule

`default_nettype wire
