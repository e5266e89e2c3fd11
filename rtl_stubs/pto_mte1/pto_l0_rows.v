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

module pto_l0_rows #(
  parameter integer BlockWidth = 15,         // bits of the number of a 32-byte block
  parameter integer IdWidth    = 4           // bits of an op number
) (
  input  wire                  clk_i,        // clock
  input  wire                  rst_ni,       // asynchronous reset, active low
  input  wire                  job_valid_i,  // a job is there
  output wire                  job_ready_o,  // it is taken
  input  wire [IdWidth-1:0]    job_id_i,     // op number
  input  wire [BlockWidth-1:0] job_src_i,    // first block
  input  wire [BlockWidth-1:0] job_pitch_i,  // blocks from row to row
  input  wire [11:0]           job_row_i,    // blocks of a row, at least 1
  input  wire [7:0]            job_rows_i,   // rows less 1
  output wire                  row_valid_o,  // a row is there
  input  wire                  row_ready_i,  // it is taken
  output wire [IdWidth-1:0]    row_id_o,     // op number
  output wire [BlockWidth-1:0] row_block_o,  // first block
  output wire [11:0]           row_len_o     // blocks
);
  reg                  active_q;
  reg [IdWidth-1:0]    id_q;
  reg [BlockWidth-1:0] block_q, pitch_q;
  reg [11:0]           len_q;
  reg [7:0]            left_q;               // rows after this one

  assign job_ready_o = !active_q || (row_ready_i && left_q == 8'd0);
  assign row_valid_o = active_q;
  assign row_id_o    = id_q;
  assign row_block_o = block_q;
  assign row_len_o   = len_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (job_ready_o) active_q <= job_valid_i;
  end

  always @(posedge clk_i) begin
    if (job_ready_o) begin
      id_q    <= job_id_i;
      block_q <= job_src_i;
      pitch_q <= job_pitch_i;
      len_q   <= job_row_i;
      left_q  <= job_rows_i;
    end else if (row_ready_i) begin
      block_q <= block_q + pitch_q;
      left_q  <= left_q - 8'd1;
    end
  end
endmodule

`default_nettype wire
