// SPDX-License-Identifier: Apache-2.0
// A minimal copy engine between the on-chip memories, with ports that may differ in width: the proof
// that all slots reach all memories, and that activity after a done is seen, or delayed, as
// specified for slots with a stopped clock. One descriptor at a time, one source word after the
// other.
// Descriptor: [7:0] words of SrcDataWidth, not 0; [10:8] and [31:12] source space and address,
// [34:32] and [63:44] destination, both aligned to SrcDataWidth; [79:64] `late`: so many clocks
// after the done, or never for 0, the action [83:80]: 0 a local write, 1 a local read, 2 a done,
// 3 busy, 4 a read burst, each for one clock, or, for the requests, until granted.
// [84]: the done has the status of a local error, and its address is the number of clocks from the
// last reset to the last write.
// Ports par and flag, which only slot fix has, stay idle.
`default_nettype none
`timescale 1ns / 1ps

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module local_dma #(
    parameter GmAddrWidth = 40,
    parameter GmDataWidth = 256,
    parameter LocalAddrWidth = 20,
    parameter LocalDataWidth = 256,
    parameter SrcDataWidth = LocalDataWidth,
    parameter DescWidth = 512,
    parameter TagWidth = 8,
    parameter NumOutstanding = 16,
    parameter AxiIdWidth = 4
) (
    `include "pto_fix_ports.vh"
    `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam Slices = SrcDataWidth / LocalDataWidth;  // destination words in a source word
  localparam [2:0] IDLE = 3'd0, ASK = 3'd1, WAIT = 3'd2, STORE = 3'd3, DONE = 3'd4;
  localparam [3:0] LATE_WRITE = 4'd0, LATE_READ = 4'd1, LATE_DONE = 4'd2, LATE_BUSY = 4'd3,
      LATE_BURST = 4'd4;

  reg [2:0] state_q;
  reg [7:0] words_q;
  reg [2:0] slice_q;  // next of the word to store
  reg [2:0] src_space_q, dst_space_q;
  reg [LocalAddrWidth-1:0] src_addr_q, dst_addr_q;
  reg [SrcDataWidth-1:0] data_q;
  reg [TagWidth-1:0] tag_q;
  reg error_q, count_q;
  reg [15:0] late_q;  // clocks, counted down once idle; acts at 1
  reg [3:0] what_q;
  reg [GmAddrWidth-1:0] clocks_q, done_clocks_q;

  wire late = state_q == IDLE && late_q == 16'd1;

  assign desc_ready_o = state_q == IDLE;
  assign busy_o = state_q != IDLE || (late && what_q == LATE_BUSY);
  assign done_valid_o = state_q == DONE || (late && what_q == LATE_DONE);
  assign done_tag_o = tag_q;
  assign done_status_o = error_q || count_q ? 3'd6 : 3'd0;
  assign done_rule_o = 8'd0;
  assign done_addr_o = count_q ? done_clocks_q : {GmAddrWidth{1'b0}};
  assign src_req_o = state_q == ASK || (late && what_q == LATE_READ);
  assign src_space_o = src_space_q;
  assign src_addr_o = src_addr_q;
  assign dst_req_o = state_q == STORE || (late && what_q == LATE_WRITE);
  assign dst_space_o = dst_space_q;
  assign dst_addr_o = dst_addr_q;
  assign dst_be_o = {LocalDataWidth / 8{1'b1}};
  assign dst_wdata_o = data_q[slice_q*LocalDataWidth+:LocalDataWidth];
  assign par_req_o = 1'b0;
  assign par_space_o = 3'd0;
  assign par_addr_o = {LocalAddrWidth{1'b0}};
  assign flag_req_o = 1'b0;
  assign flag_clear_o = 1'b0;
  assign flag_addr_o = 4'd0;
  assign flag_mask_o = 32'd0;
  assign m_axi_arid = {AxiIdWidth{1'b0}};
  assign m_axi_araddr = {GmAddrWidth{1'b0}};
  assign m_axi_arlen = 8'd0;
  assign m_axi_arsize = $clog2(GmDataWidth / 8);
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = late && what_q == LATE_BURST;
  assign m_axi_rready = 1'b1;
  assign m_axi_awid = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr = {GmAddrWidth{1'b0}};
  assign m_axi_awlen = 8'd0;
  assign m_axi_awsize = 3'd0;
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata = {GmDataWidth{1'b0}};
  assign m_axi_wstrb = {GmDataWidth / 8{1'b0}};
  assign m_axi_wlast = 1'b0;
  assign m_axi_wvalid = 1'b0;
  assign m_axi_bready = 1'b1;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      late_q <= 16'd0;
      slice_q <= 3'd0;
      clocks_q <= {GmAddrWidth{1'b0}};
    end else begin
      clocks_q <= clocks_q + 1'b1;
      case (state_q)
        IDLE: begin
          if (late_q > 16'd1) late_q <= late_q - 16'd1;
          if (late && (what_q == LATE_WRITE ? dst_gnt_i : what_q == LATE_READ ? src_gnt_i :
                       what_q == LATE_BURST ? m_axi_arready : 1'b1))
            late_q <= 16'd0;
          if (desc_valid_i) begin
            words_q <= desc_i[7:0];
            src_space_q <= desc_i[10:8];
            src_addr_q <= desc_i[31:12];
            dst_space_q <= desc_i[34:32];
            dst_addr_q <= desc_i[63:44];
            late_q <= desc_i[79:64];
            what_q <= desc_i[83:80];
            count_q <= desc_i[84];
            tag_q <= desc_tag_i;
            error_q <= 1'b0;
            state_q <= ASK;
          end
        end
        ASK: if (src_gnt_i) state_q <= WAIT;
        WAIT: begin
          if (src_rvalid_i) begin
            data_q <= src_rdata_i;
            error_q <= error_q || src_err_i;
            src_addr_q <= src_addr_q + SrcDataWidth / 8;
            state_q <= STORE;
          end
        end
        STORE: begin
          if (dst_gnt_i) begin
            error_q <= error_q || dst_err_i;
            dst_addr_q <= dst_addr_q + LocalDataWidth / 8;
            slice_q <= slice_q + 3'd1;
            if (slice_q == Slices - 1) begin
              slice_q <= 3'd0;
              words_q <= words_q - 8'd1;
              done_clocks_q <= clocks_q;
              state_q <= words_q == 8'd1 ? DONE : ASK;
            end
          end
        end
        default: if (done_ready_i) state_q <= IDLE;
      endcase
    end
  end
endmodule

`default_nettype wire
