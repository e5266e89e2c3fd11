// SPDX-License-Identifier: Apache-2.0
//
// Walks the bursts of a job of the burst family and gives rows: one for each burst, or several
// where a burst crosses a destination index that is a multiple of 2^CutBits (the later stages
// count the bytes of a row in 16 bits). Addresses and lengths count units of the op: the next
// burst begins at the end of the one before plus the gap, so there is no multiplier here.
// Throughput: one row per clock, also from one job to the next. Latency: one clock.
// After an error in its op (abort_i) the walk is cut short: one record with row_end_o and
// row_last_o replaces the remaining rows. Spec: dma.md section 2, bias_fb.md.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________      job of two bursts
//   row_valid  _____/~~~~~~~\___      stays until row_ready; the address may only change after
`default_nettype none

module pto_burst_rows #(
  parameter integer IndexWidth = 15,         // bits of a unit index
  parameter integer CutBits    = 10,         // rows end at destination multiples of 2^CutBits
  parameter integer InfoWidth  = 6,          // bits of information passed with rows
  parameter integer IdWidth    = 4           // bits of an op number
) (
  input  wire                  clk_i,         // clock
  input  wire                  rst_ni,        // asynchronous reset, active low
  input  wire                  job_valid_i,   // a job is there
  output wire                  job_ready_o,   // it is taken
  input  wire [IdWidth-1:0]    job_id_i,      // op number of the job
  input  wire [InfoWidth-1:0]  job_info_i,    // what its rows carry along
  input  wire [IndexWidth-1:0] job_src_i,     // source unit of the first burst
  input  wire [IndexWidth-1:0] job_dst_i,     // destination unit of the first burst
  input  wire [15:0]           job_len_i,     // units of a burst, at least 1
  input  wire [15:0]           job_last_i,    // bursts less 1
  input  wire [IndexWidth-1:0] job_src_gap_i, // source units between bursts
  input  wire [IndexWidth-1:0] job_dst_gap_i, // destination units between bursts
  input  wire                  abort_i,       // an access of op row_id_o went wrong
  output wire                  row_valid_o,   // a row is there
  input  wire                  row_ready_i,   // it is taken
  output wire                  row_end_o,     // no row: the op ends here, cut short
  output wire                  row_last_o,    // last record of the op
  output wire [IdWidth-1:0]    row_id_o,      // op number
  output wire [InfoWidth-1:0]  row_info_o,    // as job_info_i
  output wire [IndexWidth-1:0] row_src_o,     // source unit
  output wire [IndexWidth-1:0] row_dst_o,     // destination unit
  output wire [CutBits:0]      row_len_o      // units, 1 to 2^CutBits
);
  reg                  active_q;
  reg [IdWidth-1:0]    id_q;
  reg [InfoWidth-1:0]  info_q;
  reg [15:0]           len_q;
  reg [IndexWidth-1:0] src_gap_q;
  reg [IndexWidth-1:0] dst_gap_q;
  reg [IndexWidth-1:0] src_q;
  reg [IndexWidth-1:0] dst_q;
  reg [15:0]           left_q;               // units of the burst not yet given
  reg [15:0]           bursts_q;             // bursts after this one

  wire [CutBits:0]      to_cut = {1'b1, {CutBits{1'b0}}} - {1'b0, dst_q[CutBits-1:0]};
  wire                  whole  = left_q <= {{(15 - CutBits){1'b0}}, to_cut};
  wire [CutBits:0]      piece  = whole ? left_q[CutBits:0] : to_cut;
  wire [IndexWidth-1:0] step   = {{(IndexWidth - CutBits - 1){1'b0}}, piece};

  assign row_valid_o = active_q;
  assign row_end_o   = abort_i;
  assign row_last_o  = abort_i || (whole && bursts_q == 16'd0);
  wire   row_fire    = active_q && row_ready_i;
  assign job_ready_o = !active_q || (row_fire && row_last_o);
  wire   load        = job_valid_i && job_ready_o;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (job_ready_o) active_q <= job_valid_i;
  end

  always @(posedge clk_i) begin
    if (load) begin
      id_q      <= job_id_i;
      info_q    <= job_info_i;
      len_q     <= job_len_i;
      src_gap_q <= job_src_gap_i;
      dst_gap_q <= job_dst_gap_i;
      src_q     <= job_src_i;
      dst_q     <= job_dst_i;
      left_q    <= job_len_i;
      bursts_q  <= job_last_i;
    end else if (row_fire) begin
      src_q  <= src_q + step + (whole ? src_gap_q : {IndexWidth{1'b0}});
      dst_q  <= dst_q + step + (whole ? dst_gap_q : {IndexWidth{1'b0}});
      left_q <= whole ? len_q : left_q - {{(15 - CutBits){1'b0}}, piece};
      if (whole) bursts_q <= bursts_q - 16'd1;
    end
  end

  assign row_id_o   = id_q;
  assign row_info_o = info_q;
  assign row_src_o  = src_q;
  assign row_dst_o  = dst_q;
  assign row_len_o  = piece;
endmodule

`default_nettype wire
