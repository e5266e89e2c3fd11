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
`include "pto_records.vh"

module pto_fix_walk (
  input  wire                clk_i,        // clock
  input  wire                rst_ni,       // asynchronous reset, active low
  input  wire                op_valid_i,   // an op is there
  output wire                op_ready_o,   // it is taken
  input  wire pto_fix_walk_t op_i,         // its nest
  output wire                word_valid_o, // a word is there
  input  wire                word_ready_i, // it is taken
  output wire [13:0]         word_o,       // word number
  output wire pto_fix_note_t word_note_o   // what goes with it
);
  localparam integer WordBits = 14;          // bits of an L0C word number

  reg            active_q;
  pto_fix_walk_t op_q;

  reg [12:0]         inner_q, outer_q;       // indices
  reg [6:0]          tile_q;
  reg [15:0]         rep_q;
  reg [WordBits-1:0] word_q;                 // this word
  reg [WordBits-1:0] outer_base_q;           // first word of this pass of the inner loop
  reg [WordBits-1:0] tile_base_q;            // of the outer loop
  reg [WordBits-1:0] rep_base_q;             // of the tiles

  wire inner_end = inner_q == ((tile_q == op_q.tile_last) ? op_q.inner_final : op_q.inner_last);
  wire outer_end = outer_q == op_q.outer_last;
  wire tile_end  = tile_q == op_q.tile_last;
  wire op_end    = inner_end && outer_end && tile_end && rep_q == op_q.rep_last;
  wire step      = active_q && word_ready_i;

  // The two halves of a group lie in the same words.
  wire [WordBits-1:0] outer_next = (op_q.halves && !outer_q[0]) ? outer_base_q
                                                             : outer_base_q + op_q.outer_step;
  wire [WordBits-1:0] tile_next  = tile_base_q + op_q.tile_step;
  wire [WordBits-1:0] rep_next   = rep_base_q + op_q.rep_step;

  assign op_ready_o   = !active_q || (step && op_end);
  assign word_valid_o = active_q;
  assign word_o       = word_q;
  wire [7:0] group    = op_q.by_group ? inner_q[7:0] : op_q.halves ? outer_q[8:1] : outer_q[7:0];
  wire [4:0] cols     = op_q.halves ? 5'd8 : (group == op_q.last_group) ? op_q.tail : 5'd16;
  assign word_note_o  = {op_q.id, group, op_end, cols, op_q.halves && outer_q[0], inner_end};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (op_ready_o) active_q <= op_valid_i;
  end

  always @(posedge clk_i) begin
    if (op_ready_o) begin
      if (op_valid_i) begin
        op_q          <= op_i;
        inner_q       <= 13'd0;
        outer_q       <= 13'd0;
        tile_q        <= 7'd0;
        rep_q         <= 16'd0;
        word_q        <= op_i.src;
        outer_base_q  <= op_i.src;
        tile_base_q   <= op_i.src;
        rep_base_q    <= op_i.src;
      end
    end else if (step) begin
      if (!inner_end) begin
        inner_q <= inner_q + 13'd1;
        word_q  <= word_q + op_q.inner_step;
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
  wire unused = &{1'b0, op_q.src};
endmodule

`default_nettype wire
