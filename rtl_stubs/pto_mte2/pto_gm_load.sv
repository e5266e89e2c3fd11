// SPDX-License-Identifier: Apache-2.0
//
// Unit of MTE2 for mte_gm_ub and mte_gm_l1, rows of bytes from GM (AXI4 reads) to UB, optionally
// padded, or to L1, and for raw_fill_l1, rows of a pattern to L1, which read nothing. LenBits to
// LegacyPadElements select the profile (pto_dma_check): with TailFill the last 32-byte block after
// a row without pad is filled. Rows flow loops -> bursts -> read queue -> realigner -> words; the
// records of rows for the later stages wait in queues parallel to the data.
// Throughput: one GM beat and one on-chip word per clock; a row of k beats and n words takes
// max(k, n) clocks, with no bubble between rows or ops, of any kind; a row of a pattern takes n.
// Latency: descriptor to arvalid 7 clocks, of a fill to dst_req 8 clocks; R beat to dst_req 3
// clocks, last grant to done 1 clock.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40; uses the dst side and the
// read channels. Spec: docs/contract.md, dma.md 1 to 3, 5, 6, 9.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   arvalid     _____________________________/~~~     until arready
`default_nettype none
`include "pto_records.vh"

module pto_gm_load #(
  `include "pto_unit_widths.vh"
  `include "pto_dma_knobs.vh"
  parameter integer ReadFifoDepth  = (GmDataWidth == 128) ? 512 : 256  // beats, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes   = GmDataWidth / 8;
  // Rows wait here from the issue of their reads to the arrival of the data.
  localparam integer RowDepth  = 2 << $clog2(NumOutstanding);

  `include "pto_check_widths.vh"
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"

  generate
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
  wire                       row_valid, row_ready, fin_valid;
  wire [3:0]                 out_id;
  wire [`PTO_NUM_ACTIVE-1:0] err, err_now_unused;
  wire pto_err_t             rd_err;
  wire pto_row_t             row;

  pto_dma_front #(
    .Ops            ((256'd1 << `PTO_OP_MTE_GM_UB) | (256'd1 << `PTO_OP_MTE_GM_L1)
                     | (256'd1 << `PTO_OP_RAW_FILL_L1)),
    `include "pto_dma_pass_knobs.vh"
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_i         ({dst_req_o && dst_gnt_i && dst_err_i, out_id, `PTO_ST_LOCAL, 20'd0,
                     dst_addr_o, rd_err}),
    .err_o         (err),
    .err_now_o     (err_now_unused),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (out_id),
    .row_valid_o   (row_valid),
    .row_ready_i   (row_ready),
    .row_o         (row)
  );

  // ---- a row goes to the bursts and to its words at once; one without data only to the words ----
  wire bursts_ready, path_ready;
  wire row_reads = !row.loc.cut && row.loc.len != 20'd0;
  assign row_ready = path_ready && (!row_reads || bursts_ready);

  // ---- GM reads ----
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_gm_read #(
    .GmDataWidth    (GmDataWidth),
    .AxiIdWidth     (AxiIdWidth),
    .NumOutstanding (NumOutstanding),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arvalid,
    .m_axi_arready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .row_valid_i  (row_valid && row_reads && path_ready),
    .row_ready_o  (bursts_ready),
    .row_i        ({1'b0, row.loc.last, row.loc.id, row.ext_addr, 3'd0, row.loc.len}),
    .err_i        (err),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err)
  );

  // ---- on-chip words ----
  wire out_last_unused;

  pto_row_path #(
    .SrcBytes (GmBytes),
    .DstBytes (LocalDataWidth / 8),
    .RowDepth (RowDepth)
  ) u_path (
    .clk_i, .rst_ni,
    .row_valid_i  (row_valid && (!row_reads || bursts_ready)),
    .row_ready_o  (path_ready),
    .row_i        (row.loc),
    .row_src_i    (row.ext_addr[5:0]),
    .row_widen_i  (2'd0),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .err_i        (err),
    .out_valid_o  (dst_req_o),
    .out_ready_i  (dst_gnt_i),
    .out_id_o     (out_id),
    .out_space_o  (dst_space_o),
    .out_addr_o   (dst_addr_o),
    .out_be_o     (dst_be_o),
    .out_data_o   (dst_wdata_o),
    .out_last_o   (out_last_unused),
    .fin_valid_o  (fin_valid)
  );

  wire unused = &{1'b0, row, err_now_unused, m_axi_rid, out_last_unused};
endmodule

`default_nettype wire
