// SPDX-License-Identifier: Apache-2.0
//
// Data path of NZ jobs: GM beats to L1 writes. Rows are walked in parallel to the reads and control
// the cutting of beats into lines; lines become L1 blocks directly (nd2nz) or through transpose
// tiles (dn2nz); blocks are written in the order they are made.
// Throughput: one line and one block per clock. Latency: beat to dst_req two clocks, of a tile
// four after its last line. Spec: nd2nz.md 2 to 4; CONTRACT, dst port and errors.
//
//   clk         _/~\_/~\_/~\_/~\_
//   beat_valid  _/~~~\___________     one line in one beat
//   dst_req     _________/~~~~~~~     until dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_nz_path #(
  parameter integer GmBytes   = 32,          // bytes of a bus word: 16, 32 or 64
  parameter integer WordBytes = 32,          // bytes of an L1 word: 16, 32 or 64
  parameter integer TileLog2  = 7            // log2 of the blocks of a tile
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       job_valid_i,  // a job is there
  output wire                       job_ready_o,  // it is taken
  input  wire [3:0]                 job_id_i,     // op number
  input  wire pto_nz_job_t          job_i,        // the job
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,        // per op: an access failed
  input  wire                       abort_i,      // no more beats of op abort_id_i are asked for
  input  wire [3:0]                 abort_id_i,   // that op
  input  wire                       quiet_i,      // no beat is here or on its way
  output wire                       abort_ack_o,  // all beats of the op are gone
  input  wire                       beat_valid_i, // a beat is there
  output wire                       beat_ready_o, // it is taken
  input  wire [8*GmBytes-1:0]       beat_i,       // the beat
  output wire                       dst_req_o,    // write, stable until granted
  input  wire                       dst_gnt_i,    // done
  output wire [19:0]                dst_addr_o,   // byte address, word aligned
  output wire [WordBytes-1:0]       dst_be_o,     // byte enables
  output wire [8*WordBytes-1:0]     dst_wdata_o,  // word
  output wire [3:0]                 out_id_o,     // op of the word
  output wire                       fin_valid_o   // last block of op out_id_o written or dropped
);
  // ---- rows and lines ----
  wire               row_valid, row_ready, line_valid, line_ready;
  wire pto_nz_row_t  row;
  wire pto_nz_line_t line_of;
  wire [255:0]       line;

  pto_nz_rows #(
    .GmBytes  (GmBytes),
    .TileLog2 (TileLog2)
  ) u_rows (
    .clk_i, .rst_ni, .job_valid_i, .job_ready_o, .job_id_i, .job_i,
    .abort_ack_i (abort_ack_o),
    .abort_id_i,
    .row_valid_o (row_valid),
    .row_ready_i (row_ready),
    .row_o       (row)
  );

  pto_nz_lines #(
    .GmBytes (GmBytes)
  ) u_lines (
    .clk_i, .rst_ni, .beat_valid_i, .beat_ready_o, .beat_i,
    .abort_i, .abort_id_i, .quiet_i, .abort_ack_o,
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_i        (row),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_of_o    (line_of),
    .line_o       (line)
  );

  // ---- blocks: of tiles (a), and direct ones (b); a has priority ----
  wire             tile_valid, tile_ready, a_valid, b_valid, a_cut, b_cut, block_ready;
  wire [4:0]       tile_chunk;
  wire pto_block_t a_at, b_at;
  wire [255:0]     a_block, b_block;

  pto_nz_place u_place (
    .clk_i, .rst_ni,
    .line_valid_i  (line_valid),
    .line_ready_o  (line_ready),
    .line_of_i     (line_of),
    .line_i        (line),
    .tile_valid_o  (tile_valid),
    .tile_ready_i  (tile_ready),
    .tile_chunk_o  (tile_chunk),
    .block_valid_o (b_valid),
    .block_ready_i (block_ready && !a_valid),
    .block_cut_o   (b_cut),
    .block_at_o    (b_at),
    .block_o       (b_block)
  );

  pto_nz_tile u_tile (
    .clk_i, .rst_ni,
    .line_valid_i  (tile_valid),
    .line_ready_o  (tile_ready),
    .line_i        (line),
    .line_of_i     (line_of),
    .line_chunk_i  (tile_chunk),
    .block_valid_o (a_valid),
    .block_ready_i (block_ready),
    .block_cut_o   (a_cut),
    .block_at_o    (a_at),
    .block_o       (a_block)
  );

  wire pto_block_t block_at = a_valid ? a_at : b_at;

  pto_block_write #(
    .WordBytes (WordBytes)
  ) u_write (
    .clk_i, .rst_ni, .err_i, .dst_req_o, .dst_gnt_i, .dst_addr_o, .dst_be_o, .dst_wdata_o,
    .out_id_o, .fin_valid_o,
    .block_valid_i (a_valid || b_valid),
    .block_ready_o (block_ready),
    .block_cut_i   (a_valid ? a_cut : b_cut),
    .block_at_i    (block_at),
    .block_i       (a_valid ? a_block : b_block)
  );
endmodule

`default_nettype wire
