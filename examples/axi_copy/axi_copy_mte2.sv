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
  wire        cmd_valid_o, cmd_ready_i, rsp_valid_i, failed_o, idle_o;
  wire [39:0] cmd_ext_o;
  wire [2:0]  cmd_space_o;
  wire [19:0] cmd_loc_o, cmd_len_o;
  wire [85:0] err_i;
  pto_commands #(
    .Ops((256'd1 << `PTO_OP_MTE_GM_UB) | (256'd1 << `PTO_OP_MTE_GM_L1)),
    .TagWidth(TagWidth), .Errors(2), .Overlap(0)
  ) u_commands (
    .*, .cmd_ext_space_o(), .cmd_rows_o(), .cmd_ext_stride_o(), .cmd_loc_stride_o(), .cmd_first_o()
  );

  // --- engine ---
  // Its write address is {memory, local byte address}.
  wire                     awvalid_i, awready_o, wvalid_i, wready_o, wlast_i, bvalid_o, bready_i;
  wire [39:0]              awaddr_i;
  wire [7:0]               awlen_i;
  wire [GmDataWidth-1:0]   wdata_i;
  wire [GmDataWidth/8-1:0] wstrb_i;
  wire [1:0]               bresp_o;
  axi_copy #(
    .AddrWidth(40), .DataWidth(GmDataWidth), .LenWidth(16), .MaxBursts(NumOutstanding)
  ) u_copy (
    .clk(clk_i), .rst_n(rst_ni), .stop(failed_o), .clear(idle_o), .cmd_valid(cmd_valid_o),
    .cmd_ready(cmd_ready_i), .cmd_src(cmd_ext_o), .cmd_dst({17'd0, cmd_space_o, cmd_loc_o}),
    .cmd_len(cmd_len_o[15:0]), .rsp_valid(rsp_valid_i), .rsp_ready(1'b1), .rsp_code(), .rsp_addr(),
    .arvalid(m_axi_arvalid), .arready(m_axi_arready), .araddr(m_axi_araddr), .arlen(m_axi_arlen),
    .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
    .rlast(m_axi_rlast), .awvalid(awvalid_i), .awready(awready_o), .awaddr(awaddr_i),
    .awlen(awlen_i), .wvalid(wvalid_i), .wready(wready_o), .wdata(wdata_i), .wstrb(wstrb_i),
    .wlast(wlast_i), .bvalid(bvalid_o), .bready(bready_i), .bresp(bresp_o)
  );
  localparam bit [2:0] Size = 3'($clog2(GmDataWidth / 8));
  assign m_axi_arid    = '0;
  assign m_axi_arsize  = Size;
  assign m_axi_arburst = 2'b01;

  // --- local ---
  pto_axi_to_local #(.DataWidth(GmDataWidth), .LocalWidth(LocalDataWidth)) u_local (
    .*, .awid_i(1'b0), .awsize_i(Size), .awburst_i(2'b01), .bid_o(), .stop_i(1'b0),
    .err_o(err_i[85:43])
  );

  // --- errors ---
  pto_axi_watch #(.DataWidth(GmDataWidth), .Bursts(NumOutstanding)) u_watch (
    .clk_i, .rst_ni, .arvalid_i(m_axi_arvalid), .arready_i(m_axi_arready),
    .araddr_i(m_axi_araddr), .rvalid_i(m_axi_rvalid), .rready_i(m_axi_rready),
    .rlast_i(m_axi_rlast), .rresp_i(m_axi_rresp), .err_o(err_i[42:0])
  );

  // --- unused ---
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"
endmodule

`default_nettype wire
