// SPDX-License-Identifier: Apache-2.0
//
// The ports of an engine and of its units, included as a port list. Needs the parameters
// GmAddrWidth, GmDataWidth, LocalAddrWidth, LocalDataWidth, DescWidth, TagWidth and AxiIdWidth.
// PTO_SRC_DATA_WIDTH, if defined, is the width of the src port.
// A module ties the outputs that it does not use to 0; its header names the sides it uses.
// Spec: docs/contract.md.
  input  wire                        clk_i,         // clock
  input  wire                        rst_ni,        // asynchronous reset, active low
  input  wire                        desc_valid_i,  // descriptor offered
  output wire                        desc_ready_o,  // descriptor taken
  input  wire [DescWidth-1:0]        desc_i,        // descriptor
  input  wire [TagWidth-1:0]         desc_tag_i,    // its tag
  output wire                        done_valid_o,  // an op is done
  input  wire                        done_ready_i,  // report taken
  output wire [TagWidth-1:0]         done_tag_o,    // its tag
  output wire [2:0]                  done_status_o, // status code
  output wire [7:0]                  done_rule_o,   // violated rule or 0
  output wire [GmAddrWidth-1:0]      done_addr_o,   // address of the first bad access or 0
  output wire                        busy_o,        // an op was taken and is not done
  output wire                        src_req_o,     // on-chip read, stable until granted
  input  wire                        src_gnt_i,     // request taken
  output wire [2:0]                  src_space_o,   // memory
  output wire [LocalAddrWidth-1:0]   src_addr_o,    // byte address, word aligned
  input  wire                        src_rvalid_i,  // reply, in order
`ifdef PTO_SRC_DATA_WIDTH
  input  wire [`PTO_SRC_DATA_WIDTH-1:0] src_rdata_i, // word
`else
  input  wire [LocalDataWidth-1:0]   src_rdata_i,   // word
`endif
  input  wire                        src_err_i,     // the read failed, with the reply
  output wire                        dst_req_o,     // on-chip write, stable until granted
  input  wire                        dst_gnt_i,     // write done
  output wire [2:0]                  dst_space_o,   // memory
  output wire [LocalAddrWidth-1:0]   dst_addr_o,    // byte address, word aligned
  output wire [LocalDataWidth/8-1:0] dst_be_o,      // byte enables
  output wire [LocalDataWidth-1:0]   dst_wdata_o,   // word
  input  wire                        dst_err_i,     // the write failed, with the grant
  output wire [AxiIdWidth-1:0]       m_axi_arid,    // 0
  output wire [GmAddrWidth-1:0]      m_axi_araddr,  // burst address, bus word aligned
  output wire [7:0]                  m_axi_arlen,   // beats less 1
  output wire [2:0]                  m_axi_arsize,  // bus width
  output wire [1:0]                  m_axi_arburst, // INCR
  output wire                        m_axi_arvalid, // burst offered
  input  wire                        m_axi_arready, // burst taken
  input  wire [AxiIdWidth-1:0]       m_axi_rid,     // not looked at
  input  wire [GmDataWidth-1:0]      m_axi_rdata,   // beat
  input  wire [1:0]                  m_axi_rresp,   // response
  input  wire                        m_axi_rlast,   // last beat of the burst
  input  wire                        m_axi_rvalid,  // beat offered
  output wire                        m_axi_rready,  // beat taken
  output wire [AxiIdWidth-1:0]       m_axi_awid,    // 0
  output wire [GmAddrWidth-1:0]      m_axi_awaddr,  // burst address, bus word aligned
  output wire [7:0]                  m_axi_awlen,   // beats less 1
  output wire [2:0]                  m_axi_awsize,  // bus width
  output wire [1:0]                  m_axi_awburst, // INCR
  output wire                        m_axi_awvalid, // burst offered
  input  wire                        m_axi_awready, // burst taken
  output wire [GmDataWidth-1:0]      m_axi_wdata,   // beat
  output wire [GmDataWidth/8-1:0]    m_axi_wstrb,   // byte strobes
  output wire                        m_axi_wlast,   // last beat of the burst
  output wire                        m_axi_wvalid,  // beat offered
  input  wire                        m_axi_wready,  // beat taken
  input  wire [AxiIdWidth-1:0]       m_axi_bid,     // not looked at
  input  wire [1:0]                  m_axi_bresp,   // response
  input  wire                        m_axi_bvalid,  // response offered
  output wire                        m_axi_bready   // response taken
