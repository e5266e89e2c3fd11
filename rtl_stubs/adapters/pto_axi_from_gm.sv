// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the AXI4 reads of a block from GM, as the contract wants them: bursts of whole aligned
// bus words of one id, cut at 4 KiB, quiet in reset. The block may have another width, any ids,
// narrow and unaligned bursts (pto_axi_reads). err_o has each failed bus word. After an error of
// a burst no more of it is read, and while stop_i is high nothing is: give it failed_o of
// pto_commands, with one op in the block. rready is always 1. Throughput: one beat or one bus word
// per clock. Latency: AR two clocks, R two. Limits: those of pto_axi_reads, 8 KiB in flight.
// Spec: docs/contract.md, m_axi.
//
//   clk            _/~\_/~\_/~\_/~\_/~\_
//   arvalid_i      _/~~~\_______________     arready_o 1
//   m_axi_arvalid  _________/~~~~~~~~~~~     until m_axi_arready
`default_nettype none
`include "pto_records.vh"

module pto_axi_from_gm #(
  parameter integer DataWidth      = 64,     // bits of the block's bus, 8 to 1024
  parameter integer IdWidth        = 1,      // bits of its ids
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer NumOutstanding = 16      // AXI bursts in flight
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  `include "pto_block_reads.vh"
  output wire [AxiIdWidth-1:0]      m_axi_arid,    // 0
  output wire [2:0]                 m_axi_arsize,  // bus width
  output wire [1:0]                 m_axi_arburst, // INCR
  `include "pto_axi_read_ports.vh"
  output wire [42:0]                err_o          // a failed bus word: status, address; else 0
);
  wire                       row_valid, row_ready, word_valid, word_ready;
  wire [3:0]                 row_id;
  wire [39:0]                row_addr;
  wire [15:0]                row_len;
  wire [GmDataWidth-1:0]     word;
  wire [`PTO_NUM_ACTIVE-1:0] drop;
  wire pto_err_t             word_err;

  pto_axi_reads #(
    .DataWidth (DataWidth),
    .IdWidth   (IdWidth),
    .WordWidth (GmDataWidth)
  ) u_reads (
    .clk_i, .rst_ni, .arid_i, .araddr_i, .arlen_i, .arsize_i, .arburst_i, .arvalid_i, .arready_o,
    .rid_o, .rdata_o, .rresp_o, .rlast_o, .rvalid_o, .rready_i, .stop_i, .err_o,
    .row_valid_o  (row_valid),
    .row_ready_i  (row_ready),
    .row_id_o     (row_id),
    .row_addr_o   (row_addr),
    .row_len_o    (row_len),
    .word_valid_i (word_valid),
    .word_ready_o (word_ready),
    .word_i       (word),
    .word_err_i   (word_err),
    .drop_o       (drop)
  );

  pto_gm_read #(
    .GmDataWidth    (GmDataWidth),
    .AxiIdWidth     (AxiIdWidth),
    .NumOutstanding (NumOutstanding),
    .ReadFifoDepth  (65536 / GmDataWidth)
  ) u_gm (
    .clk_i, .rst_ni, .m_axi_arid, .m_axi_arsize, .m_axi_arburst,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_i        ({1'b0, 1'b1, row_id, row_addr, 7'd0, row_len}),
    .err_i        (drop),
    .beat_valid_o (word_valid),
    .beat_ready_i (word_ready),
    .beat_o       (word),
    .err_o        (word_err)
  );
endmodule

`default_nettype wire
