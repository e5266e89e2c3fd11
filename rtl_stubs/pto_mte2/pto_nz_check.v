// SPDX-License-Identifier: Apache-2.0
//
// Checks one NZ descriptor against its D rules (ND-L03 to L08, lowest number wins) and the
// zero-count test, and converts it to a job. Extents are exact (A-18): sums never wrap.
// Throughput: two sums of products grow side by side, GM bytes and L1 blocks, each by one 8-bit
// digit of a count that is not zero per clock; an op with that many digits has more rows.
// Latency: 1 + max(1, digits) clocks. Limits: GmAddrWidth 40; element size 1, 2 or 4.
// A job selects the access to its source:
//   dense  rows that lie closer than a bus word: one read of the whole matrix
//   pack   small-C0 nd2nz without gaps: a "row" of the job is the source of one 32-byte block
//   tiled  dn2nz; a single column of adjacent elements is a plain row instead
// Spec: nd2nz.md 1, 6; CONTRACT, descriptors and done.
//
//   clk         _/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______     two digits: summed in two clocks, taken in the second
//   desc_ready  _____/~~~\_______
//   job_valid   _________/~~~\___     verdict and job, stay until job_ready
`default_nettype none
`include "pto_desc.vh"

module pto_nz_check #(
  parameter integer GmBytes     = 32,        // bytes of a bus word
  parameter integer L1Size      = `PTO_SIZE_L1,  // bytes of L1 (ND-L08)
  parameter integer BlockWidth  = 15,        // bits of a 32-byte block number in L1
  parameter integer GmAddrWidth = 40,        // bits of a GM byte address
  parameter integer DescWidth   = 512,       // bits of a descriptor
  parameter integer TagWidth    = 8,         // bits of a tag
  parameter integer TileLog2    = 7          // log2 of the blocks of a transpose tile
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   desc_valid_i, // a descriptor is there
  output wire                   desc_ready_o, // it is taken; its check ends this clock
  input  wire [DescWidth-1:0]   desc_i,       // the descriptor, stable until taken
  input  wire [TagWidth-1:0]    desc_tag_i,   // its tag
  output wire                   job_valid_o,  // a judged op is there
  input  wire                   job_ready_i,  // it is taken
  output wire [TagWidth-1:0]    job_tag_o,    // tag of the op
  output wire                   job_idle_o,   // no rows: bad op or NOP
  output wire                   job_bad_o,    // a rule is violated, or opcode unknown
  output wire [7:0]             job_rule_o,   // number of that rule, 0: unknown opcode
  output wire                   job_tiled_o,  // dn2nz: rows go through the transpose tiles
  output wire                   job_small_o,  // small-C0 packing
  output wire [1:0]             job_elem_o,   // log2 of the element size
  output wire                   job_dense_o,  // a matrix is read as one span
  output wire                   job_pack_o,   // a row is the source of one small-C0 block
  output wire [2:0]             job_chans_o,  // small-C0: channels, 1 to 4
  output wire [5:0]             job_tail_o,   // pack: bytes of the last row of a matrix
  output wire [17:0]            job_row_o,    // bytes of a source row
  output wire [15:0]            job_rows_o,   // source rows of a matrix, at least 1
  output wire [22:0]            job_span_o,   // dense: bytes from first to last of a matrix
  output wire [11:0]            job_groups_o, // matrices less 1
  output wire [GmAddrWidth-1:0] job_src_o,    // GM address of the first row
  output wire [GmAddrWidth-1:0] job_inner_o,  // GM distance of rows
  output wire [GmAddrWidth-1:0] job_outer_o,  // GM distance of matrices
  output wire [BlockWidth-1:0]  job_dst_o,    // first L1 block
  output wire [BlockWidth-1:0]  job_loop2_o,  // blocks from row n to n + 1
  output wire [BlockWidth-1:0]  job_loop3_o,  // blocks from C0 column c to c + 1
  output wire [BlockWidth-1:0]  job_loop4_o   // blocks from group g to g + 1
);
  localparam integer ExtSumWidth = 58;       // 2^44 + (2^12 + 2^16) * 2^40 < 2^57
  localparam integer LocSumWidth = 33;       // 2^19 + (2^12 + 2^13 + 2^14) * 2^16 < 2^32
  localparam [ExtSumWidth-1:0] GM_END  = {{(ExtSumWidth - 1){1'b0}}, 1'b1} << `PTO_GM_ADDR_BITS;
  localparam [LocSumWidth-1:0] LOC_END = {6'd0, L1Size[31:5]};
  localparam [17:0] TILE_BYTES = 18'd1 << TileLog2;        // of a row of 1-byte elements
  localparam [40:0] GM_BYTES   = {9'd0, GmBytes[31:0]};

  // ---- fields ----
  wire [1:0]  elem   = desc_i[`PTO_NZ_ELEM_LOG2];
  wire        dn     = desc_i[`PTO_NZ_MODE];
  wire [1:0]  small_c0 = desc_i[`PTO_NZ_SMALL_C0];
  wire [4:0]  l2     = desc_i[`PTO_NZ_L2];
  wire [16:0] n      = desc_i[`PTO_NZ_N_VALUE];
  wire [21:0] d      = desc_i[`PTO_NZ_D_VALUE];
  wire [16:0] groups = desc_i[`PTO_NZ_GROUP_COUNT];
  wire [43:0] src    = desc_i[`PTO_NZ_EXT_ADDR];
  wire [23:0] dst    = desc_i[`PTO_NZ_LOC_ADDR];
  wire [40:0] inner  = desc_i[`PTO_NZ_INNER_STRIDE];
  wire [40:0] outer  = desc_i[`PTO_NZ_OUTER_STRIDE];
  wire [16:0] loop2  = desc_i[`PTO_NZ_DST_LOOP2];
  wire [16:0] loop3  = desc_i[`PTO_NZ_DST_LOOP3];
  wire [16:0] loop4  = desc_i[`PTO_NZ_DST_LOOP4];

  // ---- rules but the extents ----
  wire [21:0] c0  = 22'd32 >> elem;          // elements of a C0 block
  wire        nop = (n == 17'd0) || (d == 22'd0);

  wire l03 = n > 17'd16384 || |d[21:16] || |groups[16:12] || inner[40] || outer[40]
          || loop2[16] || loop3[16] || loop4[16] || l2[4] || small_c0[1];
  wire l04 = groups == 17'd0;
  wire l05 = small_c0[0] && d > 22'd4;
  wire l06 = |dst[4:0];
  wire l07 = (!small_c0[0] && ((n > 17'd1 && loop2 == 17'd0) || (d > c0 && loop3 == 17'd0)))
          || (groups > 17'd1 && loop4 == 17'd0);

  reg       bad;
  reg [3:0] rule;
  always @* begin
    bad  = 1'b1;
    rule = 4'd0;
    if (desc_i[`PTO_DESC_OPCODE] != `PTO_OP_MTE_GM_L1_FRAC) rule = 4'd0;
    else if (l03) rule = 4'd3;
    else if (l04) rule = 4'd4;
    else if (l05) rule = 4'd5;
    else if (l06) rule = 4'd6;
    else if (l07) rule = 4'd7;
    else bad = 1'b0;
  end

  // ---- extents: base + sum of (count - 1) * stride, digit by digit ----
  wire [15:0] last_n    = n[15:0] - 16'd1;
  wire [15:0] last_d    = d[15:0] - 16'd1;
  wire [15:0] last_g    = groups[15:0] - 16'd1;
  wire [15:0] last_c    = last_d >> (3'd5 - {1'b0, elem});
  wire [31:0] ext_digits = {dn ? last_d : last_n, last_g};
  wire [47:0] loc_digits = {small_c0[0] ? 32'd0 : {last_n, last_c}, last_g};

  reg                   later_q;             // not the first clock of this check
  reg [3:0]             ext_seen_q;          // digits already summed
  reg [5:0]             loc_seen_q;
  reg [ExtSumWidth-1:0] ext_acc_q;
  reg [LocSumWidth-1:0] loc_acc_q;
  reg [22:0]            span_acc_q;          // the part of the rows of one matrix

  function [5:0] digit_used;                 // which of the six digits are not zero
    input [47:0] value;
    integer k;
    for (k = 0; k < 6; k = k + 1) digit_used[k] = |value[8*k +: 8];
  endfunction

  function [2:0] lowest;                     // index of the lowest set bit, 0 if there is none
    input [5:0] set;
    integer k;
    begin
      lowest = 3'd0;
      for (k = 5; k >= 0; k = k - 1) if (set[k]) lowest = k[2:0];
    end
  endfunction

  wire [5:0] ext_todo = (nop || bad) ? 6'd0
                      : digit_used({16'd0, ext_digits}) & ~{2'd0, ext_seen_q};
  wire [5:0] loc_todo = (nop || bad) ? 6'd0 : digit_used(loc_digits) & ~loc_seen_q;
  wire       done     = (ext_todo & (ext_todo - 6'd1)) == 6'd0
                     && (loc_todo & (loc_todo - 6'd1)) == 6'd0;
  wire [2:0] ext_sel  = lowest(ext_todo);
  wire [2:0] loc_sel  = lowest(loc_todo);
  wire [7:0] ext_digit = (ext_todo == 6'd0) ? 8'd0 : ext_digits[{ext_sel[1:0], 3'b000} +: 8];
  wire [7:0] loc_digit = (loc_todo == 6'd0) ? 8'd0 : loc_digits[{loc_sel, 3'b000} +: 8];

  wire [39:0] ext_mul = ext_sel[1] ? inner[39:0] : outer[39:0];
  wire [15:0] loc_mul = (loc_sel[2:1] == 2'd0) ? loop4[15:0]
                      : (loc_sel[2:1] == 2'd1) ? loop3[15:0] : loop2[15:0];
  wire [47:0] ext_prod = {40'd0, ext_digit} * {8'd0, ext_mul};
  wire [23:0] loc_prod = {16'd0, loc_digit} * {8'd0, loc_mul};
  wire [ExtSumWidth-1:0] ext_add = {10'd0, ext_prod} << {ext_sel[0], 3'b000};
  wire [LocSumWidth-1:0] loc_add = {9'd0, loc_prod} << {loc_sel[0], 3'b000};
  wire [ExtSumWidth-1:0] ext_sum = (later_q ? ext_acc_q : {14'd0, src}) + ext_add;
  wire [LocSumWidth-1:0] loc_sum = (later_q ? loc_acc_q : {14'd0, dst[23:5]}) + loc_add;
  wire [22:0]            span    = (later_q ? span_acc_q : 23'd0)
                                 + (ext_sel[1] ? ext_add[22:0] : 23'd0);

  // ---- shape of the job ----
  wire [17:0] row     = dn ? {3'd0, n[14:0]} << elem : {2'd0, d[15:0]} << elem;
  wire [40:0] gap     = {1'b0, inner[39:0]} - {23'd0, row};        // negative: bit 40
  wire        one_tile = !dn || row <= TILE_BYTES << (small_c0[0] ? 2'd3 : elem);
  wire        dense   = gap < GM_BYTES && one_tile;
  wire        plain   = dn && n[14:0] == 15'd1 && gap == 41'd0;    // one column, no gaps
  wire        tiled   = dn && !plain;
  wire        pack    = small_c0[0] && !dn && gap == 41'd0;
  wire [1:0]  per_log2 = 2'd3 - elem;        // log2 of the rows of a small-C0 block
  wire [15:0] blocks  = last_n >> per_log2;  // of a packed matrix, less 1
  wire [2:0]  partial = last_n[2:0] & ~(3'b111 << per_log2);       // rows of the last, less 1
  wire [5:0]  tail    = (({3'd0, partial} + 6'd1) * {3'd0, d[2:0]}) << elem;

  // ---- the checked op ----
  reg                   job_valid_q;
  reg [TagWidth-1:0]    tag_q;
  reg                   bad_q;
  reg [3:0]             rule_q;
  reg                   nop_q;
  reg [ExtSumWidth-1:0] ext_sum_q;
  reg [LocSumWidth-1:0] loc_sum_q;
  reg [17:0]            end_q;               // bytes of a row in the descriptor
  reg [14:0]            foot_q;              // L1 blocks from the last base on
  reg                   tiled_q, small_q, dense_q, pack_q;
  reg [1:0]             elem_q;
  reg [2:0]             chans_q;
  reg [5:0]             tail_q;
  reg [17:0]            row_q;
  reg [15:0]            rows_q;
  reg [22:0]            span_q;
  reg [11:0]            groups_q;
  reg [GmAddrWidth-1:0] src_q, inner_q, outer_q;
  reg [BlockWidth-1:0]  dst_q, loop2_q, loop3_q, loop4_q;

  wire job_free = !job_valid_q || job_ready_i;
  wire load     = desc_valid_i && done && job_free;
  wire more     = desc_valid_i && !done;
  assign desc_ready_o = done && job_free;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      later_q     <= 1'b0;
      ext_seen_q  <= 4'd0;
      loc_seen_q  <= 6'd0;
      job_valid_q <= 1'b0;
    end else begin
      if (load) begin
        later_q    <= 1'b0;
        ext_seen_q <= 4'd0;
        loc_seen_q <= 6'd0;
      end else if (more) begin
        later_q    <= 1'b1;
        ext_seen_q <= ext_seen_q | (4'd1 << ext_sel[1:0]);
        loc_seen_q <= loc_seen_q | (6'd1 << loc_sel);
      end
      if (job_free) job_valid_q <= load;
    end
  end

  always @(posedge clk_i) begin
    if (more) begin
      ext_acc_q  <= ext_sum;
      loc_acc_q  <= loc_sum;
      span_acc_q <= span;
    end
    if (load) begin
      tag_q     <= desc_tag_i;
      bad_q     <= bad;
      rule_q    <= rule;
      nop_q     <= nop;
      ext_sum_q <= ext_sum;
      loc_sum_q <= loc_sum;
      end_q     <= row;
      foot_q    <= small_c0[0] ? {1'b0, blocks[13:0]} + 15'd1 : 15'd1;
      tiled_q   <= tiled;
      small_q   <= small_c0[0];
      dense_q   <= dense;
      pack_q    <= pack;
      elem_q    <= elem;
      chans_q   <= d[2:0];
      tail_q    <= tail;
      row_q     <= pack ? {12'd0, d[2:0], 3'b000} : plain ? {2'd0, d[15:0]} << elem : row;
      rows_q    <= pack ? blocks + 16'd1 : plain ? 16'd1 : dn ? d[15:0] : n[15:0];
      span_q    <= span + {5'd0, row};
      groups_q  <= last_g[11:0];
      src_q     <= src[GmAddrWidth-1:0];
      inner_q   <= pack ? {{(GmAddrWidth - 6){1'b0}}, d[2:0], 3'b000} : inner[GmAddrWidth-1:0];
      outer_q   <= outer[GmAddrWidth-1:0];
      dst_q     <= dst[BlockWidth+4:5];
      loop2_q   <= loop2[BlockWidth-1:0];
      loop3_q   <= loop3[BlockWidth-1:0];
      loop4_q   <= loop4[BlockWidth-1:0];
    end
  end

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_NZ_DST_LOOP4_LSB + `PTO_NZ_DST_LOOP4_CW;
  wire unused = &{1'b0, desc_i[DescWidth-1:UsedBits], blocks[15:14], l2[3:0],
                  ext_sel[2]};

  // ND-L08 last: it is the highest number, and a NOP accesses no byte.
  wire l08 = (ext_sum_q + {40'd0, end_q} > GM_END) || (loc_sum_q + {18'd0, foot_q} > LOC_END);

  assign job_valid_o  = job_valid_q;
  assign job_tag_o    = tag_q;
  assign job_bad_o    = bad_q || (!nop_q && l08);
  assign job_idle_o   = job_bad_o || nop_q;
  assign job_rule_o   = bad_q ? {4'd0, rule_q} : (!nop_q && l08) ? 8'd8 : 8'd0;
  assign job_tiled_o  = tiled_q;
  assign job_small_o  = small_q;
  assign job_elem_o   = elem_q;
  assign job_dense_o  = dense_q;
  assign job_pack_o   = pack_q;
  assign job_chans_o  = chans_q;
  assign job_tail_o   = tail_q;
  assign job_row_o    = row_q;
  assign job_rows_o   = rows_q;
  assign job_span_o   = span_q;
  assign job_groups_o = groups_q;
  assign job_src_o    = src_q;
  assign job_inner_o  = inner_q;
  assign job_outer_o  = outer_q;
  assign job_dst_o    = dst_q;
  assign job_loop2_o  = loop2_q;
  assign job_loop3_o  = loop3_q;
  assign job_loop4_o  = loop4_q;
endmodule

`default_nettype wire
