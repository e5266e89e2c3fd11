// SPDX-License-Identifier: Apache-2.0
//
// Unit of MTE3 for mte_ub_gm: rows of bytes from UB to GM (AXI4 writes), plainly or combined with
// the elements in GM (atomic store: reads, too). Only the bytes of the rows are written, and only
// the words they lie in are read. Rows flow loops -> local reads -> realigner -> words; the records
// of rows for the later stages and the AXI side (pto_gm_write) wait in queues parallel to the data.
// Throughput: one UB word and one GM beat per clock; a row of k words and n beats takes max(k, n)
// clocks, with no bubble between rows or ops. An atomic store has the same rate, also for rows of
// an op that follow each other inside a bus word; other bursts that share a bus word with a burst
// less than a round trip before them take the round trip of a read and a write each. It reads 8 KiB
// ahead: at a read latency above the beats of 4 KiB it moves 8 KiB in the sum of both.
// Latency: descriptor to src_req 7 clocks, reply to wvalid 4 clocks, last B to done 1 clock.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40; uses the src side, UB
// only, and all AXI channels. Spec: CONTRACT, dma.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

module pto_gm_store #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer LenBits        = 16,     // lengths and row counts end at 2^LenBits - 1: 16, 21
  parameter integer CompactLegal   = 0,      // 1: rows of any length without a gap in UB are legal
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 32      // UB words, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes   = GmDataWidth / 8;
  localparam integer LocBytes  = LocalDataWidth / 8;
  localparam integer LineBytes = (GmBytes > LocBytes) ? GmBytes : LocBytes;
  localparam integer GmLane    = $clog2(GmBytes);
  localparam integer LocLane   = $clog2(LocBytes);
  localparam integer LineLane  = $clog2(LineBytes);
  localparam integer IdWidth   = $clog2(NumActive);
  localparam integer FootWidth = LocalAddrWidth + 1;
  localparam integer PageBits  = 12;         // the words need the GM address within its 4 KiB page
  // Rows wait here from the first local read to their turn on the bus.
  localparam integer RowDepth  = 2 << $clog2(NumOutstanding);

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (GmDataWidth != 128 && GmDataWidth != 256 && GmDataWidth != 512) begin : gen_bad_gm
      pto_error_gm_data_width_must_be_128_256_512 u_error ();
    end
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth > 20 || DescWidth != `PTO_DESC_BITS
        || UbSize > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
    if (LenBits != 16 && LenBits != 21) begin : gen_bad_len
      pto_error_len_bits_must_be_16_21 u_error ();
    end
    if (CompactLegal < 0 || CompactLegal > 1) begin : gen_bad_knob
      pto_error_compact_legal_must_be_0_1 u_error ();
    end
  endgenerate

  // ---- front: descriptors to rows, and reports ----
  wire                      row_valid, row_ready, row_end, row_last;
  wire [IdWidth-1:0]        row_id;
  wire [GmAddrWidth-1:0]    row_ext_addr;
  wire [LocalAddrWidth-1:0] row_loc_addr;
  wire [2:0]                row_space;
  wire [19:0]               row_len;
  wire [5:0]                row_left;
  wire [FootWidth-1:0]      row_foot;
  wire [31:0]               row_pattern;
  wire                      row_fill_unused;
  wire [1:0]                row_elem_unused;
  wire [NumActive-1:0]      err;
  wire [3*NumActive-1:0]    atomic_type;
  wire [2*NumActive-1:0]    atomic_op;
  wire [NumActive-1:0]      nosat;
  wire                      rd_err_valid, wr_err_valid, old_err_valid, fin_valid;
  wire [IdWidth-1:0]        rd_err_id, wr_err_id, old_err_id, fin_id;
  wire [2:0]                wr_err_status, old_err_status;
  wire [LocalAddrWidth-1:0] rd_err_addr;
  wire [GmAddrWidth-1:0]    wr_err_addr, old_err_addr;

  pto_dma_front #(
    .Ops            (256'd1 << `PTO_OP_MTE_UB_GM),
    .LenBits        (LenBits),
    .CompactLegal   (CompactLegal),
    .UbSize         (UbSize),
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth)
  ) u_front (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .desc_valid_i   (desc_valid_i),
    .desc_ready_o   (desc_ready_o),
    .desc_i         (desc_i),
    .desc_tag_i     (desc_tag_i),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o),
    .busy_o         (busy_o),
    .err_a_valid_i  (rd_err_valid),
    .err_a_id_i     (rd_err_id),
    .err_a_status_i (`PTO_ST_LOCAL),
    .err_a_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, rd_err_addr}),
    .err_b_valid_i  (wr_err_valid),
    .err_b_id_i     (wr_err_id),
    .err_b_status_i (wr_err_status),
    .err_b_addr_i   (wr_err_addr),
    .err_c_valid_i  (old_err_valid),
    .err_c_id_i     (old_err_id),
    .err_c_status_i (old_err_status),
    .err_c_addr_i   (old_err_addr),
    .err_o          (err),
    .atomic_type_o  (atomic_type),
    .atomic_op_o    (atomic_op),
    .nosat_o        (nosat),
    .fin_valid_i    (fin_valid),
    .fin_id_i       (fin_id),
    .row_valid_o    (row_valid),
    .row_ready_i    (row_ready),
    .row_end_o      (row_end),
    .row_last_o     (row_last),
    .row_id_o       (row_id),
    .row_ext_addr_o (row_ext_addr),
    .row_loc_addr_o (row_loc_addr),
    .row_space_o    (row_space),
    .row_len_o      (row_len),
    .row_left_o     (row_left),
    .row_foot_o     (row_foot),
    .row_pattern_o  (row_pattern),
    .row_fill_o     (row_fill_unused),
    .row_elem_o     (row_elem_unused)
  );

  // ---- a row goes to all four at once; a mere end only to the bursts ----
  wire reads_ready, align_ready, words_ready, bursts_ready;
  wire rows_ready = reads_ready && align_ready && words_ready;
  assign row_ready = bursts_ready && (row_end || rows_ready);

  // ---- UB reads ----
  // A row that finds its queue empty may pass. With the queue the bursts of later rows, and the
  // reads of an atomic store, are ahead of the data.
  wire                      read_put = row_valid && !row_end && align_ready && words_ready
                                    && bursts_ready && reads_ready;
  wire                      queued, read_take;
  wire [IdWidth-1:0]        queued_id;
  wire [2:0]                queued_space;
  wire [LocalAddrWidth-1:0] queued_addr;
  wire [19:0]               queued_len;
  wire [IdWidth-1:0]        read_id;
  wire                      beat_valid, beat_ready;
  wire [LocalDataWidth-1:0] beat;

  pto_fifo #(
    .Width(IdWidth + 3 + LocalAddrWidth + 20),
    .Depth(RowDepth)
  ) u_read_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (read_put && (queued || !read_take)),
    .wr_ready_o (reads_ready),
    .wr_data_i  ({row_id, row_space, row_loc_addr, row_len}),
    .rd_valid_o (queued),
    .rd_ready_i (read_take),
    .rd_data_o  ({queued_id, queued_space, queued_addr, queued_len})
  );

  pto_local_read #(
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth),
    .LenWidth       (20)
  ) u_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (queued || read_put),
    .row_ready_o  (read_take),
    .row_id_i     (queued ? queued_id : row_id),
    .row_space_i  (queued ? queued_space : row_space),
    .row_addr_i   (queued ? queued_addr : row_loc_addr),
    .row_len_i    (queued ? queued_len : row_len),
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
    .err_valid_o  (rd_err_valid),
    .err_id_o     (rd_err_id),
    .err_addr_o   (rd_err_addr)
  );

  // ---- lanes ----
  wire                   align_valid, align_take;
  wire [LocLane-1:0]     align_src_lane;
  wire [LineLane-1:0]    align_dst_lane;
  wire [19:0]            align_len;
  wire                   line_valid, line_ready;
  wire [8*LineBytes-1:0] line;

  pto_fifo #(
    .Width(LocLane + LineLane + 20),
    .Depth(RowDepth)
  ) u_align_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (row_valid && !row_end && reads_ready && words_ready && bursts_ready),
    .wr_ready_o (align_ready),
    .wr_data_i  ({row_loc_addr[LocLane-1:0], row_ext_addr[LineLane-1:0], row_len}),
    .rd_valid_o (align_valid),
    .rd_ready_i (align_take),
    .rd_data_o  ({align_src_lane, align_dst_lane, align_len})
  );

  pto_realign #(
    .SrcBytes  (LocBytes),
    .LineBytes (LineBytes),
    .LenWidth  (20)
  ) u_realign (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .row_valid_i    (align_valid),
    .row_ready_o    (align_take),
    .row_src_lane_i (align_src_lane),
    .row_dst_lane_i (align_dst_lane),
    .row_len_i      (align_len),
    .beat_valid_i   (beat_valid),
    .beat_ready_o   (beat_ready),
    .beat_i         (beat),
    .line_valid_o   (line_valid),
    .line_ready_i   (line_ready),
    .line_o         (line)
  );

  // ---- words ----
  wire                word_valid, word_take;
  wire [PageBits-1:0] word_addr;
  wire [19:0]         word_len;
  wire [IdWidth-1:0]  word_id;
  wire                out_valid, out_ready, out_last;
  wire [IdWidth-1:0]  out_id;
  wire [GmBytes-1:0]  out_strb;
  wire [GmDataWidth-1:0] out_data;
  wire                go_ready_unused, fin_unused;
  wire [IdWidth-1:0]  cur_id_unused;
  wire [2:0]          out_space_unused;
  wire [PageBits-1:0] out_addr_unused;

  pto_fifo #(
    .Width(IdWidth + PageBits + 20),
    .Depth(RowDepth)
  ) u_word_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (row_valid && !row_end && reads_ready && align_ready && bursts_ready),
    .wr_ready_o (words_ready),
    .wr_data_i  ({row_id, row_ext_addr[PageBits-1:0], row_len}),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  ({word_id, word_addr, word_len})
  );

  // The ends of ops are found at the B channel, and whether a burst is sent at the W channel.
  pto_row_words #(
    .WordBytes (GmBytes),
    .LineBytes (LineBytes),
    .AddrWidth (PageBits),
    .FootWidth (20),
    .IdWidth   (IdWidth),
    .LenWidth  (20)
  ) u_words (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .row_valid_i   (word_valid),
    .row_ready_o   (word_take),
    .row_end_i     (1'b0),
    .row_last_i    (1'b0),
    .row_id_i      (word_id),
    .row_space_i   (3'd0),
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
    .cur_id_o      (cur_id_unused),
    .go_valid_i    (1'b1),
    .drop_i        (1'b0),
    .go_ready_o    (go_ready_unused),
    .out_valid_o   (out_valid),
    .out_ready_i   (out_ready),
    .out_id_o      (out_id),
    .out_space_o   (out_space_unused),
    .out_addr_o    (out_addr_unused),
    .out_be_o      (out_strb),
    .out_data_o    (out_data),
    .out_last_o    (out_last),
    .fin_valid_o   (fin_unused)
  );

  // ---- bursts ----
  wire                   burst_valid, burst_take, burst_end, burst_last;
  wire [IdWidth-1:0]     burst_id;
  wire [GmAddrWidth-1:0] burst_addr;
  wire [19:0]            burst_len;
  wire                   cmd_valid, cmd_ready, cmd_end, cmd_last;
  wire [IdWidth-1:0]     cmd_id;
  wire [GmAddrWidth-1:0] cmd_addr;
  wire [8:0]             cmd_beats;

  pto_fifo #(
    .Width(1 + 1 + IdWidth + GmAddrWidth + 20),
    .Depth(RowDepth)
  ) u_burst_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (row_valid && (row_end || rows_ready)),
    .wr_ready_o (bursts_ready),
    .wr_data_i  ({row_end, row_last, row_id, row_ext_addr, row_len}),
    .rd_valid_o (burst_valid),
    .rd_ready_i (burst_take),
    .rd_data_o  ({burst_end, burst_last, burst_id, burst_addr, burst_len})
  );

  pto_row_bursts #(
    .BusBytes    (GmBytes),
    .GmAddrWidth (GmAddrWidth),
    .LenWidth    (20),
    .IdWidth     (IdWidth)
  ) u_bursts (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .row_valid_i (burst_valid),
    .row_ready_o (burst_take),
    .row_end_i   (burst_end),
    .row_last_i  (burst_last),
    .row_id_i    (burst_id),
    .row_addr_i  (burst_addr),
    .row_len_i   (burst_len),
    .cmd_valid_o (cmd_valid),
    .cmd_ready_i (cmd_ready),
    .cmd_end_o   (cmd_end),
    .cmd_last_o  (cmd_last),
    .cmd_id_o    (cmd_id),
    .cmd_addr_o  (cmd_addr),
    .cmd_beats_o (cmd_beats)
  );

  // ---- AXI ----
  pto_gm_write #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth)
  ) u_write (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .err_i           (err),
    .type_i          (atomic_type),
    .op_i            (atomic_op),
    .nosat_i         (nosat),
    .burst_valid_i   (cmd_valid),
    .burst_ready_o   (cmd_ready),
    .burst_end_i     (cmd_end),
    .burst_last_i    (cmd_last),
    .burst_id_i      (cmd_id),
    .burst_addr_i    (cmd_addr),
    .burst_beats_i   (cmd_beats),
    .word_valid_i    (out_valid),
    .word_ready_o    (out_ready),
    .word_id_i       (out_id),
    .word_i          (out_data),
    .word_strb_i     (out_strb),
    .word_last_i     (out_last),
    .m_axi_araddr    (m_axi_araddr),
    .m_axi_arlen     (m_axi_arlen),
    .m_axi_arvalid   (m_axi_arvalid),
    .m_axi_arready   (m_axi_arready),
    .m_axi_rdata     (m_axi_rdata),
    .m_axi_rresp     (m_axi_rresp),
    .m_axi_rlast     (m_axi_rlast),
    .m_axi_rvalid    (m_axi_rvalid),
    .m_axi_rready    (m_axi_rready),
    .m_axi_awaddr    (m_axi_awaddr),
    .m_axi_awlen     (m_axi_awlen),
    .m_axi_awvalid   (m_axi_awvalid),
    .m_axi_awready   (m_axi_awready),
    .m_axi_wdata     (m_axi_wdata),
    .m_axi_wstrb     (m_axi_wstrb),
    .m_axi_wlast     (m_axi_wlast),
    .m_axi_wvalid    (m_axi_wvalid),
    .m_axi_wready    (m_axi_wready),
    .m_axi_bresp     (m_axi_bresp),
    .m_axi_bvalid    (m_axi_bvalid),
    .m_axi_bready    (m_axi_bready),
    .rd_err_valid_o  (old_err_valid),
    .rd_err_id_o     (old_err_id),
    .rd_err_status_o (old_err_status),
    .rd_err_addr_o   (old_err_addr),
    .wr_err_valid_o  (wr_err_valid),
    .wr_err_id_o     (wr_err_id),
    .wr_err_status_o (wr_err_status),
    .wr_err_addr_o   (wr_err_addr),
    .end_valid_o     (fin_valid),
    .end_id_o        (fin_id)
  );

  // ---- constants and ports this unit does not use ----
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awsize  = GmLane[2:0];
  assign m_axi_awburst = 2'b01;
  assign dst_req_o     = 1'b0;
  assign dst_space_o   = 3'd0;
  assign dst_addr_o    = {LocalAddrWidth{1'b0}};
  assign dst_be_o      = {LocBytes{1'b0}};
  assign dst_wdata_o   = {LocalDataWidth{1'b0}};

  wire unused = &{1'b0, dst_gnt_i, dst_err_i, m_axi_rid, m_axi_bid, row_left, row_foot,
                  row_pattern, row_fill_unused, row_elem_unused, go_ready_unused, fin_unused,
                  cur_id_unused, out_space_unused, out_addr_unused};
endmodule

`default_nettype wire
