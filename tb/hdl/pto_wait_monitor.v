// SPDX-License-Identifier: Apache-2.0
// Counts for how long each channel of one slot waits for its handshake, reports bursts after an
// error, and passes the state of the slot to the C side when `report` toggles. A channel that
// neither begins nor ends a wait costs almost nothing:
//   clk_i    _/-\_/-\_/-\_/-\_/-\_
//   valid    ___/---------------\_    counts 3 clocks, at the end of the wait
//   ready    _______________/---\_
// Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_wait_monitor #(
    parameter Slot = 0,       // number of the slot in the mailbox
    parameter AddrWidth = 40, // bits of a GM address
    parameter Ahead = 0       // at a report `cycle` is that of the next edge
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,
    input  wire [         31:0] cycle,    // clocks so far
    input  wire                 report,   // toggles, between edges, to request the state
    input  wire                 watch_i,  // report bursts
    input  wire                 desc_valid,
    input  wire                 desc_ready,
    input  wire                 done_valid,
    input  wire                 done_ready,
    input  wire                 busy,
    input  wire                 src_req,
    input  wire                 src_gnt,
    input  wire                 src_rvalid,
    input  wire                 dst_req,
    input  wire                 dst_gnt,
    input  wire                 par_req,
    input  wire                 par_gnt,
    input  wire                 par_rvalid,
    input  wire                 flag_req,
    input  wire                 flag_gnt,
    input  wire                 flag_clear,
    input  wire                 flag_rvalid,
    input  wire [AddrWidth-1:0] m_axi_araddr,
    input  wire [          7:0] m_axi_arlen,
    input  wire                 m_axi_arvalid,
    input  wire                 m_axi_arready,
    input  wire                 m_axi_rvalid,
    input  wire                 m_axi_rready,
    input  wire                 m_axi_rlast,
    input  wire [AddrWidth-1:0] m_axi_awaddr,
    input  wire [          7:0] m_axi_awlen,
    input  wire                 m_axi_awvalid,
    input  wire                 m_axi_awready,
    input  wire                 m_axi_wvalid,
    input  wire                 m_axi_wready,
    input  wire                 m_axi_wlast,
    input  wire                 m_axi_bvalid,
    input  wire                 m_axi_bready,
    input  wire [          7:0] reads,       // bursts without their last R
    input  wire [         15:0] read_beats,  // their beats outstanding, except one on offer
    input  wire [         31:0] r_stalls,    // clocks in which the memory held back R or B
    input  wire [         31:0] b_stalls,
    input  wire [         10:0] src_write,  // queues of words read
    input  wire [         10:0] src_read,
    input  wire [         10:0] par_write,
    input  wire [         10:0] par_read,
    input  wire [         10:0] flag_write,
    input  wire [         10:0] flag_read
);
  `include "pto_backend.vh"

  localparam Channels = 11;  // enum pto_channel in pto_mailbox.h
  localparam Ar = 0, Aw = 2;

  reg [Channels-1:0] waits;        // on this edge
  reg [Channels-1:0] waits_q;      // on the last edge
  reg [31:0] rose[0:Channels-1];   // first clock of the wait
  reg [31:0] total[0:Channels-1];  // clocks of all waits that have ended
  integer channel;

  initial begin
    waits_q = {Channels{1'b0}};
    for (channel = 0; channel < Channels; channel = channel + 1) begin
      rose[channel] = 32'd0;
      total[channel] = 32'd0;
    end
  end

  always @(posedge clk_i) begin
    waits = {desc_valid & ~desc_ready, done_valid & ~done_ready,
             flag_req & ~flag_gnt, par_req & ~par_gnt, dst_req & ~dst_gnt,
             src_req & ~src_gnt, m_axi_bvalid & ~m_axi_bready, m_axi_wvalid & ~m_axi_wready,
             m_axi_awvalid & ~m_axi_awready, m_axi_rvalid & ~m_axi_rready,
             m_axi_arvalid & ~m_axi_arready};
    if (!rst_ni) waits = {Channels{1'b0}};
    if (watch_i && rst_ni) begin
      if (m_axi_arvalid && m_axi_arready)
        `PTO(late_burst)(Slot, 0, m_axi_araddr, m_axi_arlen,
                        waits_q[Ar] ? cycle - rose[Ar] : 32'd0);
      if (m_axi_awvalid && m_axi_awready)
        `PTO(late_burst)(Slot, 1, m_axi_awaddr, m_axi_awlen,
                        waits_q[Aw] ? cycle - rose[Aw] : 32'd0);
    end
    if (waits !== waits_q) begin
      for (channel = 0; channel < Channels; channel = channel + 1) begin
        if (waits[channel] !== waits_q[channel]) begin
          // X does not count as a wait.
          if (waits_q[channel] === 1'b1)
            total[channel] = total[channel] + (cycle - rose[channel]);
          rose[channel] = cycle;
        end
      end
      waits_q = waits;
    end
  end

  // Clocks that a channel has waited up to the last edge.
  function [31:0] waited(input integer index);
    waited = waits_q[index] === 1'b1 ? cycle - Ahead - rose[index] + 32'd1 : 32'd0;
  endfunction

  function [31:0] counted(input integer index);
    counted = total[index] + waited(index);
  endfunction

  // The first word is in the lowest bits; pto_state() in pto_mem.c and PINS in
  // tb/harness/layout.py have the order.
  always @(report) begin
    `PTO(state)(Slot, 0, {
        5'd0, flag_write - flag_read, 5'd0, par_write - par_read,
        21'd0, src_write - src_read, 16'd0, read_beats, 24'd0, reads,
        waited(10), waited(9), waited(8), waited(7), waited(6), waited(5), waited(4), waited(3),
        waited(2), waited(1), waited(0),
        2'd0, rst_ni, m_axi_bready, m_axi_bvalid, m_axi_wlast, m_axi_wready, m_axi_wvalid,
        m_axi_awready, m_axi_awvalid, m_axi_rlast, m_axi_rready, m_axi_rvalid, m_axi_arready,
        m_axi_arvalid, flag_rvalid, flag_clear, flag_gnt, flag_req, par_rvalid, par_gnt,
        par_req, dst_gnt, dst_req, src_rvalid, src_gnt, src_req, busy, done_ready,
        done_valid, desc_ready, desc_valid});
    `PTO(state)(Slot, 1, {
        192'd0, counted(9), counted(8), counted(7), counted(6), counted(5), b_stalls, counted(3),
        counted(2), r_stalls, counted(0)});
  end
endmodule

`default_nettype wire
