// SPDX-License-Identifier: Apache-2.0
// The reference engine of slot mte2 with a fault. At its done port, from the fourth done on: Fault is
// 1 for an unknown tag, 2 for a done twice, 3 for the tag of the newest descriptor, 4 for no done.
// From the start: 5 for a ready without a reset, 6 for a reset of the other polarity.
`default_nettype none
`timescale 1ns / 1ps

module wrong_done_mte2 #(
    parameter GmAddrWidth = 40,
    parameter GmDataWidth = 256,
    parameter LocalAddrWidth = 20,
    parameter LocalDataWidth = 256,
    parameter DescWidth = 512,
    parameter TagWidth = 8,
    parameter NumOutstanding = 16,
    parameter AxiIdWidth = 4,
    parameter Fault = 0
) (
    `include "pto_engine_ports.vh"
);
  wire valid, busy, ready_to_take;
  reg awake_q;  // for Fault 5 without a reset
  wire [TagWidth-1:0] tag;
  reg [TagWidth-1:0] newest_q, last_q;
  reg [7:0] dones_q;
  reg again_q;  // a done was taken, and is repeated

  wire faulty = dones_q >= 8'd3;
  wire hidden = Fault == 4 && faulty;
  wire ready = again_q ? 1'b0 : done_ready_i && !hidden;
  wire taken = valid && ready;

  assign done_valid_o = again_q || (valid && !hidden);
  // Only the lowest tags are in use.
  assign done_tag_o = again_q ? last_q : Fault == 1 && faulty ? tag ^ (1 << TagWidth - 1) :
      Fault == 3 && faulty ? newest_q : tag;
  assign desc_ready_o = ready_to_take && (Fault != 5 || awake_q);
  always @(posedge clk_i) awake_q <= awake_q || done_valid_o;
  assign busy_o = busy || again_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dones_q <= 8'd0;
      again_q <= 1'b0;
    end else begin
      if (desc_valid_i && desc_ready_o) newest_q <= desc_tag_i;
      if (taken && dones_q != 8'd255) dones_q <= dones_q + 8'd1;
      if (taken) last_q <= tag;
      if (again_q && done_ready_i) again_q <= 1'b0;
      else if (Fault == 2 && faulty && taken) again_q <= 1'b1;
    end
  end

  pto_mte2 #(
      .GmAddrWidth(GmAddrWidth),
      .GmDataWidth(GmDataWidth),
      .LocalAddrWidth(LocalAddrWidth),
      .LocalDataWidth(LocalDataWidth),
      .DescWidth(DescWidth),
      .TagWidth(TagWidth),
      .NumOutstanding(NumOutstanding),
      .AxiIdWidth(AxiIdWidth)
  ) u_engine (
      .clk_i(clk_i),
      .rst_ni(rst_ni ^ (Fault == 6)),
      .desc_valid_i(desc_valid_i),
      .desc_ready_o(ready_to_take),
      .desc_i(desc_i),
      .desc_tag_i(desc_tag_i),
      .done_valid_o(valid),
      .done_ready_i(ready),
      .done_tag_o(tag),
      .done_status_o(done_status_o),
      .done_rule_o(done_rule_o),
      .done_addr_o(done_addr_o),
      .busy_o(busy),
      .src_req_o(src_req_o),
      .src_gnt_i(src_gnt_i),
      .src_space_o(src_space_o),
      .src_addr_o(src_addr_o),
      .src_rvalid_i(src_rvalid_i),
      .src_rdata_i(src_rdata_i),
      .src_err_i(src_err_i),
      .dst_req_o(dst_req_o),
      .dst_gnt_i(dst_gnt_i),
      .dst_space_o(dst_space_o),
      .dst_addr_o(dst_addr_o),
      .dst_be_o(dst_be_o),
      .dst_wdata_o(dst_wdata_o),
      .dst_err_i(dst_err_i),
      .m_axi_arid(m_axi_arid),
      .m_axi_araddr(m_axi_araddr),
      .m_axi_arlen(m_axi_arlen),
      .m_axi_arsize(m_axi_arsize),
      .m_axi_arburst(m_axi_arburst),
      .m_axi_arvalid(m_axi_arvalid),
      .m_axi_arready(m_axi_arready),
      .m_axi_rid(m_axi_rid),
      .m_axi_rdata(m_axi_rdata),
      .m_axi_rresp(m_axi_rresp),
      .m_axi_rlast(m_axi_rlast),
      .m_axi_rvalid(m_axi_rvalid),
      .m_axi_rready(m_axi_rready),
      .m_axi_awid(m_axi_awid),
      .m_axi_awaddr(m_axi_awaddr),
      .m_axi_awlen(m_axi_awlen),
      .m_axi_awsize(m_axi_awsize),
      .m_axi_awburst(m_axi_awburst),
      .m_axi_awvalid(m_axi_awvalid),
      .m_axi_awready(m_axi_awready),
      .m_axi_wdata(m_axi_wdata),
      .m_axi_wstrb(m_axi_wstrb),
      .m_axi_wlast(m_axi_wlast),
      .m_axi_wvalid(m_axi_wvalid),
      .m_axi_wready(m_axi_wready),
      .m_axi_bid(m_axi_bid),
      .m_axi_bresp(m_axi_bresp),
      .m_axi_bvalid(m_axi_bvalid),
      .m_axi_bready(m_axi_bready)
  );
endmodule

`default_nettype wire
