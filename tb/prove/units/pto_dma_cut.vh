// SPDX-License-Identifier: Apache-2.0
//
// Head of the proofs of pto_dma_check: its two copies (pto_cut.vh), and the signals around the parts
// that are cut out.
`include "pto_records.vh"
`include "pto_cut.vh"

module prove #(
  parameter [255:0] Ops                   = 256'h2001e,
  parameter integer LenBits               = 16,
  parameter integer PadEndBlock           = 0,
  parameter integer TailFill              = 0,
  parameter integer RowRepeatLegal        = 0,
  parameter integer CompactLegal          = 0,
  parameter integer PadUnselectedRegister = 0,
  parameter integer LegacyPadElements     = 0
) (
  input wire         clk,
  input wire         desc_valid,
  input wire [511:0] desc,
  input wire [7:0]   desc_tag,
  input wire [511:0] other,                  // descriptor at the input when the verdict leaves
  input wire         job_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire               ready_in, ready_out, busy_in, busy_out, valid_in, valid_out;
  wire [7:0]         tag_in, tag_out;
  wire pto_verdict_t verdict_in, verdict;
  wire pto_dma_job_t job_in, job_out;
  pto_dma_check #(
    .Ops(Ops), .LenBits(LenBits), .PadEndBlock(PadEndBlock), .TailFill(TailFill),
    .RowRepeatLegal(RowRepeatLegal), .CompactLegal(CompactLegal),
    .PadUnselectedRegister(PadUnselectedRegister), .LegacyPadElements(LegacyPadElements)
  ) u_in (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(desc_valid), .desc_ready_o(ready_in), .desc_i(desc),
    .desc_tag_i(desc_tag), .busy_o(busy_in), .job_valid_o(valid_in), .job_ready_i(job_ready),
    .job_tag_o(tag_in), .job_verdict_o(verdict_in), .job_o(job_in)
  );
  pto_dma_check #(
    .Ops(Ops), .LenBits(LenBits), .PadEndBlock(PadEndBlock), .TailFill(TailFill),
    .RowRepeatLegal(RowRepeatLegal), .CompactLegal(CompactLegal),
    .PadUnselectedRegister(PadUnselectedRegister), .LegacyPadElements(LegacyPadElements)
  ) u_out (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(1'b1), .desc_ready_o(ready_out), .desc_i(other),
    .desc_tag_i(8'd0), .busy_o(busy_out), .job_valid_o(valid_out), .job_ready_i(job_ready),
    .job_tag_o(tag_out), .job_verdict_o(verdict), .job_o(job_out)
  );
  localparam integer Word = 8 + 10 + `PTO_DMA_JOB_BITS;
  (* hierconn *) wire            \u_in.u_ext.in_valid_i ;
  (* hierconn *) wire            \u_in.u_ext.last ;
  (* hierconn *) wire            \u_in.u_ext.in_skip_i ;
  (* hierconn *) wire [43:0]     \u_in.u_ext.in_base_i ;
  (* hierconn *) wire [21:0]     \u_in.u_ext.in_tail_i ;
  (* hierconn *) wire [95:0]     \u_in.u_ext.in_digits_i ;
  (* hierconn *) wire [159:0]    \u_in.u_ext.in_strides_i ;
  (* hierconn *) wire            \u_in.u_loc.in_valid_i ;
  (* hierconn *) wire            \u_in.u_loc.last ;
  (* hierconn *) wire            \u_in.u_loc.in_skip_i ;
  (* hierconn *) wire [23:0]     \u_in.u_loc.in_base_i ;
  (* hierconn *) wire [22:0]     \u_in.u_loc.in_tail_i ;
  (* hierconn *) wire [95:0]     \u_in.u_loc.in_digits_i ;
  (* hierconn *) wire [91:0]     \u_in.u_loc.in_strides_i ;
  (* hierconn *) wire            \u_in.u_jobs.wr_valid_i ;
  (* hierconn *) wire            \u_in.u_jobs.wr_ready_o ;
  (* hierconn *) wire [Word-1:0] \u_in.u_jobs.wr_data_i ;
  (* hierconn *) wire            \u_out.u_ext.out_valid_o ;
  (* hierconn *) wire            \u_out.u_ext.out_ready_i ;
  (* hierconn *) wire [63:0]     \u_out.u_ext.sum ;
  (* hierconn *) wire            \u_out.u_loc.out_ready_i ;
  (* hierconn *) wire [45:0]     \u_out.u_loc.sum ;
  (* hierconn *) wire            \u_out.u_jobs.rd_ready_i ;
  (* hierconn *) wire [Word-1:0] \u_out.u_jobs.out ;
  assign \u_out.u_jobs.out = \u_in.u_jobs.wr_data_i ;
