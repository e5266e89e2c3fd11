// SPDX-License-Identifier: Apache-2.0
// A minimal copy engine: it moves whole bus words between GM and UB sub-block 0, one descriptor at a
// time, a word a clock.
// Descriptor: [7:0] 1 GM to UB, 2 UB to GM; [15:8] fault; [31:16] words, not 0; [71:32] GM address;
// [99:80] UB address; both multiples of the bus width. GmDataWidth and LocalDataWidth are equal.
// Faults: 1 no done; 2 the done before the responses of the writes; 3 ARVALID in the next reset.
`default_nettype none
`timescale 1ns / 1ps

module copy_dma #(
    parameter GmAddrWidth = 40,
    parameter GmDataWidth = 256,
    parameter LocalAddrWidth = 20,
    parameter LocalDataWidth = 256,
    parameter DescWidth = 512,
    parameter TagWidth = 8,
    parameter NumOutstanding = 16,
    parameter AxiIdWidth = 4
) (
    `include "pto_engine_ports.vh"
);
  localparam Bytes = GmDataWidth / 8;
  localparam Burst = 16;  // beats

  // Faults; the test has the same list.
  localparam HANG = 1, DONE_BEFORE_B = 2, AR_RESET = 3;

  reg [7:0] fault;  // stays through reset
  reg active_q, write_q, done_q;
  reg [TagWidth-1:0] tag_q;
  reg [15:0] to_address_q;    // words without an address of their burst yet
  reg [15:0] to_move_q;       // words to write at the destination
  reg [15:0] to_fetch_q;      // words to read from UB
  reg [GmAddrWidth-1:0] gm_q; // of the next burst
  reg [LocalAddrWidth-1:0] ub_q;
  reg [5:0] open_q;           // bursts in flight
  reg [4:0] beat_q;           // of the W burst
  reg [15:0] w_left_q;        // words without W yet
  reg [2:0] status_q;

  initial fault = 8'd0;

  // --- bursts: both directions cut rows the same way ---

  wire [12:0] room = (13'd4096 - {1'b0, gm_q[11:0]}) / Bytes;  // words before the 4 KiB boundary
  wire [15:0] left = to_address_q < Burst ? to_address_q : Burst;
  wire [15:0] beats = {3'd0, room} < left ? {3'd0, room} : left;
  wire offer = active_q && to_address_q != 16'd0 && open_q < NumOutstanding;

  assign m_axi_arid = {AxiIdWidth{1'b0}};
  assign m_axi_araddr = gm_q;
  assign m_axi_arlen = beats[7:0] - 8'd1;
  assign m_axi_arsize = $clog2(Bytes);
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = (offer && !write_q) || (fault == AR_RESET && !rst_ni);
  assign m_axi_awid = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr = gm_q;
  assign m_axi_awlen = beats[7:0] - 8'd1;
  assign m_axi_awsize = $clog2(Bytes);
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = offer && write_q;

  wire address_taken = (m_axi_arvalid && m_axi_arready) || (m_axi_awvalid && m_axi_awready);
  wire burst_over = (m_axi_rvalid && m_axi_rready && m_axi_rlast) || (m_axi_bvalid && m_axi_bready);

  // --- GM to UB: a beat goes through in its clock ---

  wire moved = dst_req_o && dst_gnt_i;
  assign dst_req_o = active_q && !write_q && m_axi_rvalid && to_move_q != 16'd0;
  assign dst_space_o = 3'd1;
  assign dst_addr_o = ub_q;
  assign dst_be_o = {LocalDataWidth / 8{1'b1}};
  assign dst_wdata_o = m_axi_rdata;
  assign m_axi_rready = dst_gnt_i;

  // --- UB to GM: words wait in a FIFO ---

  reg [LocalDataWidth-1:0] fifo[0:127];
  reg [7:0] fifo_write_q, fifo_read_q, claimed_q;  // claimed: requested or in the FIFO

  assign src_req_o = active_q && write_q && to_fetch_q != 16'd0 && claimed_q < 8'd128;
  assign src_space_o = 3'd1;
  assign src_addr_o = ub_q;
  wire fetched = src_req_o && src_gnt_i;

  wire w_taken = m_axi_wvalid && m_axi_wready;
  assign m_axi_wvalid = active_q && write_q && fifo_write_q != fifo_read_q;
  assign m_axi_wdata = fifo[fifo_read_q[6:0]];
  assign m_axi_wstrb = {Bytes{1'b1}};
  assign m_axi_wlast = w_left_q == 16'd1 || beat_q == Burst - 1;
  assign m_axi_bready = 1'b1;

  // --- control ---

  wire responses = open_q == 6'd0 || (write_q && fault == DONE_BEFORE_B);
  wire finished = active_q && fault != HANG && to_address_q == 16'd0 &&
      (write_q ? w_left_q : to_move_q) == 16'd0 && responses;

  assign desc_ready_o = !active_q && !done_q && rst_ni;
  assign done_valid_o = done_q;
  assign done_tag_o = tag_q;
  assign done_status_o = status_q;
  assign done_rule_o = 8'd0;
  assign done_addr_o = {GmAddrWidth{1'b0}};
  assign busy_o = active_q || done_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      write_q <= 1'b0;
      done_q <= 1'b0;
      to_address_q <= 16'd0;
      to_move_q <= 16'd0;
      to_fetch_q <= 16'd0;
      w_left_q <= 16'd0;
      open_q <= 6'd0;
      beat_q <= 5'd0;
      fifo_write_q <= 8'd0;
      fifo_read_q <= 8'd0;
      claimed_q <= 8'd0;
      status_q <= 3'd0;
    end else begin
      if (desc_valid_i && desc_ready_o) begin
        active_q <= 1'b1;
        write_q <= desc_i[7:0] == 8'd2;
        fault <= desc_i[15:8];
        to_address_q <= desc_i[31:16];
        to_move_q <= desc_i[31:16];
        to_fetch_q <= desc_i[31:16];
        w_left_q <= desc_i[31:16];
        gm_q <= desc_i[71:32];
        ub_q <= desc_i[99:80];
        tag_q <= desc_tag_i;
        beat_q <= 5'd0;
        status_q <= 3'd0;
      end
      if (address_taken) begin
        to_address_q <= to_address_q - beats;
        gm_q <= gm_q + beats * Bytes;
      end
      open_q <= open_q + address_taken - burst_over;
      if (moved) begin
        to_move_q <= to_move_q - 16'd1;
        ub_q <= ub_q + Bytes;
      end
      if (fetched) begin
        to_fetch_q <= to_fetch_q - 16'd1;
        ub_q <= ub_q + Bytes;
      end
      if (src_rvalid_i) begin
        fifo[fifo_write_q[6:0]] <= src_rdata_i;
        fifo_write_q <= fifo_write_q + 8'd1;
      end
      claimed_q <= claimed_q + (fetched ? 8'd1 : 8'd0) - (w_taken ? 8'd1 : 8'd0);
      if (w_taken) begin
        fifo_read_q <= fifo_read_q + 8'd1;
        w_left_q <= w_left_q - 16'd1;
        beat_q <= m_axi_wlast ? 5'd0 : beat_q + 5'd1;
      end
      // The first error wins; of several in one clock any.
      if (status_q == 3'd0) begin
        if (m_axi_rvalid && m_axi_rready && m_axi_rresp != 2'd0)
          status_q <= {2'b01, m_axi_rresp[0]};
        if (m_axi_bvalid && m_axi_bresp != 2'd0) status_q <= {2'b10, m_axi_bresp[0]};
        if ((src_rvalid_i && src_err_i) || (moved && dst_err_i)) status_q <= 3'd6;
      end
      if (finished) begin
        active_q <= 1'b0;
        done_q <= 1'b1;
      end
      if (done_valid_o && done_ready_i) done_q <= 1'b0;
    end
  end
endmodule

`default_nettype wire
