// SPDX-License-Identifier: Apache-2.0
//
// Moves rows of bytes from one on-chip memory to another: local reads -> realigner -> words. Either
// side may have any byte alignment, and the two ports may differ in width. The records of rows for
// the later stages wait in a queue parallel to the data.
// Throughput: one source word in and one destination word out per clock; a row that lies in k
// source and n destination words takes max(k, n) clocks, with no bubble between rows or ops, for
// reply latencies up to ReadFifoDepth - 3. Latency: row to src_req two clocks, reply to dst_req
// three clocks, last grant to fin none.
// Limits: widths 128, 256 or 512; ReadFifoDepth is a power of two. Spec: dma.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   row_valid   _/~~~\_______________________     row of one word; row_ready 1
//   src_req     _________/~~~\_______________     granted at once, answered one clock later
//   dst_req     _________________________/~~~     stable until dst_gnt
`default_nettype none

module pto_copy_path #(
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer SrcDataWidth   = 256,    // bits of a source word
  parameter integer DstDataWidth   = 256,    // bits of a destination word
  parameter integer NumActive      = 16,     // ops in flight
  parameter integer IdWidth        = 4,      // bits of an op number, $clog2(NumActive)
  parameter integer ReadFifoDepth  = 64,     // source words and rows in flight, a power of two
  parameter integer LenWidth       = 16      // bits of a row length
) (
  input  wire                      clk_i,           // clock
  input  wire                      rst_ni,          // asynchronous reset, active low
  input  wire [NumActive-1:0]      err_i,           // per op: an access failed, move no more
  input  wire                      row_valid_i,     // a row is there
  output wire                      row_ready_o,     // it is taken
  input  wire                      row_end_i,       // no row, only the end of an op
  input  wire                      row_last_i,      // last record of the op
  input  wire [IdWidth-1:0]        row_id_i,        // op number
  input  wire [2:0]                row_src_space_i, // source memory
  input  wire [LocalAddrWidth-1:0] row_src_addr_i,  // source byte address
  input  wire [2:0]                row_dst_space_i, // destination memory
  input  wire [LocalAddrWidth-1:0] row_dst_addr_i,  // destination byte address
  input  wire [LenWidth-1:0]       row_len_i,       // bytes, at least 1 unless row_end_i
  output wire                      src_req_o,       // on-chip read, stable until granted
  input  wire                      src_gnt_i,       // request taken
  output wire [2:0]                src_space_o,     // memory
  output wire [LocalAddrWidth-1:0] src_addr_o,      // byte address, word aligned
  input  wire                      src_rvalid_i,    // reply, in order
  input  wire [SrcDataWidth-1:0]   src_rdata_i,     // word
  input  wire                      src_err_i,       // the read failed, with the reply
  output wire                      dst_req_o,       // on-chip write, stable until granted
  input  wire                      dst_gnt_i,       // write done
  output wire [2:0]                dst_space_o,     // memory
  output wire [LocalAddrWidth-1:0] dst_addr_o,      // byte address, word aligned
  output wire [DstDataWidth/8-1:0] dst_be_o,        // byte enables
  output wire [DstDataWidth-1:0]   dst_wdata_o,     // word
  input  wire                      dst_err_i,       // the write failed, with the grant
  output wire                      rd_err_valid_o,  // a read failed
  output wire [IdWidth-1:0]        rd_err_id_o,     // of this op
  output wire [LocalAddrWidth-1:0] rd_err_addr_o,   // address of its word
  output wire                      wr_err_valid_o,  // a write failed, of op fin_id_o at dst_addr_o
  output wire                      fin_valid_o,     // last word of an op written or dropped
  output wire [IdWidth-1:0]        fin_id_o         // op number
);
  localparam integer SrcBytes  = SrcDataWidth / 8;
  localparam integer DstBytes  = DstDataWidth / 8;
  localparam integer LineBytes = (SrcBytes > DstBytes) ? SrcBytes : DstBytes;
  localparam integer SrcLane   = $clog2(SrcBytes);
  localparam integer LineLane  = $clog2(LineBytes);
  localparam integer CountBits = $clog2(ReadFifoDepth) + 1;
  localparam [CountBits-1:0] DEPTH = ReadFifoDepth[CountBits-1:0];
  localparam integer RecordWidth = 1 + 1 + IdWidth + 3 + LocalAddrWidth + LenWidth + SrcLane;
  localparam integer WordWidth   = RecordWidth - SrcLane;

  // An error takes effect in its own clock, so that no access is requested after it.
  localparam [NumActive-1:0] ONE = {{(NumActive - 1){1'b0}}, 1'b1};
  wire [NumActive-1:0] err = err_i | (rd_err_valid_o ? ONE << rd_err_id_o : {NumActive{1'b0}})
                                   | (wr_err_valid_o ? ONE << fin_id_o : {NumActive{1'b0}});

  // ---- a row goes to the reads and into the record queue at once; a mere end only there ----
  reg  [CountBits-1:0] free_q;               // free records
  wire has_room = free_q != {CountBits{1'b0}};
  wire reads_ready;
  wire record_put = row_valid_i && row_ready_o;
  wire record_take;
  assign row_ready_o = has_room && (row_end_i || reads_ready);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= DEPTH;
    else free_q <= free_q - {{(CountBits - 1){1'b0}}, record_put}
                          + {{(CountBits - 1){1'b0}}, record_take};
  end

  // ---- reads ----
  wire [IdWidth-1:0]      read_id;
  wire                    beat_valid, beat_ready;
  wire [SrcDataWidth-1:0] beat;

  pto_local_read #(
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (SrcDataWidth),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth),
    .LenWidth       (LenWidth)
  ) u_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (row_valid_i && !row_end_i && has_room),
    .row_ready_o  (reads_ready),
    .row_id_i     (row_id_i),
    .row_space_i  (row_src_space_i),
    .row_addr_i   (row_src_addr_i),
    .row_len_i    (row_len_i),
    .cur_id_o     (read_id),
    .drop_i       (err[read_id]),
    .src_req_o    (src_req_o),
    .src_gnt_i    (src_gnt_i),
    .src_space_o  (src_space_o),
    .src_addr_o   (src_addr_o),
    .src_rvalid_i (src_rvalid_i),
    .src_rdata_i  (src_rdata_i),
    .src_err_i    (src_err_i),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_valid_o  (rd_err_valid_o),
    .err_id_o     (rd_err_id_o),
    .err_addr_o   (rd_err_addr_o)
  );

  // ---- records; the oldest goes to realigner and words at once, a mere end only to words ----
  wire                      record_valid, record_end, record_last;
  wire [IdWidth-1:0]        record_id;
  wire [2:0]                record_space;
  wire [LocalAddrWidth-1:0] record_addr;
  wire [LenWidth-1:0]       record_len;
  wire [SrcLane-1:0]        record_src_lane;
  wire                      align_ready, words_ready;
  assign record_take = record_valid && words_ready && (record_end || align_ready);

  pto_ram_fifo #(
    .Width(RecordWidth),
    .Depth(ReadFifoDepth)
  ) u_records (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_en_i    (record_put),
    .wr_data_i  ({row_end_i, row_last_i, row_id_i, row_dst_space_i, row_dst_addr_i, row_len_i,
                  row_src_addr_i[SrcLane-1:0]}),
    .rd_valid_o (record_valid),
    .rd_ready_i (record_take),
    .rd_data_o  ({record_end, record_last, record_id, record_space, record_addr, record_len,
                  record_src_lane})
  );

  // ---- lanes ----
  wire                   line_valid, line_ready;
  wire [8*LineBytes-1:0] line;

  pto_realign #(
    .SrcBytes  (SrcBytes),
    .LineBytes (LineBytes),
    .LenWidth  (LenWidth)
  ) u_realign (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .row_valid_i    (record_valid && words_ready && !record_end),
    .row_ready_o    (align_ready),
    .row_src_lane_i (record_src_lane),
    .row_dst_lane_i (record_addr[LineLane-1:0]),
    .row_len_i      (record_len),
    .beat_valid_i   (beat_valid),
    .beat_ready_o   (beat_ready),
    .beat_i         (beat),
    .line_valid_o   (line_valid),
    .line_ready_i   (line_ready),
    .line_o         (line)
  );

  // ---- words: the realigner runs ahead by the four lines of its ring ----
  wire                      word_valid, word_take, word_end, word_last;
  wire [IdWidth-1:0]        word_id, cur_id;
  wire [2:0]                word_space;
  wire [LocalAddrWidth-1:0] word_addr;
  wire [LenWidth-1:0]       word_len;
  wire                      go_ready_unused, out_last_unused;

  pto_fifo #(
    .Width(WordWidth),
    .Depth(4)
  ) u_word_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (record_valid && (record_end || align_ready)),
    .wr_ready_o (words_ready),
    .wr_data_i  ({record_end, record_last, record_id, record_space, record_addr, record_len}),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  ({word_end, word_last, word_id, word_space, word_addr, word_len})
  );

  pto_row_words #(
    .WordBytes (DstBytes),
    .LineBytes (LineBytes),
    .AddrWidth (LocalAddrWidth),
    .FootWidth (LenWidth),
    .IdWidth   (IdWidth),
    .LenWidth  (LenWidth)
  ) u_words (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .row_valid_i   (word_valid),
    .row_ready_o   (word_take),
    .row_end_i     (word_end),
    .row_last_i    (word_last),
    .row_id_i      (word_id),
    .row_space_i   (word_space),
    .row_addr_i    (word_addr),
    .row_len_i     (word_len),
    .row_left_i    (6'd0),
    .row_foot_i    (word_len),
    .row_pattern_i (32'd0),
    .row_fill_i    (1'b0),
    .row_elem_i    (2'd0),
    .line_valid_i  (line_valid),
    .line_ready_o  (line_ready),
    .line_i        (line),
    .cur_id_o      (cur_id),
    .go_valid_i    (1'b1),
    .drop_i        (err[cur_id]),
    .go_ready_o    (go_ready_unused),
    .out_valid_o   (dst_req_o),
    .out_ready_i   (dst_gnt_i),
    .out_id_o      (fin_id_o),
    .out_space_o   (dst_space_o),
    .out_addr_o    (dst_addr_o),
    .out_be_o      (dst_be_o),
    .out_data_o    (dst_wdata_o),
    .out_last_o    (out_last_unused),
    .fin_valid_o   (fin_valid_o)
  );
  assign wr_err_valid_o = dst_req_o && dst_gnt_i && dst_err_i;

  wire unused = &{1'b0, go_ready_unused, out_last_unused};
endmodule

`default_nettype wire
