// SPDX-License-Identifier: Apache-2.0
//
// Turns the descriptor of a write-back op into two loop nests: one over the L0C words it reads
// (pto_fix_walk) and one over the runs of contiguous destination bytes it writes (pto_fix_runs).
// Both are in the order of the destination, so the bytes of the first fill the runs of the second.
// Rows, columns or groups that follow each other without a gap in a repeat are planned as one run.
// split_m and split_n become two repeats without loop3: a half each, to the other sub-block.
// Throughput: an op every clock the nests can take one. Latency: one clock.
// Limits: legal ops only, with at least one element; L0C of up to 2^(WordBits+6) bytes.
// Spec: fixpipe.md section 2.
//
//   layout         words of the source, innermost first          runs, innermost first
//   nz2nd          groups, rows, repeats                         rows, repeats
//   nz2dn          rows of a tile, groups, tiles, repeats        columns, tiles, repeats
//   nz2nz split 0  rows, groups                                  groups
//   nz2nz split 1  rows, half groups (each word is read twice)   half groups
`default_nettype none
`include "pto_records.vh"

module pto_fix_plan #(
  parameter integer TileBits = 6             // log2 of the rows of a transposed tile
) (
  input  wire                      clk_i,        // clock
  input  wire                      rst_ni,       // asynchronous reset, active low
  input  wire                      op_valid_i,   // an op is there
  output wire                      op_ready_o,   // it is taken
  input  wire [`PTO_DESC_BITS-1:0] op_desc_i,    // its descriptor
  input  wire [3:0]                id_i,         // that number
  output wire                      walk_valid_o, // a nest of words is there
  input  wire                      walk_ready_i, // it is taken
  output wire pto_fix_walk_t       walk_o,       // the nest
  output wire                      runs_valid_o, // a nest of runs is there
  input  wire                      runs_ready_i, // it is taken
  output wire pto_fix_runs_t       runs_o        // the nest
);
  localparam integer WordBits    = 14;       // bits of an L0C word number
  localparam integer GmAddrWidth = 40;       // bits of a destination byte address

  pto_fix_walk_t walk;
  pto_fix_runs_t runs;
  assign walk_o = walk;
  assign runs_o = runs;

  reg walk_q;
  reg runs_q;

  assign walk_valid_o = walk_q;
  assign runs_valid_o = runs_q;
  assign op_ready_o   = (!walk_q || walk_ready_i) && (!runs_q || runs_ready_i);
  wire   take         = op_valid_i && op_ready_o;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q <= 1'b0;
      runs_q <= 1'b0;
    end else begin
      if (take) walk_q <= 1'b1;
      else if (walk_ready_i) walk_q <= 1'b0;
      if (take) runs_q <= 1'b1;
      else if (runs_ready_i) runs_q <= 1'b0;
    end
  end

  // Size code: elements are (1 << size) / 2 bytes. Only even numbers of 4-bit elements occur.
  function [1:0] size_of;
    input [3:0] kind;
    begin
      if (kind < 4'd2) size_of = 2'd3;
      else if (kind < 4'd5) size_of = 2'd2;
      else size_of = {1'b0, kind != 4'd9};
    end
  endfunction

  function [GmAddrWidth-1:0] bytes_of;
    input [GmAddrWidth-1:0] elements;
    input [1:0]             size;
    bytes_of = (elements << size) >> 1;
  endfunction

  localparam [13:0] TILE_ROWS = 14'd1 << TileBits;

  // ---- fields; legal values fit these widths ----
  wire        is_ub   = op_desc_i[`PTO_DESC_OPCODE] == `PTO_OP_MTE_L0C_UB;
  wire        is_gm   = op_desc_i[`PTO_DESC_OPCODE] == `PTO_OP_MTE_L0C_GM;
  wire        split_m = is_ub && op_desc_i[`PTO_FIX_UB_MODE_LSB +: 2] == 2'd1;
  wire        split_n = is_ub && op_desc_i[`PTO_FIX_UB_MODE_LSB +: 2] == 2'd2;
  wire        ub_sub  = op_desc_i[`PTO_FIX_UB_SUB_LSB];
  wire [1:0]  size    = size_of(op_desc_i[`PTO_FIX_DST_TYPE]);
  wire        is_dn   = op_desc_i[`PTO_FIX_LAYOUT] == 2'd2;
  wire        is_nz   = op_desc_i[`PTO_FIX_LAYOUT] == 2'd3;
  wire        is_half = is_nz && op_desc_i[`PTO_FIX_SPLIT_LSB];
  wire [13:0] m_all   = op_desc_i[`PTO_FIX_M_LSB +: 14];
  wire [11:0] n_all   = op_desc_i[`PTO_FIX_N_LSB +: 12];
  wire [31:0] stride  = op_desc_i[`PTO_FIX_DST_STRIDE_LSB +: 32];
  wire        looped  = op_desc_i[`PTO_FIX_LOOP3_EN];
  wire [15:0] count   = op_desc_i[`PTO_FIX_LOOP3_COUNT_LSB +: 16];
  wire [31:0] rep_dst = op_desc_i[`PTO_FIX_LOOP3_DST_LSB +: 32];

  wire [WordBits-1:0] group_step = op_desc_i[`PTO_FIX_SRC_STRIDE_LSB +: WordBits];
  wire [WordBits-1:0] row_step   = is_dn ? op_desc_i[`PTO_FIX_K_LSB +: WordBits]
                                         : {{(WordBits - 1){1'b0}}, 1'b1};

  wire [13:0] m      = split_m ? m_all >> 1 : m_all;
  wire [11:0] n      = split_n ? n_all >> 1 : n_all;
  wire [13:0] m_less = m - 14'd1;
  wire [11:0] n_less = n - 12'd1;
  wire        tiled  = is_dn && m > TILE_ROWS;
  // Elements of a line, which is contiguous in the destination by definition.
  wire [17:0] line   = is_half ? {1'b0, m, 3'd0}
                     : is_nz   ? {m, 4'd0}
                     : is_dn   ? {4'd0, tiled ? TILE_ROWS : m} : {6'd0, n};
  wire        joined = !tiled && stride == {14'd0, line};
  wire [12:0] groups_less = {5'd0, n_less[11:4]};
  wire [12:0] lines_less  = is_half ? {4'd0, n_less[11:3]}
                          : is_nz   ? groups_less
                          : is_dn   ? {1'b0, n_less} : m_less[12:0];
  wire [13:0] tiles_less  = m_less >> TileBits;

  // Bytes of a line of that many elements, or of all m * n elements when lines are joined.
  function [26:0] run_bytes;
    input        all;
    input [17:0] elements;
    input [13:0] rows;
    input [11:0] columns;
    input [1:0]  by;
    reg [28:0] wide;                         // 2^12 rows fit L0C, 2^12 columns the field
    begin
      wide = {11'd0, elements};
      if (all) wide = {15'd0, rows} * {17'd0, columns};
      wide      = (wide << by) >> 1;
      run_bytes = wide[26:0];
    end
  endfunction

  wire [17:0] final_line = tiled ? {{(18 - TileBits){1'b0}}, m_less[TileBits-1:0]} + 18'd1 : line;

  always @(posedge clk_i) begin
    if (take) begin
      walk.id          <= id_i;
      runs.id          <= id_i;
      walk.by_group    <= !is_dn && !is_nz;
      walk.halves      <= is_half;
      walk.last_group  <= n_less[11:4];
      walk.tail        <= {1'b0, n_less[3:0]} + 5'd1;
      walk.src         <= op_desc_i[`PTO_FIX_SRC_ADDR_LSB + 6 +: WordBits];
      walk.inner_last  <= (is_dn || is_nz) ? (tiled ? TILE_ROWS[12:0] - 13'd1 : m_less[12:0])
                                        : groups_less;
      walk.inner_final <= tiled ? {{(13 - TileBits){1'b0}}, m_less[TileBits-1:0]}
                     : (is_dn || is_nz) ? m_less[12:0] : groups_less;
      walk.inner_step  <= (is_dn || is_nz) ? row_step : group_step;
      walk.outer_last  <= is_half ? lines_less : (is_dn || is_nz) ? groups_less : m_less[12:0];
      walk.outer_step  <= (is_dn || is_nz) ? group_step : row_step;
      walk.tile_last   <= tiled ? tiles_less[6:0] : 7'd0;
      runs.tile_last   <= tiled ? tiles_less[6:0] : 7'd0;
      walk.tile_step   <= row_step << TileBits;
      walk.rep_last    <= (split_m || split_n) ? 16'd1 : looped ? count - 16'd1 : 16'd0;
      runs.rep_last    <= (split_m || split_n) ? 16'd1 : looped ? count - 16'd1 : 16'd0;
      walk.rep_step    <= split_m ? m[WordBits-1:0]
                     : split_n ? {{(WordBits - 7){1'b0}}, n_all[11:5]} * group_step
                     : op_desc_i[`PTO_FIX_LOOP3_SRC_LSB +: WordBits];

      runs.space       <= is_gm ? `PTO_SPACE_GM : !is_ub ? `PTO_SPACE_L1
                     : (ub_sub && !split_m && !split_n) ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
      runs.swap        <= split_m || split_n;
      runs.dst         <= op_desc_i[`PTO_FIX_DST_ADDR_LSB +: GmAddrWidth];
      runs.run_last    <= joined ? 13'd0 : lines_less;
      runs.run_pitch   <= bytes_of({{(GmAddrWidth - 32){1'b0}}, stride}, size);
      runs.run_len     <= run_bytes(joined, line, m, n, size);
      runs.run_final   <= run_bytes(joined, final_line, m, n, size);
      runs.run_tile    <= bytes_of({{(GmAddrWidth - 14){1'b0}}, TILE_ROWS}, size);
      runs.run_rep     <= (split_m || split_n) ? {GmAddrWidth{1'b0}}
                     : bytes_of({{(GmAddrWidth - 32){1'b0}}, rep_dst}, size);
    end
  end

  // Bits of other modules, or 0 in legal ops.
  wire unused = &{1'b0, op_desc_i, tiles_less[13:7]};
endmodule

`default_nettype wire
