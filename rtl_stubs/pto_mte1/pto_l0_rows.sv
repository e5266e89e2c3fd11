// SPDX-License-Identifier: Apache-2.0
//
// Source rows of a load to L0: one C0 column of fractals after the other, or the fragments of
// scales at one x; each is a run of 32-byte blocks. A transposed load has the same order.
// Throughput: one row per clock, also from job to job. Latency: one clock.
// Spec: l0_loads.md 2 and 4.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________     job of two rows, job_ready 1
//   row_valid  _____/~~~~~~~\___     each row until row_ready
`default_nettype none
`include "pto_records.vh"

module pto_l0_rows (
  input  wire              clk_i,       // clock
  input  wire              rst_ni,      // asynchronous reset, active low
  input  wire              job_valid_i, // a job is there
  output wire              job_ready_o, // it is taken
  input  wire [3:0]        job_id_i,    // op number
  input  wire pto_l0_job_t job_i,       // the job
  output wire              row_valid_o, // a row is there
  input  wire              row_ready_i, // it is taken
  output wire pto_read_t   row_o        // the row
);
  reg        active_q;
  reg [3:0]  id_q;
  reg [14:0] block_q, pitch_q;
  reg [11:0] len_q;
  reg [7:0]  left_q;                         // rows after this one

  assign job_ready_o = !active_q || (row_ready_i && left_q == 8'd0);
  assign row_valid_o = active_q;
  assign row_o       = {id_q, `PTO_SPACE_L1, block_q, 5'd0, 3'd0, len_q, 5'd0};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (job_ready_o) active_q <= job_valid_i;
  end

  always @(posedge clk_i) begin
    if (job_ready_o) begin
      id_q    <= job_id_i;
      block_q <= job_i.src;
      pitch_q <= job_i.src_pitch;
      len_q   <= job_i.row;
      left_q  <= job_i.rows;
    end else if (row_ready_i) begin
      block_q <= block_q + pitch_q;
      left_q  <= left_q - 8'd1;
    end
  end

  wire unused = &{1'b0, job_i};
endmodule

`default_nettype wire
