// SPDX-License-Identifier: Apache-2.0
// sdma_s2mm in slot mte3: mte_ub_gm with up to three loops, without atomics.
`default_nettype none
`include "pto_desc.vh"

module stream_dma_mte3 #(
  parameter int GmAddrWidth = 40, GmDataWidth = 256, LocalAddrWidth = 20, LocalDataWidth = 256,
  parameter int DescWidth = 512, TagWidth = 8, NumOutstanding = 16, AxiIdWidth = 4,
  parameter int StreamWidth = 64              // bits of the block's bus and stream
) (
  `include "pto_engine_ports.vh"
);
  // --- a command for each row, to the block and to the source of its packet ---
  wire        cmd_valid_o, rsp_valid_i, failed_o, desc_ready, source_ready;
  wire [39:0] cmd_ext_o;
  wire [2:0]  cmd_space_o;
  wire [19:0] cmd_loc_o, cmd_len_o;
  wire [85:0] err_i;
  pto_commands #(
    .Ops(256'd1 << `PTO_OP_MTE_UB_GM), .TagWidth(TagWidth), .Errors(2), .Overlap(0)
  ) u_commands (
    .*, .cmd_ready_i(desc_ready && source_ready), .cmd_ext_space_o(), .cmd_rows_o(),
    .cmd_ext_stride_o(), .cmd_loc_stride_o(), .cmd_first_o(), .idle_o()
  );

  // --- the block, with a reset of its kind ---
  wire rst_o, rst_no, awvalid_i, awready_o, wvalid_i, wready_o, wlast_i, bvalid_o, bready_i;
  wire tvalid_o, tready_i, tlast_o;
  wire [39:0] awaddr_i;
  wire [7:0]  awid_i, awlen_i, bid_o;
  wire [2:0]  awsize_i;
  wire [1:0]  awburst_i, bresp_o;
  wire [StreamWidth-1:0] wdata_i, tdata_o;
  wire [StreamWidth/8-1:0] wstrb_i, tkeep_o;
  pto_reset u_reset (.*);
  sdma_s2mm #(.DATA_WIDTH(StreamWidth)) u_s2mm (
    .clk(clk_i), .rst(rst_o), .s_desc_addr(cmd_ext_o), .s_desc_len(cmd_len_o), .s_desc_tag(8'd0),
    .s_desc_valid(cmd_valid_o && source_ready), .s_desc_ready(desc_ready), .m_status_tag(),
    .m_status_error(), .m_status_valid(rsp_valid_i), .s_axis_tdata(tdata_o), .s_axis_tkeep(tkeep_o),
    .s_axis_tlast(tlast_o), .s_axis_tvalid(tvalid_o), .s_axis_tready(tready_i),
    .m_axi_awid(awid_i), .m_axi_awaddr(awaddr_i), .m_axi_awlen(awlen_i), .m_axi_awsize(awsize_i),
    .m_axi_awburst(awburst_i), .m_axi_awvalid(awvalid_i), .m_axi_awready(awready_o),
    .m_axi_wdata(wdata_i), .m_axi_wstrb(wstrb_i), .m_axi_wlast(wlast_i), .m_axi_wvalid(wvalid_i),
    .m_axi_wready(wready_o), .m_axi_bid(bid_o), .m_axi_bresp(bresp_o), .m_axi_bvalid(bvalid_o),
    .m_axi_bready(bready_i)
  );

  // --- its two sides ---
  pto_local_to_stream #(.DataWidth(StreamWidth), .LocalWidth(LocalDataWidth)) u_local (
    .*, .rst_ni(rst_no), .cmd_valid_i(cmd_valid_o && desc_ready), .cmd_ready_o(source_ready),
    .cmd_space_i(cmd_space_o), .cmd_addr_i(cmd_loc_o), .cmd_len_i(cmd_len_o),
    .err_o(err_i[42:0])
  );
  pto_axi_to_gm #(
    .DataWidth(StreamWidth), .IdWidth(8), .GmDataWidth(GmDataWidth), .AxiIdWidth(AxiIdWidth),
    .NumOutstanding(NumOutstanding)
  ) u_gm (.*, .rst_ni(rst_no), .stop_i(failed_o), .err_o(err_i[85:43]));
  `include "pto_no_gm_read.vh"
  `include "pto_no_dst.vh"
endmodule

`default_nettype wire
