// SPDX-License-Identifier: Apache-2.0
//
// Checks one strided DMA descriptor against its D rules (DMA-L03 to L17, RF-L02 to L04, lowest
// number wins) and the zero-count test, and unpacks it into a job. One instance serves any of
// mte_gm_ub, mte_ub_gm, mte_gm_l1, mte_l1_ub and raw_fill_l1; the opcode of each descriptor decides
// widths, spaces and rules, and fields without an operand of the op are ignored. No access of a bad
// op reaches a bus: the check ends before the first row. Extents are exact (up to 2^64, sums never
// wrap, A-18).
//
//   op           ext side         local side       rules beyond L05 to L08 and L12
//   mte_gm_ub    GM, source       UB, destination  L03, L09 and L10 (pad clause)
//   mte_ub_gm    GM, destination  UB, source       L16 and L17 (atomic update)
//   mte_gm_l1    GM, source       L1, destination  -
//   mte_l1_ub    L1, source       UB, destination  blocks and gaps of 32 bytes, which leave here
//                                                  as bytes and strides; L06 and the loops' L07 on
//                                                  both sides, no L08
//   raw_fill_l1  -                L1, destination  blocks and gaps, too; rows without data, all
//                                                  pattern. In place of L05, L06 and L12 RF-L02,
//                                                  L03 and L04; no L07, L08
//
// The parameters behind Ops select the profile (profiles.md). The footprint of a row holds its pad
// or the fill behind it; of a compact group only the last row has pad or fill.
//
// Throughput: one 8-bit digit of a count that is not zero per clock, at least one clock
// (pto_extent). A legal op with d such digits has more than d rows, so the check keeps up with the
// rows; only after an op of fewer rows than d, of one clock each, may an op start up to d - 1
// clocks late. Latency: 2 + max(1, digits) clocks. Limits: GmAddrWidth 40, LocalAddrWidth <= 20.
// Spec: dma.md 1, 3, 5, 6, 9.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______________     two digits: taken in the second clock
//   desc_ready  _____/~~~\_______________
//   job_valid   _________________/~~~\___     verdict and job, stay until job_ready
`default_nettype none
`include "pto_records.vh"

module pto_dma_check #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served, out of 1 to 4 and 17
  parameter integer LenBits        = 16,     // DMA-L05: 2^LenBits - 1 ends lengths and row counts
  parameter integer PadEndBlock    = 0,      // 1: pads end with a 32-byte block, not the stride
  parameter integer TailFill       = 0,      // 1: rows without pad fill their last 32-byte block
  parameter integer RowRepeatLegal = 0,      // 1: no DMA-L08 for the GM stride of a load
  parameter integer CompactLegal   = 0,      // 1: no DMA-L07 for rows without a gap
  parameter integer PadUnselectedRegister = 0,  // 1: legacy pad counts alone select padding
  parameter integer LegacyPadElements = 0,   // 1: legacy pad counts are elements
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12, RF-L04)
  parameter integer TagWidth       = 8       // bits of a tag
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is there
  output wire                      desc_ready_o,  // it is taken; its check ends this clock
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor, stable until taken
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      busy_o,        // an op was taken and has not left
  output wire                      job_valid_o,   // a judged op is there
  input  wire                      job_ready_i,   // it is taken
  output wire [TagWidth-1:0]       job_tag_o,     // tag of the op
  output wire pto_verdict_t        job_verdict_o, // the verdict
  output wire pto_dma_job_t        job_o          // the rows, those of a legal op
);
  localparam integer ExtSumWidth = 64;       // 2^44 + 4 * 2^21 * 2^40 < 2^64
  localparam integer LocSumWidth = 46;       // 2^24 + 4 * 2^21 * 2^21 + 2^12 * 2^22 < 2^45
  localparam [ExtSumWidth-1:0] GM_END  = {{(ExtSumWidth - 1){1'b0}}, 1'b1} << `PTO_GM_ADDR_BITS;
  localparam [LocSumWidth-1:0] UB_END  = {{(LocSumWidth - 32){1'b0}}, UbSize[31:0]};
  localparam [LocSumWidth-1:0] L1_END  = {{(LocSumWidth - 32){1'b0}}, L1Size[31:0]};

  // ---- the op ----
  wire [7:0] opcode   = desc_i[`PTO_DESC_OPCODE];
  wire       is_gm_ub = Ops[`PTO_OP_MTE_GM_UB] && opcode == `PTO_OP_MTE_GM_UB;
  wire       is_ub_gm = Ops[`PTO_OP_MTE_UB_GM] && opcode == `PTO_OP_MTE_UB_GM;
  wire       is_gm_l1 = Ops[`PTO_OP_MTE_GM_L1] && opcode == `PTO_OP_MTE_GM_L1;
  wire       is_l1_ub = Ops[`PTO_OP_MTE_L1_UB] && opcode == `PTO_OP_MTE_L1_UB;
  wire       is_raw   = Ops[`PTO_OP_RAW_FILL_L1] && opcode == `PTO_OP_RAW_FILL_L1;
  wire       is_known = is_gm_ub || is_ub_gm || is_gm_l1 || is_l1_ub || is_raw;
  wire       in_block = is_l1_ub || is_raw;  // lengths and gaps count blocks of 32 bytes
  wire       ext_l1   = is_l1_ub;            // the ext side is on chip
  wire       loc_l1   = is_gm_l1 || is_raw;  // the local side is L1, not UB

  // ---- fields of a fill; the start saturates as addresses do ----
  wire [24:0] raw_at   = {1'b0, desc_i[`PTO_FILL_DST_ADDR]} + {1'b0, desc_i[`PTO_FILL_OFFSET]};
  wire [32:0] raw      = desc_i[`PTO_FILL_RAW];
  wire [31:0] raw_fill = desc_i[`PTO_FILL_WORD32] ? raw[31:0] : {2{raw[15:0]}};

  // ---- fields. A loop that the op does not have counts once and moves nothing. ----
  wire [1:0]  elem     = desc_i[`PTO_DMA_ELEM_LOG2];
  wire [1:0]  n_loops  = is_raw ? 2'd0 : desc_i[`PTO_DMA_N_LOOPS];
  wire [4:0]  l2       = desc_i[`PTO_DMA_L2];
  wire [21:0] len      = is_raw ? {6'd0, desc_i[`PTO_FILL_LEN]} : desc_i[`PTO_DMA_LEN];
  wire [21:0] n_burst  = is_raw ? {6'd0, desc_i[`PTO_FILL_N_BURST]} : desc_i[`PTO_DMA_N_BURST];
  wire [43:0] ext_addr = desc_i[`PTO_DMA_EXT_ADDR];
  wire [23:0] loc_addr = is_raw ? {raw_at[23:5] | {19{raw_at[24]}}, raw_at[4:0]}
                       : desc_i[`PTO_DMA_LOC_ADDR];
  wire [40:0] ext_s    = desc_i[`PTO_DMA_EXT_STRIDE];
  wire [21:0] loc_s    = is_raw ? {6'd0, desc_i[`PTO_FILL_DST_GAP]} : desc_i[`PTO_DMA_LOC_STRIDE];

  wire        has0 = n_loops > 2'd0;
  wire        has1 = n_loops > 2'd1;
  wire        has2 = n_loops > 2'd2;
  wire [21:0] count0 = has0 ? desc_i[`PTO_DMA_LOOP0_COUNT]      : 22'd1;
  wire [21:0] count1 = has1 ? desc_i[`PTO_DMA_LOOP1_COUNT]      : 22'd1;
  wire [21:0] count2 = has2 ? desc_i[`PTO_DMA_LOOP2_COUNT]      : 22'd1;
  wire [40:0] ext_s0 = has0 ? desc_i[`PTO_DMA_LOOP0_EXT_STRIDE] : 41'd0;
  wire [40:0] ext_s1 = has1 ? desc_i[`PTO_DMA_LOOP1_EXT_STRIDE] : 41'd0;
  wire [40:0] ext_s2 = has2 ? desc_i[`PTO_DMA_LOOP2_EXT_STRIDE] : 41'd0;
  wire [21:0] loc_s0 = has0 ? desc_i[`PTO_DMA_LOOP0_LOC_STRIDE] : 22'd0;
  wire [21:0] loc_s1 = has1 ? desc_i[`PTO_DMA_LOOP1_LOC_STRIDE] : 22'd0;
  wire [21:0] loc_s2 = has2 ? desc_i[`PTO_DMA_LOOP2_LOC_STRIDE] : 22'd0;

  // ---- pad clause ----
  wire [1:0]  pad_en   = is_gm_ub ? desc_i[`PTO_DMA_PAD_EN] : 2'd0;
  wire [8:0]  pad_l    = is_gm_ub ? desc_i[`PTO_DMA_PAD_LEFT] : 9'd0;
  wire [8:0]  pad_r    = is_gm_ub ? desc_i[`PTO_DMA_PAD_RIGHT] : 9'd0;
  wire [32:0] pad_val  = desc_i[`PTO_DMA_PAD_VALUE];
  wire        counted  = pad_l != 9'd0 || pad_r != 9'd0;
  wire        legacy   = desc_i[`PTO_DMA_PAD_LEGACY];
  wire        in_bytes = legacy && LegacyPadElements == 0;
  wire        pad      = pad_en == 2'd1 || ((PadUnselectedRegister != 0) && legacy
                                            && pad_en == 2'd0 && counted);
  wire [11:0] left     = in_bytes ? {3'd0, pad_l} : {3'd0, pad_l} << elem;
  wire [11:0] right    = in_bytes ? {3'd0, pad_r} : {3'd0, pad_r} << elem;
  wire [2:0]  elem_low = (elem == 2'd0) ? 3'b000 : (elem == 2'd1) ? 3'b001
                       : (elem == 2'd2) ? 3'b011 : 3'b111;   // address bits below an element
  wire        val_wide = (elem == 2'd0) ? |pad_val[32:8]
                       : (elem == 2'd1) ? |pad_val[32:16] : pad_val[32];
  wire [31:0] pattern  = (elem == 2'd0) ? {4{pad_val[7:0]}}
                       : (elem == 2'd1) ? {2{pad_val[15:0]}} : pad_val[31:0];

  // ---- atomic update of GM ----
  wire [2:0]  atomic_type = is_ub_gm ? desc_i[`PTO_DMA_ATOMIC_TYPE] : 3'd0;
  wire [1:0]  atomic_op   = is_ub_gm ? desc_i[`PTO_DMA_ATOMIC_OP] : 2'd0;
  wire        nosat       = is_ub_gm && desc_i[`PTO_DMA_NOSAT];
  reg [1:0] atomic_low;                      // address bits below an element
  always @* begin
    case (atomic_type)
      3'd1, 3'd4:       atomic_low = 2'b11;  // f32, s32
      3'd2, 3'd3, 3'd6: atomic_low = 2'b01;  // f16, s16, bf16
      default:          atomic_low = 2'b00;  // none, s8, and what is no type
    endcase
  end

  // ---- rows in bytes ----
  wire        several  = n_burst > 22'd1;
  wire        is_load  = is_gm_ub || is_gm_l1;
  wire        group    = (CompactLegal != 0) && !in_block && several
                      && loc_s == len;       // rows without a gap (A-60)
  wire [21:0] row_len  = in_block ? {len[16:0], 5'd0} : len;
  // Exact in 22 bits where DMA-L09 holds.
  wire [21:0] block    = (len + {10'd0, left} + {10'd0, right} + 22'd31) & ~22'd31;
  // Bytes from the end of the row, or of its compact group, to the next multiple of 32.
  wire [4:0]  run_low  = len[4:0] * (group ? n_burst[4:0] : 5'd1);      // modulo 32
  wire        fills    = (TailFill != 0) && is_load && !pad;
  wire [4:0]  fill     = (fills || (pad && group)) ? 5'd0 - run_low : 5'd0;
  wire [21:0] foot     = (pad && !group) ? ((PadEndBlock != 0) ? block : {1'b0, loc_s[20:0]})
                       : (group || !fills) ? row_len : row_len + {17'd0, fill};
  wire [4:0]  more     = group ? fill : 5'd0;
  // Row strides: of bursts with gaps the length and the gap.
  wire [16:0] ext_pitch = {1'b0, len[15:0]} + {1'b0, ext_s[15:0]};
  wire [16:0] loc_pitch = {1'b0, len[15:0]} + {1'b0, loc_s[15:0]};
  wire [39:0] ext_row   = is_l1_ub ? {18'd0, ext_pitch, 5'd0} : ext_s[39:0];
  wire [21:0] loc_row   = in_block ? {loc_pitch, 5'd0} : {1'b0, loc_s[20:0]};

  // ---- rules but the extents ----
  wire nop = (len == 22'd0) || (n_burst == 22'd0)
          || (count0 == 22'd0) || (count1 == 22'd0) || (count2 == 22'd0);

  wire l03 = pad && elem == 2'd3;            // only a legacy copy can ask for it
  wire [40:0] ext_any = ext_s0 | ext_s1 | ext_s2;
  wire wide_burst = |(len >> `PTO_W_MTE_L1_UB_LEN) || |(n_burst >> `PTO_W_MTE_L1_UB_N_BURST)
                 || |(ext_s >> `PTO_W_MTE_L1_UB_EXT_STRIDE)
                 || |(loc_s >> `PTO_W_MTE_L1_UB_LOC_STRIDE)
                 || |(ext_any >> `PTO_W_MTE_L1_UB_LOOP_EXT_STRIDE);
  wire wide_row   = |(len >> LenBits) || |(n_burst >> LenBits) || loc_s[21] || ext_s[40]
                 || ext_any[40];
  wire wide_fill  = |(len >> `PTO_W_RAW_FILL_L1_LEN) || |(n_burst >> `PTO_W_RAW_FILL_L1_N_BURST)
                 || |(loc_s >> `PTO_W_RAW_FILL_L1_DST_GAP) || |(raw >> `PTO_W_RAW_FILL_L1_RAW)
                 || desc_i[`PTO_FILL_BELOW];
  wire l05 = (is_raw ? wide_fill : is_l1_ub ? wide_burst : wide_row)
          || count0[21] || loc_s0[21] || count1[21] || loc_s1[21] || count2[21] || loc_s2[21]
          || (is_gm_ub && |(l2 >> `PTO_W_MTE_GM_UB_L2))
          || (is_ub_gm && |(l2 >> `PTO_W_MTE_UB_GM_L2))
          || pad_en[1] || pad_l[8] || pad_r[8] || (pad && val_wide)
          || (pad_en == 2'd0 && counted && !pad);
  wire l06 = |loc_addr[4:0] || (ext_l1 && |ext_addr[4:0]);
  // Offsets from 32 of the on-chip strides of one count, from both sides where both are on chip.
  wire [4:0]  ext_used = {5{ext_l1}};
  wire [4:0]  odd0     = loc_s0[4:0] | (ext_s0[4:0] & ext_used);
  wire [4:0]  odd1     = loc_s1[4:0] | (ext_s1[4:0] & ext_used);
  wire [4:0]  odd2     = loc_s2[4:0] | (ext_s2[4:0] & ext_used);
  wire stride_end = pad && PadEndBlock == 0; // the stride counts for a single row, too
  wire l07 = (((several && !in_block) || stride_end) && !group && |loc_s[4:0])
          || (count0 > 22'd1 && |odd0) || (count1 > 22'd1 && |odd1) || (count2 > 22'd1 && |odd2);
  wire ext_free = (RowRepeatLegal != 0) && is_load;
  wire l08 = several && !in_block && ((ext_s < {19'd0, len} && !ext_free) || loc_s < len);
  wire l09 = pad && (|(len[2:0] & elem_low) || left > 12'd32 || right > 12'd32
                     || |((left[2:0] | right[2:0]) & elem_low));  // of element counts always 0
  wire l10 = pad && (several || stride_end)
          && {11'd0, left} + {1'b0, len} + {11'd0, right} > {1'b0, loc_s};
  wire l16 = |((len[1:0] | ext_addr[1:0] | (several ? ext_s[1:0] : 2'd0)
                | (count0 > 22'd1 ? ext_s0[1:0] : 2'd0) | (count1 > 22'd1 ? ext_s1[1:0] : 2'd0)
                | (count2 > 22'd1 ? ext_s2[1:0] : 2'd0)) & atomic_low);
  wire l17 = atomic_type == 3'd7 || (atomic_type != 3'd0 && atomic_op == 2'd3);

  wire bad = !is_known || l03 || l05 || l06 || l07 || l08 || l09 || l10;
  wire [3:0] rule = !is_known ? 4'd0 : l03 ? 4'd3 : l05 ? 4'd5 : l06 ? 4'd6 : l07 ? 4'd7
                  : l08 ? 4'd8 : l09 ? 4'd9 : 4'd10;     // of a bad op

  // ---- extents: base + sum of (count - 1) * stride + the last row ----
  wire [20:0]  last0 = count0[20:0] - 21'd1;
  wire [20:0]  last1 = count1[20:0] - 21'd1;
  wire [20:0]  last2 = count2[20:0] - 21'd1;
  wire [20:0]  last_row = n_burst[20:0] - 21'd1;
  wire [95:0]  digits = {3'd0, last2, 3'd0, last1, 3'd0, last0, 3'd0, last_row};
  wire [21:0]  data_len = is_raw ? 22'd0 : row_len;

  wire                   ext_last, loc_last, loc_valid, room;
  wire [ExtSumWidth-1:0] ext_sum;
  wire [LocSumWidth-1:0] loc_sum;

  // Both sums have the same digits, so they move in step.
  pto_extent #(
    .Strides     (4),
    .PerStride   (3),
    .StrideWidth (40),
    .BaseWidth   (44),
    .TailWidth   (22),
    .SumWidth    (ExtSumWidth)
  ) u_ext (
    .clk_i, .rst_ni,
    .in_valid_i   (desc_valid_i && room),
    .in_last_o    (ext_last),
    .in_skip_i    (nop),
    .in_base_i    (ext_addr),
    .in_tail_i    (data_len),
    .in_digits_i  (digits),
    .in_strides_i ({ext_s2[39:0], ext_s1[39:0], ext_s0[39:0], ext_row}),
    .out_valid_o  (job_valid_o),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (ext_sum)
  );
  pto_extent #(
    .Strides     (4),
    .PerStride   (3),
    .StrideWidth (22),
    .BaseWidth   (24),
    .TailWidth   (23),
    .SumWidth    (LocSumWidth)
  ) u_loc (
    .clk_i, .rst_ni,
    .in_valid_i   (desc_valid_i && room),
    .in_last_o    (loc_last),
    .in_skip_i    (nop),
    .in_base_i    (loc_addr),
    .in_tail_i    ({1'b0, foot} + {18'd0, more}),
    .in_digits_i  (digits),
    .in_strides_i ({1'b0, loc_s2[20:0], 1'b0, loc_s1[20:0], 1'b0, loc_s0[20:0], loc_row}),
    .out_valid_o  (loc_valid),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (loc_sum)
  );
  assign desc_ready_o = ext_last && room;

  // ---- the op waits for its extents ----
  wire pto_words_t   loc;
  wire pto_dma_job_t job;
  assign loc.cut     = 1'b0;                 // of each row: the loops
  assign loc.last    = 1'b0;
  assign loc.id      = 4'd0;
  assign loc.space   = loc_l1 ? `PTO_SPACE_L1 : desc_i[`PTO_DMA_UB_SUB] ? `PTO_SPACE_UB1
                     : `PTO_SPACE_UB0;
  assign loc.addr    = loc_addr[19:0];
  assign loc.len     = data_len[19:0];
  assign loc.left    = pad ? left[5:0] : 6'd0;
  assign loc.foot    = foot[20:0];
  assign loc.pattern = is_raw ? raw_fill : pad ? pattern : 32'd0;
  assign loc.fill    = fills && is_gm_ub;
  assign loc.elem    = elem;

  assign job.row        = {nosat, atomic_op, atomic_type, 2'd0,
                           ext_l1 ? `PTO_SPACE_L1 : `PTO_SPACE_GM, ext_addr[39:0], loc};
  assign job.more       = more;
  assign job.last       = {last2, last1, last0, last_row};
  assign job.ext_stride = {ext_s2[39:0], ext_s1[39:0], ext_s0[39:0], ext_row[39:0]};
  assign job.loc_stride = {loc_s2[19:0], loc_s1[19:0], loc_s0[19:0], loc_row[19:0]};

  wire       is_bad, is_nop, is_l16, is_l17, is_fill;
  wire [3:0] first_rule;

  pto_fifo #(
    .Width(TagWidth + 9 + `PTO_DMA_JOB_BITS),
    .Depth(4)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && ext_last),
    .wr_ready_o (room),
    .wr_data_i  ({desc_tag_i, bad, rule, nop, l16, l17, is_raw, job}),
    .rd_valid_o (busy_o),
    .rd_ready_i (job_valid_o && job_ready_i),
    .rd_data_o  ({job_tag_o, is_bad, first_rule, is_nop, is_l16, is_l17, is_fill, job_o})
  );

  // DMA-L12 and RF-L04 here, where the extents are complete, and the higher numbers after them. A
  // NOP accesses no byte, so only these hold for it trivially.
  wire [ExtSumWidth-1:0] ext_end = job_o.row.ext_space == `PTO_SPACE_L1
                                 ? {{(ExtSumWidth - LocSumWidth){1'b0}}, L1_END} : GM_END;
  wire [LocSumWidth-1:0] loc_end = job_o.row.loc.space == `PTO_SPACE_L1 ? L1_END : UB_END;
  wire out_of_range = !is_nop && ((ext_sum > ext_end && !is_fill) || loc_sum > loc_end);
  wire is_illegal   = is_bad || out_of_range || is_l16 || is_l17;

  // RF-L02 and L03 are three numbers below L05 and L06.
  wire [7:0] is_rule = is_bad ? {4'd0, is_fill ? first_rule - 4'd3 : first_rule}
                     : out_of_range ? (is_fill ? 8'd4 : 8'd12)
                     : is_l16 ? 8'd16 : is_l17 ? 8'd17 : 8'd0;
  assign job_verdict_o = {is_illegal || is_nop, is_illegal, is_rule};

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_DMA_NOSAT_LSB + `PTO_DMA_NOSAT_CW;
  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], loc_last, loc_valid};
endmodule

`default_nettype wire
