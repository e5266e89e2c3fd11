// SPDX-License-Identifier: Apache-2.0
//
// Reads the words of rows from an on-chip memory and queues the replies. Words are requested only
// while the queue has room for the reply, because a reply cannot be stalled.
// Throughput: one word per clock, also across rows, for reply latencies up to FifoDepth - 3.
// Latency: row to src_req two clocks, reply to beat one clock.
// After an error in its op the remaining words of a row are not requested but replaced, so
// that the row stays complete. Limits: FifoDepth is a power of two.
// Spec: docs/contract.md, src port.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   src_req     _/~~~~~~~\___________      stable until src_gnt
//   src_gnt     _____/~~~\___________
//   src_rvalid  _________/~~~\_______      at least one clock after its grant
//   beat_valid  _____________/~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_local_read #(
  parameter integer LocalDataWidth = 256,    // bits of a word
  parameter integer FifoDepth      = 32      // words queued or in flight, a power of two
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       row_valid_i,  // a row is to be read
  output wire                       row_ready_o,  // it is taken
  input  wire pto_read_t            row_i,        // the row
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: it had an error, make its words up
  output wire                       src_req_o,    // word requested
  input  wire                       src_gnt_i,    // request taken
  output wire [2:0]                 src_space_o,  // memory
  output wire [19:0]                src_addr_o,   // byte address of the word
  input  wire                       src_rvalid_i, // reply, in order
  input  wire [LocalDataWidth-1:0]  src_rdata_i,  // word
  input  wire                       src_err_i,    // the read failed, with src_rvalid_i
  output wire                       beat_valid_o, // a word is queued
  input  wire                       beat_ready_i, // it is taken
  output wire [LocalDataWidth-1:0]  beat_o,       // the word
  output wire pto_err_t             err_o         // a read failed
);
  localparam integer LaneBits  = $clog2(LocalDataWidth / 8);
  localparam integer WordBits  = 20 - LaneBits;
  localparam integer LeftBits  = 21 - LaneBits;
  localparam integer CountBits = $clog2(FifoDepth) + 1;
  localparam [CountBits-1:0] DEPTH = FifoDepth[CountBits-1:0];
  localparam [20:0] WORD_BYTES = LocalDataWidth[23:3];

  // ---- the row being read ----
  reg                active_q;
  reg [3:0]          id_q;
  reg [2:0]          space_q;
  reg [WordBits-1:0] word_q;
  reg [LeftBits-1:0] left_q;                 // words not yet requested

  wire [20:0] row_span = {{LeftBits{1'b0}}, row_i.addr[LaneBits-1:0]} + {1'b0, row_i.len}
                       + WORD_BYTES - 21'd1;

  // ---- requests ----
  reg                 req_q;
  reg [3:0]           req_id_q;
  reg [2:0]           req_space_q;
  reg [WordBits-1:0]  req_word_q;
  reg [CountBits-1:0] free_q;                // queue words not reserved
  reg [CountBits-1:0] flight_q;              // requests, granted or not, without their reply

  wire drop     = err_i[id_q];
  wire has_room = free_q != {CountBits{1'b0}};
  wire ask      = active_q && has_room && !drop && (!req_q || src_gnt_i);
  // Made-up words must not overtake replies: wait until none is due.
  wire make     = active_q && has_room && drop && flight_q == {CountBits{1'b0}};
  wire step     = ask || make;
  wire is_final = left_q == {{(LeftBits - 1){1'b0}}, 1'b1};
  wire pop      = beat_valid_o && beat_ready_i;

  assign row_ready_o = !active_q || (step && is_final);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      req_q    <= 1'b0;
      free_q   <= DEPTH;
      flight_q <= {CountBits{1'b0}};
    end else begin
      if (row_ready_o) active_q <= row_valid_i;
      if (ask) req_q <= 1'b1;
      else if (src_gnt_i) req_q <= 1'b0;
      free_q   <= free_q - {{(CountBits - 1){1'b0}}, step} + {{(CountBits - 1){1'b0}}, pop};
      flight_q <= flight_q + {{(CountBits - 1){1'b0}}, ask}
                           - {{(CountBits - 1){1'b0}}, src_rvalid_i};
    end
  end

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      id_q    <= row_i.id;
      space_q <= row_i.space;
      word_q  <= row_i.addr[19:LaneBits];
      left_q  <= row_span[20:LaneBits];
    end else if (step) begin
      word_q <= word_q + 1'b1;
      left_q <= left_q - 1'b1;
    end
    if (ask) begin
      req_id_q    <= id_q;
      req_space_q <= space_q;
      req_word_q  <= word_q;
    end
  end

  assign src_req_o   = req_q;
  assign src_space_o = req_space_q;
  assign src_addr_o  = {req_word_q, {LaneBits{1'b0}}};

  // ---- replies; free_q counts the room ----
  wire room_unused;
  pto_fifo #(
    .Width(LocalDataWidth),
    .Depth(FifoDepth),
    .Ram(1)
  ) u_data (
    .clk_i, .rst_ni,
    .wr_valid_i (src_rvalid_i || make),
    .wr_ready_o (room_unused),
    .wr_data_i  (make ? {LocalDataWidth{1'b0}} : src_rdata_i),
    .rd_valid_o (beat_valid_o),
    .rd_ready_i (beat_ready_i),
    .rd_data_o  (beat_o)
  );

  // ---- op and address of a reply ----
  wire                track_ready_unused, track_valid_unused;
  wire [WordBits-1:0] reply_word;
  wire [3:0]          reply_id;

  pto_fifo #(
    .Width(4 + WordBits),
    .Depth(FifoDepth)
  ) u_track (
    .clk_i, .rst_ni,
    .wr_valid_i (req_q && src_gnt_i),
    .wr_ready_o (track_ready_unused),        // room for FifoDepth, counted by free_q
    .wr_data_i  ({req_id_q, req_word_q}),
    .rd_valid_o (track_valid_unused),        // a reply always has a request
    .rd_ready_i (src_rvalid_i),
    .rd_data_o  ({reply_id, reply_word})
  );

  assign err_o = {src_rvalid_i && src_err_i, reply_id, `PTO_ST_LOCAL,
                  {20'd0, reply_word, {LaneBits{1'b0}}}};

  wire unused = &{1'b0, row_span[LaneBits-1:0]};   // bytes short of a whole word
endmodule

`default_nettype wire
