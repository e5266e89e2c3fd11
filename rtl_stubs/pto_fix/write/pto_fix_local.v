// SPDX-License-Identifier: Apache-2.0
//
// On-chip side of the write-back: cuts lines to the words of the destination port, with exact byte
// enables. Throughput: one word per clock, also across runs and ops. Latency: line to dst_req one
// clock. Words of an op with an error are not written. Limits: LocalDataWidth 128, 256 or
// 512. Spec: CONTRACT, dst port.
//
//   clk         _/~\_/~\_/~\_/~\_
//   line_valid  _/~~~\___________
//   dst_req     _____/~~~~~~~\___     stable until dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_fix_local #(
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer IdWidth        = 3,      // bits of an op number
  parameter integer Depth          = 64      // pieces that wait for their data
) (
  input  wire                        clk_i,         // clock
  input  wire                        rst_ni,        // asynchronous reset, active low
  input  wire                        piece_valid_i, // a piece of a run is there
  output wire                        piece_ready_o, // it is taken
  input  wire                        piece_last_i,  // last piece of its op
  input  wire [IdWidth-1:0]          piece_id_i,    // op number
  input  wire [2:0]                  piece_space_i, // memory
  input  wire [LocalAddrWidth-1:0]   piece_addr_i,  // byte address
  input  wire [12:0]                 piece_len_i,   // bytes, 1 to 4096
  input  wire                        line_valid_i,  // 64 bytes are there
  output wire                        line_ready_o,  // they are used up
  input  wire [511:0]                line_i,        // the bytes
  input  wire [`PTO_NUM_ACTIVE-1:0]  err_i,         // per op: it had an error
  output wire                        dst_req_o,     // on-chip write, stable until granted
  input  wire                        dst_gnt_i,     // write done
  output wire [2:0]                  dst_space_o,   // memory
  output wire [LocalAddrWidth-1:0]   dst_addr_o,    // byte address, word aligned
  output wire [LocalDataWidth/8-1:0] dst_be_o,      // byte enables
  output wire [LocalDataWidth-1:0]   dst_wdata_o,   // word
  output wire [IdWidth-1:0]          dst_id_o,      // op of that word
  output wire                        end_valid_o    // last word of op dst_id_o written or dropped
);
  wire                      cut_valid, cut_take, cut_last;
  wire [IdWidth-1:0]        cut_id;
  wire [2:0]                cut_space;
  wire [LocalAddrWidth-1:0] cut_addr;
  wire [12:0]               cut_len;
  wire                      out_last_unused;
  wire [3:0]                dst_id;

  pto_fix_queue #(
    .Width(1 + IdWidth + 3 + LocalAddrWidth + 13),
    .Depth(Depth)
  ) u_cuts (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (piece_valid_i),
    .wr_ready_o (piece_ready_o),
    .wr_data_i  ({piece_last_i, piece_id_i, piece_space_i, piece_addr_i, piece_len_i}),
    .rd_valid_o (cut_valid),
    .rd_ready_i (cut_take),
    .rd_data_o  ({cut_last, cut_id, cut_space, cut_addr, cut_len})
  );

  pto_row_words #(
    .WordBytes (LocalDataWidth / 8),
    .LineBytes (64)
  ) u_words (
    .clk_i, .rst_ni, .err_i,
    .row_valid_i   (cut_valid),
    .row_ready_o   (cut_take),
    .row_i         ({1'b0, cut_last, {(4 - IdWidth){1'b0}}, cut_id, cut_space, cut_addr,
                     7'd0, cut_len, 6'd0, 8'd0, cut_len, 35'd0}),
    .line_valid_i  (line_valid_i),
    .line_ready_o  (line_ready_o),
    .line_i        (line_i),
    .out_valid_o   (dst_req_o),
    .out_ready_i   (dst_gnt_i),
    .out_id_o      (dst_id),
    .out_space_o   (dst_space_o),
    .out_addr_o    (dst_addr_o),
    .out_be_o      (dst_be_o),
    .out_data_o    (dst_wdata_o),
    .out_last_o    (out_last_unused),
    .fin_valid_o   (end_valid_o)
  );

  assign dst_id_o = dst_id[IdWidth-1:0];

  wire unused = &{1'b0, dst_id, out_last_unused};
endmodule

`default_nettype wire
