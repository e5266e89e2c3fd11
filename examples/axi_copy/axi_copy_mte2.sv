// SPDX-License-Identifier: Apache-2.0
// axi_copy in slot mte2: the ports of docs/contract.md on the outside, the engine's commands on the
// inside. Serves mte_gm_ub and mte_gm_l1 with up to three loops and no padding.
//
//   desc, done --- pto_commands --> axi_copy --> AR, R  (GM)
//                       ^               \--> pto_axi_to_local --> dst
//                       +--- first error <--- R, dst
//
// One op at a time: its rows go to the engine as fast as it takes them. The engine reports the
// burst of an error; the contract requires its bus word, so R and dst are watched.
`default_nettype none

`include "pto_desc.vh"

module axi_copy_mte2 #(
  parameter int GmAddrWidth = 40, GmDataWidth = 256, LocalAddrWidth = 20, LocalDataWidth = 256,
  parameter int DescWidth = 512, TagWidth = 8, NumOutstanding = 16, AxiIdWidth = 4
) (
  `include "pto_engine_ports.vh"
);

  // --- commands ---
  // Descriptors in, one row at a time out; rows of an op wait for the op before.
  wire        cmd_valid, cmd_ready, rsp_valid, failed, idle;
  wire [39:0] cmd_ext;
  wire [2:0]  cmd_space;
  wire [19:0] cmd_loc, cmd_len;
  wire [85:0] err;
  pto_commands #(
    .Ops((256'd1 << `PTO_OP_MTE_GM_UB) | (256'd1 << `PTO_OP_MTE_GM_L1)),
    .TagWidth(TagWidth), .Errors(2), .Overlap(0)
  ) u_commands (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_ext_o(cmd_ext), .cmd_ext_space_o(),
    .cmd_loc_o(cmd_loc), .cmd_space_o(cmd_space), .cmd_len_o(cmd_len), .cmd_rows_o(),
    .cmd_ext_stride_o(), .cmd_loc_stride_o(), .cmd_first_o(), .rsp_valid_i(rsp_valid),
    .err_i(err), .failed_o(failed), .idle_o(idle)
  );

  // --- engine ---
  // Its write address is {memory, local byte address}.
  wire                     awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  wire [39:0]              awaddr;
  wire [GmDataWidth-1:0]   wdata;
  wire [GmDataWidth/8-1:0] wstrb;
  wire [1:0]               bresp;
  axi_copy #(
    .AddrWidth(40), .DataWidth(GmDataWidth), .LenWidth(16), .MaxBursts(NumOutstanding)
  ) u_copy (
    .clk(clk_i), .rst_n(rst_ni), .stop(failed), .clear(idle),
    .cmd_valid, .cmd_ready, .cmd_src(cmd_ext), .cmd_dst({17'd0, cmd_space, cmd_loc}),
    .cmd_len(cmd_len[15:0]), .rsp_valid, .rsp_ready(1'b1), .rsp_code(), .rsp_addr(),
    .arvalid(m_axi_arvalid), .arready(m_axi_arready), .araddr(m_axi_araddr), .arlen(m_axi_arlen),
    .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
    .rlast(m_axi_rlast), .awvalid, .awready, .awaddr, .awlen(), .wvalid, .wready, .wdata, .wstrb,
    .wlast, .bvalid, .bready, .bresp
  );
  assign m_axi_arid    = '0;
  assign m_axi_arsize  = 3'($clog2(GmDataWidth / 8));
  assign m_axi_arburst = 2'b01;

  // --- local ---
  pto_axi_to_local #(.DataWidth(GmDataWidth), .LocalWidth(LocalDataWidth)) u_local (
    .clk_i, .rst_ni, .awvalid_i(awvalid), .awready_o(awready), .awaddr_i(awaddr),
    .wvalid_i(wvalid), .wready_o(wready), .wdata_i(wdata), .wstrb_i(wstrb), .wlast_i(wlast),
    .bvalid_o(bvalid), .bready_i(bready), .bresp_o(bresp), .dst_req_o, .dst_gnt_i, .dst_space_o,
    .dst_addr_o, .dst_be_o, .dst_wdata_o, .dst_err_i
  );

  // --- errors ---
  pto_axi_watch #(.DataWidth(GmDataWidth), .Bursts(NumOutstanding)) u_watch (
    .clk_i, .rst_ni, .arvalid_i(m_axi_arvalid), .arready_i(m_axi_arready),
    .araddr_i(m_axi_araddr), .rvalid_i(m_axi_rvalid), .rready_i(m_axi_rready),
    .rlast_i(m_axi_rlast), .rresp_i(m_axi_rresp), .err_o(err[42:0])
  );
  assign err[85:43] = (dst_req_o && dst_gnt_i && dst_err_i) ? {`PTO_ST_LOCAL, 20'd0, dst_addr_o}
                                                             : 43'd0;

  // --- unused ---
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"
endmodule

`default_nettype wire
