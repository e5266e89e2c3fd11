// SPDX-License-Identifier: Apache-2.0
//
// GM side of the write-back: pieces of runs become AXI write bursts, one each, and for atomic ops
// read bursts before them (pto_gm_write), lines become words.
// Throughput: one word per clock, also across bursts and ops. Latency: line to wvalid two clocks,
// piece to awvalid three clocks, piece to arvalid two clocks.
// Limits: GmDataWidth 128, 256 or 512. Spec: docs/contract.md, m_axi rules; fixpipe.md section 9.
//
//   clk          _/~\_/~\_/~\_/~\_/~\_/~\_
//   piece_valid  _/~~~\___________________     atomic, piece_ready 1
//   arvalid      _________/~~~~~~~\_______     until arready
//   awvalid      _____________/~~~~~~~\___     until awready
`default_nettype none
`include "pto_records.vh"

module pto_fix_gm #(
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer NumOutstanding = 16      // AXI bursts in flight in each direction
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,         // per op: an access failed, move no more
  input  wire [`PTO_NUM_ACTIVE*`PTO_ATOMIC_BITS-1:0] atomic_i,      // per op: update
  input  wire                       piece_valid_i, // a piece is there
  output wire                       piece_ready_o, // it is taken
  input  wire pto_fix_piece_t       piece_i,       // the piece
  input  wire                       line_valid_i,  // 64 bytes are there
  output wire                       line_ready_o,  // they are used up
  input  wire [511:0]               line_i,        // the bytes
  `include "pto_axi_read_ports.vh"
  `include "pto_axi_write_ports.vh"
  output wire pto_err_t             rd_err_o,      // a beat came with an error: its bus word
  output wire pto_err_t             wr_err_o,      // a response was an error: its burst
  output wire                       end_valid_o,   // last response of an op, or its dropped end
  output wire [3:0]                 end_id_o       // op number
);
  localparam integer GmBytes   = GmDataWidth / 8;
  localparam integer GmLane    = $clog2(GmBytes);
  localparam integer BeatBits  = 12 - GmLane;
  localparam integer Planned   = 2 << $clog2(NumOutstanding);  // pieces planned or in flight

  // ---- a piece goes to both consumers at once ----
  localparam [12:0] LAST_LANE = GmBytes[12:0] - 13'd1;
  wire [12:0]            piece_end   = {{(13 - GmLane){1'b0}}, piece_i.addr[GmLane-1:0]}
                                     + piece_i.len + LAST_LANE;  // from the first bus word
  wire words_ready, burst_ready;
  assign piece_ready_o = words_ready && burst_ready;

  // ---- words ----
  wire                   cut_valid, cut_take;
  wire [3:0]             cut_id;
  wire [11:0]            cut_addr;
  wire [12:0]            cut_len;
  wire                   word_valid, word_ready, word_last;
  wire [3:0]             word_id;
  wire [GmBytes-1:0]     word_strb;
  wire [GmDataWidth-1:0] word;
  wire [2:0]             word_space_unused;
  wire [19:0]            word_addr_unused;
  wire                   fin_unused;

  pto_fifo #(
    .Width(4 + 12 + 13),
    .Depth(Planned),
    .Ram(1)
  ) u_cuts (
    .clk_i, .rst_ni,
    .wr_valid_i (piece_valid_i && burst_ready),
    .wr_ready_o (words_ready),
    .wr_data_i  ({piece_i.id, piece_i.addr[11:0], piece_i.len}),
    .rd_valid_o (cut_valid),
    .rd_ready_i (cut_take),
    .rd_data_o  ({cut_id, cut_addr, cut_len})
  );

  pto_row_words #(
    .WordBytes (GmBytes),
    .LineBytes (64)
  ) u_words (
    .clk_i, .rst_ni,
    .row_valid_i   (cut_valid),
    .row_ready_o   (cut_take),
    .row_i         ({2'd0, cut_id, 3'd0, 8'd0, cut_addr, 7'd0, cut_len, 6'd0, 8'd0, cut_len,
                      35'd0}),
    .err_i         ({`PTO_NUM_ACTIVE{1'b0}}),
    .line_valid_i, .line_ready_o, .line_i,
    .out_valid_o   (word_valid),
    .out_ready_i   (word_ready),
    .out_id_o      (word_id),
    .out_space_o   (word_space_unused),
    .out_addr_o    (word_addr_unused),
    .out_be_o      (word_strb),
    .out_data_o    (word),
    .out_last_o    (word_last),
    .fin_valid_o   (fin_unused)
  );

  // ---- bursts ----
  wire              next_valid, next_ready, next_last;
  wire [3:0]        next_id;
  wire [39:GmLane]  next_addr;
  wire [BeatBits:0] next_beats;

  pto_fifo #(
    .Width(1 + 4 + 40 - GmLane + BeatBits + 1),
    .Depth(2)
  ) u_bursts (
    .clk_i, .rst_ni,
    .wr_valid_i (piece_valid_i && words_ready),
    .wr_ready_o (burst_ready),
    .wr_data_i  ({piece_i.last, piece_i.id, piece_i.addr[39:GmLane],
                  piece_end[12:GmLane]}),
    .rd_valid_o (next_valid),
    .rd_ready_i (next_ready),
    .rd_data_o  ({next_last, next_id, next_addr, next_beats})
  );

  pto_gm_write #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding)
  ) u_write (
    .clk_i, .rst_ni, .err_i, .atomic_i, .rd_err_o, .wr_err_o, .end_valid_o, .end_id_o,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .burst_valid_i   (next_valid),
    .burst_ready_o   (next_ready),
    .burst_i         ({1'b0, next_last, next_id, next_addr, {GmLane{1'b0}},
                       {(8 - BeatBits){1'b0}}, next_beats}),
    .word_valid_i    (word_valid),
    .word_ready_o    (word_ready),
    .word_id_i       (word_id),
    .word_i          (word),
    .word_strb_i     (word_strb),
    .word_last_i     (word_last)
  );

  wire unused = &{1'b0, piece_end[GmLane-1:0], piece_i,
                  word_space_unused, word_addr_unused, fin_unused};
endmodule

`default_nettype wire
