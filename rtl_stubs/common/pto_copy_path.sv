// SPDX-License-Identifier: Apache-2.0
//
// Moves rows of bytes from one on-chip memory to another: local reads -> realigner -> words. Either
// side may have any byte alignment, and the two ports may differ in width. The records of rows for
// the later stages wait in a queue parallel to the data. With Widen elements of 16 bits can be
// widened to 32 bits on their way (pto_widen_lines).
// Throughput: one source word in and one destination word out per clock; a row that lies in k
// source and n destination words takes max(k, n) clocks, with no bubble between rows or ops, for
// reply latencies up to ReadFifoDepth - 3. Latency: row to src_req two clocks, reply to dst_req
// three clocks, four of widened elements, last grant to fin none.
// Limits: widths 128, 256 or 512, with Widen of both sides the same; ReadFifoDepth is a power of
// two. Spec: dma.md section 2, bias_fb.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   row_valid   _/~~~\_______________________     row of one word; row_ready 1
//   src_req     _________/~~~\_______________     granted at once, answered one clock later
//   dst_req     _________________________/~~~     stable until dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_copy_path #(
  parameter integer SrcDataWidth  = 256,     // bits of a source word
  parameter integer DstDataWidth  = 256,     // bits of a destination word
  parameter integer ReadFifoDepth = 64,      // source words and rows in flight, a power of two
  parameter integer Widen         = 0        // 1: elements may widen
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: an access failed, this clock included
  input  wire                       row_valid_i,  // a row is there
  output wire                       row_ready_o,  // it is taken
  input  wire pto_row_t             row_i,        // from ext to loc, without pad
  output wire                       src_req_o,    // on-chip read, stable until granted
  input  wire                       src_gnt_i,    // request taken
  output wire [2:0]                 src_space_o,  // memory
  output wire [19:0]                src_addr_o,   // byte address, word aligned
  input  wire                       src_rvalid_i, // reply, in order
  input  wire [SrcDataWidth-1:0]    src_rdata_i,  // word
  input  wire                       src_err_i,    // the read failed, with the reply
  output wire                       dst_req_o,    // on-chip write, stable until granted
  input  wire                       dst_gnt_i,    // write done
  output wire [2:0]                 dst_space_o,  // memory
  output wire [19:0]                dst_addr_o,   // byte address, word aligned
  output wire [DstDataWidth/8-1:0]  dst_be_o,     // byte enables
  output wire [DstDataWidth-1:0]    dst_wdata_o,  // word
  input  wire                       dst_err_i,    // the write failed, with the grant
  output wire pto_err_t             rd_err_o,     // a read failed
  output wire pto_err_t             wr_err_o,     // a write failed
  output wire                       fin_valid_o,  // last word of an op written or dropped
  output wire [3:0]                 fin_id_o      // op number
);
  // ---- a row goes to the reads and to its words at once; a mere end only to the words ----
  wire path_ready, reads_ready;
  assign row_ready_o = path_ready && (row_i.loc.cut || reads_ready);

  wire                    half = Widen != 0 && row_i.widen != 2'd0;
  wire [19:0]             len  = half ? row_i.loc.len >> 1 : row_i.loc.len;
  wire                    beat_valid, beat_ready, out_last_unused;
  wire [SrcDataWidth-1:0] beat;

  pto_local_read #(
    .LocalDataWidth (SrcDataWidth),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni, .err_i,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .row_valid_i  (row_valid_i && !row_i.loc.cut && path_ready),
    .row_ready_o  (reads_ready),
    .row_i        ({row_i.loc.id, row_i.ext_space, row_i.ext_addr[19:0], len}),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err_o)
  );

  pto_row_path #(
    .SrcBytes (SrcDataWidth / 8),
    .DstBytes (DstDataWidth / 8),
    .RowDepth (ReadFifoDepth),
    .Plain    (1),
    .Widen    (Widen)
  ) u_path (
    .clk_i, .rst_ni, .err_i, .fin_valid_o,
    .row_valid_i  (row_valid_i && (row_i.loc.cut || reads_ready)),
    .row_ready_o  (path_ready),
    .row_i        (row_i.loc),
    .row_src_i    (row_i.ext_addr[5:0]),
    .row_widen_i  (row_i.widen),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .out_valid_o  (dst_req_o),
    .out_ready_i  (dst_gnt_i),
    .out_id_o     (fin_id_o),
    .out_space_o  (dst_space_o),
    .out_addr_o   (dst_addr_o),
    .out_be_o     (dst_be_o),
    .out_data_o   (dst_wdata_o),
    .out_last_o   (out_last_unused)
  );
  assign wr_err_o = {dst_req_o && dst_gnt_i && dst_err_i, fin_id_o, `PTO_ST_LOCAL,
                     20'd0, dst_addr_o};

  wire unused = &{1'b0, out_last_unused, row_i};
endmodule

`default_nettype wire
