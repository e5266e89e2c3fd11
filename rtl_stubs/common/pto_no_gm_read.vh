// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not read GM: these outputs are 0,
// these inputs are ignored. Spec: docs/contract.md.
  assign {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arvalid,
          m_axi_rready} = '0;
  wire unused_gm_read = &{1'b0, m_axi_arready, m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast,
                          m_axi_rvalid};
