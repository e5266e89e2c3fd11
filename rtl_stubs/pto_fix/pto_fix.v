// SPDX-License-Identifier: Apache-2.0
//
// Pipe FIX: mte_l1_fb, bursts of 64-byte units from L1 to FB, raw. The data goes through
// pto_burst_copy; its header states rates, latencies and limits. The source port has a width of
// its own, SrcDataWidth, because the write-back ops read L0C through it.
// Spec: CONTRACT, bias_fb.md section 3, rules FB-L02 to L04.
`default_nettype none
`include "pto_desc.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_fix #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer SrcDataWidth   = 512,    // bits of a source word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words and rows in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  // The write-back unit (mte_l0c_gm, mte_l0c_l1, mte_l0c_ub) will join here, beside this one: both
  // behind a pto_unit_switch, m_axi_* its own, and its ports for FB parameters and unit flags.
  pto_burst_copy #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .SrcDataWidth   (SrcDataWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .NumOutstanding (NumOutstanding),
    .AxiIdWidth     (AxiIdWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .ReadFifoDepth  (ReadFifoDepth),
    .Ops            (256'd1 << `PTO_OP_MTE_L1_FB)
  ) u_copy (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .desc_valid_i  (desc_valid_i),
    .desc_ready_o  (desc_ready_o),
    .desc_i        (desc_i),
    .desc_tag_i    (desc_tag_i),
    .done_valid_o  (done_valid_o),
    .done_ready_i  (done_ready_i),
    .done_tag_o    (done_tag_o),
    .done_status_o (done_status_o),
    .done_rule_o   (done_rule_o),
    .done_addr_o   (done_addr_o),
    .busy_o        (busy_o),
    .src_req_o     (src_req_o),
    .src_gnt_i     (src_gnt_i),
    .src_space_o   (src_space_o),
    .src_addr_o    (src_addr_o),
    .src_rvalid_i  (src_rvalid_i),
    .src_rdata_i   (src_rdata_i),
    .src_err_i     (src_err_i),
    .dst_req_o     (dst_req_o),
    .dst_gnt_i     (dst_gnt_i),
    .dst_space_o   (dst_space_o),
    .dst_addr_o    (dst_addr_o),
    .dst_be_o      (dst_be_o),
    .dst_wdata_o   (dst_wdata_o),
    .dst_err_i     (dst_err_i),
    .m_axi_arid    (m_axi_arid),
    .m_axi_araddr  (m_axi_araddr),
    .m_axi_arlen   (m_axi_arlen),
    .m_axi_arsize  (m_axi_arsize),
    .m_axi_arburst (m_axi_arburst),
    .m_axi_arvalid (m_axi_arvalid),
    .m_axi_arready (m_axi_arready),
    .m_axi_rid     (m_axi_rid),
    .m_axi_rdata   (m_axi_rdata),
    .m_axi_rresp   (m_axi_rresp),
    .m_axi_rlast   (m_axi_rlast),
    .m_axi_rvalid  (m_axi_rvalid),
    .m_axi_rready  (m_axi_rready),
    .m_axi_awid    (m_axi_awid),
    .m_axi_awaddr  (m_axi_awaddr),
    .m_axi_awlen   (m_axi_awlen),
    .m_axi_awsize  (m_axi_awsize),
    .m_axi_awburst (m_axi_awburst),
    .m_axi_awvalid (m_axi_awvalid),
    .m_axi_awready (m_axi_awready),
    .m_axi_wdata   (m_axi_wdata),
    .m_axi_wstrb   (m_axi_wstrb),
    .m_axi_wlast   (m_axi_wlast),
    .m_axi_wvalid  (m_axi_wvalid),
    .m_axi_wready  (m_axi_wready),
    .m_axi_bid     (m_axi_bid),
    .m_axi_bresp   (m_axi_bresp),
    .m_axi_bvalid  (m_axi_bvalid),
    .m_axi_bready  (m_axi_bready)
  );
endmodule

`default_nettype wire
