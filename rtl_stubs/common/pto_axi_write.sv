// SPDX-License-Identifier: Apache-2.0
//
// AXI4 write manager: issues write bursts and takes their responses. Data words come from
// pto_row_words; this module decides, burst by burst, whether words are sent. Address and
// data channels do not wait for each other. A burst is issued at most two ahead of the burst with
// words being sent: early enough for a memory that takes data only after the address,
// and short rows do not spend NumOutstanding on bursts that have no data yet.
// Throughput: one burst per clock. Latency: command to awvalid one clock.
// cmd_drop_i (op had an error): the burst is not issued, its words are dropped.
// Spec: docs/contract.md, m_axi rules and errors.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_
//   cmd_valid  _/~~~\___________________
//   awvalid    _____/~~~~~~~\___________      stays with its payload until awready
//   wvalid     _________/~~~\___________      may come before awready
//   bvalid     _________________/~~~\___      bready 1
//   fin_valid  _________________/~~~\___      B of the last burst of an op
`default_nettype none
`include "pto_records.vh"

module pto_axi_write #(
  parameter integer NumOutstanding = 16      // bursts in flight
) (
  input  wire             clk_i,         // clock
  input  wire             rst_ni,        // asynchronous reset, active low
  input  wire             cmd_valid_i,   // a burst is to be written
  output wire             cmd_ready_o,   // it is taken
  input  wire             cmd_drop_i,    // drop it and its words
  input  wire             cmd_joins_i,   // for the data side: the burst joins the one before
  input  wire pto_burst_t cmd_i,         // the burst
  output wire [39:0]      m_axi_awaddr,  // burst address
  output wire [7:0]       m_axi_awlen,   // beats less 1
  output wire             m_axi_awvalid, // burst offered
  input  wire             m_axi_awready, // burst taken
  input  wire [1:0]       m_axi_bresp,   // response
  input  wire             m_axi_bvalid,  // response offered
  output wire             m_axi_bready,  // response taken
  output wire             go_valid_o,    // it is decided what happens to the next burst
  output wire             go_drop_o,     // its words are dropped
  output wire             go_joins_o,    // it joins the one before
  input  wire             go_ready_i,    // its last word has been taken
  output wire             fin_valid_o,   // last response of an op, or its dropped end
  output wire [3:0]       fin_id_o,      // op number
  output wire pto_err_t   err_o          // a response was an error: its burst
);
  localparam integer FlightBits = $clog2(NumOutstanding + 1);
  localparam integer TrackDepth = 1 << $clog2(NumOutstanding + 1);  // one in while one leaves
  localparam [FlightBits-1:0] MOST = NumOutstanding[FlightBits-1:0];

  reg                  aw_valid_q;
  reg [39:0]           aw_addr_q;
  reg [7:0]            aw_len_q;
  reg [FlightBits-1:0] flight_q;             // bursts without their response
  reg                  tail_q;               // a dropped end waits for all before it
  reg [3:0]            tail_id_q;

  wire b_fire = m_axi_bvalid && m_axi_bready;

  // ---- issue ----
  // After a dropped end nothing follows until it is finished: errors need no throughput.
  wire go_ready;
  wire   can_issue     = flight_q != MOST || b_fire;         // the place is free next clock
  wire   issue_ok    = (!aw_valid_q || m_axi_awready) && can_issue;
  wire   no_burst    = cmd_drop_i || cmd_i.cut;
  assign cmd_ready_o = go_ready && !tail_q && (no_burst || issue_ok);
  wire   cmd_fire    = cmd_valid_i && cmd_ready_o;
  wire   issue       = cmd_fire && !no_burst;
  wire   tail_done   = tail_q && flight_q == {FlightBits{1'b0}} && !go_valid_o;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      flight_q   <= {FlightBits{1'b0}};
      tail_q     <= 1'b0;
    end else begin
      if (issue) aw_valid_q <= 1'b1;
      else if (m_axi_awready) aw_valid_q <= 1'b0;
      flight_q <= flight_q + {{(FlightBits - 1){1'b0}}, issue}
                           - {{(FlightBits - 1){1'b0}}, b_fire};
      if (cmd_fire && no_burst && cmd_i.last) tail_q <= 1'b1;
      else if (tail_done) tail_q <= 1'b0;
    end
  end

  always @(posedge clk_i) begin
    if (issue) begin
      aw_addr_q <= cmd_i.addr;
      aw_len_q  <= cmd_i.beats[7:0] - 8'd1;
    end
    if (cmd_fire) tail_id_q <= cmd_i.id;
  end

  assign m_axi_awvalid = aw_valid_q;
  assign m_axi_awaddr  = aw_addr_q;
  assign m_axi_awlen   = aw_len_q;
  assign m_axi_bready  = 1'b1;

  // ---- to the data side: send or drop the words of the next burst ----
  pto_fifo #(
    .Width(2),
    .Depth(2)
  ) u_go (
    .clk_i, .rst_ni,
    .wr_valid_i (cmd_fire && !cmd_i.cut),
    .wr_ready_o (go_ready),
    .wr_data_i  ({cmd_joins_i, cmd_drop_i}),
    .rd_valid_o (go_valid_o),
    .rd_ready_i (go_ready_i),
    .rd_data_o  ({go_joins_o, go_drop_o})
  );

  // ---- op and address of a response ----
  wire        track_ready_unused, track_valid_unused, burst_last;
  wire [3:0]  burst_id;
  wire [39:0] burst_addr;

  pto_fifo #(
    .Width(1 + 4 + 40),
    .Depth(TrackDepth)
  ) u_track (
    .clk_i, .rst_ni,
    .wr_valid_i (issue),
    .wr_ready_o (track_ready_unused),        // TrackDepth > NumOutstanding, counted by flight_q
    .wr_data_i  ({cmd_i.last, cmd_i.id, cmd_i.addr}),
    .rd_valid_o (track_valid_unused),        // a response always has a burst
    .rd_ready_i (b_fire),
    .rd_data_o  ({burst_last, burst_id, burst_addr})
  );

  assign fin_valid_o  = (b_fire && burst_last) || tail_done;
  assign fin_id_o     = tail_done ? tail_id_q : burst_id;
  wire [2:0] status   = m_axi_bresp[0] ? `PTO_ST_WR_DECERR : `PTO_ST_WR_SLVERR;
  assign err_o        = {b_fire && m_axi_bresp[1], burst_id, status, burst_addr};

  wire unused = &{1'b0, cmd_i};
endmodule

`default_nettype wire
