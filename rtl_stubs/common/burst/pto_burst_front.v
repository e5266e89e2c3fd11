// SPDX-License-Identifier: Apache-2.0
//
// Common front of the units that serve the burst family: descriptor queue, D-rule check, and the
// report of finished ops. The check of the next ops overlaps the data of earlier ones.
// A NOP or a bad op goes straight to the report; any other leaves as a job with its op number.
// Throughput: see pto_burst_check. Latency: job four clocks after the descriptor handshake.
// Spec: CONTRACT, dma.md, bias_fb.md.
`default_nettype none
`include "pto_desc.vh"

module pto_burst_front #(
  parameter [255:0] Ops            = 256'h60, // bit k: opcode k is served, out of 5, 6, 8 and 9
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer GmAddrWidth    = 40,     // bits of an address in a report
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer QueueDepth     = 4,      // descriptors queued before the check
  parameter integer NumActive      = 16,     // ops in flight after the check
  parameter integer IdWidth        = 4       // bits of an op number, $clog2(NumActive)
) (
  input  wire                      clk_i,          // clock
  input  wire                      rst_ni,         // asynchronous reset, active low
  input  wire                      desc_valid_i,   // a descriptor is offered
  output wire                      desc_ready_o,   // it is taken
  input  wire [DescWidth-1:0]      desc_i,         // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,     // its tag
  output wire                      done_valid_o,   // the oldest op is done
  input  wire                      done_ready_i,   // the report is taken
  output wire [TagWidth-1:0]       done_tag_o,     // its tag
  output wire [2:0]                done_status_o,  // status code
  output wire [7:0]                done_rule_o,    // violated rule or 0
  output wire [GmAddrWidth-1:0]    done_addr_o,    // address of the first bad access or 0
  output wire                      busy_o,         // a descriptor was taken and is not done
  input  wire                      rd_err_valid_i, // an on-chip read failed
  input  wire [IdWidth-1:0]        rd_err_id_i,    // of this op
  input  wire [LocalAddrWidth-1:0] rd_err_addr_i,  // address of its word
  input  wire                      wr_err_valid_i, // an on-chip write failed
  input  wire [IdWidth-1:0]        wr_err_id_i,    // of this op
  input  wire [LocalAddrWidth-1:0] wr_err_addr_i,  // address of its word
  output wire [NumActive-1:0]      err_o,          // per op: an access failed
  input  wire                      fin_valid_i,    // the last access of an op has finished
  input  wire [IdWidth-1:0]        fin_id_i,       // of this op
  output wire                      job_valid_o,    // an op with bursts is there
  input  wire                      job_ready_i,    // it is taken
  output wire [IdWidth-1:0]        job_id_o,       // op number
  output wire                      job_by_64_o,    // unit is 64 bytes, not 32
  output wire [1:0]                job_widen_o,    // mte_l1_bt: 0 raw, 1 bf16, 2 f16
  output wire [2:0]                job_src_space_o, // source memory
  output wire [2:0]                job_dst_space_o, // destination memory
  output wire [LocalAddrWidth-1:0] job_src_addr_o, // source byte address
  output wire [LocalAddrWidth-1:0] job_dst_addr_o, // destination byte address
  output wire [15:0]               job_len_o,      // units of a burst
  output wire [15:0]               job_last_o,     // bursts less 1
  output wire [15:0]               job_src_gap_o,  // source units between bursts
  output wire [15:0]               job_dst_gap_o   // destination units between bursts
);
  // ---- queue ----
  // In reset no handshake may be seen, so ready comes up with the first clock.
  reg  up_q;
  wire queue_ready;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end
  assign desc_ready_o = up_q && queue_ready;

  wire                 queue_valid, queue_take;
  wire [DescWidth-1:0] queue_desc;
  wire [TagWidth-1:0]  queue_tag;

  pto_fifo #(
    .Width(DescWidth + TagWidth),
    .Depth(QueueDepth)
  ) u_queue (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (desc_valid_i && up_q),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({desc_tag_i, desc_i}),
    .rd_valid_o (queue_valid),
    .rd_ready_i (queue_take),
    .rd_data_o  ({queue_tag, queue_desc})
  );

  // ---- check ----
  wire                check_valid, check_idle, check_bad, check_busy;
  wire [TagWidth-1:0] check_tag;
  wire [7:0]          check_rule;
  wire [23:0]         src_addr, dst_addr;
  wire                new_ready, active;
  wire                check_ready = new_ready && (check_idle || job_ready_i);

  pto_burst_check #(
    .Ops       (Ops),
    .UbSize    (UbSize),
    .L1Size    (L1Size),
    .DescWidth (DescWidth),
    .TagWidth  (TagWidth)
  ) u_check (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .desc_valid_i    (queue_valid),
    .desc_ready_o    (queue_take),
    .desc_i          (queue_desc),
    .desc_tag_i      (queue_tag),
    .busy_o          (check_busy),
    .job_valid_o     (check_valid),
    .job_ready_i     (check_ready),
    .job_tag_o       (check_tag),
    .job_idle_o      (check_idle),
    .job_bad_o       (check_bad),
    .job_rule_o      (check_rule),
    .job_by_64_o     (job_by_64_o),
    .job_widen_o     (job_widen_o),
    .job_src_space_o (job_src_space_o),
    .job_dst_space_o (job_dst_space_o),
    .job_src_addr_o  (src_addr),
    .job_dst_addr_o  (dst_addr),
    .job_len_o       (job_len_o),
    .job_last_o      (job_last_o),
    .job_src_gap_o   (job_src_gap_o),
    .job_dst_gap_o   (job_dst_gap_o)
  );
  assign job_valid_o    = check_valid && !check_idle && new_ready;
  assign job_src_addr_o = src_addr[LocalAddrWidth-1:0];
  assign job_dst_addr_o = dst_addr[LocalAddrWidth-1:0];

  // ---- a checked op takes a number, and with bursts it leaves as a job at once ----
  pto_dma_retire #(
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .TagWidth    (TagWidth),
    .GmAddrWidth (GmAddrWidth)
  ) u_retire (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .new_valid_i    (check_valid && (check_idle || job_ready_i)),
    .new_ready_o    (new_ready),
    .new_id_o       (job_id_o),
    .new_tag_i      (check_tag),
    .new_idle_i     (check_idle),
    .new_bad_i      (check_bad),
    .new_rule_i     (check_rule),
    .err_a_valid_i  (rd_err_valid_i),
    .err_a_id_i     (rd_err_id_i),
    .err_a_status_i (`PTO_ST_LOCAL),
    .err_a_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, rd_err_addr_i}),
    .err_b_valid_i  (wr_err_valid_i),
    .err_b_id_i     (wr_err_id_i),
    .err_b_status_i (`PTO_ST_LOCAL),
    .err_b_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, wr_err_addr_i}),
    .err_c_valid_i  (1'b0),
    .err_c_id_i     ({IdWidth{1'b0}}),
    .err_c_status_i (3'd0),
    .err_c_addr_i   ({GmAddrWidth{1'b0}}),
    .err_o          (err_o),
    .fin_valid_i    (fin_valid_i),
    .fin_id_i       (fin_id_i),
    .busy_o         (active),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o)
  );
  assign busy_o = queue_valid || check_busy || active;

  wire unused = &{1'b0, src_addr[23:LocalAddrWidth], dst_addr[23:LocalAddrWidth]};  // by extent 0
endmodule

`default_nettype wire
