// SPDX-License-Identifier: Apache-2.0
//
// Ports of an AXI read channel but ids, size and burst kind, which are constant; needs GmDataWidth.
  output wire [39:0]                m_axi_araddr,  // burst address
  output wire [7:0]                 m_axi_arlen,   // beats less 1
  output wire                       m_axi_arvalid, // burst offered
  input  wire                       m_axi_arready, // burst taken
  input  wire [GmDataWidth-1:0]     m_axi_rdata,   // beat
  input  wire [1:0]                 m_axi_rresp,   // its response
  input  wire                       m_axi_rlast,   // last beat of its burst
  input  wire                       m_axi_rvalid,  // beat offered
  output wire                       m_axi_rready,  // beat taken
