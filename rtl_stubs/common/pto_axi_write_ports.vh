// SPDX-License-Identifier: Apache-2.0
//
// Ports of the AXI write channels but ids, size and burst kind, which are constant; needs
// GmDataWidth.
  output wire [39:0]                m_axi_awaddr,  // burst address
  output wire [7:0]                 m_axi_awlen,   // beats less 1
  output wire                       m_axi_awvalid, // burst offered
  input  wire                       m_axi_awready, // burst taken
  output wire [GmDataWidth-1:0]     m_axi_wdata,   // beat
  output wire [GmDataWidth/8-1:0]   m_axi_wstrb,   // byte strobes
  output wire                       m_axi_wlast,   // last beat of the burst
  output wire                       m_axi_wvalid,  // beat offered
  input  wire                       m_axi_wready,  // beat taken
  input  wire [1:0]                 m_axi_bresp,   // response
  input  wire                       m_axi_bvalid,  // response offered
  output wire                       m_axi_bready,  // response taken
