// SPDX-License-Identifier: Apache-2.0
//
// GM side of units that load from GM: rows become AXI read bursts, and their beats are queued.
// Throughput: one burst and one beat per clock, also across rows and ops. Latency: row to arvalid
// two clocks, R beat to beat_valid one clock. After an error of its op a burst is not issued, its
// beats are made up, so that a row that was taken is complete (pto_axi_read).
// Limits: GmDataWidth 128, 256 or 512; ReadFifoDepth holds 4 KiB.
// Spec: docs/contract.md, m_axi rules and errors.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   row_valid   _/~~~\_______________     row_ready 1
//   arvalid     _________/~~~~~~~\___     until arready
`default_nettype none
`include "pto_records.vh"

module pto_gm_read #(
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer NumOutstanding = 16,     // AXI bursts in flight
  parameter integer ReadFifoDepth  = 256     // beats queued or in flight, a power of two
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  input  wire                       row_valid_i,   // a row is there
  output wire                       row_ready_o,   // it is taken
  input  wire pto_gm_row_t          row_i,         // the row
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,         // per op: an access failed
  output wire [AxiIdWidth-1:0]      m_axi_arid,    // 0
  output wire [2:0]                 m_axi_arsize,  // bus width
  output wire [1:0]                 m_axi_arburst, // INCR
  `include "pto_axi_read_ports.vh"
  output wire                       beat_valid_o,  // a beat is queued
  input  wire                       beat_ready_i,  // it is taken
  output wire [GmDataWidth-1:0]     beat_o,        // the beat
  output wire pto_err_t             err_o          // a beat came with an error: its bus word
);
  localparam integer GmBytes = GmDataWidth / 8;
  localparam integer GmLane  = $clog2(GmBytes);

  generate
    if (ReadFifoDepth * GmBytes < 4096) begin : gen_bad_fifo
      pto_error_read_fifo_must_hold_4096_bytes u_error ();
    end
  endgenerate

  wire             cmd_valid, cmd_ready;
  wire pto_burst_t cmd;

  pto_row_bursts #(
    .BusBytes (GmBytes)
  ) u_bursts (
    .clk_i, .rst_ni, .row_valid_i, .row_ready_o, .row_i,
    .cmd_valid_o (cmd_valid),
    .cmd_ready_i (cmd_ready),
    .cmd_o       (cmd)
  );

  pto_axi_read #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .cmd_valid_i   (cmd_valid),
    .cmd_ready_o   (cmd_ready),
    .cmd_drop_i    (err_i[cmd.id]),
    .cmd_i         (cmd),
    .beat_valid_o, .beat_ready_i, .beat_o, .err_o
  );

  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
endmodule

`default_nettype wire
