// SPDX-License-Identifier: Apache-2.0
// axi_copy in slot mte3: serves mte_ub_gm with up to three loops, without atomics. The mirror image of
// axi_copy_mte2.sv.
//
//   desc, done --- pto_commands --> axi_copy --> pto_axi_from_local --> src
//                       ^               \--> pto_axi_to_gm --> AW, W, B  (GM)
//                       +--- errors <---------------+
`default_nettype none

`include "pto_desc.vh"

module axi_copy_mte3 #(
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
    .Ops(256'd1 << `PTO_OP_MTE_UB_GM),
    .TagWidth(TagWidth), .Errors(2), .Overlap(0)
  ) u_commands (
    .*, .cmd_ext_space_o(), .cmd_rows_o(), .cmd_ext_stride_o(), .cmd_loc_stride_o(), .cmd_first_o()
  );

  // --- engine ---
  // Its read address is {memory, local byte address}.
  localparam int CopyWidth = GmDataWidth;     // bits of its buses
  wire                   arvalid_i, arready_o, rvalid_o, rready_i, rlast_o;
  wire                   awvalid_i, awready_o, wvalid_i, wready_o, wlast_i, bvalid_o, bready_i;
  wire [39:0]            araddr_i, awaddr_i;
  wire [7:0]             arlen_i, awlen_i;
  wire [CopyWidth-1:0]   rdata_o, wdata_i;
  wire [CopyWidth/8-1:0] wstrb_i;
  wire [1:0]             rresp_o, bresp_o;
  axi_copy #(
    .AddrWidth(40), .DataWidth(CopyWidth), .LenWidth(16), .MaxBursts(NumOutstanding)
  ) u_copy (
    .clk(clk_i), .rst_n(rst_ni), .stop(failed_o), .clear(idle_o), .cmd_valid(cmd_valid_o),
    .cmd_ready(cmd_ready_i), .cmd_src({17'd0, cmd_space_o, cmd_loc_o}), .cmd_dst(cmd_ext_o),
    .cmd_len(cmd_len_o[15:0]), .rsp_valid(rsp_valid_i), .rsp_ready(1'b1), .rsp_code(), .rsp_addr(),
    .arvalid(arvalid_i), .arready(arready_o), .araddr(araddr_i), .arlen(arlen_i),
    .rvalid(rvalid_o), .rready(rready_i), .rdata(rdata_o), .rresp(rresp_o), .rlast(rlast_o),
    .awvalid(awvalid_i), .awready(awready_o), .awaddr(awaddr_i), .awlen(awlen_i),
    .wvalid(wvalid_i), .wready(wready_o), .wdata(wdata_i), .wstrb(wstrb_i), .wlast(wlast_i),
    .bvalid(bvalid_o), .bready(bready_i), .bresp(bresp_o)
  );

  // --- memories ---
  localparam bit [2:0] Size = 3'($clog2(CopyWidth / 8));
  pto_axi_from_local #(
    .DataWidth(CopyWidth), .LocalWidth(LocalDataWidth)
  ) u_local (
    .*, .arid_i(1'b0), .arsize_i(Size), .arburst_i(2'b01), .rid_o(), .stop_i(failed_o),
    .err_o(err_i[42:0])
  );
  pto_axi_to_gm #(
    .DataWidth(CopyWidth), .GmDataWidth(GmDataWidth), .AxiIdWidth(AxiIdWidth),
    .NumOutstanding(NumOutstanding)
  ) u_gm (
    .*, .awid_i(1'b0), .awsize_i(Size), .awburst_i(2'b01), .bid_o(), .stop_i(failed_o),
    .err_o(err_i[85:43])
  );

  // --- unused ---
  `include "pto_no_gm_read.vh"
  `include "pto_no_dst.vh"
endmodule

`default_nettype wire
