// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the AXI4 reads of a block from the local read port (pto_axi_reads). The read address is
// {memory, local byte address}. err_o has each failed word, and its burst ends with SLVERR. It
// reads on after an error, as the contract allows; stop_i is ignored. Throughput: one beat or one
// local word per clock. Latency: AR to src_req two clocks, answer to R two.
// Limits: those of pto_axi_reads. Spec: docs/contract.md, src port.
//
//   clk        _/~\_/~\_/~\_/~\_
//   arvalid_i  _/~~~\___________     arready_o 1
//   src_req    _________/~~~~~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_axi_from_local #(
  parameter integer DataWidth  = 64,         // bits of the block's bus, 8 to 1024
  parameter integer IdWidth    = 1,          // bits of its ids
  parameter integer LocalWidth = 256         // bits of a local word
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  `include "pto_block_reads.vh"
  output wire                       src_req_o,    // on-chip read, stable until granted
  input  wire                       src_gnt_i,    // request taken
  output wire [2:0]                 src_space_o,  // memory
  output wire [19:0]                src_addr_o,   // byte address, word aligned
  input  wire                       src_rvalid_i, // reply, in order
  input  wire [LocalWidth-1:0]      src_rdata_i,  // word
  input  wire                       src_err_i,    // the read failed, with the reply
  output wire [42:0]                err_o         // a failed word: status, address; else 0
);
  wire                       row_valid, row_ready, word_valid, word_ready;
  wire [3:0]                 row_id;
  wire [39:0]                row_addr;
  wire [15:0]                row_len;
  wire [LocalWidth-1:0]      word;
  wire [`PTO_NUM_ACTIVE-1:0] drop_unused;
  wire pto_err_t             word_err;

  pto_axi_reads #(
    .DataWidth (DataWidth),
    .IdWidth   (IdWidth),
    .WordWidth (LocalWidth)
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
    .drop_o       (drop_unused)
  );

  pto_local_read #(
    .LocalDataWidth (LocalWidth),
    .FifoDepth      (64)
  ) u_read (
    .clk_i, .rst_ni, .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i,
    .src_rdata_i, .src_err_i,
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_i        ({row_id, row_addr[22:0], 4'd0, row_len}),
    .err_i        ({`PTO_NUM_ACTIVE{1'b0}}),
    .beat_valid_o (word_valid),
    .beat_ready_i (word_ready),
    .beat_o       (word),
    .err_o        (word_err)
  );

  wire unused = &{1'b0, row_addr[39:23], drop_unused};
endmodule

`default_nettype wire
