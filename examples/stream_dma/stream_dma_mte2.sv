// SPDX-License-Identifier: Apache-2.0
// sdma_mm2s in slot mte2: mte_gm_ub and mte_gm_l1 with up to three loops, without padding.
`default_nettype none
`include "pto_desc.vh"

module stream_dma_mte2 #(
  parameter int GmAddrWidth = 40, GmDataWidth = 256, LocalAddrWidth = 20, LocalDataWidth = 256,
  parameter int DescWidth = 512, TagWidth = 8, NumOutstanding = 16, AxiIdWidth = 4,
  parameter int StreamWidth = 64              // bits of the block's bus and stream
) (
  `include "pto_engine_ports.vh"
);
  // --- a command for each row, to the block and to the place of its packet ---
  wire        cmd_valid_o, rsp_valid_i, failed_o, desc_ready, place_ready;
  wire [39:0] cmd_ext_o;
  wire [2:0]  cmd_space_o;
  wire [19:0] cmd_loc_o, cmd_len_o;
  wire [85:0] err_i;
  pto_commands #(
    .Ops((256'd1 << `PTO_OP_MTE_GM_UB) | (256'd1 << `PTO_OP_MTE_GM_L1)), .TagWidth(TagWidth),
    .Errors(2), .Overlap(0)
  ) u_commands (
    .*, .cmd_ready_i(desc_ready && place_ready), .cmd_ext_space_o(), .cmd_rows_o(),
    .cmd_ext_stride_o(), .cmd_loc_stride_o(), .cmd_first_o(), .idle_o()
  );

  // --- the block, with a reset of its kind ---
  wire rst_o, rst_no, arvalid_i, arready_o, rvalid_o, rready_i, rlast_o, tvalid_i, tready_o;
  wire [39:0] araddr_i;
  wire [7:0]  arid_i, arlen_i, rid_o;
  wire [2:0]  arsize_i;
  wire [1:0]  arburst_i, rresp_o;
  wire [StreamWidth-1:0] rdata_o, tdata_i;
  pto_reset u_reset (.*);
  sdma_mm2s #(.DATA_WIDTH(StreamWidth)) u_mm2s (
    .clk(clk_i), .rst(rst_o), .s_desc_addr(cmd_ext_o), .s_desc_len(cmd_len_o), .s_desc_tag(8'd0),
    .s_desc_valid(cmd_valid_o && place_ready), .s_desc_ready(desc_ready), .m_status_tag(),
    .m_status_error(), .m_status_valid(), .m_axi_arid(arid_i), .m_axi_araddr(araddr_i),
    .m_axi_arlen(arlen_i), .m_axi_arsize(arsize_i), .m_axi_arburst(arburst_i),
    .m_axi_arvalid(arvalid_i), .m_axi_arready(arready_o), .m_axi_rid(rid_o), .m_axi_rdata(rdata_o),
    .m_axi_rresp(rresp_o), .m_axi_rlast(rlast_o), .m_axi_rvalid(rvalid_o), .m_axi_rready(rready_i),
    .m_axis_tdata(tdata_i), .m_axis_tkeep(), .m_axis_tlast(), .m_axis_tvalid(tvalid_i),
    .m_axis_tready(tready_o)
  );

  // --- its two sides ---
  pto_axi_from_gm #(
    .DataWidth(StreamWidth), .IdWidth(8), .GmDataWidth(GmDataWidth), .AxiIdWidth(AxiIdWidth),
    .NumOutstanding(NumOutstanding)
  ) u_gm (.*, .rst_ni(rst_no), .stop_i(failed_o), .err_o(err_i[42:0]));
  pto_stream_to_local #(.DataWidth(StreamWidth), .LocalWidth(LocalDataWidth)) u_local (
    .*, .rst_ni(rst_no), .cmd_valid_i(cmd_valid_o && desc_ready), .cmd_ready_o(place_ready),
    .cmd_space_i(cmd_space_o), .cmd_addr_i(cmd_loc_o), .cmd_len_i(cmd_len_o),
    .rsp_valid_o(rsp_valid_i), .err_o(err_i[85:43])
  );
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"
endmodule

`default_nettype wire
