// SPDX-License-Identifier: Apache-2.0
//
// Unit of MTE3 for mte_ub_gm: rows of bytes from UB to GM (AXI4 writes), plainly or combined with
// the elements in GM (atomic store: reads, too). Only the bytes of the rows are written, and only
// the words they lie in are read. Rows flow loops -> local reads -> realigner -> words; the records
// of rows for the later stages and the AXI side (pto_gm_write) wait in queues parallel to the data.
// Throughput: one UB word and one GM beat per clock; a row of k words and n beats takes max(k, n)
// clocks, with no bubble between rows or ops. An atomic store has the same rate, also for rows of
// an op that follow each other inside a bus word; other bursts that share a bus word with a burst
// less than a round trip before them take the round trip of a read and a write each, and those of
// one op that overlap inside a bus word five clocks. It reads 8 KiB ahead: at a read latency above
// the beats of 4 KiB it moves 8 KiB in the sum of both.
// Latency: descriptor to src_req 7 clocks, reply to wvalid 4 clocks, of an atomic store 7 clocks,
// last B to done 1 clock.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40; uses the src side, UB
// only, and all AXI channels. Spec: docs/contract.md, dma.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_gm_store #(
  `include "pto_unit_widths.vh"
  parameter integer LenBits        = 16,     // lengths and row counts end at 2^LenBits - 1: 16, 21
  parameter integer CompactLegal   = 0,      // 1: rows of any length without a gap in UB are legal
  parameter integer ReadFifoDepth  = 32      // UB words, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes   = GmDataWidth / 8;
  localparam integer GmLane    = $clog2(GmBytes);
  // Rows wait here from the first local read to their turn on the bus.
  localparam integer RowDepth  = 2 << $clog2(NumOutstanding);

  `include "pto_check_widths.vh"

  // ---- front: descriptors to rows, and reports ----
  wire                       row_valid, row_ready, fin_valid;
  wire [3:0]                 fin_id;
  wire [`PTO_NUM_ACTIVE-1:0] err, err_now_unused;
  wire pto_err_t             rd_err, wr_err, old_err;
  wire pto_row_t             row;

  pto_dma_front #(
    .Ops            (256'd1 << `PTO_OP_MTE_UB_GM),
    .LenBits        (LenBits),
    .CompactLegal   (CompactLegal),
    .UbSize         (UbSize),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth),
    .Errors         (3)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_i         ({old_err, wr_err, rd_err}),
    .err_o         (err),
    .err_now_o     (err_now_unused),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (fin_id),
    .row_valid_o   (row_valid),
    .row_ready_i   (row_ready),
    .row_o         (row)
  );

  // Atomic updates by op; they are used after the first row has left.
  reg [`PTO_NUM_ACTIVE*`PTO_ATOMIC_BITS-1:0] atomic_q;
  wire [3:0] row_id = row.loc.id;
  always @(posedge clk_i) begin
    if (row_valid && row_ready) atomic_q[row_id*`PTO_ATOMIC_BITS +: `PTO_ATOMIC_BITS] <= row.atomic;
  end

  // ---- a row goes to all three at once; a mere end only to the bursts ----
  wire reads_ready, path_ready, bursts_ready;
  wire rows_ready = reads_ready && path_ready;
  assign row_ready = bursts_ready && (row.loc.cut || rows_ready);

  // ---- UB reads ----
  // A row that finds its queue empty may pass. With the queue the bursts of later rows, and the
  // reads of an atomic store, are ahead of the data.
  wire                      read_put = row_valid && !row.loc.cut && path_ready && bursts_ready
                                    && reads_ready;
  wire                      queued, read_take;
  wire pto_read_t           next_read, queued_read;
  wire                      beat_valid, beat_ready;
  wire [LocalDataWidth-1:0] beat;
  assign next_read = {row.loc.id, row.loc.space, row.loc.addr, row.loc.len};

  pto_fifo #(
    .Width(`PTO_READ_BITS),
    .Depth(RowDepth)
  ) u_read_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (read_put && (queued || !read_take)),
    .wr_ready_o (reads_ready),
    .wr_data_i  (next_read),
    .rd_valid_o (queued),
    .rd_ready_i (read_take),
    .rd_data_o  (queued_read)
  );

  pto_local_read #(
    .LocalDataWidth (LocalDataWidth),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .row_valid_i  (queued || read_put),
    .row_ready_o  (read_take),
    .row_i        (queued ? queued_read : next_read),
    .err_i        (err),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err)
  );

  // ---- words: they need the GM address within its 4 KiB page. The ends of ops are found at the B
  // channel, and whether a burst is sent at the W channel ----
  wire                   out_valid, out_ready, out_last, fin_unused;
  wire [3:0]             out_id;
  wire [GmBytes-1:0]     out_strb;
  wire [GmDataWidth-1:0] out_data;
  wire [2:0]             out_space_unused;
  wire [19:0]            out_addr_unused;

  pto_row_path #(
    .SrcBytes (LocalDataWidth / 8),
    .DstBytes (GmBytes),
    .RowDepth (RowDepth),
    .Plain    (1)
  ) u_path (
    .clk_i, .rst_ni,
    .row_valid_i  (row_valid && !row.loc.cut && reads_ready && bursts_ready),
    .row_ready_o  (path_ready),
    .row_i        ({2'd0, row_id, 3'd0, 8'd0, row.ext_addr[11:0], row.loc.len, 62'd0}),
    .row_src_i    (row.loc.addr[5:0]),
    .row_widen_i  (2'd0),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .err_i        ({`PTO_NUM_ACTIVE{1'b0}}),
    .out_valid_o  (out_valid),
    .out_ready_i  (out_ready),
    .out_id_o     (out_id),
    .out_space_o  (out_space_unused),
    .out_addr_o   (out_addr_unused),
    .out_be_o     (out_strb),
    .out_data_o   (out_data),
    .out_last_o   (out_last),
    .fin_valid_o  (fin_unused)
  );

  // ---- bursts ----
  wire              burst_valid, burst_take, cmd_valid, cmd_ready;
  wire pto_gm_row_t burst_row;
  wire pto_burst_t  cmd;

  pto_fifo #(
    .Width(`PTO_GM_ROW_BITS),
    .Depth(RowDepth)
  ) u_burst_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (row_valid && (row.loc.cut || rows_ready)),
    .wr_ready_o (bursts_ready),
    .wr_data_i  ({row.loc.cut, row.loc.last, row_id, row.ext_addr, 3'd0, row.loc.len}),
    .rd_valid_o (burst_valid),
    .rd_ready_i (burst_take),
    .rd_data_o  (burst_row)
  );

  pto_row_bursts #(
    .BusBytes (GmBytes)
  ) u_bursts (
    .clk_i, .rst_ni,
    .row_valid_i (burst_valid),
    .row_ready_o (burst_take),
    .row_i       (burst_row),
    .cmd_valid_o (cmd_valid),
    .cmd_ready_i (cmd_ready),
    .cmd_o       (cmd)
  );

  // ---- AXI ----
  pto_gm_write #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding)
  ) u_write (
    .clk_i, .rst_ni,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .err_i           (err),
    .atomic_i        (atomic_q),
    .burst_valid_i   (cmd_valid),
    .burst_ready_o   (cmd_ready),
    .burst_i         (cmd),
    .word_valid_i    (out_valid),
    .word_ready_o    (out_ready),
    .word_id_i       (out_id),
    .word_i          (out_data),
    .word_strb_i     (out_strb),
    .word_last_i     (out_last),
    .rd_err_o        (old_err),
    .wr_err_o        (wr_err),
    .end_valid_o     (fin_valid),
    .end_id_o        (fin_id)
  );

  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awsize  = GmLane[2:0];
  assign m_axi_awburst = 2'b01;
  `include "pto_no_dst.vh"

  wire unused = &{1'b0, m_axi_rid, m_axi_bid, row, err_now_unused,
                  fin_unused, out_space_unused, out_addr_unused};
endmodule

`default_nettype wire
