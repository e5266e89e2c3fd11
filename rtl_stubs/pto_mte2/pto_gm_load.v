// SPDX-License-Identifier: Apache-2.0
//
// Unit of MTE2 for mte_gm_ub and mte_gm_l1, rows of bytes from GM (AXI4 reads) to UB, optionally
// padded, or to L1, and for raw_fill_l1, rows of a pattern to L1, which read nothing. LenBits to
// LegacyPadElements select the profile (pto_dma_check): with TailFill the last 32-byte block behind
// a row without pad is filled. Rows flow loops -> bursts -> read queue -> realigner -> words; the
// records of rows for the later stages wait in queues parallel to the data.
// Throughput: one GM beat and one on-chip word per clock; a row of k beats and n words takes
// max(k, n) clocks, with no bubble between rows or ops, of any kind; a row of a pattern takes n.
// Latency: descriptor to arvalid 7 clocks, of a fill to dst_req 8 clocks; R beat to dst_req 3
// clocks, last grant to done 1 clock.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40; uses the dst side and the
// read channels. Spec: CONTRACT, dma.md 1 to 3, 5, 6, 9.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   arvalid     _____________________________/~~~     until arready
`default_nettype none
`include "pto_desc.vh"

module pto_gm_load #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12, RF-L04)
  parameter integer LenBits        = 16,     // lengths and row counts end at 2^LenBits - 1: 16, 21
  parameter integer PadEndBlock    = 0,      // 1: a padded row ends with its last 32-byte block
  parameter integer TailFill       = 0,      // 1: an unpadded row fills its last 32-byte block
  parameter integer RowRepeatLegal = 0,      // 1: the GM stride of a load may be below the length
  parameter integer CompactLegal   = 0,      // 1: rows of any length without a gap are legal
  parameter integer PadUnselectedRegister = 0,  // 1: legacy pad counts alone select padding
  parameter integer LegacyPadElements = 0,   // 1: legacy pad counts are elements
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = (GmDataWidth == 128) ? 512 : 256  // beats, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes   = GmDataWidth / 8;
  localparam integer LocBytes  = LocalDataWidth / 8;
  localparam integer LineBytes = (GmBytes > LocBytes) ? GmBytes : LocBytes;
  localparam integer GmLane    = $clog2(GmBytes);
  localparam integer LineLane  = $clog2(LineBytes);
  localparam integer IdWidth   = $clog2(NumActive);
  localparam integer FootWidth = LocalAddrWidth + 1;
  // Rows wait here from the issue of their reads to the arrival of the data.
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
        || UbSize > (1 << LocalAddrWidth) || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
    if (ReadFifoDepth * GmBytes < 4096) begin : gen_bad_fifo
      pto_error_read_fifo_must_hold_4096_bytes u_error ();
    end
    if (LenBits != 16 && LenBits != 21) begin : gen_bad_len
      pto_error_len_bits_must_be_16_21 u_error ();
    end
    if (PadEndBlock < 0 || PadEndBlock > 1 || TailFill < 0 || TailFill > 1 || RowRepeatLegal < 0
        || RowRepeatLegal > 1 || CompactLegal < 0 || CompactLegal > 1) begin : gen_bad_knob
      pto_error_pad_end_block_tail_fill_row_repeat_legal_compact_legal_must_be_0_1 u_error ();
    end
    if (PadUnselectedRegister < 0 || PadUnselectedRegister > 1 || LegacyPadElements < 0
        || LegacyPadElements > 1) begin : gen_bad_legacy
      pto_error_pad_unselected_register_legacy_pad_elements_must_be_0_1 u_error ();
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
  wire                      row_fill;
  wire [1:0]                row_elem;
  wire [NumActive-1:0]      err;
  wire                      rd_err_valid, fin_valid;
  wire [IdWidth-1:0]        rd_err_id, out_id;
  wire [2:0]                rd_err_status;
  wire [GmAddrWidth-1:0]    rd_err_addr;

  wire [3*NumActive-1:0]    atomic_type_unused;  // only stores to GM have them
  wire [2*NumActive-1:0]    atomic_op_unused;
  wire [NumActive-1:0]      nosat_unused;

  pto_dma_front #(
    .Ops            ((256'd1 << `PTO_OP_MTE_GM_UB) | (256'd1 << `PTO_OP_MTE_GM_L1)
                     | (256'd1 << `PTO_OP_RAW_FILL_L1)),
    .LenBits        (LenBits),
    .PadEndBlock    (PadEndBlock),
    .TailFill       (TailFill),
    .RowRepeatLegal (RowRepeatLegal),
    .CompactLegal   (CompactLegal),
    .PadUnselectedRegister (PadUnselectedRegister),
    .LegacyPadElements     (LegacyPadElements),
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
    .err_a_status_i (rd_err_status),
    .err_a_addr_i   (rd_err_addr),
    .err_b_valid_i  (dst_req_o && dst_gnt_i && dst_err_i),
    .err_b_id_i     (out_id),
    .err_b_status_i (`PTO_ST_LOCAL),
    .err_b_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, dst_addr_o}),
    .err_c_valid_i  (1'b0),
    .err_c_id_i     ({IdWidth{1'b0}}),
    .err_c_status_i (3'd0),
    .err_c_addr_i   ({GmAddrWidth{1'b0}}),
    .err_o          (err),
    .atomic_type_o  (atomic_type_unused),
    .atomic_op_o    (atomic_op_unused),
    .nosat_o        (nosat_unused),
    .fin_valid_i    (fin_valid),
    .fin_id_i       (out_id),
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
    .row_fill_o     (row_fill),
    .row_elem_o     (row_elem)
  );

  // ---- a row goes to bursts, realigner and words at once; one without data only to words ----
  wire bursts_ready, align_ready, words_ready;
  wire row_reads = !row_end && row_len != 20'd0;
  assign row_ready = words_ready && (!row_reads || (bursts_ready && align_ready));

  // ---- GM reads ----
  wire                   cmd_valid, cmd_ready, cmd_end_unused, cmd_last_unused;
  wire [IdWidth-1:0]     cmd_id;
  wire [GmAddrWidth-1:0] cmd_addr;
  wire [8:0]             cmd_beats;
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_row_bursts #(
    .BusBytes    (GmBytes),
    .GmAddrWidth (GmAddrWidth),
    .LenWidth    (20),
    .IdWidth     (IdWidth)
  ) u_bursts (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .row_valid_i (row_valid && row_reads && align_ready && words_ready),
    .row_ready_o (bursts_ready),
    .row_end_i   (1'b0),
    .row_last_i  (row_last),
    .row_id_i    (row_id),
    .row_addr_i  (row_ext_addr),
    .row_len_i   (row_len),
    .cmd_valid_o (cmd_valid),
    .cmd_ready_i (cmd_ready),
    .cmd_end_o   (cmd_end_unused),
    .cmd_last_o  (cmd_last_unused),
    .cmd_id_o    (cmd_id),
    .cmd_addr_o  (cmd_addr),
    .cmd_beats_o (cmd_beats)
  );

  pto_axi_read #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth)
  ) u_read (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .cmd_valid_i   (cmd_valid),
    .cmd_ready_o   (cmd_ready),
    .cmd_drop_i    (err[cmd_id]),
    .cmd_id_i      (cmd_id),
    .cmd_addr_i    (cmd_addr),
    .cmd_beats_i   (cmd_beats),
    .m_axi_araddr  (m_axi_araddr),
    .m_axi_arlen   (m_axi_arlen),
    .m_axi_arvalid (m_axi_arvalid),
    .m_axi_arready (m_axi_arready),
    .m_axi_rdata   (m_axi_rdata),
    .m_axi_rresp   (m_axi_rresp),
    .m_axi_rlast   (m_axi_rlast),
    .m_axi_rvalid  (m_axi_rvalid),
    .m_axi_rready  (m_axi_rready),
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_o        (beat),
    .err_valid_o   (rd_err_valid),
    .err_id_o      (rd_err_id),
    .err_status_o  (rd_err_status),
    .err_addr_o    (rd_err_addr)
  );

  // ---- lanes ----
  wire [LineLane-1:0] row_dst_lane = row_loc_addr[LineLane-1:0] + row_left[LineLane-1:0];
  wire                align_valid, align_take;
  wire [GmLane-1:0]   align_src_lane;
  wire [LineLane-1:0] align_dst_lane;
  wire [19:0]         align_len;
  wire                line_valid, line_ready;
  wire [8*LineBytes-1:0] line;

  pto_fifo #(
    .Width(GmLane + LineLane + 20),
    .Depth(RowDepth)
  ) u_align_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (row_valid && row_reads && bursts_ready && words_ready),
    .wr_ready_o (align_ready),
    .wr_data_i  ({row_ext_addr[GmLane-1:0], row_dst_lane, row_len}),
    .rd_valid_o (align_valid),
    .rd_ready_i (align_take),
    .rd_data_o  ({align_src_lane, align_dst_lane, align_len})
  );

  pto_realign #(
    .SrcBytes  (GmBytes),
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

  // ---- on-chip words ----
  wire                      word_valid, word_take, word_end, word_last;
  wire [IdWidth-1:0]        word_id, cur_id;
  wire [2:0]                word_space;
  wire [LocalAddrWidth-1:0] word_addr;
  wire [19:0]               word_len;
  wire [5:0]                word_left;
  wire [FootWidth-1:0]      word_foot;
  wire [31:0]               word_pattern;
  wire                      word_fill;
  wire [1:0]                word_elem;
  wire                      go_ready_unused, out_last_unused;

  pto_fifo #(
    .Width(1 + 1 + IdWidth + 3 + LocalAddrWidth + 20 + 6 + FootWidth + 32 + 1 + 2),
    .Depth(RowDepth)
  ) u_word_rows (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (row_valid && (!row_reads || (bursts_ready && align_ready))),
    .wr_ready_o (words_ready),
    .wr_data_i  ({row_end, row_last, row_id, row_space, row_loc_addr, row_len, row_left, row_foot,
                  row_pattern, row_fill, row_elem}),
    .rd_valid_o (word_valid),
    .rd_ready_i (word_take),
    .rd_data_o  ({word_end, word_last, word_id, word_space, word_addr, word_len, word_left,
                  word_foot, word_pattern, word_fill, word_elem})
  );

  pto_row_words #(
    .WordBytes (LocBytes),
    .LineBytes (LineBytes),
    .AddrWidth (LocalAddrWidth),
    .FootWidth (FootWidth),
    .IdWidth   (IdWidth),
    .LenWidth  (20)
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
    .row_left_i    (word_left),
    .row_foot_i    (word_foot),
    .row_pattern_i (word_pattern),
    .row_fill_i    (word_fill),
    .row_elem_i    (word_elem),
    .line_valid_i  (line_valid),
    .line_ready_o  (line_ready),
    .line_i        (line),
    .cur_id_o      (cur_id),
    .go_valid_i    (1'b1),
    .drop_i        (err[cur_id]),
    .go_ready_o    (go_ready_unused),
    .out_valid_o   (dst_req_o),
    .out_ready_i   (dst_gnt_i),
    .out_id_o      (out_id),
    .out_space_o   (dst_space_o),
    .out_addr_o    (dst_addr_o),
    .out_be_o      (dst_be_o),
    .out_data_o    (dst_wdata_o),
    .out_last_o    (out_last_unused),
    .fin_valid_o   (fin_valid)
  );

  // ---- constants and ports this unit does not use ----
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign src_req_o     = 1'b0;
  assign src_space_o   = 3'd0;
  assign src_addr_o    = {LocalAddrWidth{1'b0}};
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr  = {GmAddrWidth{1'b0}};
  assign m_axi_awlen   = 8'd0;
  assign m_axi_awsize  = 3'd0;
  assign m_axi_awburst = 2'd0;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata   = {GmDataWidth{1'b0}};
  assign m_axi_wstrb   = {GmBytes{1'b0}};
  assign m_axi_wlast   = 1'b0;
  assign m_axi_wvalid  = 1'b0;
  assign m_axi_bready  = 1'b0;

  wire unused = &{1'b0, atomic_type_unused, atomic_op_unused, nosat_unused,
                  src_gnt_i, src_rvalid_i, src_rdata_i, src_err_i, m_axi_rid, m_axi_awready,
                  m_axi_wready, m_axi_bid, m_axi_bresp, m_axi_bvalid, cmd_end_unused,
                  cmd_last_unused, go_ready_unused, out_last_unused};
endmodule

`default_nettype wire
