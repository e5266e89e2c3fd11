// SPDX-License-Identifier: Apache-2.0
//
// Destination of each line of a load to L0, in the order of the source. Three loops: the blocks of
// a run, runs at the pitch of the destination, and, transposed, columns of the source, each one
// square further. A run is a source row, or a square.
// Throughput: one line per clock, also from job to job. Latency: two clocks from an empty queue.
// Spec: l0_loads.md 1, 2 and 4.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________     job of two lines, job_ready 1
//   at_valid   _________/~~~~~~~     each until at_ready
`default_nettype none
`include "pto_records.vh"

module pto_l0_place (
  input  wire               clk_i,       // clock
  input  wire               rst_ni,      // asynchronous reset, active low
  input  wire               job_valid_i, // a job is there
  output wire               job_ready_o, // it is taken
  input  wire [3:0]         job_id_i,    // op number
  input  wire pto_l0_job_t  job_i,       // the job
  output wire               at_valid_o,  // a destination is there
  input  wire               at_ready_i,  // it is taken
  output wire pto_l0_line_t at_o,        // column of a square, or a single line
  output wire               at_end_o,    // the last of its square, or it is of none
  output wire pto_block_t   at_block_o   // the destination
);
  // ---- jobs ----
  wire        next_valid, next_ready, next_turn;
  wire [3:0]  next_id;
  wire [1:0]  next_unit;
  wire [14:0] next_dst, next_pitch;
  wire [11:0] next_run;
  wire [8:0]  next_mid;
  wire [7:0]  next_outer;

  pto_fifo #(
    .Width(4 + 3 + 2*15 + 29),
    .Depth(`PTO_NUM_ACTIVE)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (job_valid_i),
    .wr_ready_o (job_ready_o),
    .wr_data_i  ({job_id_i, job_i.turn, job_i.unit, job_i.dst, job_i.dst_pitch, job_i.run,
                  job_i.mid, job_i.outer}),
    .rd_valid_o (next_valid),
    .rd_ready_i (next_ready),
    .rd_data_o  ({next_id, next_turn, next_unit, next_dst, next_pitch, next_run, next_mid,
                  next_outer})
  );

  // ---- the line in work ----
  reg        active_q, turn_q;
  reg [3:0]  id_q;
  reg [1:0]  unit_q;
  reg [14:0] block_q, mid_block_q, outer_block_q; // of the line, run, column
  reg [14:0] pitch_q;
  reg [11:0] run_q, run_at_q;                // last of a run, number of this line in it
  reg [8:0]  mid_q, mid_left_q;              // runs less 1, after this one
  reg [7:0]  outer_left_q;                   // columns after this one

  wire end_run   = run_at_q == run_q;
  wire end_mid   = mid_left_q == 9'd0;
  wire end_outer = outer_left_q == 8'd0;
  wire fin       = end_run && end_mid && end_outer;
  wire [14:0]           next_run_block   = mid_block_q + pitch_q;
  wire [6:0]            square = 7'd64 >> unit_q;          // blocks of a square
  wire [14:0]           next_outer_block = outer_block_q + {8'd0, square};

  assign next_ready = !active_q || (at_ready_i && fin);
  assign at_valid_o = active_q;
  assign at_o       = {turn_q, unit_q, run_at_q[5:0]};
  assign at_end_o   = !turn_q || end_run;
  assign at_block_o = {fin, id_q, block_q};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (next_ready) active_q <= next_valid;
  end

  always @(posedge clk_i) begin
    if (next_ready) begin
      id_q          <= next_id;
      turn_q        <= next_turn;
      unit_q        <= next_unit;
      block_q       <= next_dst;
      mid_block_q   <= next_dst;
      outer_block_q <= next_dst;
      pitch_q       <= next_pitch;
      run_q         <= next_run;
      run_at_q      <= 12'd0;
      mid_q         <= next_mid;
      mid_left_q    <= next_mid;
      outer_left_q  <= next_outer;
    end else if (at_ready_i) begin
      run_at_q <= end_run ? 12'd0 : run_at_q + 12'd1;
      if (!end_run) begin
        block_q <= block_q + 15'd1;
      end else if (!end_mid) begin
        block_q     <= next_run_block;
        mid_block_q <= next_run_block;
        mid_left_q  <= mid_left_q - 9'd1;
      end else begin
        block_q       <= next_outer_block;
        mid_block_q   <= next_outer_block;
        outer_block_q <= next_outer_block;
        mid_left_q    <= mid_q;
        outer_left_q  <= outer_left_q - 8'd1;
      end
    end
  end

  wire unused = &{1'b0, job_i};
endmodule

`default_nettype wire
