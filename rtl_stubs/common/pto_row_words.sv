// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows into destination words: takes the data from lines (pto_realign), adds pad bytes, and
// makes exact byte enables: a row may begin and end at any byte. Disabled lanes and pad lanes carry
// the pattern, disabled lanes of a row that is filled any value. The word is registered and stays
// until it is taken; the same register serves as local write request and as AXI W beat. Throughput:
// one word per clock, also across rows. Latency: line to word one clock. The pattern has a period
// of 4 bytes and words are aligned, so its phase is that of the absolute address (A-07). In place
// of the pattern the first element of the row may fill the bytes after the data, with its phase
// from the row's start (knob tail); such a row has no pad before its data and holds an element.
// Limits: WordBytes <= LineBytes; foot > 0 unless cut.
// Spec: dma.md sections 2 and 3.
//
//   clk         _/~\_/~\_/~\_/~\_
//   line_valid  _/~~~\___________
//   out_valid   _____/~~~~~~~\___     stable until out_ready
//   fin_valid   _________/~~~\___     with out_ready, when the word is the last of its op
`default_nettype none
`include "pto_records.vh"

module pto_row_words #(
  parameter integer WordBytes = 32,          // bytes of a destination word: 16, 32 or 64
  parameter integer LineBytes = 32           // bytes of a line, at least WordBytes
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       row_valid_i,  // a row is there
  output wire                       row_ready_o,  // it is taken
  input  wire pto_words_t           row_i,        // the row
  input  wire                       line_valid_i, // a line is there
  output wire                       line_ready_o, // it is used up
  input  wire [8*LineBytes-1:0]     line_i,       // the line
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: drop its words
  output wire                       out_valid_o,  // a word to write
  input  wire                       out_ready_i,  // it is written
  output wire [3:0]                 out_id_o,     // its op
  output wire [2:0]                 out_space_o,  // its memory
  output wire [19:0]                out_addr_o,   // its byte address
  output wire [WordBytes-1:0]       out_be_o,     // byte enables
  output wire [8*WordBytes-1:0]     out_data_o,   // the word
  output wire                       out_last_o,   // it ends its row or its 4 KiB page
  output wire                       fin_valid_o   // last word of the op out_id_o written or dropped
);
  localparam integer LaneBits = $clog2(WordBytes);
  localparam integer IndexBits = 20 - LaneBits;
  localparam integer ClipBits = LaneBits + 1;
  localparam integer WordBits = 8 * WordBytes;
  localparam integer FarBits  = 22;          // of a distance within the footprint
  localparam integer EndBits  = 22;          // of a distance within the data
  localparam [ClipBits-1:0] FULL = WordBytes[ClipBits-1:0];

  // ---- the current row; distances count from the start of the current word ----
  reg                 active_q;
  reg                 end_q;
  reg                 last_q;
  reg [3:0]           id_q;
  reg [2:0]           space_q;
  reg [31:0]          pattern_q;
  reg [IndexBits-1:0] index_q;               // word address
  reg [LaneBits-1:0]  lane_q;                // first byte of the row, 0 after the first word
  reg [6:0]           begin_q;               // first data byte, 0 once passed
  reg [EndBits-1:0]   data_end_q;            // end of the data, 0 once passed
  reg [FarBits-1:0]   row_end_q;             // end of the row

  // A distance as a lane of this word: 0 to WordBytes.
  wire [ClipBits-1:0] lane_c  = {1'b0, lane_q};
  wire [ClipBits-1:0] begin_c = (|begin_q[6:LaneBits]) ? FULL : begin_q[ClipBits-1:0];
  wire [ClipBits-1:0] data_c  = (|data_end_q[EndBits-1:LaneBits]) ? FULL : data_end_q[ClipBits-1:0];
  wire [ClipBits-1:0] row_c   = (|row_end_q[FarBits-1:LaneBits]) ? FULL : row_end_q[ClipBits-1:0];

  wire has_data   = begin_c != data_c && !end_q;
  wire row_done   = end_q || (row_end_q <= {{(FarBits - ClipBits){1'b0}}, FULL});
  wire data_done  = data_end_q <= {{(EndBits - ClipBits){1'b0}}, FULL};
  wire page_done  = &index_q[11-LaneBits:0];

  // ---- the word register ----
  reg                 out_full_q;
  reg                 out_write_q;           // 0: dropped word or mere end of an op
  reg                 out_fin_q;
  reg                 out_last_q;
  reg [3:0]           out_id_q;
  reg [2:0]           out_space_q;
  reg [IndexBits-1:0] out_index_q;
  reg [WordBytes-1:0] out_be_q;
  reg [WordBits-1:0]  out_data_q;

  wire out_done = out_full_q && (!out_write_q || out_ready_i);
  wire step     = active_q && (!out_full_q || out_done)
               && (!has_data || line_valid_i);

  assign row_ready_o = !active_q || (step && row_done);

  // ---- data of the current word ----
  wire [WordBits-1:0] data;
  generate
    if (LineBytes > WordBytes) begin : gen_part
      localparam integer PartBits = $clog2(LineBytes / WordBytes);
      wire [PartBits-1:0] part = index_q[PartBits-1:0];
      assign data = line_i[part*WordBits +: WordBits];
      assign line_ready_o = step && has_data && (data_done || &part);
    end else begin : gen_whole
      assign data = line_i;
      assign line_ready_o = step && has_data;
    end
  endgenerate

  function [WordBits-1:0] pad;               // lanes outside first to beyond - 1 get the pattern
    input [WordBits-1:0] value;
    input [63:0]         pattern;
    input [ClipBits-1:0] first;
    input [ClipBits-1:0] beyond;
    reg [WordBits-1:0] mask;
    begin
      mask = ({WordBits{1'b1}} << {first, 3'b000}) & ~({WordBits{1'b1}} << {beyond, 3'b000});
      pad  = (value & mask) | ({(WordBytes / 8){pattern}} & ~mask);
    end
  endfunction

  // ---- fill: the first element of the row, repeated from the start of the row on ----
  // An element has at most 8 bytes, which lie in two neighbouring groups of 8 aligned bytes: that
  // of the row's first byte and the next, which may be the first of the next word. Lanes of 8
  // bytes have the phase of the address, whatever the word.
  localparam integer Groups = WordBytes / 8;
  reg        first_q;                        // the word in work is the first of its row
  reg        second_q;                       // it is the second
  reg        fill_q;
  reg [1:0]  elem_q;
  reg [2:0]  phase_q;                        // address of the row, modulo 8
  reg [63:0] group_a_q, group_b_q;

  wire [LaneBits-4:0] group  = lane_q[LaneBits-1:3];
  wire [LaneBits-3:0] beside = {1'b0, group} + 1'b1;
  wire                near = beside < Groups[LaneBits-3:0];
  wire [63:0] group_a = first_q ? data[group*64 +: 64] : group_a_q;
  wire [63:0] group_b = (first_q && near) ? data[beside[LaneBits-4:0]*64 +: 64]
                      : second_q ? data[63:0] : group_b_q;
  wire        split_here = !near;          // the second group is in the next word

  function [63:0] repeated;                  // lane k gets the byte of the element at its phase
    input [63:0] a;
    input [63:0] b;
    input [2:0]  phase;
    input [1:0]  elem;
    integer k;
    reg [2:0] offset;
    reg [2:0] lane;
    begin
      repeated = 64'd0;
      for (k = 0; k < 8; k = k + 1) begin
        offset = (k[2:0] - phase) & ((elem == 2'd0) ? 3'd0 : (elem == 2'd1) ? 3'd1
                                     : (elem == 2'd2) ? 3'd3 : 3'd7);
        lane   = phase + offset;
        repeated[8*k +: 8] = (lane >= phase) ? a[{lane, 3'b000} +: 8] : b[{lane, 3'b000} +: 8];
      end
    end
  endfunction

  reg [63:0] filler;
  always @* begin
    filler = {2{pattern_q}};
    if (fill_q) filler = repeated(group_a, group_b, phase_q, elem_q);
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      out_full_q <= 1'b0;
    end else begin
      if (row_ready_o) active_q <= row_valid_i;
      if (step) out_full_q <= 1'b1;
      else if (out_done) out_full_q <= 1'b0;
    end
  end

  wire [FarBits-1:0] row_lane = {{(FarBits - LaneBits){1'b0}}, row_i.addr[LaneBits-1:0]};
  wire [6:0]         row_begin = row_lane[6:0] + {1'b0, row_i.left};

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      end_q      <= row_i.cut;
      last_q     <= row_i.last;
      id_q       <= row_i.id;
      space_q    <= row_i.space;
      pattern_q  <= row_i.pattern;
      fill_q     <= row_i.fill;
      elem_q     <= row_i.elem;
      phase_q    <= row_i.addr[2:0];
      first_q    <= 1'b1;
      second_q   <= 1'b0;
      index_q    <= row_i.addr[19:LaneBits];
      lane_q     <= row_i.addr[LaneBits-1:0];
      begin_q    <= row_begin;
      data_end_q <= {15'd0, row_begin} + {2'd0, row_i.len};
      row_end_q  <= row_lane + {1'b0, row_i.foot};
    end else if (step) begin
      index_q    <= index_q + 1'b1;
      lane_q     <= {LaneBits{1'b0}};
      first_q    <= 1'b0;
      second_q   <= first_q && split_here;
      begin_q    <= (begin_c == FULL) ? begin_q - {{(7 - ClipBits){1'b0}}, FULL} : 7'd0;
      data_end_q <= data_done ? {EndBits{1'b0}}
                              : data_end_q - {{(EndBits - ClipBits){1'b0}}, FULL};
      row_end_q  <= row_end_q - {{(FarBits - ClipBits){1'b0}}, FULL};
    end
    if (step) begin
      group_a_q   <= group_a;
      group_b_q   <= group_b;
      out_write_q <= !end_q && !err_i[id_q];
      out_fin_q   <= last_q && row_done;
      out_last_q  <= row_done || page_done;
      out_id_q    <= id_q;
      out_space_q <= space_q;
      out_index_q <= index_q;
      out_be_q    <= ({WordBytes{1'b1}} << lane_c) & ~({WordBytes{1'b1}} << row_c);
      if (begin_c == {ClipBits{1'b0}} && data_c == FULL) out_data_q <= data;
      else out_data_q <= pad(data, filler, begin_c, data_c);
    end
  end

  assign out_valid_o = out_full_q && out_write_q;
  assign out_id_o    = out_id_q;
  assign out_space_o = out_space_q;
  assign out_addr_o  = {out_index_q, {LaneBits{1'b0}}};
  assign out_be_o    = out_be_q;
  assign out_data_o  = out_data_q;
  assign out_last_o  = out_last_q;
  assign fin_valid_o = out_done && out_fin_q;
endmodule

`default_nettype wire
