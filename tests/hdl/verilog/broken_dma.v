// SPDX-License-Identifier: Apache-2.0
// A minimal copy engine that can be told, by a field of its descriptor, to break one rule of
// docs/contract.md: the proof that each check of tb/hdl fires. Fault 0 breaks none.
// It moves whole bus words between GM and UB sub-block 0, one descriptor at a time, a word a clock.
// Descriptor: [7:0] 1 GM to UB, 2 UB to GM; [15:8] fault; [31:16] words, not 0; [71:32] GM address;
// [99:80] UB address; both multiples of the bus width. GmDataWidth and LocalDataWidth are equal.
`default_nettype none
`timescale 1ns / 1ps

module broken_dma #(
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
  localparam AR_FALLS = 1, AR_MOVES = 2, AR_FIXED = 3, AR_NARROW = 4, AR_CROSSES = 5, AR_ID = 6,
      AR_MANY = 7, AW_FALLS = 8, AW_MOVES = 9, AW_FIXED = 10, AW_NARROW = 11, AW_CROSSES = 12,
      AW_ID = 13, AW_MANY = 14, W_FALLS = 15, W_MOVES = 16, W_LAST_EARLY = 17, W_LAST_NEVER = 18,
      W_EXTRA = 19, DONE_BEFORE_B = 20, DONE_BEFORE_DST = 21, DONE_TAG = 22, DONE_TWICE = 23,
      DONE_FALLS = 24, DONE_MOVES = 25, TRAFFIC_IDLE = 26, BUSY_LOW = 27, BUSY_STUCK = 28,
      SRC_FALLS = 29, SRC_MOVES = 30, SRC_ODD = 31, SRC_SPACE = 32, DST_FALLS = 33, DST_MOVES = 34,
      DST_ODD = 35, DST_SPACE = 36, DST_OUTSIDE = 37, SRC_OUTSIDE = 38, AR_RESET = 39,
      AW_RESET = 40, W_RESET = 41, DONE_RESET = 42, SRC_RESET = 43, DST_RESET = 44,
      DONE_RULE = 45, DONE_BEFORE_R = 46, HANG = 47, W_BELOW = 48, X_ARVALID = 49, X_WDATA = 50,
      X_DST = 51, X_ARADDR = 52, X_RESET = 53, X_DST_BE = 54, X_WSTRB = 55, X_DONE = 56,
      X_AW = 57, X_REQ = 58, X_AWVALID = 59;

  reg [7:0] fault;  // stays through reset
  reg active_q, write_q, done_q, again_q;
  reg [TagWidth-1:0] tag_q;
  reg [15:0] words_q;         // of the descriptor
  reg [15:0] to_address_q;    // words without an address of their burst yet
  reg [15:0] to_move_q;       // words to write at the destination
  reg [15:0] to_fetch_q;      // words to read from UB
  reg [GmAddrWidth-1:0] gm_q; // of the next burst
  reg [LocalAddrWidth-1:0] ub_q;
  reg [5:0] open_q;           // bursts in flight
  reg [4:0] beat_q;           // of the W burst
  reg [15:0] w_left_q;        // words without W yet
  reg [2:0] status_q;
  reg [GmAddrWidth-1:0] addr_q;
  reg tick_q;                 // changes every clock
  reg [7:0] idle_q;           // clocks since done

  initial fault = 8'd0;

  wire [63:0] is = 64'd1 << fault;  // bit per fault

  // --- bursts: both directions cut rows the same way ---

  wire [12:0] room = (13'd4096 - {1'b0, gm_q[11:0]}) / Bytes;  // words before the 4 KiB boundary
  wire [15:0] left = to_address_q < Burst ? to_address_q : Burst;
  wire [15:0] legal = {3'd0, room} < left ? {3'd0, room} : left;
  wire crossing = is[AR_CROSSES] || is[AW_CROSSES];
  wire [15:0] beats = crossing ? left : legal;
  wire many = is[AR_MANY] || is[AW_MANY];
  wire offer = active_q && to_address_q != 16'd0 && (open_q < NumOutstanding || many);
  wire falls = tick_q && (write_q ? is[AW_FALLS] : is[AR_FALLS]);
  wire [GmAddrWidth-1:0] address = gm_q + (tick_q && (is[AR_MOVES] || is[AW_MOVES]) ? Bytes : 0) +
      (is[W_BELOW] ? 3 : 0);

  assign m_axi_arid = is[AR_ID] ? {AxiIdWidth{to_address_q[4]}} : {AxiIdWidth{1'b0}};
  assign m_axi_araddr = is[X_ARADDR] ? {GmAddrWidth{1'bx}} : address;
  assign m_axi_arlen = beats[7:0] - 8'd1;
  assign m_axi_arsize = is[AR_NARROW] ? 3'd2 : $clog2(Bytes);
  assign m_axi_arburst = is[AR_FIXED] ? 2'd0 : 2'd1;
  assign m_axi_arvalid = (rst_ni || !is[X_RESET]) ?
      ((offer && !write_q && !falls) || (is[TRAFFIC_IDLE] && idle_q == 8'd8) ||
       (is[AR_RESET] && !rst_ni) ? 1'b1 : (is[X_ARVALID] && idle_q == 8'd8) ? 1'bx : 1'b0) : 1'bx;
  assign m_axi_awid = is[AW_ID] ? {AxiIdWidth{to_address_q[4]}} : {AxiIdWidth{1'b0}};
  assign m_axi_awaddr = is[X_AW] ? {address[GmAddrWidth-1:8], 8'bx} : address;
  assign m_axi_awlen = beats[7:0] - 8'd1;
  assign m_axi_awsize = is[AW_NARROW] ? 3'd2 : $clog2(Bytes);
  assign m_axi_awburst = is[AW_FIXED] ? 2'd0 : 2'd1;
  assign m_axi_awvalid = (offer && write_q && !falls) || (is[AW_RESET] && !rst_ni) ? 1'b1 :
      (is[X_AWVALID] && idle_q == 8'd8) ? 1'bx : 1'b0;

  wire address_taken = (m_axi_arvalid && m_axi_arready) || (m_axi_awvalid && m_axi_awready);
  wire burst_over = (m_axi_rvalid && m_axi_rready && m_axi_rlast) || (m_axi_bvalid && m_axi_bready);

  // --- GM to UB: a beat goes through in its clock ---

  wire moved = dst_req_o && dst_gnt_i;
  assign dst_req_o = ((active_q || is[DONE_BEFORE_DST]) && !write_q && m_axi_rvalid &&
                      to_move_q != 16'd0 && !(tick_q && is[DST_FALLS])) ||
      (is[DST_RESET] && !rst_ni);
  assign dst_space_o = is[DST_SPACE] ? 3'd0 : 3'd1;
  assign dst_addr_o = is[DST_ODD] ? ub_q + 20'd1 : is[DST_OUTSIDE] ? ub_q | 20'h80000 : ub_q;
  assign dst_be_o = is[X_DST_BE] ? {LocalDataWidth / 8{1'bx}} : {LocalDataWidth / 8{1'b1}};
  assign dst_wdata_o = is[X_DST] ? {LocalDataWidth{1'bx}} :
      m_axi_rdata ^ {{LocalDataWidth-1{1'b0}}, tick_q && is[DST_MOVES]};
  assign m_axi_rready = dst_gnt_i && !(tick_q && is[DST_FALLS]);

  // --- UB to GM: words wait in a FIFO ---

  reg [LocalDataWidth-1:0] fifo[0:127];
  reg [7:0] fifo_write_q, fifo_read_q, claimed_q;  // claimed: requested or in the FIFO

  assign src_req_o = is[X_REQ] && idle_q == 8'd8 ? 1'bx :
      (active_q && write_q && to_fetch_q != 16'd0 && claimed_q < 8'd128 &&
       !(tick_q && is[SRC_FALLS])) || (is[SRC_RESET] && !rst_ni);
  assign src_space_o = is[SRC_SPACE] ? 3'd0 : 3'd1;
  assign src_addr_o = is[SRC_ODD] ? ub_q + 20'd1 : is[SRC_OUTSIDE] ? ub_q | 20'h80000 :
      is[SRC_MOVES] && tick_q ? ub_q + Bytes : ub_q;
  wire fetched = src_req_o && src_gnt_i;

  wire w_extra = is[W_EXTRA] && active_q && write_q && w_left_q == 16'd0 && to_move_q == 16'd0 &&
      !again_q;
  wire w_offer = active_q && write_q && fifo_write_q != fifo_read_q;
  wire w_taken = m_axi_wvalid && m_axi_wready;
  wire w_last = w_left_q == 16'd1 || beat_q == Burst - 1;
  assign m_axi_wvalid = (w_offer && !(tick_q && is[W_FALLS])) || w_extra ||
      (is[W_RESET] && !rst_ni);
  assign m_axi_wdata = is[X_WDATA] ? {GmDataWidth{1'bx}} :
      fifo[fifo_read_q[6:0]] ^ {{GmDataWidth-1{1'b0}}, tick_q && is[W_MOVES]};
  assign m_axi_wstrb = is[X_WSTRB] ? {Bytes{1'bx}} : {Bytes{1'b1}};
  assign m_axi_wlast = !is[W_LAST_NEVER] && (w_last || (is[W_LAST_EARLY] && beat_q == 5'd3));
  assign m_axi_bready = 1'b1;

  // --- control ---

  wire finished = active_q && !is[HANG] && to_address_q == 16'd0 && (write_q ?
      (is[DONE_BEFORE_B] ? w_left_q == 16'd0 : open_q == 6'd0 && (again_q || !is[W_EXTRA])) :
      (is[DONE_BEFORE_DST] ? to_move_q <= 16'd9 :
       is[DONE_BEFORE_R] ? open_q == 6'd1 : to_move_q == 16'd0 && open_q == 6'd0));
  wire done_taken = done_valid_o && done_ready_i;

  assign desc_ready_o = !active_q && !done_q && rst_ni;
  assign done_valid_o = is[DONE_RESET] && !rst_ni ? 1'b1 :
      done_q && !(tick_q && is[DONE_FALLS]);
  assign done_tag_o = is[DONE_TAG] ? tag_q + 8'd1 : is[X_DONE] ? {TagWidth{1'bx}} : tag_q;
  assign done_status_o = is[DONE_MOVES] && tick_q ? 3'd6 : status_q;
  assign done_rule_o = is[DONE_RULE] ? 8'd7 : 8'd0;
  assign done_addr_o = addr_q;
  assign busy_o = is[BUSY_STUCK] || ((active_q || done_q) && !is[BUSY_LOW]);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      write_q <= 1'b0;
      done_q <= 1'b0;
      again_q <= 1'b0;
      to_address_q <= 16'd0;
      to_move_q <= 16'd0;
      to_fetch_q <= 16'd0;
      w_left_q <= 16'd0;
      open_q <= 6'd0;
      beat_q <= 5'd0;
      fifo_write_q <= 8'd0;
      fifo_read_q <= 8'd0;
      claimed_q <= 8'd0;
      tick_q <= 1'b0;
      idle_q <= 8'd0;
      status_q <= 3'd0;
    end else begin
      tick_q <= !tick_q;
      if (active_q || done_q) idle_q <= 8'd1;
      else if (idle_q != 8'd0 && idle_q != 8'd9) idle_q <= idle_q + 8'd1;
      if (desc_valid_i && desc_ready_o) begin
        active_q <= 1'b1;
        write_q <= desc_i[7:0] == 8'd2;
        fault <= desc_i[15:8];
        words_q <= desc_i[31:16];
        to_address_q <= desc_i[31:16];
        to_move_q <= desc_i[31:16];
        to_fetch_q <= desc_i[31:16];
        w_left_q <= desc_i[31:16];
        gm_q <= desc_i[71:32];
        ub_q <= desc_i[99:80];
        tag_q <= desc_tag_i;
        beat_q <= 5'd0;
        status_q <= 3'd0;
        addr_q <= {GmAddrWidth{1'b0}};
        again_q <= 1'b0;
      end
      if (address_taken && active_q) begin
        to_address_q <= to_address_q - beats;
        gm_q <= gm_q + beats * Bytes;
      end
      open_q <= open_q + (address_taken && active_q) - burst_over;
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
      claimed_q <= claimed_q + (fetched ? 8'd1 : 8'd0) - (w_taken && w_offer ? 8'd1 : 8'd0);
      if (w_taken) begin
        if (w_extra) again_q <= 1'b1;
        if (w_offer) begin
          fifo_read_q <= fifo_read_q + 8'd1;
          w_left_q <= w_left_q - 16'd1;
          to_move_q <= to_move_q - 16'd1;
          beat_q <= w_last ? 5'd0 : beat_q + 5'd1;
        end
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
        again_q <= 1'b0;
      end
      if (done_taken) begin
        done_q <= is[DONE_TWICE] && !again_q;
        again_q <= 1'b1;
      end
    end
  end
endmodule

`default_nettype wire
