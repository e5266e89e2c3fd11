// SPDX-License-Identifier: Apache-2.0
//
// Walks the L0C words of a write-back op, in the order in which their elements are written, and
// marks the valid columns of each word. Four nested loops: inner (groups of a row, or
// rows), outer (the other of the two), tiles of rows (nz2dn), repeats. See pto_fix_plan.
// Throughput: one word per clock, also across loops and ops. Latency: op to word one clock.
// Limits: words outside L0C never occur (FIX-L23). Spec: fixpipe.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   op_valid    _/~~~\_______________      op of two words
//   word_valid  _____/~~~~~~~~~~~\___      each stays until word_ready
//   word_ready  _________/~~~~~~~\___
`default_nettype none

module pto_fix_walk #(
  parameter integer WordBits = 14,           // bits of an L0C word number
  parameter integer IdWidth  = 2             // bits of an op number
) (
  input  wire                clk_i,           // clock
  input  wire                rst_ni,          // asynchronous reset, active low
  input  wire                op_valid_i,      // an op is there
  output wire                op_ready_o,      // it is taken
  input  wire [IdWidth-1:0]  op_id_i,         // op number
  input  wire                by_group_i,      // the innermost words are groups, else rows
  input  wire                halves_i,        // half groups
  input  wire [7:0]          last_group_i,    // groups of 16 columns less 1
  input  wire [4:0]          tail_i,          // columns of the last group, 1 to 16
  input  wire [WordBits-1:0] src_i,           // first word
  input  wire [12:0]         inner_last_i,    // innermost words less 1
  input  wire [12:0]         inner_final_i,   // the same in the last tile
  input  wire [WordBits-1:0] inner_step_i,    // from one to the next
  input  wire [12:0]         outer_last_i,    // second loop
  input  wire [WordBits-1:0] outer_step_i,    // of two half groups where there are such
  input  wire [6:0]          tile_last_i,     // tiles less 1
  input  wire [WordBits-1:0] tile_step_i,     // words between tiles
  input  wire [15:0]         rep_last_i,      // repeats less 1
  input  wire [WordBits-1:0] rep_step_i,      // words between repeats
  output wire                word_valid_o,    // a word is there
  input  wire                word_ready_i,    // it is taken
  output wire [IdWidth-1:0]  word_id_o,       // op number
  output wire [WordBits-1:0] word_o,          // word number
  output wire [7:0]          word_group_o,    // group of 16 columns
  output wire [4:0]          word_cols_o,     // columns that count, 1 to 16
  output wire                word_high_o,     // columns 8 to 15 count, not 0 to 7
  output wire                word_close_o,    // last row of a tile
  output wire                word_last_o      // last word of its op
);
  reg                active_q;
  reg [IdWidth-1:0]  id_q;
  reg                by_group_q, halves_q;
  reg [7:0]          last_group_q;
  reg [4:0]          tail_q;
  reg [12:0]         inner_last_q, inner_final_q, outer_last_q;
  reg [6:0]          tile_last_q;
  reg [15:0]         rep_last_q;
  reg [WordBits-1:0] inner_step_q, outer_step_q, tile_step_q, rep_step_q;

  reg [12:0]         inner_q, outer_q;       // indices
  reg [6:0]          tile_q;
  reg [15:0]         rep_q;
  reg [WordBits-1:0] word_q;                 // this word
  reg [WordBits-1:0] outer_base_q;           // first word of this pass of the inner loop
  reg [WordBits-1:0] tile_base_q;            // of the outer loop
  reg [WordBits-1:0] rep_base_q;             // of the tiles

  wire inner_end = inner_q == ((tile_q == tile_last_q) ? inner_final_q : inner_last_q);
  wire outer_end = outer_q == outer_last_q;
  wire tile_end  = tile_q == tile_last_q;
  wire op_end    = inner_end && outer_end && tile_end && rep_q == rep_last_q;
  wire step      = active_q && word_ready_i;

  // The two halves of a group lie in the same words.
  wire [WordBits-1:0] outer_next = (halves_q && !outer_q[0]) ? outer_base_q
                                                             : outer_base_q + outer_step_q;
  wire [WordBits-1:0] tile_next  = tile_base_q + tile_step_q;
  wire [WordBits-1:0] rep_next   = rep_base_q + rep_step_q;

  assign op_ready_o   = !active_q || (step && op_end);
  assign word_valid_o = active_q;
  assign word_id_o    = id_q;
  assign word_o       = word_q;
  assign word_group_o = by_group_q ? inner_q[7:0] : halves_q ? outer_q[8:1] : outer_q[7:0];
  assign word_cols_o  = halves_q ? 5'd8 : (word_group_o == last_group_q) ? tail_q : 5'd16;
  assign word_high_o  = halves_q && outer_q[0];
  assign word_close_o = inner_end;
  assign word_last_o  = op_end;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (op_ready_o) active_q <= op_valid_i;
  end

  always @(posedge clk_i) begin
    if (op_ready_o) begin
      if (op_valid_i) begin
        id_q          <= op_id_i;
        by_group_q    <= by_group_i;
        halves_q      <= halves_i;
        last_group_q  <= last_group_i;
        tail_q        <= tail_i;
        inner_last_q  <= inner_last_i;
        inner_final_q <= inner_final_i;
        inner_step_q  <= inner_step_i;
        outer_last_q  <= outer_last_i;
        outer_step_q  <= outer_step_i;
        tile_last_q   <= tile_last_i;
        tile_step_q   <= tile_step_i;
        rep_last_q    <= rep_last_i;
        rep_step_q    <= rep_step_i;
        inner_q       <= 13'd0;
        outer_q       <= 13'd0;
        tile_q        <= 7'd0;
        rep_q         <= 16'd0;
        word_q        <= src_i;
        outer_base_q  <= src_i;
        tile_base_q   <= src_i;
        rep_base_q    <= src_i;
      end
    end else if (step) begin
      if (!inner_end) begin
        inner_q <= inner_q + 13'd1;
        word_q  <= word_q + inner_step_q;
      end else begin
        inner_q <= 13'd0;
        if (!outer_end) begin
          outer_q      <= outer_q + 13'd1;
          outer_base_q <= outer_next;
          word_q       <= outer_next;
        end else begin
          outer_q <= 13'd0;
          if (!tile_end) begin
            tile_q       <= tile_q + 7'd1;
            tile_base_q  <= tile_next;
            outer_base_q <= tile_next;
            word_q       <= tile_next;
          end else begin
            tile_q       <= 7'd0;
            rep_q        <= rep_q + 16'd1;
            rep_base_q   <= rep_next;
            tile_base_q  <= rep_next;
            outer_base_q <= rep_next;
            word_q       <= rep_next;
          end
        end
      end
    end
  end
endmodule

`default_nettype wire
