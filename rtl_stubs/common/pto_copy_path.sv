// SPDX-License-Identifier: Apache-2.0
//
// Moves rows of bytes from one on-chip memory to another: local reads -> realigner -> words. Either
// side may have any byte alignment, and the two ports may differ in width. The records of rows for
// the later stages wait in a queue parallel to the data. With Widen elements of 16 bits can be
// widened to 32 bits on their way (pto_widen_lines).
// Throughput: one source word in and one destination word out per clock; a row that lies in k
// source and n destination words takes max(k, n) clocks, with no bubble between rows or ops, for
// reply latencies up to ReadFifoDepth - 3. Latency: row to src_req two clocks, reply to dst_req
// three clocks, four of widened elements, last grant to fin none.
// Limits: widths 128, 256 or 512, with Widen of both sides the same; ReadFifoDepth is a power of
// two. Spec: dma.md section 2, bias_fb.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   row_valid   _/~~~\_______________________     row of one word; row_ready 1
//   src_req     _________/~~~\_______________     granted at once, answered one clock later
//   dst_req     _________________________/~~~     stable until dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_copy_path #(
  parameter integer SrcDataWidth  = 256,     // bits of a source word
  parameter integer DstDataWidth  = 256,     // bits of a destination word
  parameter integer ReadFifoDepth = 64,      // source words and rows in flight, a power of two
  parameter integer Widen         = 0        // 1: elements may widen
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: an access failed, this clock included
  input  wire                       row_valid_i,  // a row is there
  output wire                       row_ready_o,  // it is taken
  input  wire pto_row_t             row_i,        // from ext to loc, without pad
  output wire                       src_req_o,    // on-chip read, stable until granted
  input  wire                       src_gnt_i,    // request taken
  output wire [2:0]                 src_space_o,  // memory
  output wire [19:0]                src_addr_o,   // byte address, word aligned
  input  wire                       src_rvalid_i, // reply, in order
  input  wire [SrcDataWidth-1:0]    src_rdata_i,  // word
  input  wire                       src_err_i,    // the read failed, with the reply
  output wire                       dst_req_o,    // on-chip write, stable until granted
  input  wire                       dst_gnt_i,    // write done
  output wire [2:0]                 dst_space_o,  // memory
  output wire [19:0]                dst_addr_o,   // byte address, word aligned
  output wire [DstDataWidth/8-1:0]  dst_be_o,     // byte enables
  output wire [DstDataWidth-1:0]    dst_wdata_o,  // word
  input  wire                       dst_err_i,    // the write failed, with the grant
  output wire pto_err_t             rd_err_o,     // a read failed
  output wire pto_err_t             wr_err_o,     // a write failed
  output wire                       fin_valid_o,  // last word of an op written or dropped
  output wire [3:0]                 fin_id_o      // op number
);
  localparam integer SrcBytes  = SrcDataWidth / 8;
  localparam integer DstBytes  = DstDataWidth / 8;
  localparam integer LineBytes = (SrcBytes > DstBytes) ? SrcBytes : DstBytes;

  // ---- a row goes to the reads and into the record queue at once; a mere end only there ----
  wire has_room, reads_ready, record_take;
  wire record_put = row_valid_i && row_ready_o;
  assign row_ready_o = has_room && (row_i.loc.cut || reads_ready);

  // ---- reads ----
  wire                    row_half = Widen != 0 && row_i.widen != 2'd0;
  wire [19:0]             row_len  = row_half ? row_i.loc.len >> 1 : row_i.loc.len;
  wire                    beat_valid, beat_ready;
  wire [SrcDataWidth-1:0] beat;

  pto_local_read #(
    .LocalDataWidth (SrcDataWidth),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni, .err_i,
    .row_valid_i  (row_valid_i && !row_i.loc.cut && has_room),
    .row_ready_o  (reads_ready),
    .row_i        ({row_i.loc.id, row_i.ext_space, row_i.ext_addr[19:0], row_len}),
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err_o)
  );

  // ---- records; the oldest goes to all later stages at once, a mere end only to words ----
  wire             record_valid, align_ready, widen_ready, words_ready;
  wire [5:0]       record_lane;
  wire [1:0]       record_widen;
  wire pto_piece_t record;
  wire             rows_ready = align_ready && widen_ready;
  assign record_take = record_valid && words_ready && (record.cut || rows_ready);

  pto_fifo #(
    .Width(`PTO_PIECE_BITS + 8),
    .Depth(ReadFifoDepth),
    .Ram(1)
  ) u_records (
    .clk_i, .rst_ni,
    .wr_valid_i (record_put),
    .wr_ready_o (has_room),
    .wr_data_i  ({row_i.loc.cut, row_i.loc.last, row_i.loc.id, row_i.loc.space, row_i.loc.addr,
                  row_i.loc.len, row_i.ext_addr[5:0], row_i.widen}),
    .rd_valid_o (record_valid),
    .rd_ready_i (record_take),
    .rd_data_o  ({record, record_lane, record_widen})
  );

  // ---- lanes; that of an element in its line is that of its slot in the widened line ----
  wire                   record_half = Widen != 0 && record_widen != 2'd0;
  wire [5:0]             record_dst  = record_half ? record.addr[6:1] : record.addr[5:0];
  wire [19:0]            record_len  = record_half ? record.len >> 1 : record.len;
  wire                   line_valid, line_ready;
  wire [8*LineBytes-1:0] line;

  pto_realign #(
    .SrcBytes  (SrcBytes),
    .LineBytes (LineBytes)
  ) u_realign (
    .clk_i, .rst_ni,
    .row_valid_i  (record_valid && words_ready && widen_ready && !record.cut),
    .row_ready_o  (align_ready),
    .row_i        ({record_lane, record_dst, record_len}),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
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
      wire [20:0] span = {{(21 - Lane){1'b0}}, record.addr[Lane-1:0]} + {1'b0, record.len}
                       + LAST_BYTE;
      wire        lines_valid, lines_take, lines_half;
      wire [1:0]  lines_widen;
      wire [16:0] lines_words;

      pto_fifo #(
        .Width(2 + 1 + 17),
        .Depth(4)
      ) u_line_rows (
        .clk_i, .rst_ni,
        .wr_valid_i (record_valid && !record.cut && words_ready && align_ready),
        .wr_ready_o (widen_ready),
        .wr_data_i  ({record_widen, record.addr[Lane], {{(Lane - 4){1'b0}}, span[20:Lane]}}),
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
      assign widen_ready = 1'b1;
      assign slots_valid = line_valid;
      assign line_ready  = slots_ready;
      assign slots       = line;
    end
  endgenerate

  // ---- words: the realigner runs ahead by the four lines of its ring ----
  wire             word_valid, word_take, out_last_unused;
  wire pto_piece_t word;

  pto_fifo #(
    .Width(`PTO_PIECE_BITS),
    .Depth(4)
  ) u_word_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (record_valid && (record.cut || rows_ready)),
    .wr_ready_o (words_ready),
    .wr_data_i  (record),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  (word)
  );

  pto_row_words #(
    .WordBytes (DstBytes),
    .LineBytes (LineBytes)
  ) u_words (
    .clk_i, .rst_ni, .err_i, .fin_valid_o,
    .row_valid_i  (word_valid),
    .row_ready_o  (word_take),
    .row_i        ({word, 6'd0, 1'b0, word.len, 35'd0}),
    .line_valid_i (slots_valid),
    .line_ready_o (slots_ready),
    .line_i       (slots),
    .out_valid_o  (dst_req_o),
    .out_ready_i  (dst_gnt_i),
    .out_id_o     (fin_id_o),
    .out_space_o  (dst_space_o),
    .out_addr_o   (dst_addr_o),
    .out_be_o     (dst_be_o),
    .out_data_o   (dst_wdata_o),
    .out_last_o   (out_last_unused)
  );
  assign wr_err_o = {dst_req_o && dst_gnt_i && dst_err_i, fin_id_o, `PTO_ST_LOCAL,
                     20'd0, dst_addr_o};

  wire unused = &{1'b0, out_last_unused, row_i, record_widen};
endmodule

`default_nettype wire
