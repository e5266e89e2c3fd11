// SPDX-License-Identifier: Apache-2.0
//
// The two loop nests of the write-back: an op enters the plan, and leaves as the L0C words to read
// and the pieces of the destination to write. Either side runs ahead as far as its output queues
// permit, with at most one op between the words and the pieces.
// Throughput: one word and one piece per clock, also across ops. Latency: op to both two clocks.
// Spec: fixpipe.md section 2.
//
//   clk          _/~\_/~\_/~\_/~\_
//   op_valid     _/~~~\___________     stays until op_ready
//   word_valid   _________/~~~~~~~     a word per clock, each until word_ready
//   piece_valid  _________/~~~~~~~     a piece per clock, each until piece_ready
`default_nettype none

module pto_fix_nests #(
  parameter integer GmAddrWidth = 40,        // bits of a destination byte address
  parameter integer DescWidth   = 512,       // bits of a descriptor
  parameter integer WordBits    = 14,        // bits of an L0C word number
  parameter integer TileBits    = 6,         // log2 of the rows of a transposed tile
  parameter integer IdWidth     = 3          // bits of an op number
) (
  input  wire                   clk_i,         // clock
  input  wire                   rst_ni,        // asynchronous reset, active low
  input  wire                   op_valid_i,    // an op is there
  output wire                   op_ready_o,    // it is taken
  input  wire [DescWidth-1:0]   op_desc_i,     // its descriptor
  input  wire                   id_valid_i,    // there is a number for it
  input  wire [IdWidth-1:0]     id_i,          // that number
  output wire                   word_valid_o,  // an L0C word is there
  input  wire                   word_ready_i,  // it is taken
  output wire [IdWidth-1:0]     word_id_o,     // op number
  output wire [WordBits-1:0]    word_o,        // word number
  output wire [7:0]             word_group_o,  // group of 16 columns
  output wire [4:0]             word_cols_o,   // columns that count, 1 to 16
  output wire                   word_high_o,   // columns 8 to 15 count, not 0 to 7
  output wire                   word_close_o,  // last row of a tile
  output wire                   word_last_o,   // last word of its op
  output wire                   piece_valid_o, // a piece is there
  input  wire                   piece_ready_i, // it is taken
  output wire [IdWidth-1:0]     piece_id_o,    // op number
  output wire                   piece_first_o, // first piece of its run
  output wire                   piece_last_o,  // last piece of its op
  output wire [2:0]             piece_space_o, // destination memory
  output wire [GmAddrWidth-1:0] piece_addr_o,  // byte address
  output wire [12:0]            piece_len_o,   // bytes, 1 to 4096
  output wire [26:0]            piece_run_o    // with the first piece: bytes of its run
);
  wire                   walk_valid, walk_ready, runs_valid, runs_ready;
  wire [IdWidth-1:0]     plan_id;
  wire                   by_group, halves, swap;
  wire [7:0]             last_group;
  wire [4:0]             tail;
  wire [WordBits-1:0]    src, inner_step, outer_step, tile_step, rep_step;
  wire [12:0]            inner_last, inner_final, outer_last, run_last;
  wire [6:0]             tile_last;
  wire [15:0]            rep_last;
  wire [2:0]             space;
  wire [GmAddrWidth-1:0] dst, run_pitch, run_tile, run_rep;
  wire [26:0]            run_len, run_final;

  pto_fix_plan #(
    .GmAddrWidth (GmAddrWidth),
    .DescWidth   (DescWidth),
    .WordBits    (WordBits),
    .TileBits    (TileBits),
    .IdWidth     (IdWidth)
  ) u_plan (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .op_valid_i    (op_valid_i),
    .op_ready_o    (op_ready_o),
    .op_desc_i     (op_desc_i),
    .id_valid_i    (id_valid_i),
    .id_i          (id_i),
    .walk_valid_o  (walk_valid),
    .walk_ready_i  (walk_ready),
    .runs_valid_o  (runs_valid),
    .runs_ready_i  (runs_ready),
    .id_o          (plan_id),
    .by_group_o    (by_group),
    .halves_o      (halves),
    .last_group_o  (last_group),
    .tail_o        (tail),
    .src_o         (src),
    .inner_last_o  (inner_last),
    .inner_final_o (inner_final),
    .inner_step_o  (inner_step),
    .outer_last_o  (outer_last),
    .outer_step_o  (outer_step),
    .tile_last_o   (tile_last),
    .tile_step_o   (tile_step),
    .rep_last_o    (rep_last),
    .rep_step_o    (rep_step),
    .space_o       (space),
    .swap_o        (swap),
    .dst_o         (dst),
    .run_last_o    (run_last),
    .run_pitch_o   (run_pitch),
    .run_len_o     (run_len),
    .run_final_o   (run_final),
    .run_tile_o    (run_tile),
    .run_rep_o     (run_rep)
  );

  pto_fix_walk #(
    .WordBits (WordBits),
    .IdWidth  (IdWidth)
  ) u_walk (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .op_valid_i    (walk_valid),
    .op_ready_o    (walk_ready),
    .op_id_i       (plan_id),
    .by_group_i    (by_group),
    .halves_i      (halves),
    .last_group_i  (last_group),
    .tail_i        (tail),
    .src_i         (src),
    .inner_last_i  (inner_last),
    .inner_final_i (inner_final),
    .inner_step_i  (inner_step),
    .outer_last_i  (outer_last),
    .outer_step_i  (outer_step),
    .tile_last_i   (tile_last),
    .tile_step_i   (tile_step),
    .rep_last_i    (rep_last),
    .rep_step_i    (rep_step),
    .word_valid_o  (word_valid_o),
    .word_ready_i  (word_ready_i),
    .word_id_o     (word_id_o),
    .word_o        (word_o),
    .word_group_o  (word_group_o),
    .word_cols_o   (word_cols_o),
    .word_high_o   (word_high_o),
    .word_close_o  (word_close_o),
    .word_last_o   (word_last_o)
  );

  pto_fix_runs #(
    .AddrWidth (GmAddrWidth),
    .IdWidth   (IdWidth)
  ) u_runs (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .op_valid_i    (runs_valid),
    .op_ready_o    (runs_ready),
    .op_id_i       (plan_id),
    .space_i       (space),
    .swap_i        (swap),
    .dst_i         (dst),
    .run_last_i    (run_last),
    .run_pitch_i   (run_pitch),
    .run_len_i     (run_len),
    .run_final_i   (run_final),
    .tile_last_i   (tile_last),
    .run_tile_i    (run_tile),
    .rep_last_i    (rep_last),
    .run_rep_i     (run_rep),
    .piece_valid_o (piece_valid_o),
    .piece_ready_i (piece_ready_i),
    .piece_id_o    (piece_id_o),
    .piece_first_o (piece_first_o),
    .piece_last_o  (piece_last_o),
    .piece_space_o (piece_space_o),
    .piece_addr_o  (piece_addr_o),
    .piece_len_o   (piece_len_o),
    .piece_run_o   (piece_run_o)
  );
endmodule

`default_nettype wire
