// SPDX-License-Identifier: Apache-2.0
// A minimal engine that makes accesses of one kind, or stalls in a selected way: the proof
// of latencies, jitters, stall counts, faults, late bursts and of what is said about a hang.
// Descriptor: opcode and unit_flag where the write-back ops have them; [135:128] command, see below;
// [23:8] accesses, bursts of [31:24] + 1 beats on GM; [71:32] GM address; [91:72] local address, or
// flag word; [94:92] local space; [111:96] clocks between two accesses, which else follow each other
// as fast as they are granted; [127:120] flags, see below. Addresses grow from access to access.
// The status of a done is of the first error. With flag SIGNED it is that of a local error, and the
// address is a signature of what was read, in order.
`default_nettype none
`timescale 1ns / 1ps

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module stress_dma #(
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
  localparam [7:0] NOTHING = 8'd0, READS = 8'd1, WRITES = 8'd2, SRC = 8'd3, DST = 8'd4, PAR = 8'd5,
      FLAG = 8'd6;
  // Flags: RREADY or BREADY low, no AW, no W, no done, no descriptor after this one.
  localparam NO_RREADY = 0, NO_BREADY = 1, NO_AW = 2, NO_W = 3, NO_DONE = 4, REFUSE = 5, SIGNED = 6;

  reg active_q, done_q, refuse_q;
  reg [7:0] command_q, len_q, flags_q, beat_q;
  reg [15:0] asks_q, w_left_q, open_q;  // accesses to ask for, W bursts to send, answers owed
  reg [15:0] delay_q, wait_q;
  reg [GmAddrWidth-1:0] gm_q, signature_q;
  reg [LocalAddrWidth-1:0] local_q;
  reg [2:0] space_q, status_q;
  reg [TagWidth-1:0] tag_q;

  wire ask = active_q && asks_q != 16'd0 && wait_q == 16'd0;
  // Ports par and flag are of slot fix alone.
  wire par_answer = command_q == PAR && par_rvalid_i;
  wire flag_answer = command_q == FLAG && flag_rvalid_i;
  wire answer = (m_axi_rvalid && m_axi_rready && m_axi_rlast) || (m_axi_bvalid && m_axi_bready) ||
      src_rvalid_i || par_answer || flag_answer;
  wire asked = (m_axi_arvalid && m_axi_arready) || (m_axi_awvalid && m_axi_awready) ||
      (src_req_o && src_gnt_i) || (dst_req_o && dst_gnt_i) || (par_req_o && par_gnt_i) ||
      (flag_req_o && flag_gnt_i);

  assign desc_ready_o = !active_q && !done_q && !refuse_q && rst_ni;
  assign busy_o = active_q || done_q;
  assign done_valid_o = done_q;
  assign done_tag_o = tag_q;
  assign done_status_o = flags_q[SIGNED] ? 3'd6 : status_q;
  assign done_rule_o = 8'd0;
  assign done_addr_o = flags_q[SIGNED] ? signature_q : {GmAddrWidth{1'b0}};

  assign m_axi_arid = {AxiIdWidth{1'b0}};
  assign m_axi_araddr = gm_q;
  assign m_axi_arlen = len_q;
  assign m_axi_arsize = $clog2(GmDataWidth / 8);
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = ask && command_q == READS && open_q < NumOutstanding;
  assign m_axi_rready = !flags_q[NO_RREADY];
  assign m_axi_awid = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr = gm_q;
  assign m_axi_awlen = len_q;
  assign m_axi_awsize = $clog2(GmDataWidth / 8);
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = ask && command_q == WRITES && open_q < NumOutstanding && !flags_q[NO_AW];
  assign m_axi_wdata = {GmDataWidth / 8{beat_q}};
  assign m_axi_wstrb = {GmDataWidth / 8{1'b1}};
  assign m_axi_wlast = beat_q == len_q;
  assign m_axi_wvalid = active_q && w_left_q != 16'd0 && !flags_q[NO_W];
  assign m_axi_bready = !flags_q[NO_BREADY];

  assign src_req_o = ask && command_q == SRC;
  assign src_space_o = space_q;
  assign src_addr_o = local_q;
  assign dst_req_o = ask && command_q == DST;
  assign dst_space_o = space_q;
  assign dst_addr_o = local_q;
  assign dst_be_o = {LocalDataWidth / 8{1'b1}};
  assign dst_wdata_o = {LocalDataWidth / 8{asks_q[7:0]}};
  assign par_req_o = ask && command_q == PAR;
  assign par_space_o = space_q;
  assign par_addr_o = {{LocalAddrWidth - 12{1'b0}}, local_q[11:0]};  // round and round in FB
  assign flag_req_o = ask && command_q == FLAG;
  assign flag_clear_o = 1'b0;
  assign flag_addr_o = local_q[3:0];
  assign flag_mask_o = 32'hff;

  function [GmAddrWidth-1:0] mixed(input [GmAddrWidth-1:0] signature,
                                   input [GmAddrWidth-1:0] data);
    mixed = {signature[GmAddrWidth-2:0], signature[GmAddrWidth-1]} ^ data;
  endfunction

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      command_q <= NOTHING;
      done_q <= 1'b0;
      refuse_q <= 1'b0;
      flags_q <= 8'd0;
      asks_q <= 16'd0;
      w_left_q <= 16'd0;
      open_q <= 16'd0;
      wait_q <= 16'd0;
      beat_q <= 8'd0;
      status_q <= 3'd0;
    end else begin
      if (wait_q != 16'd0) wait_q <= wait_q - 16'd1;
      if (desc_valid_i && desc_ready_o) begin
        active_q <= 1'b1;
        command_q <= desc_i[135:128];
        asks_q <= desc_i[135:128] == NOTHING ? 16'd0 : desc_i[23:8];
        w_left_q <= desc_i[135:128] == WRITES ? desc_i[23:8] : 16'd0;
        len_q <= desc_i[31:24];
        gm_q <= desc_i[71:32];
        local_q <= desc_i[91:72];
        space_q <= desc_i[94:92];
        delay_q <= desc_i[111:96];
        flags_q <= desc_i[127:120];
        refuse_q <= desc_i[120+REFUSE];
        tag_q <= desc_tag_i;
        signature_q <= {GmAddrWidth{1'b0}};
        status_q <= 3'd0;
        wait_q <= 16'd0;
      end
      if (asked) begin
        // A polling engine never ends.
        if (command_q != FLAG || !flags_q[NO_DONE]) asks_q <= asks_q - 16'd1;
        wait_q <= delay_q;
        gm_q <= gm_q + (len_q + 1) * (GmDataWidth / 8);
        if (command_q != FLAG)
          local_q <= local_q + (command_q == DST ? LocalDataWidth / 8 : SrcDataWidth / 8);
      end
      open_q <= open_q + (asked && command_q != DST ? 16'd1 : 16'd0) - (answer ? 16'd1 : 16'd0);
      if (m_axi_wvalid && m_axi_wready) begin
        beat_q <= m_axi_wlast ? 8'd0 : beat_q + 8'd1;
        if (m_axi_wlast) w_left_q <= w_left_q - 16'd1;
      end
      if (m_axi_rvalid && m_axi_rready)
        signature_q <= mixed(signature_q, m_axi_rdata[GmAddrWidth-1:0]);
      if (src_rvalid_i) signature_q <= mixed(signature_q, src_rdata_i[GmAddrWidth-1:0]);
      if (par_answer) signature_q <= mixed(signature_q, par_rdata_i[GmAddrWidth-1:0]);
      if (status_q == 3'd0) begin
        if (m_axi_rvalid && m_axi_rready && m_axi_rresp != 2'd0)
          status_q <= {2'b01, m_axi_rresp[0]};
        if (m_axi_bvalid && m_axi_bready && m_axi_bresp != 2'd0)
          status_q <= {2'b10, m_axi_bresp[0]};
        if ((src_rvalid_i && src_err_i) || (par_answer && par_err_i) ||
            (dst_req_o && dst_gnt_i && dst_err_i))
          status_q <= 3'd6;
      end
      if (active_q && asks_q == 16'd0 && w_left_q == 16'd0 && open_q == 16'd0 &&
          !flags_q[NO_DONE]) begin
        active_q <= 1'b0;
        done_q <= 1'b1;
      end
      if (done_valid_o && done_ready_i) done_q <= 1'b0;
    end
  end
endmodule

`default_nettype wire
