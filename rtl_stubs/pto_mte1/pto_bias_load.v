// SPDX-License-Identifier: Apache-2.0
//
// Unit for bias vectors: mte_l1_bt, bursts of elements from L1 to 32-bit slots of BT, f16 and
// bf16 widened to f32, 32-bit elements as they are. Ports are those of an engine. Bursts flow
// check -> rows -> local reads -> realigner -> widening -> words; the check of the next op
// overlaps the data. Bursts begin at any element of a source word and any slot of a destination
// word.
// Throughput: one source word and one destination word per clock; a 16-bit source word gives two
// destination words. A burst that lies in k source and n destination words takes max(k, n)
// clocks and the next follows without a bubble, also from op to op. Short bursts are pipelined:
// one burst per clock, each with a separate read and write. Bursts without gaps run as one.
// Latency: descriptor to src_req 7 clocks, reply to dst_req 4 clocks, last grant to done 1 clock.
// Full rate up to a read latency of ReadFifoDepth - 3 clocks. A read or write error ends the op:
// no access is requested from that clock on, but a pending request waits for its grant.
// Limits: width 128, 256 or 512; GmAddrWidth 40. Spec: CONTRACT, bias_fb.md 1, 2 and 5.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

module pto_bias_load #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words and rows in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer WordBytes  = LocalDataWidth / 8;
  localparam integer Lane       = $clog2(WordBytes);
  localparam integer IdWidth    = $clog2(NumActive);
  localparam integer IndexWidth = LocalAddrWidth - 1;    // of source elements of two bytes
  localparam integer CutBits    = 10;                    // all slots of BT
  localparam integer CountBits  = $clog2(ReadFifoDepth) + 1;
  localparam [CountBits-1:0] DEPTH = ReadFifoDepth[CountBits-1:0];

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth > 20 || DescWidth != `PTO_DESC_BITS
        || UbSize > (1 << LocalAddrWidth) || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

  // ---- front: descriptors to jobs, and reports ----
  wire                      job_valid, job_ready, job_by_64_unused;
  wire [IdWidth-1:0]        job_id;
  wire [1:0]                job_widen;
  wire [2:0]                job_src_space_unused, job_dst_space_unused;
  wire [LocalAddrWidth-1:0] job_src_addr, job_dst_addr;
  wire [15:0]               job_len, job_last, job_src_gap, job_dst_gap;
  wire [NumActive-1:0]      err;
  wire                      rd_err_valid, wr_err_valid, fin_valid;
  wire [IdWidth-1:0]        rd_err_id, fin_id;
  wire [LocalAddrWidth-1:0] rd_err_addr;

  pto_burst_front #(
    .Ops            (256'd1 << `PTO_OP_MTE_L1_BT),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth)
  ) u_front (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .desc_valid_i    (desc_valid_i),
    .desc_ready_o    (desc_ready_o),
    .desc_i          (desc_i),
    .desc_tag_i      (desc_tag_i),
    .done_valid_o    (done_valid_o),
    .done_ready_i    (done_ready_i),
    .done_tag_o      (done_tag_o),
    .done_status_o   (done_status_o),
    .done_rule_o     (done_rule_o),
    .done_addr_o     (done_addr_o),
    .busy_o          (busy_o),
    .rd_err_valid_i  (rd_err_valid),
    .rd_err_id_i     (rd_err_id),
    .rd_err_addr_i   (rd_err_addr),
    .wr_err_valid_i  (wr_err_valid),
    .wr_err_id_i     (fin_id),
    .wr_err_addr_i   (dst_addr_o),
    .err_o           (err),
    .fin_valid_i     (fin_valid),
    .fin_id_i        (fin_id),
    .job_valid_o     (job_valid),
    .job_ready_i     (job_ready),
    .job_id_o        (job_id),
    .job_by_64_o     (job_by_64_unused),
    .job_widen_o     (job_widen),
    .job_src_space_o (job_src_space_unused),
    .job_dst_space_o (job_dst_space_unused),
    .job_src_addr_o  (job_src_addr),
    .job_dst_addr_o  (job_dst_addr),
    .job_len_o       (job_len),
    .job_last_o      (job_last),
    .job_src_gap_o   (job_src_gap),
    .job_dst_gap_o   (job_dst_gap)
  );

  // An error takes effect in its own clock, so that no access is requested after it.
  localparam [NumActive-1:0] ONE = {{(NumActive - 1){1'b0}}, 1'b1};
  wire [NumActive-1:0] err_now = err | (rd_err_valid ? ONE << rd_err_id : {NumActive{1'b0}})
                                     | (wr_err_valid ? ONE << fin_id : {NumActive{1'b0}});

  // ---- rows, in elements at the source and slots at the destination ----
  wire                  job_half = job_widen == 2'd1 || job_widen == 2'd2;  // elements of 2 bytes
  wire [IndexWidth-1:0] job_src  = job_half ? job_src_addr[LocalAddrWidth-1:1]
                                 : {1'b0, job_src_addr[LocalAddrWidth-1:2]};
  wire                  row_valid, row_ready, row_end, row_last;
  wire [IdWidth-1:0]    row_id;
  wire [1:0]            row_widen;
  wire [IndexWidth-1:0] row_src, row_dst;
  wire [CutBits:0]      row_len;

  pto_burst_rows #(
    .IndexWidth (IndexWidth),
    .CutBits    (CutBits),
    .InfoWidth  (2),
    .IdWidth    (IdWidth)
  ) u_rows (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_id_i      (job_id),
    .job_info_i    (job_widen),
    .job_src_i     (job_src),
    .job_dst_i     ({1'b0, job_dst_addr[LocalAddrWidth-1:2]}),
    .job_len_i     (job_len),
    .job_last_i    (job_last),
    .job_src_gap_i ({{(IndexWidth - 16){1'b0}}, job_src_gap}),
    .job_dst_gap_i ({{(IndexWidth - 16){1'b0}}, job_dst_gap}),
    .abort_i       (err[row_id]),
    .row_valid_o   (row_valid),
    .row_ready_i   (row_ready),
    .row_end_o     (row_end),
    .row_last_o    (row_last),
    .row_id_o      (row_id),
    .row_info_o    (row_widen),
    .row_src_o     (row_src),
    .row_dst_o     (row_dst),
    .row_len_o     (row_len)
  );

  wire                      row_half     = row_widen == 2'd1 || row_widen == 2'd2;
  wire [LocalAddrWidth-1:0] row_src_addr = row_half ? {row_src, 1'b0}
                                         : {row_src[IndexWidth-2:0], 2'd0};

  // ---- a row goes to the reads and into the record queue at once; a mere end only there ----
  reg  [CountBits-1:0] free_q;               // free records
  wire has_room = free_q != {CountBits{1'b0}};
  wire reads_ready;
  wire record_put = row_valid && row_ready;
  wire record_take;
  assign row_ready = has_room && (row_end || reads_ready);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= DEPTH;
    else free_q <= free_q - {{(CountBits - 1){1'b0}}, record_put}
                          + {{(CountBits - 1){1'b0}}, record_take};
  end

  // ---- reads ----
  wire [IdWidth-1:0]        read_id;
  wire                      beat_valid, beat_ready;
  wire [LocalDataWidth-1:0] beat;

  pto_local_read #(
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth)
  ) u_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (row_valid && !row_end && has_room),
    .row_ready_o  (reads_ready),
    .row_id_i     (row_id),
    .row_space_i  (`PTO_SPACE_L1),
    .row_addr_i   (row_src_addr),
    .row_len_i    (row_half ? {4'd0, row_len, 1'b0} : {3'd0, row_len, 2'd0}),
    .cur_id_o     (read_id),
    .drop_i       (err_now[read_id]),
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
    .err_valid_o  (rd_err_valid),
    .err_id_o     (rd_err_id),
    .err_addr_o   (rd_err_addr)
  );

  // ---- records; the oldest goes to all later stages at once, a mere end only to words ----
  wire               rec_valid, rec_end, rec_last;
  wire [IdWidth-1:0] rec_id;
  wire [1:0]         rec_widen;
  wire [11:0]        rec_addr;               // byte address in BT
  wire [CutBits:0]   rec_len;
  wire [Lane-1:0]    rec_src_lane;
  wire               align_ready, widen_ready, words_ready;
  wire rows_ready = align_ready && widen_ready;
  assign record_take = rec_valid && words_ready && (rec_end || rows_ready);

  pto_ram_fifo #(
    .Width(1 + 1 + IdWidth + 2 + 12 + CutBits + 1 + Lane),
    .Depth(ReadFifoDepth)
  ) u_records (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_en_i    (record_put),
    .wr_data_i  ({row_end, row_last, row_id, row_widen, row_dst[9:0], 2'd0, row_len,
                  row_src_addr[Lane-1:0]}),
    .rd_valid_o (rec_valid),
    .rd_ready_i (record_take),
    .rd_data_o  ({rec_end, rec_last, rec_id, rec_widen, rec_addr, rec_len, rec_src_lane})
  );

  // ---- lanes: the place of an element in its line is that of its slot in the widened line ----
  wire             rec_half = rec_widen == 2'd1 || rec_widen == 2'd2;
  wire [Lane-1:0]  rec_dst_lane = rec_half ? rec_addr[Lane:1] : rec_addr[Lane-1:0];
  wire             line_valid, line_ready;
  wire [LocalDataWidth-1:0] line;

  pto_realign #(
    .SrcBytes  (WordBytes),
    .LineBytes (WordBytes)
  ) u_realign (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .row_valid_i    (rec_valid && !rec_end && words_ready && widen_ready),
    .row_ready_o    (align_ready),
    .row_src_lane_i (rec_src_lane),
    .row_dst_lane_i (rec_dst_lane),
    .row_len_i      (rec_half ? {4'd0, rec_len, 1'b0} : {3'd0, rec_len, 2'd0}),
    .beat_valid_i   (beat_valid),
    .beat_ready_o   (beat_ready),
    .beat_i         (beat),
    .line_valid_o   (line_valid),
    .line_ready_i   (line_ready),
    .line_o         (line)
  );

  // ---- widening ----
  localparam [12:0] LAST_BYTE = WordBytes[12:0] - 13'd1;
  wire [12:0] rec_span = {{(13 - Lane){1'b0}}, rec_addr[Lane-1:0]} + {rec_len, 2'd0} + LAST_BYTE;
  wire        lines_valid, lines_take, lines_half;
  wire [1:0]  lines_widen;
  wire [12-Lane:0] lines_words;
  wire        slots_valid, slots_ready;
  wire [LocalDataWidth-1:0] slots;

  pto_fifo #(
    .Width(2 + 1 + 13 - Lane),
    .Depth(4)
  ) u_line_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (rec_valid && !rec_end && words_ready && align_ready),
    .wr_ready_o (widen_ready),
    .wr_data_i  ({rec_widen, rec_addr[Lane], rec_span[12:Lane]}),
    .rd_valid_o (lines_valid),
    .rd_ready_i (lines_take),
    .rd_data_o  ({lines_widen, lines_half, lines_words})
  );

  pto_widen_lines #(
    .WordBytes (WordBytes)
  ) u_widen (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (lines_valid),
    .row_ready_o  (lines_take),
    .row_widen_i  (lines_widen),
    .row_half_i   (lines_half),
    .row_words_i  ({{(Lane - 2){1'b0}}, lines_words}),
    .line_valid_i (line_valid),
    .line_ready_o (line_ready),
    .line_i       (line),
    .out_valid_o  (slots_valid),
    .out_ready_i  (slots_ready),
    .out_o        (slots)
  );

  // ---- words ----
  wire               word_valid, word_take, word_end, word_last;
  wire [IdWidth-1:0] word_id, cur_id;
  wire [11:0]        word_addr;
  wire [CutBits:0]   word_len;
  wire               go_ready_unused, out_last_unused;
  wire [15:0]        word_bytes = {3'd0, word_len, 2'd0};

  pto_fifo #(
    .Width(1 + 1 + IdWidth + 12 + CutBits + 1),
    .Depth(4)
  ) u_word_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (rec_valid && (rec_end || rows_ready)),
    .wr_ready_o (words_ready),
    .wr_data_i  ({rec_end, rec_last, rec_id, rec_addr, rec_len}),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  ({word_end, word_last, word_id, word_addr, word_len})
  );

  pto_row_words #(
    .WordBytes (WordBytes),
    .LineBytes (WordBytes),
    .AddrWidth (LocalAddrWidth),
    .FootWidth (16),
    .IdWidth   (IdWidth)
  ) u_words (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .row_valid_i   (word_valid),
    .row_ready_o   (word_take),
    .row_end_i     (word_end),
    .row_last_i    (word_last),
    .row_id_i      (word_id),
    .row_space_i   (`PTO_SPACE_BT),
    .row_addr_i    ({{(LocalAddrWidth - 12){1'b0}}, word_addr}),
    .row_len_i     (word_bytes),
    .row_left_i    (6'd0),
    .row_foot_i    (word_bytes),
    .row_pattern_i (32'd0),
    .row_fill_i    (1'b0),
    .row_elem_i    (2'd0),
    .line_valid_i  (slots_valid),
    .line_ready_o  (slots_ready),
    .line_i        (slots),
    .cur_id_o      (cur_id),
    .go_valid_i    (1'b1),
    .drop_i        (err_now[cur_id]),
    .go_ready_o    (go_ready_unused),
    .out_valid_o   (dst_req_o),
    .out_ready_i   (dst_gnt_i),
    .out_id_o      (fin_id),
    .out_space_o   (dst_space_o),
    .out_addr_o    (dst_addr_o),
    .out_be_o      (dst_be_o),
    .out_data_o    (dst_wdata_o),
    .out_last_o    (out_last_unused),
    .fin_valid_o   (fin_valid)
  );
  assign wr_err_valid = dst_req_o && dst_gnt_i && dst_err_i;

  `include "pto_no_gm.vh"

  wire unused = &{1'b0, job_by_64_unused, job_src_space_unused, job_dst_space_unused,
                  job_src_addr[0], job_dst_addr[1:0], row_dst[IndexWidth-1:10],
                  rec_span[Lane-1:0], go_ready_unused, out_last_unused};
endmodule

`default_nettype wire
