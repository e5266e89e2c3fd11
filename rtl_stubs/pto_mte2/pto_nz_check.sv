// SPDX-License-Identifier: Apache-2.0
//
// Checks one NZ descriptor against its D rules (ND-L03 to L08, lowest number wins) and the
// zero-count test, and converts it to a job. Extents are exact (A-18): sums never wrap.
// Throughput: two sums of products grow side by side, GM bytes and L1 blocks, each by one 8-bit
// digit of a count that is not zero per clock; an op with that many digits has more rows.
// Latency: 2 + max(1, digits) clocks. Limits: GmAddrWidth 40; element size 1, 2 or 4.
// A job selects the access to its source:
//   dense  rows that lie closer than a bus word: one read of the whole matrix
//   pack   small-C0 nd2nz without gaps: a "row" of the job is the source of one 32-byte block
//   tiled  dn2nz; a single column of adjacent elements is a plain row instead
// Spec: nd2nz.md 1, 6; docs/contract.md, descriptors and done.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______________     two digits: taken in the second clock
//   desc_ready  _____/~~~\_______________
//   job_valid   _________________/~~~\___     verdict and job, stay until job_ready
//   busy        _________/~~~~~~~~~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_nz_check #(
  parameter integer GmBytes  = 32,           // bytes of a bus word
  parameter integer L1Size   = `PTO_SIZE_L1, // bytes of L1 (ND-L08)
  parameter integer TagWidth = 8,            // bits of a tag
  parameter integer TileLog2 = 7             // log2 of the blocks of a transpose tile
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is there
  output wire                      desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor, stable until taken
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      busy_o,        // an op was taken and has not left
  output wire                      job_valid_o,   // a judged op is there
  input  wire                      job_ready_i,   // it is taken
  output wire [TagWidth-1:0]       job_tag_o,     // tag of the op
  output wire pto_verdict_t        job_verdict_o, // the verdict
  output wire pto_nz_job_t         job_o          // the rows, those of a legal op
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

  // ---- extents: base + sum of (count - 1) * stride + the last row ----
  wire [15:0] last_n    = n[15:0] - 16'd1;
  wire [15:0] last_d    = d[15:0] - 16'd1;
  wire [15:0] last_g    = groups[15:0] - 16'd1;
  wire [15:0] last_c    = last_d >> (3'd5 - {1'b0, elem});
  wire [31:0] ext_digits = {dn ? last_d : last_n, last_g};
  wire [47:0] loc_digits = {small_c0[0] ? 32'd0 : {last_n, last_c}, last_g};

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

  // ---- sums. Each waits with its last digit for the other, so they are taken in step ----
  wire ext_last, loc_last, span_last, loc_valid, span_valid, room;
  wire                   ext_go = desc_valid_i && room && (loc_last || !ext_last);
  wire                   loc_go = desc_valid_i && room && (ext_last || !loc_last);
  wire [ExtSumWidth-1:0] ext_sum;
  wire [LocSumWidth-1:0] loc_sum;
  wire [16:0]            span_high;          // more than a dense matrix has
  wire [22:0]            span;
  assign desc_ready_o = ext_last && loc_last && room;

  pto_extent #(
    .Strides     (2),
    .PerStride   (2),
    .StrideWidth (40),
    .BaseWidth   (44),
    .TailWidth   (18),
    .SumWidth    (ExtSumWidth)
  ) u_ext (
    .clk_i, .rst_ni,
    .in_valid_i   (ext_go),
    .in_last_o    (ext_last),
    .in_skip_i    (nop),
    .in_base_i    (src),
    .in_tail_i    (row),
    .in_digits_i  (ext_digits),
    .in_strides_i ({inner[39:0], outer[39:0]}),
    .out_valid_o  (job_valid_o),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (ext_sum)
  );
  // From first to last of one matrix: the same digits, and a group adds nothing.
  pto_extent #(
    .Strides     (2),
    .PerStride   (2),
    .StrideWidth (23),
    .BaseWidth   (18),
    .TailWidth   (1),
    .SumWidth    (40)
  ) u_span (
    .clk_i, .rst_ni,
    .in_valid_i   (ext_go),
    .in_last_o    (span_last),
    .in_skip_i    (nop),
    .in_base_i    (row),
    .in_tail_i    (1'b0),
    .in_digits_i  (ext_digits),
    .in_strides_i ({inner[22:0], 23'd0}),
    .out_valid_o  (span_valid),
    .out_ready_i  (job_ready_i),
    .out_sum_o    ({span_high, span})
  );
  pto_extent #(
    .Strides     (3),
    .PerStride   (2),
    .StrideWidth (16),
    .BaseWidth   (19),
    .TailWidth   (15),
    .SumWidth    (LocSumWidth)
  ) u_loc (
    .clk_i, .rst_ni,
    .in_valid_i   (loc_go),
    .in_last_o    (loc_last),
    .in_skip_i    (nop),
    .in_base_i    (dst[23:5]),
    .in_tail_i    (small_c0[0] ? {1'b0, blocks[13:0]} + 15'd1 : 15'd1),
    .in_digits_i  (loc_digits),
    .in_strides_i ({loop2[15:0], loop3[15:0], loop4[15:0]}),
    .out_valid_o  (loc_valid),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (loc_sum)
  );

  // ---- the op waits for its sums ----
  wire pto_nz_job_t job;                     // without the span
  assign job.tiled  = tiled;
  assign job.small_c0  = small_c0[0];
  assign job.elem   = elem;
  assign job.dense  = dense;
  assign job.pack   = pack;
  assign job.chans  = d[2:0];
  assign job.tail   = tail;
  assign job.row    = pack ? {12'd0, d[2:0], 3'b000} : plain ? {2'd0, d[15:0]} << elem : row;
  assign job.rows   = pack ? blocks + 16'd1 : plain ? 16'd1 : dn ? d[15:0] : n[15:0];
  assign job.groups = last_g[11:0];
  assign job.src    = src[39:0];
  assign job.inner  = pack ? {34'd0, d[2:0], 3'b000} : inner[39:0];
  assign job.outer  = outer[39:0];
  assign job.dst    = dst[19:5];
  assign job.loop2  = loop2[14:0];
  assign job.loop3  = loop3[14:0];
  assign job.loop4  = loop4[14:0];
  assign job.span   = 23'd0;

  localparam integer WaitBits = `PTO_NZ_JOB_BITS - 23;
  wire                is_bad, is_nop;
  wire [3:0]          first_rule;
  wire [WaitBits-1:0] waiting;

  pto_fifo #(
    .Width(TagWidth + 6 + WaitBits),
    .Depth(4)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && desc_ready_o),
    .wr_ready_o (room),
    .wr_data_i  ({desc_tag_i, bad, rule, nop, job[`PTO_NZ_JOB_BITS-1:23]}),
    .rd_valid_o (busy_o),
    .rd_ready_i (job_valid_o && job_ready_i),
    .rd_data_o  ({job_tag_o, is_bad, first_rule, is_nop, waiting})
  );
  assign job_o = {waiting, span};

  // ND-L08 last: it is the highest number, and a NOP accesses no byte.
  wire       l08     = !is_nop && (ext_sum > GM_END || loc_sum > LOC_END);
  wire [7:0] is_rule = is_bad ? {4'd0, first_rule} : l08 ? 8'd8 : 8'd0;
  assign job_verdict_o = {is_bad || l08 || is_nop, is_bad || l08, is_rule};

  // Bits above the last field of the family are reserved. Four jobs are more than a sum has inside.
  localparam integer UsedBits = `PTO_NZ_DST_LOOP4_LSB + `PTO_NZ_DST_LOOP4_CW;
  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], blocks[15:14], l2[3:0],
                  span_last, span_valid, span_high, loc_valid, job.span};
endmodule

`default_nettype wire
