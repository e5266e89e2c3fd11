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

module pto_nz_path #(
  parameter integer GmBytes   = 32,          // bytes of a bus word: 16, 32 or 64
  parameter integer WordBytes = 32,          // bytes of an L1 word: 16, 32 or 64
  parameter integer AddrWidth = 20,          // bits of a byte address in L1
  parameter integer NumActive = 16,          // ops in flight
  parameter integer IdWidth   = 4,           // bits of an op number
  parameter integer TileLog2  = 7            // log2 of the blocks of a tile
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       job_valid_i,  // a job is there
  output wire                       job_ready_o,  // it is taken
  input  wire [IdWidth-1:0]         job_id_i,     // op number
  input  wire                       job_tiled_i,  // rows go through the transpose tiles
  input  wire                       job_small_i,  // small-C0 packing
  input  wire [1:0]                 job_elem_i,   // log2 of the element size
  input  wire                       job_dense_i,  // a matrix is read as one span
  input  wire                       job_pack_i,   // a row is the source of one small-C0 block
  input  wire [2:0]                 job_chans_i,  // small-C0: channels
  input  wire [5:0]                 job_tail_i,   // pack: bytes of the last row of a matrix
  input  wire [17:0]                job_row_i,    // bytes of a row
  input  wire [15:0]                job_rows_i,   // rows of a matrix
  input  wire [11:0]                job_groups_i, // matrices less 1
  input  wire [$clog2(GmBytes)-1:0] job_src_i,    // low bits of the source address
  input  wire [$clog2(GmBytes)-1:0] job_inner_i,  // low bits of the distance of rows
  input  wire [$clog2(GmBytes)-1:0] job_outer_i,  // low bits of the distance of matrices
  input  wire [AddrWidth-6:0]       job_dst_i,    // first L1 block
  input  wire [AddrWidth-6:0]       job_loop2_i,  // blocks from row n to n + 1
  input  wire [AddrWidth-6:0]       job_loop3_i,  // blocks from C0 column c to c + 1
  input  wire [AddrWidth-6:0]       job_loop4_i,  // blocks from group g to g + 1
  input  wire [NumActive-1:0]       err_i,        // per op: an access failed
  input  wire                       abort_i,      // no more beats of op abort_id_i are asked for
  input  wire [IdWidth-1:0]         abort_id_i,   // that op
  input  wire                       quiet_i,      // no beat is here or on its way
  output wire                       abort_ack_o,  // all beats of the op are gone
  input  wire                       beat_valid_i, // a beat is there
  output wire                       beat_ready_o, // it is taken
  input  wire [8*GmBytes-1:0]       beat_i,       // the beat
  output wire                       dst_req_o,    // write, stable until granted
  input  wire                       dst_gnt_i,    // done
  output wire [AddrWidth-1:0]       dst_addr_o,   // byte address, word aligned
  output wire [WordBytes-1:0]       dst_be_o,     // byte enables
  output wire [8*WordBytes-1:0]     dst_wdata_o,  // word
  output wire [IdWidth-1:0]         out_id_o,     // op of the word
  output wire                       fin_valid_o   // last block of op out_id_o written or dropped
);
  localparam integer BlockWidth = AddrWidth - 5;
  localparam integer GmLane     = $clog2(GmBytes);

  // ---- rows ----
  wire                  row_ready, row_valid, row_share, row_final, row_tiled, row_small, row_full,
                        row_close;
  wire [IdWidth-1:0]    row_id;
  wire [GmLane-1:0]     row_lane;
  wire [17:0]           row_len;
  wire [1:0]            row_elem;
  wire [2:0]            row_chans, row_slot;
  wire [BlockWidth-1:0] row_base, row_pace;
  wire [4:0]            row_index;
  wire [5:0]            row_count;

  pto_nz_rows #(
    .GmBytes    (GmBytes),
    .BlockWidth (BlockWidth),
    .IdWidth    (IdWidth),
    .TileLog2   (TileLog2)
  ) u_rows (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .job_valid_i  (job_valid_i),
    .job_ready_o  (job_ready_o),
    .job_id_i     (job_id_i),
    .job_tiled_i  (job_tiled_i),
    .job_small_i  (job_small_i),
    .job_elem_i   (job_elem_i),
    .job_dense_i  (job_dense_i),
    .job_pack_i   (job_pack_i),
    .job_chans_i  (job_chans_i),
    .job_tail_i   (job_tail_i),
    .job_row_i    (job_row_i),
    .job_rows_i   (job_rows_i),
    .job_groups_i (job_groups_i),
    .job_src_i    (job_src_i),
    .job_inner_i  (job_inner_i),
    .job_outer_i  (job_outer_i),
    .job_dst_i    (job_dst_i),
    .job_loop2_i  (job_loop2_i),
    .job_loop3_i  (job_loop3_i),
    .job_loop4_i  (job_loop4_i),
    .abort_ack_i  (abort_ack_o),
    .abort_id_i   (abort_id_i),
    .row_valid_o  (row_valid),
    .row_ready_i  (row_ready),
    .row_id_o     (row_id),
    .row_lane_o   (row_lane),
    .row_len_o    (row_len),
    .row_share_o  (row_share),
    .row_final_o  (row_final),
    .row_tiled_o  (row_tiled),
    .row_small_o  (row_small),
    .row_elem_o   (row_elem),
    .row_chans_o  (row_chans),
    .row_slot_o   (row_slot),
    .row_full_o   (row_full),
    .row_base_o   (row_base),
    .row_pace_o   (row_pace),
    .row_index_o  (row_index),
    .row_count_o  (row_count),
    .row_close_o  (row_close)
  );

  // ---- lines ----
  localparam integer MetaWidth = 35 + 2*BlockWidth;
  wire                  line_valid, line_ready, line_null, line_first, line_last, line_final,
                        line_tiled, line_small, line_full, line_close;
  wire [1:0]            line_elem;
  wire [2:0]            line_chans, line_slot;
  wire [BlockWidth-1:0] line_base, line_pace;
  wire [4:0]            line_index;
  wire [5:0]            line_count;
  wire [10:0]           line_len;
  wire [IdWidth-1:0]    line_id;
  wire [255:0]          line;
  wire [MetaWidth-1:0]  line_meta;

  pto_nz_lines #(
    .GmBytes   (GmBytes),
    .IdWidth   (IdWidth),
    .MetaWidth (MetaWidth)
  ) u_lines (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_lane_i   (row_lane),
    .row_len_i    (row_len),
    .row_share_i  (row_share),
    .row_id_i     (row_id),
    .row_meta_i   ({row_final, row_tiled, row_small, row_elem, row_chans, row_slot, row_full,
                      row_base, row_pace, row_index, row_count, row_close, row_len[10:0]}),
    .beat_valid_i (beat_valid_i),
    .beat_ready_o (beat_ready_o),
    .beat_i       (beat_i),
    .abort_i      (abort_i),
    .abort_id_i   (abort_id_i),
    .quiet_i      (quiet_i),
    .abort_ack_o  (abort_ack_o),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_o       (line),
    .line_null_o  (line_null),
    .line_first_o (line_first),
    .line_last_o  (line_last),
    .line_id_o    (line_id),
    .line_meta_o  (line_meta)
  );
  assign {line_final, line_tiled, line_small, line_elem, line_chans, line_slot,
          line_full, line_base, line_pace, line_index, line_count, line_close,
          line_len} = line_meta;

  // ---- blocks ----
  wire                  tile_valid, tile_ready;
  wire [4:0]            tile_chunk;
  wire                  a_valid, a_ready, a_write, a_fin, b_valid, b_ready, b_write, b_fin;
  wire [IdWidth-1:0]    a_id;
  wire [BlockWidth-1:0] a_addr, b_addr;
  wire [255:0]          a_block, b_block;

  pto_nz_place #(
    .BlockWidth (BlockWidth)
  ) u_place (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .line_valid_i  (line_valid),
    .line_ready_o  (line_ready),
    .line_i        (line),
    .line_null_i   (line_null),
    .line_first_i  (line_first),
    .line_last_i   (line_last),
    .line_final_i  (line_final),
    .line_tiled_i  (line_tiled),
    .line_small_i  (line_small),
    .line_elem_i   (line_elem),
    .line_chans_i  (line_chans),
    .line_slot_i   (line_slot),
    .line_full_i   (line_full),
    .line_base_i   (line_base),
    .line_pace_i   (line_pace),
    .tile_valid_o  (tile_valid),
    .tile_ready_i  (tile_ready),
    .tile_chunk_o  (tile_chunk),
    .block_valid_o (b_valid),
    .block_ready_i (b_ready),
    .block_write_o (b_write),
    .block_fin_o   (b_fin),
    .block_addr_o  (b_addr),
    .block_o       (b_block)
  );

  pto_nz_tile #(
    .BlockWidth (BlockWidth),
    .IdWidth    (IdWidth)
  ) u_tile (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .line_valid_i  (tile_valid),
    .line_ready_o  (tile_ready),
    .line_i        (line),
    .line_null_i   (line_null),
    .line_last_i   (line_last),
    .line_chunk_i  (tile_chunk),
    .line_index_i  (line_index),
    .line_close_i  (line_close),
    .line_final_i  (line_final),
    .line_len_i    (line_len),
    .line_count_i  (line_count),
    .line_small_i  (line_small),
    .line_elem_i   (line_elem),
    .line_id_i     (line_id),
    .line_base_i   (line_base),
    .line_pace_i   (line_pace),
    .block_valid_o (a_valid),
    .block_ready_i (a_ready),
    .block_write_o (a_write),
    .block_fin_o   (a_fin),
    .block_id_o    (a_id),
    .block_addr_o  (a_addr),
    .block_o       (a_block)
  );

  pto_nz_write #(
    .WordBytes (WordBytes),
    .AddrWidth (AddrWidth),
    .NumActive (NumActive),
    .IdWidth   (IdWidth)
  ) u_write (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .err_i       (err_i),
    .a_valid_i   (a_valid),
    .a_ready_o   (a_ready),
    .a_write_i   (a_write),
    .a_fin_i     (a_fin),
    .a_id_i      (a_id),
    .a_addr_i    (a_addr),
    .a_block_i   (a_block),
    .b_valid_i   (b_valid),
    .b_ready_o   (b_ready),
    .b_write_i   (b_write),
    .b_fin_i     (b_fin),
    .b_id_i      (line_id),
    .b_addr_i    (b_addr),
    .b_block_i   (b_block),
    .dst_req_o   (dst_req_o),
    .dst_gnt_i   (dst_gnt_i),
    .dst_addr_o  (dst_addr_o),
    .dst_be_o    (dst_be_o),
    .dst_wdata_o (dst_wdata_o),
    .out_id_o    (out_id_o),
    .fin_valid_o (fin_valid_o)
  );

endmodule

`default_nettype wire
