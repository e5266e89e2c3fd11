// SPDX-License-Identifier: Apache-2.0
//
// Unit for bursts with gaps between on-chip memories: mte_ub_ub, mte_ub_l1 (in MTE3), mte_l1_fb
// (in FIX); Ops selects those it takes. Ports are those of an engine. Bursts flow check ->
// rows -> local reads -> realigner -> words; the check of the next op overlaps the data.
// Throughput: one source word and one destination word per clock. A burst that lies in k source
// and n destination words takes max(k, n) clocks and the next follows without a bubble, also
// from op to op: whole words at both sides move at the full rate of the port, 32-byte bursts on
// 512-bit ports at one burst, half a word, per clock. Bursts without gaps run as one. A burst is
// cut at destination multiples of 32 KiB, which can cost one read of a shared source word.
// Latency: descriptor to src_req 7 clocks, reply to dst_req 3 clocks, last grant to done 1 clock.
// Full rate up to a read latency of ReadFifoDepth - 3 clocks. A read or write error ends the op:
// no access is requested from that clock on, but a pending request waits for its grant.
// Limits: widths 128, 256 or 512; GmAddrWidth 40. Spec: CONTRACT, dma.md 2, bias_fb.md 3.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_burst_copy #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer SrcDataWidth   = LocalDataWidth,  // bits of a source word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64,     // source words and rows in flight, a power of two
  parameter [255:0] Ops            = 256'h60 // bit k: opcode k is taken, out of 5, 6 and 9
) (
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam integer IdWidth    = $clog2(NumActive);
  localparam integer IndexWidth = LocalAddrWidth - 5;    // of 32-byte blocks
  localparam integer CutBits    = 10;                    // rows of 32 KiB at most

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (SrcDataWidth != 128 && SrcDataWidth != 256 && SrcDataWidth != 512) begin : gen_bad_src
      pto_error_src_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth > 20 || DescWidth != `PTO_DESC_BITS
        || UbSize > (1 << LocalAddrWidth) || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

  // ---- front: descriptors to jobs, and reports ----
  wire                      job_valid, job_ready, job_by_64;
  wire [IdWidth-1:0]        job_id;
  wire [1:0]                job_widen_unused;
  wire [2:0]                job_src_space, job_dst_space;
  wire [LocalAddrWidth-1:0] job_src_addr, job_dst_addr;
  wire [15:0]               job_len, job_last, job_src_gap, job_dst_gap;
  wire [NumActive-1:0]      err;
  wire                      rd_err_valid, wr_err_valid, fin_valid;
  wire [IdWidth-1:0]        rd_err_id, fin_id;
  wire [LocalAddrWidth-1:0] rd_err_addr;

  pto_burst_front #(
    .Ops            (Ops),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth)
  ) u_front (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .desc_valid_i    (desc_valid_i),
    .desc_ready_o    (desc_ready_o),
    .desc_i          (desc_i),
    .desc_tag_i      (desc_tag_i),
    .done_valid_o    (done_valid_o),
    .done_ready_i    (done_ready_i),
    .done_tag_o      (done_tag_o),
    .done_status_o   (done_status_o),
    .done_rule_o     (done_rule_o),
    .done_addr_o     (done_addr_o),
    .busy_o          (busy_o),
    .rd_err_valid_i  (rd_err_valid),
    .rd_err_id_i     (rd_err_id),
    .rd_err_addr_i   (rd_err_addr),
    .wr_err_valid_i  (wr_err_valid),
    .wr_err_id_i     (fin_id),
    .wr_err_addr_i   (dst_addr_o),
    .err_o           (err),
    .fin_valid_i     (fin_valid),
    .fin_id_i        (fin_id),
    .job_valid_o     (job_valid),
    .job_ready_i     (job_ready),
    .job_id_o        (job_id),
    .job_by_64_o     (job_by_64),
    .job_widen_o     (job_widen_unused),
    .job_src_space_o (job_src_space),
    .job_dst_space_o (job_dst_space),
    .job_src_addr_o  (job_src_addr),
    .job_dst_addr_o  (job_dst_addr),
    .job_len_o       (job_len),
    .job_last_o      (job_last),
    .job_src_gap_o   (job_src_gap),
    .job_dst_gap_o   (job_dst_gap)
  );

  // ---- rows, in blocks of 32 bytes; dropped bits belong to a gap after the last burst ----
  wire [15:0]           len_blocks = job_by_64 ? job_len << 1 : job_len;
  wire [16:0]           src_gap    = job_by_64 ? {job_src_gap, 1'b0} : {1'b0, job_src_gap};
  wire [16:0]           dst_gap    = job_by_64 ? {job_dst_gap, 1'b0} : {1'b0, job_dst_gap};
  wire                  row_valid, row_ready, row_end, row_last;
  wire [IdWidth-1:0]    row_id;
  wire [2:0]            row_src_space, row_dst_space;
  wire [IndexWidth-1:0] row_src, row_dst;
  wire [CutBits:0]      row_len;

  pto_burst_rows #(
    .IndexWidth (IndexWidth),
    .CutBits    (CutBits),
    .InfoWidth  (6),
    .IdWidth    (IdWidth)
  ) u_rows (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_id_i      (job_id),
    .job_info_i    ({job_src_space, job_dst_space}),
    .job_src_i     (job_src_addr[LocalAddrWidth-1:5]),
    .job_dst_i     (job_dst_addr[LocalAddrWidth-1:5]),
    .job_len_i     (len_blocks),
    .job_last_i    (job_last),
    .job_src_gap_i (src_gap[IndexWidth-1:0]),
    .job_dst_gap_i (dst_gap[IndexWidth-1:0]),
    .abort_i       (err[row_id]),
    .row_valid_o   (row_valid),
    .row_ready_i   (row_ready),
    .row_end_o     (row_end),
    .row_last_o    (row_last),
    .row_id_o      (row_id),
    .row_info_o    ({row_src_space, row_dst_space}),
    .row_src_o     (row_src),
    .row_dst_o     (row_dst),
    .row_len_o     (row_len)
  );

  // ---- data ----
  pto_copy_path #(
    .LocalAddrWidth (LocalAddrWidth),
    .SrcDataWidth   (SrcDataWidth),
    .DstDataWidth   (LocalDataWidth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_path (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .err_i           (err),
    .row_valid_i     (row_valid),
    .row_ready_o     (row_ready),
    .row_end_i       (row_end),
    .row_last_i      (row_last),
    .row_id_i        (row_id),
    .row_src_space_i (row_src_space),
    .row_src_addr_i  ({row_src, 5'd0}),
    .row_dst_space_i (row_dst_space),
    .row_dst_addr_i  ({row_dst, 5'd0}),
    .row_len_i       ({row_len, 5'd0}),
    .src_req_o       (src_req_o),
    .src_gnt_i       (src_gnt_i),
    .src_space_o     (src_space_o),
    .src_addr_o      (src_addr_o),
    .src_rvalid_i    (src_rvalid_i),
    .src_rdata_i     (src_rdata_i),
    .src_err_i       (src_err_i),
    .dst_req_o       (dst_req_o),
    .dst_gnt_i       (dst_gnt_i),
    .dst_space_o     (dst_space_o),
    .dst_addr_o      (dst_addr_o),
    .dst_be_o        (dst_be_o),
    .dst_wdata_o     (dst_wdata_o),
    .dst_err_i       (dst_err_i),
    .rd_err_valid_o  (rd_err_valid),
    .rd_err_id_o     (rd_err_id),
    .rd_err_addr_o   (rd_err_addr),
    .wr_err_valid_o  (wr_err_valid),
    .fin_valid_o     (fin_valid),
    .fin_id_o        (fin_id)
  );

  `include "pto_no_gm.vh"

  wire unused = &{1'b0, job_widen_unused, job_src_addr[4:0], job_dst_addr[4:0],
                  src_gap[16:IndexWidth], dst_gap[16:IndexWidth]};
endmodule

`default_nettype wire
