// SPDX-License-Identifier: Apache-2.0
// Adapters under the names that cocotbext-axi looks for: a block's AXI4 with ids of 4 bits to GM with
// 128 bits, a packet from a memory, and AXI4-Lite. Beats of writes whose lowest byte
// is 8'hEE write nothing.
`default_nettype none

module adapter_top #(
  parameter integer Bus = 64                  // bits of the block's bus
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire [3:0]   s_axi_awid, s_axi_arid,
  input  wire [39:0]  s_axi_awaddr, s_axi_araddr,
  input  wire [7:0]   s_axi_awlen, s_axi_arlen,
  input  wire [2:0]   s_axi_awsize, s_axi_arsize,
  input  wire [1:0]   s_axi_awburst, s_axi_arburst,
  input  wire         s_axi_awvalid, s_axi_arvalid, s_axi_wvalid, s_axi_wlast, s_axi_bready,
  input  wire         s_axi_rready,
  output wire         s_axi_awready, s_axi_arready, s_axi_wready, s_axi_bvalid, s_axi_rvalid,
  output wire         s_axi_rlast,
  input  wire [Bus-1:0] s_axi_wdata,
  input  wire [Bus/8-1:0] s_axi_wstrb,
  output wire [3:0]   s_axi_bid, s_axi_rid,
  output wire [1:0]   s_axi_bresp, s_axi_rresp,
  output wire [Bus-1:0] s_axi_rdata,
  output wire [3:0]   m_axi_awid, m_axi_arid,
  output wire [39:0]  m_axi_awaddr, m_axi_araddr,
  output wire [7:0]   m_axi_awlen, m_axi_arlen,
  output wire [2:0]   m_axi_awsize, m_axi_arsize,
  output wire [1:0]   m_axi_awburst, m_axi_arburst,
  output wire         m_axi_awvalid, m_axi_arvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready,
  output wire         m_axi_rready,
  input  wire         m_axi_awready, m_axi_arready, m_axi_wready, m_axi_bvalid, m_axi_rvalid,
  input  wire         m_axi_rlast,
  output wire [127:0] m_axi_wdata,
  output wire [15:0]  m_axi_wstrb,
  input  wire [3:0]   m_axi_bid, m_axi_rid,
  input  wire [1:0]   m_axi_bresp, m_axi_rresp,
  input  wire [127:0] m_axi_rdata,
  input  wire         cmd_valid_i,
  output wire         cmd_ready_o,
  input  wire [19:0]  cmd_addr_i, cmd_len_i,
  output wire [63:0]  m_axis_tdata,
  output wire [7:0]   m_axis_tkeep,
  output wire         m_axis_tvalid, m_axis_tlast,
  input  wire         m_axis_tready,
  input  wire         req_valid_i, req_write_i,
  input  wire [7:0]   req_addr_i,
  input  wire [31:0]  req_data_i,
  output wire         free_o, read_o, wrote_o, error_o,
  output wire [7:0]   m_axil_awaddr, m_axil_araddr,
  output wire [2:0]   m_axil_awprot, m_axil_arprot,
  output wire         m_axil_awvalid, m_axil_wvalid, m_axil_bready, m_axil_arvalid, m_axil_rready,
  input  wire         m_axil_awready, m_axil_wready, m_axil_bvalid, m_axil_arready, m_axil_rvalid,
  output wire [31:0]  m_axil_wdata,
  output wire [3:0]   m_axil_wstrb,
  input  wire [1:0]   m_axil_bresp, m_axil_rresp,
  input  wire [31:0]  m_axil_rdata
);
  wire [42:0] rd_err, wr_err, src_err;

  pto_axi_from_gm #(.DataWidth(Bus), .IdWidth(4), .GmDataWidth(128)) u_from_gm (
    .*, .arid_i(s_axi_arid), .araddr_i(s_axi_araddr), .arlen_i(s_axi_arlen),
    .arsize_i(s_axi_arsize), .arburst_i(s_axi_arburst), .arvalid_i(s_axi_arvalid),
    .arready_o(s_axi_arready), .rid_o(s_axi_rid), .rdata_o(s_axi_rdata), .rresp_o(s_axi_rresp),
    .rlast_o(s_axi_rlast), .rvalid_o(s_axi_rvalid), .rready_i(s_axi_rready), .stop_i(1'b0),
    .err_o(rd_err)
  );
  pto_axi_to_gm #(.DataWidth(Bus), .IdWidth(4), .GmDataWidth(128), .MaxBeats(4)) u_to_gm (
    .*, .awid_i(s_axi_awid), .awaddr_i(s_axi_awaddr), .awlen_i(s_axi_awlen),
    .awsize_i(s_axi_awsize), .awburst_i(s_axi_awburst), .awvalid_i(s_axi_awvalid),
    .awready_o(s_axi_awready), .wdata_i(s_axi_wdata),
    .wstrb_i((s_axi_wdata[7:0] == 8'hEE) ? '0 : s_axi_wstrb), .wlast_i(s_axi_wlast),
    .wvalid_i(s_axi_wvalid), .wready_o(s_axi_wready), .bid_o(s_axi_bid), .bresp_o(s_axi_bresp),
    .bvalid_o(s_axi_bvalid), .bready_i(s_axi_bready), .stop_i(1'b0), .err_o(wr_err)
  );

  // A memory whose byte at address a is a % 251.
  wire        src_req;
  wire [2:0]  src_space;
  wire [19:0] src_addr;
  reg         src_rvalid;
  reg [255:0] src_rdata;
  integer     k;
  always @(posedge clk_i) begin
    src_rvalid <= src_req;
    for (k = 0; k < 32; k = k + 1) src_rdata[8*k +: 8] <= 8'((src_addr + k) % 251);
  end
  pto_local_to_stream #(.DataWidth(64), .LocalWidth(256)) u_stream (
    .*, .cmd_space_i(3'd1), .tvalid_o(m_axis_tvalid), .tready_i(m_axis_tready),
    .tdata_o(m_axis_tdata), .tkeep_o(m_axis_tkeep), .tlast_o(m_axis_tlast), .src_req_o(src_req),
    .src_gnt_i(1'b1), .src_space_o(src_space), .src_addr_o(src_addr), .src_rvalid_i(src_rvalid),
    .src_rdata_i(src_rdata), .src_err_i(1'b0), .err_o(src_err)
  );

  pto_axi_lite u_lite (
    .*, .awvalid_o(m_axil_awvalid), .awready_i(m_axil_awready), .awaddr_o(m_axil_awaddr),
    .wvalid_o(m_axil_wvalid), .wready_i(m_axil_wready), .wdata_o(m_axil_wdata),
    .wstrb_o(m_axil_wstrb), .bvalid_i(m_axil_bvalid), .bready_o(m_axil_bready),
    .bresp_i(m_axil_bresp), .arvalid_o(m_axil_arvalid), .arready_i(m_axil_arready),
    .araddr_o(m_axil_araddr), .rvalid_i(m_axil_rvalid), .rready_o(m_axil_rready),
    .rresp_i(m_axil_rresp)
  );
  assign {m_axil_awprot, m_axil_arprot} = 6'd0;
endmodule

`default_nettype wire
