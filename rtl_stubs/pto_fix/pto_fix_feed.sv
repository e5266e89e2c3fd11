// SPDX-License-Identifier: Apache-2.0
//
// Reads the L0C words that the walker names, looks up the parameters of their channels, and passes
// both to the arithmetic. The attributes of a word wait in a queue parallel to its read.
// Throughput: one word per clock for reply latencies up to ReadFifoDepth - 6. Latency: word to
// src_req two clocks, reply to lane_valid two clocks.
// drop_i (op had an error): its words are no longer requested but replaced, so that the op runs to
// its end. Limits: ReadFifoDepth is a power of two. Spec: docs/contract.md, src port; fixpipe.md 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   src_rvalid  _/~~~\_______________
//   prm_rd      _____/~~~\___________      only for words that need parameters
//   lane_valid  _________/~~~~~~~\___      with the parameters; stays until lane_ready
`default_nettype none
`include "pto_records.vh"

module pto_fix_feed #(
  parameter integer ReadFifoDepth = 64       // words queued or in flight, a power of two
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       word_valid_i, // a word is to be read
  output wire                       word_ready_o, // it is taken
  input  wire [13:0]                word_i,       // L0C word
  input  wire pto_fix_note_t        word_note_i,  // what goes with it
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: it had an error
  output wire                       src_req_o,    // on-chip read, stable until granted
  input  wire                       src_gnt_i,    // request taken
  output wire [2:0]                 src_space_o,  // memory
  output wire [19:0]                src_addr_o,   // byte address
  input  wire                       src_rvalid_i, // reply, in order
  input  wire [511:0]               src_rdata_i,  // word
  input  wire                       src_err_i,    // the read failed, with the reply
  output wire pto_err_t             err_o,        // a read failed
  output wire [3:0]                 prm_id_o,     // op of the next look-up
  input  wire                       prm_need_i,   // that op has parameters
  output wire                       prm_rd_o,     // look up
  output wire [7:0]                 prm_group_o,  // channels div 16
  output wire                       prm_end_o,    // the last look-up of the op
  output wire                       lane_valid_o, // a word is there, and its parameters
  input  wire                       lane_ready_i, // it is taken
  output wire [511:0]               lane_data_o,  // word
  output wire pto_fix_note_t        lane_note_o   // what came with it
);
  localparam [19:0] WORD_BYTES = 20'd64;

  // ---- a word goes to the reads and into the queue at once ----
  wire read_ready, note_ready, take;
  assign word_ready_o = read_ready && note_ready;

  wire                beat_valid, note_valid;
  wire [511:0]        beat;
  wire pto_fix_note_t note;

  pto_local_read #(
    .LocalDataWidth (512),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni, .err_i, .err_o,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .row_valid_i  (word_valid_i && note_ready),
    .row_ready_o  (read_ready),
    .row_i        ({word_note_i.id, `PTO_SPACE_L0C, word_i, 6'd0, WORD_BYTES}),
    .beat_valid_o (beat_valid),
    .beat_ready_i (take),
    .beat_o       (beat)
  );

  pto_fifo #(
    .Width(`PTO_FIX_NOTE_BITS),
    .Depth(ReadFifoDepth),
    .Ram(1)
  ) u_notes (
    .clk_i, .rst_ni,
    .wr_valid_i (word_valid_i && read_ready),
    .wr_ready_o (note_ready),
    .wr_data_i  (word_note_i),
    .rd_valid_o (note_valid),
    .rd_ready_i (take),
    .rd_data_o  (note)
  );

  // ---- the word with its parameters ----
  reg            lane_valid_q;
  reg [511:0]    lane_data_q;
  pto_fix_note_t lane_note_q;

  assign take        = beat_valid && note_valid && (!lane_valid_q || lane_ready_i);
  assign prm_id_o    = note.id;
  assign prm_rd_o    = take && prm_need_i;
  assign prm_group_o = note.group;
  assign prm_end_o   = prm_rd_o && note.last;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lane_valid_q <= 1'b0;
    else if (take) lane_valid_q <= 1'b1;
    else if (lane_ready_i) lane_valid_q <= 1'b0;
  end

  always @(posedge clk_i) begin
    if (take) begin
      lane_data_q <= beat;
      lane_note_q <= note;
    end
  end

  assign lane_valid_o = lane_valid_q;
  assign lane_data_o  = lane_data_q;
  assign lane_note_o  = lane_note_q;
endmodule

`default_nettype wire
