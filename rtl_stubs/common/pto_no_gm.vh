// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not access GM: all outputs of the GM
// side are 0, its inputs are ignored. Spec: CONTRACT.
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_araddr  = {GmAddrWidth{1'b0}};
  assign m_axi_arlen   = 8'd0;
  assign m_axi_arsize  = 3'd0;
  assign m_axi_arburst = 2'd0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr  = {GmAddrWidth{1'b0}};
  assign m_axi_awlen   = 8'd0;
  assign m_axi_awsize  = 3'd0;
  assign m_axi_awburst = 2'd0;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata   = {GmDataWidth{1'b0}};
  assign m_axi_wstrb   = {(GmDataWidth / 8){1'b0}};
  assign m_axi_wlast   = 1'b0;
  assign m_axi_wvalid  = 1'b0;
  assign m_axi_bready  = 1'b0;

  wire unused_gm = &{1'b0, NumOutstanding[0], m_axi_arready, m_axi_rid, m_axi_rdata, m_axi_rresp,
                     m_axi_rlast, m_axi_rvalid, m_axi_awready, m_axi_wready, m_axi_bid, m_axi_bresp,
                     m_axi_bvalid};
