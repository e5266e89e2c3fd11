// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not write GM: these outputs are 0,
// these inputs are ignored. Spec: docs/contract.md.
  assign {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awvalid,
          m_axi_wdata, m_axi_wstrb, m_axi_wlast, m_axi_wvalid, m_axi_bready} = '0;
  wire unused_gm_write = &{1'b0, m_axi_awready, m_axi_wready, m_axi_bid, m_axi_bresp, m_axi_bvalid};
