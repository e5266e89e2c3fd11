// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows into destination words: takes the data from lines (pto_realign), adds pad and fill
// bytes, and makes exact byte enables. Rows may begin and end at any byte. Disabled lanes and those
// of the row that hold no data carry the pattern: the given one, or the first element of the row
// again and again, in the phase of the row start (only with Repeat).
// The word is registered and stays until it is taken; the same register serves as local write
// request and as AXI W beat. Throughput: one word per clock, also across rows. Latency: line to
// word one clock. The pattern has a period of 4 bytes and words are aligned, so its phase is that
// of the absolute address (A-07). A repeated element is 1, 2, 4 or 8 bytes; a row shorter than its
// element (DMA-L19) gets undefined fill bytes. Limits: WordBytes <= LineBytes; LenWidth is 6 to 31;
// foot > 0 unless row_end_i; a row with Repeat has left 0. Spec: dma.md sections 2 and 3.
//
//   clk         _/~\_/~\_/~\_/~\_
//   line_valid  _/~~~\___________
//   out_valid   _____/~~~~~~~\___     stable until out_ready
//   fin_valid   _________/~~~\___     with out_ready, when the word is the last of its op
`default_nettype none

module pto_row_words #(
  parameter integer WordBytes = 32,          // bytes of a destination word: 16, 32 or 64
  parameter integer LineBytes = 32,          // bytes of a line, at least WordBytes
  parameter integer AddrWidth = 20,          // bits of the byte address followed
  parameter integer LenWidth  = 16,          // bits of a length
  parameter integer FootWidth = 21,          // bits of a row footprint
  parameter integer Repeat    = 0,           // 1: row_repeat_i counts
  parameter integer IdWidth   = 4            // bits of an op number
) (
  input  wire                   clk_i,         // clock
  input  wire                   rst_ni,        // asynchronous reset, active low
  input  wire                   row_valid_i,   // a row is there
  output wire                   row_ready_o,   // it is taken
  input  wire                   row_end_i,     // no row, only the end of an op
  input  wire                   row_last_i,    // last record of the op
  input  wire [IdWidth-1:0]     row_id_i,      // op number
  input  wire [2:0]             row_space_i,   // memory
  input  wire [AddrWidth-1:0]   row_addr_i,    // byte address
  input  wire [LenWidth-1:0]    row_len_i,     // data bytes, at least 1
  input  wire [5:0]             row_left_i,    // pad bytes before the data
  input  wire [FootWidth-1:0]   row_foot_i,    // bytes in all
  input  wire [31:0]            row_pattern_i, // pad pattern
  input  wire [2:0]             row_repeat_i,  // bit 2: repeat the first 2^k bytes, k in bits 1, 0
  input  wire                   line_valid_i,  // a line is there
  output wire                   line_ready_o,  // it is used up
  input  wire [8*LineBytes-1:0] line_i,        // the line
  output wire [IdWidth-1:0]     cur_id_o,      // op of the word in work
  input  wire                   go_valid_i,    // the word in work may be taken into the register
  input  wire                   drop_i,        // and is not written
  output wire                   go_ready_o,    // the last word of a burst was taken in
  output wire                   out_valid_o,   // a word to write
  input  wire                   out_ready_i,   // it is written
  output wire [IdWidth-1:0]     out_id_o,      // its op
  output wire [2:0]             out_space_o,   // its memory
  output wire [AddrWidth-1:0]   out_addr_o,    // its byte address
  output wire [WordBytes-1:0]   out_be_o,      // byte enables
  output wire [8*WordBytes-1:0] out_data_o,    // the word
  output wire                   out_last_o,    // it ends its row or its 4 KiB page
  output wire                   fin_valid_o    // last word of the op out_id_o written or dropped
);
  localparam integer LaneBits = $clog2(WordBytes);
  localparam integer IndexBits = AddrWidth - LaneBits;
  localparam integer ClipBits = LaneBits + 1;
  localparam integer WordBits = 8 * WordBytes;
  localparam integer FarBits  = FootWidth + 1;
  localparam integer EndBits  = LenWidth + 2;
  localparam [ClipBits-1:0] FULL = WordBytes[ClipBits-1:0];

  // ---- the current row; distances count from the start of the current word ----
  reg                 active_q;
  reg                 end_q;
  reg                 last_q;
  reg [IdWidth-1:0]   id_q;
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

  wire has_data   = begin_c != FULL && data_c != {ClipBits{1'b0}} && !end_q;
  wire row_done   = end_q || (row_end_q <= {{(FarBits - ClipBits){1'b0}}, FULL});
  wire data_done  = data_end_q <= {{(EndBits - ClipBits){1'b0}}, FULL};
  wire page_done  = &index_q[11-LaneBits:0];

  // ---- the word register ----
  reg                  out_full_q;
  reg                  out_write_q;          // 0: dropped word or mere end of an op
  reg                  out_fin_q;
  reg                  out_last_q;
  reg [IdWidth-1:0]    out_id_q;
  reg [2:0]            out_space_q;
  reg [IndexBits-1:0]  out_index_q;
  reg [WordBytes-1:0]  out_be_q;
  reg [WordBits-1:0]   out_data_q;

  wire out_done = out_full_q && (!out_write_q || out_ready_i);
  wire step     = active_q && (!out_full_q || out_done) && (end_q || go_valid_i)
               && (!has_data || line_valid_i);

  assign row_ready_o = !active_q || (step && row_done);
  assign go_ready_o  = step && !end_q && (row_done || page_done);
  assign cur_id_o    = id_q;

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
    reg   [WordBits-1:0] mask;
    begin
      mask = ({WordBits{1'b1}} << {first, 3'b000}) & ~({WordBits{1'b1}} << {beyond, 3'b000});
      pad  = (value & mask) | ({(WordBytes / 8){pattern}} & ~mask);
    end
  endfunction

  // ---- pattern of eight bytes, byte k for the addresses that are k modulo 8 ----
  wire [63:0] pattern;
  generate
    if (Repeat != 0) begin : gen_repeat
      localparam integer ChunkBits = LaneBits - 3;
      reg        repeat_q;
      reg [1:0]  elem_q;                     // log2 of the bytes of the element
      reg [2:0]  phase_q;                    // row start modulo 8
      reg        first_q;                    // the first word of the row
      reg        split_q;                    // the second, and the first element may reach into it
      reg [63:0] head_q;                     // the eight bytes that hold the row start
      reg [63:0] kept_q;

      function [63:0] spread;                // first bytes of the row to all lanes
        input [127:0] value;                 // eight bytes that hold the row start, and the next
        input [2:0]   phase;
        input [1:0]   elem;
        reg   [63:0]  bytes;
        begin
          bytes  = value[{1'b0, phase, 3'b000} +: 64];
          case (elem)
            2'd0:    bytes = {8{bytes[7:0]}};
            2'd1:    bytes = {4{bytes[15:0]}};
            2'd2:    bytes = {2{bytes[31:0]}};
            default: bytes = bytes;
          endcase
          bytes  = phase[0] ? {bytes[55:0], bytes[63:56]} : bytes;
          bytes  = phase[1] ? {bytes[47:0], bytes[63:48]} : bytes;
          spread = phase[2] ? {bytes[31:0], bytes[63:32]} : bytes;
        end
      endfunction

      wire [ChunkBits-1:0] chunk = lane_q[LaneBits-1:3];
      wire [ChunkBits-1:0] after = chunk + 1'b1;
      wire [63:0]  here   = data[{chunk, 6'd0} +: 64];
      wire [63:0]  beyond = data[{after, 6'd0} +: 64];
      wire [127:0] start  = first_q ? {beyond, here} : {data[63:0], head_q};
      wire [63:0]  repeated = (first_q || split_q) ? spread(start, phase_q, elem_q) : kept_q;
      assign pattern = repeat_q ? repeated : {2{pattern_q}};

      always @(posedge clk_i) begin
        if (row_ready_o) begin
          {repeat_q, elem_q} <= row_repeat_i;
          phase_q  <= row_addr_i[2:0];
          first_q  <= 1'b1;
          split_q  <= 1'b0;
        end else if (step) begin
          first_q <= 1'b0;
          split_q <= first_q && &chunk;
        end
        if (step) begin
          if (first_q) head_q <= here;
          kept_q <= repeated;
        end
      end
    end else begin : gen_constant
      wire unused_repeat = &{1'b0, row_repeat_i};
      assign pattern = {2{pattern_q}};
    end
  endgenerate

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

  wire [FarBits-1:0] row_lane = {{(FarBits - LaneBits){1'b0}}, row_addr_i[LaneBits-1:0]};
  wire [6:0]         row_begin = row_lane[6:0] + {1'b0, row_left_i};

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      end_q      <= row_end_i;
      last_q     <= row_last_i;
      id_q       <= row_id_i;
      space_q    <= row_space_i;
      pattern_q  <= row_pattern_i;
      index_q    <= row_addr_i[AddrWidth-1:LaneBits];
      lane_q     <= row_addr_i[LaneBits-1:0];
      begin_q    <= row_begin;
      data_end_q <= {{(EndBits - 7){1'b0}}, row_begin} + {2'd0, row_len_i};
      row_end_q  <= row_lane + {1'b0, row_foot_i};
    end else if (step) begin
      index_q    <= index_q + 1'b1;
      lane_q     <= {LaneBits{1'b0}};
      begin_q    <= (begin_c == FULL) ? begin_q - {{(7 - ClipBits){1'b0}}, FULL} : 7'd0;
      data_end_q <= data_done ? {EndBits{1'b0}}
                  : data_end_q - {{(EndBits - ClipBits){1'b0}}, FULL};
      row_end_q  <= row_end_q - {{(FarBits - ClipBits){1'b0}}, FULL};
    end
    if (step) begin
      out_write_q <= !end_q && !drop_i;
      out_fin_q   <= last_q && row_done;
      out_last_q  <= row_done || page_done;
      out_id_q    <= id_q;
      out_space_q <= space_q;
      out_index_q <= index_q;
      out_be_q    <= ({WordBytes{1'b1}} << lane_c) & ~({WordBytes{1'b1}} << row_c);
      out_data_q  <= pad(data, pattern, begin_c, data_c);
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
