// SPDX-License-Identifier: Apache-2.0
//
// AXI4 read manager: issues bursts, collects their beats in a queue. A burst is issued only when
// the queue has room for all of its beats, so rready is never deasserted; up to NumOutstanding
// bursts are in flight. Throughput: one burst and one beat per clock. Latency: command to
// arvalid one clock, R beat to beat_valid one clock.
// cmd_drop_i (op had an error): the burst is not issued; its beats are made here, with any
// contents, so that the rows they belong to stay complete. Limits: FifoDepth holds at least the
// longest burst (4 KiB). Spec: docs/contract.md, m_axi rules and errors.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   cmd_valid  _/~~~\_______________
//   arvalid    _____/~~~~~~~\_______      stays with its payload until arready
//   rvalid     _____________/~~~\___      rready is always 1
//   beat_valid _________________/~~~      until beat_ready
`default_nettype none
`include "pto_records.vh"

module pto_axi_read #(
  parameter integer GmDataWidth    = 256,    // bits of the data bus
  parameter integer NumOutstanding = 16,     // bursts in flight
  parameter integer FifoDepth      = 256     // beats queued or in flight, a power of two
) (
  input  wire                   clk_i,         // clock
  input  wire                   rst_ni,        // asynchronous reset, active low
  input  wire                   cmd_valid_i,   // a burst is to be read
  output wire                   cmd_ready_o,   // it is taken
  input  wire                   cmd_drop_i,    // make its beats up
  input  wire pto_burst_t       cmd_i,         // the burst
  `include "pto_axi_read_ports.vh"
  output wire                   beat_valid_o,  // a beat is queued
  input  wire                   beat_ready_i,  // it is taken
  output wire [GmDataWidth-1:0] beat_o,        // the beat
  output wire pto_err_t         err_o          // a beat came with an error: its bus word
);
  localparam integer LaneBits   = $clog2(GmDataWidth / 8);
  localparam integer CountBits  = $clog2(FifoDepth) + 1;
  localparam integer FlightBits = $clog2(NumOutstanding + 1);
  localparam integer TrackDepth = 1 << $clog2(NumOutstanding + 1);  // one in while one leaves
  localparam [CountBits-1:0]  DEPTH = FifoDepth[CountBits-1:0];
  localparam [FlightBits-1:0] MOST  = NumOutstanding[FlightBits-1:0];

  reg                  ar_valid_q;
  reg [39:0]           ar_addr_q;
  reg [7:0]            ar_len_q;
  reg [CountBits-1:0]  free_q;               // queue words not reserved
  reg [FlightBits-1:0] flight_q;             // bursts without their last beat
  reg [8:0]            made_q;               // made-up beats still to queue

  wire r_fire = m_axi_rvalid && m_axi_rready;
  wire r_last = r_fire && m_axi_rlast;
  wire pop    = beat_valid_o && beat_ready_i;

  // ---- issue ----
  wire [CountBits+8:0] need     = {{CountBits{1'b0}}, cmd_i.beats};
  wire                 has_room = {9'd0, free_q} >= need;
  wire                 can_issue  = flight_q != MOST || r_last;   // the place is free next clock
  wire                 issue_ok = (!ar_valid_q || m_axi_arready) && can_issue;
  // Made-up beats must not overtake real ones: wait until nothing is in flight.
  wire                 make_ok  = flight_q == {FlightBits{1'b0}};
  assign cmd_ready_o = has_room && made_q == 9'd0 && (cmd_drop_i ? make_ok : issue_ok);
  wire   cmd_fire    = cmd_valid_i && cmd_ready_o;
  wire   issue       = cmd_fire && !cmd_drop_i;
  wire   make        = made_q != 9'd0;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_q <= 1'b0;
      free_q     <= DEPTH;
      flight_q   <= {FlightBits{1'b0}};
      made_q     <= 9'd0;
    end else begin
      if (issue) ar_valid_q <= 1'b1;
      else if (m_axi_arready) ar_valid_q <= 1'b0;
      // Selected last: the sums do not wait for cmd_fire.
      free_q   <= cmd_fire ? free_q - need[CountBits-1:0] + {{(CountBits - 1){1'b0}}, pop}
                           : free_q + {{(CountBits - 1){1'b0}}, pop};
      flight_q <= flight_q + {{(FlightBits - 1){1'b0}}, issue}
                           - {{(FlightBits - 1){1'b0}}, r_last};
      if (cmd_fire && cmd_drop_i) made_q <= cmd_i.beats;
      else if (make) made_q <= made_q - 9'd1;
    end
  end

  always @(posedge clk_i) begin
    if (issue) begin
      ar_addr_q <= cmd_i.addr;
      ar_len_q  <= cmd_i.beats[7:0] - 8'd1;
    end
  end

  assign m_axi_arvalid = ar_valid_q;
  assign m_axi_araddr  = ar_addr_q;
  assign m_axi_arlen   = ar_len_q;
  assign m_axi_rready  = 1'b1;

  // ---- data; free_q counts the room ----
  wire room_unused;
  pto_fifo #(
    .Width(GmDataWidth),
    .Depth(FifoDepth),
    .Ram(1)
  ) u_data (
    .clk_i, .rst_ni,
    .wr_valid_i (r_fire || make),
    .wr_ready_o (room_unused),
    .wr_data_i  (make ? {GmDataWidth{1'b0}} : m_axi_rdata),
    .rd_valid_o (beat_valid_o),
    .rd_ready_i (beat_ready_i),
    .rd_data_o  (beat_o)
  );

  // ---- op and address of a beat ----
  wire        track_ready_unused, track_valid_unused;
  wire [39:0] burst_addr;
  wire [3:0]  burst_id;
  reg [7:0]   beat_index_q;

  pto_fifo #(
    .Width(4 + 40),
    .Depth(TrackDepth)
  ) u_track (
    .clk_i, .rst_ni,
    .wr_valid_i (issue),
    .wr_ready_o (track_ready_unused),        // TrackDepth > NumOutstanding, counted by flight_q
    .wr_data_i  ({cmd_i.id, cmd_i.addr}),
    .rd_valid_o (track_valid_unused),        // a beat always has a burst
    .rd_ready_i (r_last),
    .rd_data_o  ({burst_id, burst_addr})
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_index_q <= 8'd0;
    else if (r_last) beat_index_q <= 8'd0;
    else if (r_fire) beat_index_q <= beat_index_q + 8'd1;
  end

  wire [39:0] beat_addr = burst_addr + ({32'd0, beat_index_q} << LaneBits);
  wire [2:0]  status    = m_axi_rresp[0] ? `PTO_ST_RD_DECERR : `PTO_ST_RD_SLVERR;
  assign err_o = {r_fire && m_axi_rresp[1], burst_id, status, beat_addr};

  wire unused = &{1'b0, cmd_i};
endmodule

`default_nettype wire
