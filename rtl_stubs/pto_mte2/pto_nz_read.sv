// SPDX-License-Identifier: Apache-2.0
//
// Walks the source rows of NZ jobs and cuts them into AXI bursts: first address aligned down to
// the bus word, a cut at every 4 KiB boundary. A dense job is one row per matrix here.
// Throughput: one burst per clock, also across rows and jobs. Latency: job to command three clocks.
// After a failed access the rest of the op is dropped and abort_o stays high until the consumer of
// the beats has discarded those already requested (abort_ack_i).
// Spec: nd2nz.md 2; CONTRACT, m_axi rules and errors.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\_______________      one row over a 4 KiB boundary
//   cmd_valid  _____________/~~~~~~~\      two commands, each stays until cmd_ready
`default_nettype none
`include "pto_records.vh"

module pto_nz_read #(
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
  output wire                       abort_o,     // no more commands of op abort_id_o
  output wire [3:0]                 abort_id_o,  // that op
  input  wire                       abort_ack_i, // its beats are gone
  output wire                       cmd_valid_o, // a burst is there
  input  wire                       cmd_ready_i, // it is taken
  output wire pto_burst_t           cmd_o        // the burst
);
  // ---- the current row ----
  reg [3:0]  id_q;
  reg [1:0]  unit_q;
  reg [39:0] inner_q, outer_q;
  reg [39:0] addr_q;                         // of the current row or chunk
  reg [39:0] chunk_q;                        // first row of the current tile
  reg [39:0] column_q;                       // first row of the next C0 column
  reg [39:0] group_q;                        // first row of the current group

  wire [1:0]  job_unit = job_i.small_c0 ? 2'd3 : job_i.elem;  // log2 of the bytes of a tile's unit
  wire        active, step, kill, first;
  wire [2:0]  level;
  wire [22:0] len;
  wire [4:0]  index_unused;
  wire [5:0]  tile_rows_unused;

  pto_nz_nest #(
    .RowWidth (23),
    .TileLog2 (TileLog2)
  ) u_nest (
    .clk_i, .rst_ni,
    .load_i      (job_valid_i),
    .ready_o     (job_ready_o),
    .kill_i      (kill),
    .tiled_i     (job_i.tiled && !job_i.dense),
    .unit_i      (job_unit),
    .row_i       (job_i.dense ? job_i.span : {5'd0, job_i.row}),
    .rows_i      (job_i.dense ? 16'd1 : job_i.rows),
    .groups_i    (job_i.groups),
    .active_o    (active),
    .step_i      (step),
    .level_o     (level),
    .len_o       (len),
    .first_o     (first),
    .index_o     (index_unused),
    .tile_rows_o (tile_rows_unused)
  );

  wire [39:0] chunk_bytes = 40'd1 << (TileLog2[3:0] + {2'd0, unit_q});
  wire [39:0] next_row   = addr_q + inner_q;
  wire [39:0] next_chunk = chunk_q + chunk_bytes;
  wire [39:0] next_group = group_q + outer_q;
  wire [39:0] next_col   = first ? next_row : column_q;

  always @(posedge clk_i) begin
    if (job_ready_o) begin
      id_q    <= job_id_i;
      unit_q  <= job_unit;
      inner_q <= job_i.inner;
      outer_q <= job_i.outer;
      addr_q  <= job_i.src;
      chunk_q <= job_i.src;
      group_q <= job_i.src;
    end else if (step) begin
      case (level)
        3'd0: addr_q <= next_row;
        3'd1: begin
          addr_q  <= next_chunk;
          chunk_q <= next_chunk;
          if (first) column_q <= next_row;
        end
        3'd2: begin
          addr_q  <= next_col;
          chunk_q <= next_col;
        end
        default: begin
          addr_q  <= next_group;
          chunk_q <= next_group;
          group_q <= next_group;
        end
      endcase
    end
  end

  // ---- its bursts, a clock later; after a failure no row of the op is left ----
  reg          row_q, abort_q;
  reg [3:0]    abort_id_q;
  pto_gm_row_t row_of_q;
  wire         burst_valid, burst_ready;
  wire         failed   = burst_valid && err_i[cmd_o.id];
  wire         row_free = !row_q || (burst_ready && !abort_q);

  assign step        = active && !abort_q && row_free;
  assign kill        = failed && active && id_q == cmd_o.id;
  assign abort_o     = abort_q;
  assign abort_id_o  = abort_id_q;
  assign cmd_valid_o = burst_valid && !failed;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) row_q <= 1'b0;
    else if (failed && row_of_q.id == cmd_o.id) row_q <= 1'b0;
    else if (row_free) row_q <= active && !abort_q && !kill;
  end

  always @(posedge clk_i) begin
    if (row_free) row_of_q <= {2'b00, id_q, addr_q, len};
  end

  pto_row_bursts #(
    .BusBytes (GmBytes)
  ) u_bursts (
    .clk_i, .rst_ni, .cmd_o,
    .row_valid_i (row_q && !abort_q),
    .row_ready_o (burst_ready),
    .row_i       (row_of_q),
    .kill_i      (failed),
    .cmd_valid_o (burst_valid),
    .cmd_ready_i (cmd_ready_i && !failed)
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) abort_q <= 1'b0;
    else if (failed) abort_q <= 1'b1;
    else if (abort_ack_i) abort_q <= 1'b0;
  end

  always @(posedge clk_i) begin
    if (failed) abort_id_q <= cmd_o.id;
  end

  wire unused = &{1'b0, job_i, index_unused, tile_rows_unused};
endmodule

`default_nettype wire
