// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the AXI4 writes of a block to the local write port (pto_axi_writes). The write address
// is {memory, local byte address}. err_o has each failed word, and its burst ends with SLVERR. It
// writes on after an error, as the contract allows; stop_i is ignored. Throughput: one beat or one
// local word per clock. Latency: W beat to dst_req one clock, last grant to B one clock. Limits:
// those of pto_axi_writes. Spec: docs/contract.md, dst port.
//
//   clk       _/~\_/~\_/~\_
//   wvalid_i  _/~~~\_______      wready_o 1
//   dst_req   _____/~~~~~~~      stays until dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_axi_to_local #(
  parameter integer DataWidth  = 64,         // bits of the block's bus, 8 to 1024
  parameter integer IdWidth    = 1,          // bits of its ids
  parameter integer LocalWidth = 256         // bits of a local word
) (
  input  wire                       clk_i,       // clock
  input  wire                       rst_ni,      // asynchronous reset, active low
  `include "pto_block_writes.vh"
  output wire                       dst_req_o,   // on-chip write, stable until granted
  input  wire                       dst_gnt_i,   // write done
  output wire [2:0]                 dst_space_o, // memory
  output wire [19:0]                dst_addr_o,  // byte address, word aligned
  output wire [LocalWidth/8-1:0]    dst_be_o,    // byte enables
  output wire [LocalWidth-1:0]      dst_wdata_o, // word
  input  wire                       dst_err_i,   // the write failed, with the grant
  output wire [42:0]                err_o        // a failed word: status, address; else 0
);
  wire                       word_valid, word_last, word_done;
  wire [3:0]                 word_id;
  wire [39:0]                word_addr;
  wire [`PTO_NUM_ACTIVE-1:0] drop_unused;

  pto_axi_writes #(
    .DataWidth (DataWidth),
    .IdWidth   (IdWidth),
    .WordWidth (LocalWidth)
  ) u_writes (
    .clk_i, .rst_ni, .awid_i, .awaddr_i, .awlen_i, .awsize_i, .awburst_i, .awvalid_i, .awready_o,
    .wdata_i, .wstrb_i, .wlast_i, .wvalid_i, .wready_o, .bid_o, .bresp_o, .bvalid_o, .bready_i,
    .stop_i, .err_o,
    .word_valid_o (word_valid),
    .word_ready_i (word_done),
    .word_id_o    (word_id),
    .word_addr_o  (word_addr),
    .word_be_o    (dst_be_o),
    .word_o       (dst_wdata_o),
    .word_last_o  (word_last),
    .fin_valid_i  (word_valid && word_done && word_last),
    .word_err_i   ({dst_req_o && dst_gnt_i && dst_err_i, word_id, `PTO_ST_LOCAL,
                    20'd0, dst_addr_o}),
    .drop_o       (drop_unused)
  );

  assign word_done = !dst_req_o || dst_gnt_i;
  assign dst_req_o = word_valid && dst_be_o != '0;
  assign {dst_space_o, dst_addr_o} = word_addr[22:0];

  wire unused = &{1'b0, word_addr[39:23], drop_unused};
endmodule

`default_nettype wire
