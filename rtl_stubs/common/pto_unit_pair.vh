// SPDX-License-Identifier: Apache-2.0
//
// Connections of the two units of a pipe: the wires to them, the switch, their clocks, and the
// multiplexers that select the unit with ops in flight. Included in an engine with the ports of
// pto_engine_ports.vh; needs its parameters, QueueDepth, and UnitOneOps, the opcodes of unit 1 as
// a mask. Unit k has the k-th part of each wire (pto_unit_pins.vh). Spec: CONTRACT.

  wire        sel;                           // unit that owns the buses
  wire [1:0]  unit_on = {sel, !sel};
  wire [1:0]  unit_clk, unit_run;            // a unit without buses, ops or offer is not clocked
  wire [1:0]  unit_desc_valid, unit_desc_ready, unit_done_ready;
  wire [DescWidth-1:0] unit_desc;
  wire [TagWidth-1:0]  unit_desc_tag;
  wire [1:0] unit_done_valid, unit_busy, unit_src_req, unit_dst_req, unit_arvalid, unit_rready,
             unit_awvalid, unit_wlast, unit_wvalid, unit_bready;
  wire [2*TagWidth-1:0] unit_done_tag;
  wire [5:0] unit_done_status, unit_src_space, unit_dst_space, unit_arsize, unit_awsize;
  wire [15:0] unit_done_rule, unit_arlen, unit_awlen;
  wire [2*GmAddrWidth-1:0] unit_done_addr, unit_araddr, unit_awaddr;
  wire [2*LocalAddrWidth-1:0] unit_src_addr, unit_dst_addr;
  wire [LocalDataWidth/4-1:0] unit_dst_be;
  wire [2*LocalDataWidth-1:0] unit_dst_wdata;
  wire [2*AxiIdWidth-1:0] unit_arid, unit_awid;
  wire [3:0] unit_arburst, unit_awburst;
  wire [2*GmDataWidth-1:0] unit_wdata;
  wire [GmDataWidth/4-1:0] unit_wstrb;

  pto_unit_switch #(
    .UnitOneOps  (UnitOneOps),
    .GmAddrWidth (GmAddrWidth),
    .DescWidth   (DescWidth),
    .TagWidth    (TagWidth),
    .Depth       (QueueDepth)
  ) u_switch (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .desc_valid_i       (desc_valid_i),
    .desc_ready_o       (desc_ready_o),
    .desc_i             (desc_i),
    .desc_tag_i         (desc_tag_i),
    .done_valid_o       (done_valid_o),
    .done_ready_i       (done_ready_i),
    .done_tag_o         (done_tag_o),
    .done_status_o      (done_status_o),
    .done_rule_o        (done_rule_o),
    .done_addr_o        (done_addr_o),
    .busy_o             (busy_o),
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
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (unit_on[0] || unit_desc_valid[0] || unit_busy[0]),
    .run_o  (unit_run[0]),
    .clk_o  (unit_clk[0])
  );
  pto_clock_gate u_gate1 (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .en_i   (unit_on[1] || unit_desc_valid[1] || unit_busy[1]),
    .run_o  (unit_run[1]),
    .clk_o  (unit_clk[1])
  );

  // ---- local reads ----
  assign src_req_o     = unit_src_req[sel];
  assign src_space_o   = sel ? unit_src_space[5:3] : unit_src_space[2:0];
  assign src_addr_o    = sel ? unit_src_addr[2*LocalAddrWidth-1:LocalAddrWidth]
                       : unit_src_addr[LocalAddrWidth-1:0];

  // ---- local writes ----
  assign dst_req_o     = unit_dst_req[sel];
  assign dst_space_o   = sel ? unit_dst_space[5:3] : unit_dst_space[2:0];
  assign dst_addr_o    = sel ? unit_dst_addr[2*LocalAddrWidth-1:LocalAddrWidth]
                       : unit_dst_addr[LocalAddrWidth-1:0];
  assign dst_be_o      = sel ? unit_dst_be[LocalDataWidth/4-1:LocalDataWidth/8]
                       : unit_dst_be[LocalDataWidth/8-1:0];
  assign dst_wdata_o   = sel ? unit_dst_wdata[2*LocalDataWidth-1:LocalDataWidth]
                       : unit_dst_wdata[LocalDataWidth-1:0];

  // ---- GM read addresses ----
  assign m_axi_arid    = sel ? unit_arid[2*AxiIdWidth-1:AxiIdWidth] : unit_arid[AxiIdWidth-1:0];
  assign m_axi_araddr  = sel ? unit_araddr[2*GmAddrWidth-1:GmAddrWidth]
                       : unit_araddr[GmAddrWidth-1:0];
  assign m_axi_arlen   = sel ? unit_arlen[15:8] : unit_arlen[7:0];
  assign m_axi_arsize  = sel ? unit_arsize[5:3] : unit_arsize[2:0];
  assign m_axi_arburst = sel ? unit_arburst[3:2] : unit_arburst[1:0];
  assign m_axi_arvalid = unit_arvalid[sel];

  // ---- GM read data ----
  assign m_axi_rready  = unit_rready[sel];

  // ---- GM write addresses ----
  assign m_axi_awid    = sel ? unit_awid[2*AxiIdWidth-1:AxiIdWidth] : unit_awid[AxiIdWidth-1:0];
  assign m_axi_awaddr  = sel ? unit_awaddr[2*GmAddrWidth-1:GmAddrWidth]
                       : unit_awaddr[GmAddrWidth-1:0];
  assign m_axi_awlen   = sel ? unit_awlen[15:8] : unit_awlen[7:0];
  assign m_axi_awsize  = sel ? unit_awsize[5:3] : unit_awsize[2:0];
  assign m_axi_awburst = sel ? unit_awburst[3:2] : unit_awburst[1:0];
  assign m_axi_awvalid = unit_awvalid[sel];

  // ---- GM write data ----
  assign m_axi_wdata   = sel ? unit_wdata[2*GmDataWidth-1:GmDataWidth]
                       : unit_wdata[GmDataWidth-1:0];
  assign m_axi_wstrb   = sel ? unit_wstrb[GmDataWidth/4-1:GmDataWidth/8]
                       : unit_wstrb[GmDataWidth/8-1:0];
  assign m_axi_wlast   = unit_wlast[sel];
  assign m_axi_wvalid  = unit_wvalid[sel];

  // ---- GM write responses ----
  assign m_axi_bready  = unit_bready[sel];
