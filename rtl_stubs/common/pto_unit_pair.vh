// SPDX-License-Identifier: Apache-2.0
//
// Connections of the two units of a pipe: the wires to them, the switch, their clocks, and the
// multiplexers that select the unit with ops in flight. Included in an engine with the ports of
// pto_engine_ports.vh; needs its parameters, QueueDepth, and UnitOneOps, the opcodes of unit 1 as
// a mask. Unit k has the k-th part of each wire (pto_unit_pins.vh). Spec: docs/contract.md.

  wire        sel;                           // unit that owns the buses
  wire [1:0]  unit_on = {sel, !sel};
  wire [1:0]  unit_clk, unit_run;            // a unit without buses, ops or offer is not clocked
  wire [1:0]  unit_desc_valid, unit_desc_ready, unit_done_ready;
  wire [DescWidth-1:0] unit_desc;
  wire [TagWidth-1:0]  unit_desc_tag;
  wire [1:0] unit_done_valid, unit_busy, unit_src_req, unit_dst_req, unit_arvalid, unit_rready,
             unit_awvalid, unit_wlast, unit_wvalid, unit_bready;
  wire [1:0][TagWidth-1:0]         unit_done_tag;
  wire [1:0][2:0]                  unit_done_status, unit_src_space, unit_dst_space, unit_arsize,
                                   unit_awsize;
  wire [1:0][7:0]                  unit_done_rule, unit_arlen, unit_awlen;
  wire [1:0][GmAddrWidth-1:0]      unit_done_addr, unit_araddr, unit_awaddr;
  wire [1:0][LocalAddrWidth-1:0]   unit_src_addr, unit_dst_addr;
  wire [1:0][LocalDataWidth/8-1:0] unit_dst_be;
  wire [1:0][LocalDataWidth-1:0]   unit_dst_wdata;
  wire [1:0][AxiIdWidth-1:0]       unit_arid, unit_awid;
  wire [1:0][1:0]                  unit_arburst, unit_awburst;
  wire [1:0][GmDataWidth-1:0]      unit_wdata;
  wire [1:0][GmDataWidth/8-1:0]    unit_wstrb;

  `include "pto_check_widths.vh"

  pto_unit_switch #(
    .UnitOneOps  (UnitOneOps),
    .TagWidth    (TagWidth),
    .Depth       (QueueDepth)
  ) u_switch (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .sel_o              (sel),
    .unit_desc_valid_o  (unit_desc_valid),
    .unit_desc_ready_i  (unit_desc_ready & unit_run),
    .unit_desc_o        (unit_desc),
    .unit_desc_tag_o    (unit_desc_tag),
    .unit_done_valid_i  (unit_done_valid),
    .unit_done_ready_o  (unit_done_ready),
    .unit_done_tag_i    (unit_done_tag),
    .unit_done_status_i (unit_done_status),
    .unit_done_rule_i   (unit_done_rule),
    .unit_done_addr_i   (unit_done_addr),
    .unit_busy_i        (unit_busy)
  );

  // ---- clocks ----
  pto_clock_gate u_gate0 (
    .clk_i, .rst_ni,
    .en_i   (unit_on[0] || unit_desc_valid[0] || unit_busy[0]),
    .run_o  (unit_run[0]),
    .clk_o  (unit_clk[0])
  );
  pto_clock_gate u_gate1 (
    .clk_i, .rst_ni,
    .en_i   (unit_on[1] || unit_desc_valid[1] || unit_busy[1]),
    .run_o  (unit_run[1]),
    .clk_o  (unit_clk[1])
  );

  // ---- the buses, of the selected unit ----
  assign src_req_o     = unit_src_req[sel];
  assign src_space_o   = unit_src_space[sel];
  assign src_addr_o    = unit_src_addr[sel];
  assign dst_req_o     = unit_dst_req[sel];
  assign dst_space_o   = unit_dst_space[sel];
  assign dst_addr_o    = unit_dst_addr[sel];
  assign dst_be_o      = unit_dst_be[sel];
  assign dst_wdata_o   = unit_dst_wdata[sel];
  assign m_axi_arid    = unit_arid[sel];
  assign m_axi_araddr  = unit_araddr[sel];
  assign m_axi_arlen   = unit_arlen[sel];
  assign m_axi_arsize  = unit_arsize[sel];
  assign m_axi_arburst = unit_arburst[sel];
  assign m_axi_arvalid = unit_arvalid[sel];
  assign m_axi_rready  = unit_rready[sel];
  assign m_axi_awid    = unit_awid[sel];
  assign m_axi_awaddr  = unit_awaddr[sel];
  assign m_axi_awlen   = unit_awlen[sel];
  assign m_axi_awsize  = unit_awsize[sel];
  assign m_axi_awburst = unit_awburst[sel];
  assign m_axi_awvalid = unit_awvalid[sel];
  assign m_axi_wdata   = unit_wdata[sel];
  assign m_axi_wstrb   = unit_wstrb[sel];
  assign m_axi_wlast   = unit_wlast[sel];
  assign m_axi_wvalid  = unit_wvalid[sel];
  assign m_axi_bready  = unit_bready[sel];
