// SPDX-License-Identifier: Apache-2.0
//
// From the source words of rows to their destination words: realigner -> (widening) -> words.
// Either side may have any byte alignment, and the two sides may differ in width. A row is taken
// with its read; its records for the stages wait here for the data. With Widen elements of 16 bits
// can be widened to 32 bits on their way (pto_widen_lines). A row without data, or a mere end,
// goes to the words alone.
// Throughput: one source word in and one destination word out per clock; a row that lies in k
// source and n destination words takes max(k, n) clocks, with no bubble between rows or ops.
// Latency: source word to destination word two clocks, three of widened elements.
// Limits: widths 16, 32 or 64 bytes, with Widen of both sides the same; RowDepth is a power of two.
// Spec: dma.md sections 2 and 3, bias_fb.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   row_valid   _/~~~\_______________     row of one word; row_ready 1
//   beat_valid  _____/~~~\___________
//   out_valid   _____________/~~~\___     stable until out_ready
`default_nettype none
`include "pto_records.vh"

module pto_row_path #(
  parameter integer SrcBytes = 32,           // bytes of a source word
  parameter integer DstBytes = 32,           // bytes of a destination word
  parameter integer RowDepth = 32,           // rows that wait for their data
  parameter integer Plain    = 0,            // 1: rows have no pad
  parameter integer Widen    = 0             // 1: elements may widen
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       row_valid_i,  // a row is there
  output wire                       row_ready_o,  // it is taken
  input  wire pto_words_t           row_i,        // its destination
  input  wire [5:0]                 row_src_i,    // low bits of its source address
  input  wire [1:0]                 row_widen_i,  // 1 bf16, 2 f16 in half the bytes, else 0
  input  wire                       beat_valid_i, // a source word is there
  output wire                       beat_ready_o, // it is taken
  input  wire [8*SrcBytes-1:0]      beat_i,       // the word
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: drop its words
  output wire                       out_valid_o,  // a word to write
  input  wire                       out_ready_i,  // it is written
  output wire [3:0]                 out_id_o,     // its op
  output wire [2:0]                 out_space_o,  // its memory
  output wire [19:0]                out_addr_o,   // its byte address
  output wire [DstBytes-1:0]        out_be_o,     // byte enables
  output wire [8*DstBytes-1:0]      out_data_o,   // the word
  output wire                       out_last_o,   // it ends its row or its 4 KiB page
  output wire                       fin_valid_o   // last word of the op out_id_o written or dropped
);
  localparam integer LineBytes = (SrcBytes > DstBytes) ? SrcBytes : DstBytes;
  localparam integer WordsBits = (Plain != 0) ? `PTO_PIECE_BITS : `PTO_WORDS_BITS;

  // ---- a row goes to all stages at once ----
  wire align_ready, wide_ready, words_ready;
  wire row_reads = !row_i.cut && row_i.len != 20'd0;
  wire row_put   = row_valid_i && row_ready_o;
  assign row_ready_o = align_ready && wide_ready && words_ready;

  // ---- lanes; that of an element in its line is that of its slot in the widened line ----
  wire                   half     = Widen != 0 && row_widen_i != 2'd0;
  wire [5:0]             dst_lane = half ? row_i.addr[6:1] : row_i.addr[5:0] + row_i.left;
  wire                   align_valid, align_take;
  wire pto_lanes_t       lanes;
  wire                   line_valid, line_ready;
  wire [8*LineBytes-1:0] line;

  pto_fifo #(
    .Width(`PTO_LANES_BITS),
    .Depth(RowDepth)
  ) u_align_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (row_put && row_reads),
    .wr_ready_o (align_ready),
    .wr_data_i  ({row_src_i, dst_lane, half ? row_i.len >> 1 : row_i.len}),
    .rd_valid_o (align_valid),
    .rd_ready_i (align_take),
    .rd_data_o  (lanes)
  );

  pto_realign #(
    .SrcBytes  (SrcBytes),
    .LineBytes (LineBytes)
  ) u_realign (
    .clk_i, .rst_ni, .beat_valid_i, .beat_ready_o, .beat_i,
    .row_valid_i  (align_valid),
    .row_ready_o  (align_take),
    .row_i        (lanes),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_o       (line)
  );

  // ---- widening ----
  wire                   slots_valid, slots_ready;
  wire [8*LineBytes-1:0] slots;

  generate
    if (Widen != 0) begin : gen_widen
      localparam integer Lane = $clog2(DstBytes);
      localparam [20:0] LAST_BYTE = DstBytes[20:0] - 21'd1;
      wire [20:0] span = {{(21 - Lane){1'b0}}, row_i.addr[Lane-1:0]} + {1'b0, row_i.len}
                       + LAST_BYTE;
      wire        lines_valid, lines_take, lines_half;
      wire [1:0]  lines_widen;
      wire [16:0] lines_words;

      pto_fifo #(
        .Width(2 + 1 + 17),
        .Depth(RowDepth)
      ) u_line_rows (
        .clk_i, .rst_ni,
        .wr_valid_i (row_put && row_reads),
        .wr_ready_o (wide_ready),
        .wr_data_i  ({row_widen_i, row_i.addr[Lane], {{(Lane - 4){1'b0}}, span[20:Lane]}}),
        .rd_valid_o (lines_valid),
        .rd_ready_i (lines_take),
        .rd_data_o  ({lines_widen, lines_half, lines_words})
      );

      pto_widen_lines #(
        .WordBytes (DstBytes)
      ) u_widen (
        .clk_i, .rst_ni,
        .row_valid_i  (lines_valid),
        .row_ready_o  (lines_take),
        .row_widen_i  (lines_widen),
        .row_half_i   (lines_half),
        .row_words_i  (lines_words),
        .line_valid_i (line_valid),
        .line_ready_o (line_ready),
        .line_i       (line),
        .out_valid_o  (slots_valid),
        .out_ready_i  (slots_ready),
        .out_o        (slots)
      );

      wire unused_span = &{1'b0, span[Lane-1:0]};
    end else begin : gen_raw
      assign wide_ready  = 1'b1;
      assign slots_valid = line_valid;
      assign line_ready  = slots_ready;
      assign slots       = line;
    end
  endgenerate

  // ---- words; a plain row is kept without its pad ----
  wire                 word_valid, word_take;
  wire [WordsBits-1:0] row_kept, kept;
  wire pto_words_t     word;

  generate
    if (Plain != 0) begin : gen_plain
      wire pto_piece_t piece = kept;
      assign row_kept = {row_i.cut, row_i.last, row_i.id, row_i.space, row_i.addr, row_i.len};
      assign word     = {piece, 6'd0, 1'b0, piece.len, 35'd0};
    end else begin : gen_padded
      assign row_kept = row_i;
      assign word     = kept;
    end
  endgenerate

  pto_fifo #(
    .Width(WordsBits),
    .Depth(RowDepth)
  ) u_word_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (row_put),
    .wr_ready_o (words_ready),
    .wr_data_i  (row_kept),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  (kept)
  );

  pto_row_words #(
    .WordBytes (DstBytes),
    .LineBytes (LineBytes)
  ) u_words (
    .clk_i, .rst_ni, .err_i, .out_valid_o, .out_ready_i, .out_id_o, .out_space_o, .out_addr_o,
    .out_be_o, .out_data_o, .out_last_o, .fin_valid_o,
    .row_valid_i  (word_valid),
    .row_ready_o  (word_take),
    .row_i        (word),
    .line_valid_i (slots_valid),
    .line_ready_o (slots_ready),
    .line_i       (slots)
  );

  wire unused = &{1'b0, row_i, row_widen_i};
endmodule

`default_nettype wire
