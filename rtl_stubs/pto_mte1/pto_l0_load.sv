// SPDX-License-Identifier: Apache-2.0
//
// Unit for loads from L1 to the memories of the matrix unit: mte_l1_l0a, mte_l1_l0b, fractals as
// they are or transposed, mte_l1_l0a_mx, mte_l1_l0b_mx, fragments of scales. Ports are those of an
// engine. Check -> rows -> local reads -> lines of 32 bytes -> ring of lines, where squares are
// transposed -> words; the check of the next op overlaps the data.
// Throughput: one line of 32 bytes in and one out per clock, transposed or not; a 128-bit port
// halves it, 512 bits give no more. The source streams without a bubble, also from op to op, for
// reply latencies up to ReadFifoDepth - 3 clocks and ops of 8 lines or more (NumActive).
// Latency: descriptor to src_req 5 clocks, reply to dst_req 4 clocks, last grant to done 1. In a
// transposed load a square must be complete: 63, 31, 15 or 7 lines more before the first dst_req,
// with elements of 4, 8, 16 or 32 bits, once in a stream of ops. A stream of n lines takes
// n + read latency + 9 clocks from the first descriptor to the last done, and these lines.
// A read or write error ends the op: no access is requested from that clock on, but a pending
// request waits for its grant. Destinations are not compared (LD-L07): a later line wins.
// Limits: width 128, 256 or 512; GmAddrWidth 40; LocalAddrWidth 20.
// Spec: docs/contract.md, l0_loads.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_l0_load #(
  `include "pto_unit_widths.vh"
  parameter integer ReadFifoDepth  = 64      // source words in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer WordBytes = LocalDataWidth / 8;

  `include "pto_check_widths.vh"
  `include "pto_no_gm.vh"

  // ---- front and check ----
  `include "pto_front_wires.vh"
  wire pto_l0_job_t          job;
  wire pto_err_t             rd_err, wr_err;
  wire [`PTO_NUM_ACTIVE-1:0] err_unused, err;
  wire [3:0]                 fin_id;
  wire                       fin_valid, rows_ready, lines_ready, place_ready;
  // An op with rows goes to reads, lines and destinations at once.
  assign start_ready = rows_ready && lines_ready && place_ready;
  wire   job_start   = start_valid && start_ready;

  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth)
  ) u_front (
    `include "pto_front_pins.vh"
    .done_valid_o, .done_ready_i,
    .err_i         ({wr_err, rd_err}),
    .err_o         (err_unused),
    .err_now_o     (err),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (fin_id)
  );

  pto_l0_check #(
    .L1Size   (L1Size),
    .TagWidth (TagWidth)
  ) u_check (
    `include "pto_check_pins.vh"
    .job_o         (job)
  );

  // ---- reads. An error takes effect in its own clock: no access is requested after it ----
  wire                      row_valid, row_ready, beat_valid, beat_ready;
  wire pto_read_t           row;
  wire [LocalDataWidth-1:0] beat;

  pto_l0_rows u_rows (
    .clk_i, .rst_ni,
    .job_valid_i (job_start),
    .job_ready_o (rows_ready),
    .job_id_i    (start_id),
    .job_i       (job),
    .row_valid_o (row_valid),
    .row_ready_i (row_ready),
    .row_o       (row)
  );

  pto_local_read #(
    .LocalDataWidth (LocalDataWidth),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_i        (row),
    .err_i        (err),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err)
  );

  // ---- lines, and their destinations ----
  wire               line_valid, line_ready, at_valid, at_ready, at_end;
  wire pto_l0_line_t line_at, at;
  wire pto_block_t   at_block;
  wire [255:0]       line;

  pto_l0_lines #(
    .WordBytes (WordBytes)
  ) u_lines (
    .clk_i, .rst_ni,
    .job_valid_i  (job_start),
    .job_ready_o  (lines_ready),
    .job_i        (job),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_at_o    (line_at),
    .line_o       (line)
  );

  pto_l0_place u_place (
    .clk_i, .rst_ni,
    .job_valid_i (job_start),
    .job_ready_o (place_ready),
    .job_id_i    (start_id),
    .job_i       (job),
    .at_valid_o  (at_valid),
    .at_ready_i  (at_ready),
    .at_o        (at),
    .at_end_o    (at_end),
    .at_block_o  (at_block)
  );

  // ---- transpose, and writes ----
  wire             out_valid, out_ready;
  wire pto_block_t out_block;
  wire [255:0]     out_line;

  pto_l0_tile u_tile (
    .clk_i, .rst_ni,
    .line_valid_i (line_valid),
    .line_ready_o (line_ready),
    .line_at_i    (line_at),
    .line_i       (line),
    .at_valid_i   (at_valid),
    .at_ready_o   (at_ready),
    .at_i         (at),
    .at_end_i     (at_end),
    .at_block_i   (at_block),
    .out_valid_o  (out_valid),
    .out_ready_i  (out_ready),
    .out_block_o  (out_block),
    .out_o        (out_line)
  );

  pto_block_write #(
    .WordBytes (WordBytes)
  ) u_write (
    .clk_i, .rst_ni, .dst_req_o, .dst_gnt_i, .dst_addr_o, .dst_be_o, .dst_wdata_o,
    .err_i         (err),
    .block_valid_i (out_valid),
    .block_ready_o (out_ready),
    .block_cut_i   (1'b0),
    .block_at_i    (out_block),
    .block_i       (out_line),
    .out_id_o      (fin_id),
    .fin_valid_o   (fin_valid)
  );
  assign dst_space_o = `PTO_SPACE_L0;
  assign wr_err      = {dst_req_o && dst_gnt_i && dst_err_i, fin_id, `PTO_ST_LOCAL, 20'd0,
                        dst_addr_o};

  wire unused = &{1'b0, err_unused};
endmodule

`default_nettype wire
