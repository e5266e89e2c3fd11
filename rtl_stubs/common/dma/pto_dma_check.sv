// SPDX-License-Identifier: Apache-2.0
//
// Checks one descriptor of a strided op, a burst op or a fill against its D rules (lowest number
// wins) and the zero-count test, and unpacks it into a job. The row of an op in the table below
// gives its sides, the unit of its lengths and its rules; fields without an
// operand of the op are ignored. An instance serves the ops of Ops. No access of a bad op reaches a
// bus: the check ends before the first row. Extents are exact (up to 2^64, sums never wrap, A-18).
// Strided rows have strides in bytes; bursts and fills have lengths and gaps in units, which leave
// here as bytes and strides and are not held to the rules of strides. A burst op without gaps
// leaves as one row of its whole extent, which is the same bytes.
//
// The parameters after Ops select the profile (profiles.md). The footprint of a row holds its pad
// or the fill after it; of a compact group only the last row has pad or fill.
//
// Throughput: one 8-bit digit of a count that is not zero per clock, at least one clock
// (pto_extent). A legal op with d such digits has more than d rows, so the check keeps up with the
// rows; only after an op of fewer rows than d, of one clock each, may an op start up to d - 1
// clocks late. Latency: 2 + max(1, digits) clocks. Limits: GmAddrWidth 40, LocalAddrWidth <= 20.
// widen 3 of mte_l1_bt is unused and counts as raw. Spec: dma.md 1, 2, 3, 5, 6, 9; bias_fb.md 1, 5.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______________     two digits: taken in the second clock
//   desc_ready  _____/~~~\_______________
//   job_valid   _________________/~~~\___     verdict and job, stay until job_ready
`default_nettype none
`include "pto_records.vh"

module pto_dma_check #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served, of those below
  `include "pto_dma_knobs.vh"
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
  localparam integer LocSumWidth = 46;       // 2^24 + 4 * 2^21 * 2^21 + 2^23 < 2^45
  localparam [ExtSumWidth-1:0] GM_END  = {{(ExtSumWidth - 1){1'b0}}, 1'b1} << `PTO_GM_ADDR_BITS;
  localparam [LocSumWidth-1:0] UB_END  = {{(LocSumWidth - 32){1'b0}}, UbSize[31:0]};
  localparam [LocSumWidth-1:0] L1_END  = {{(LocSumWidth - 32){1'b0}}, L1Size[31:0]};
  localparam [LocSumWidth-1:0] BT_END  = `PTO_SIZE_BT;
  localparam [`PTO_FB_SEGMENT_SHIFT-1:0] FB_END = `PTO_FB_SEGMENT_BYTES;

  // ---- the op: its row, a bad one has none. ext is the source of a burst ----
  localparam [2:0] GM = `PTO_SPACE_GM, UB = `PTO_SPACE_UB0, L1 = `PTO_SPACE_L1;
  localparam [2:0] BT = `PTO_SPACE_BT, FB = `PTO_SPACE_FB;
  localparam [3:0] STRIDED = 4'b1001, BURST = 4'b1010, FILL = 4'b1100;  // layouts of a descriptor
  localparam [255:0] BURSTS = (256'd1 << `PTO_OP_MTE_UB_UB) | (256'd1 << `PTO_OP_MTE_UB_L1)
                            | (256'd1 << `PTO_OP_MTE_L1_BT) | (256'd1 << `PTO_OP_MTE_L1_FB);

  // ---- the judgement, of an op that can be taken: one that waits costs neither power, nor time in
  // a simulator. Each value is set before it is used; all are 0 without an op ----
  wire        ext_last, loc_last, loc_valid, room;
  reg [255:0] is;
  reg [95:0]  digits;
  reg [43:0]  ext_addr;
  reg [40:0]  ext_s0, ext_s1, ext_s2;
  reg [39:0]  ext_row;
  reg [23:0]  loc_addr;
  reg [22:0]  loc_row;
  reg [21:0]  loc_s0, loc_s1, loc_s2, ext_len, foot;
  reg [4:0]   more;
  reg [3:0]   rule;
  reg         from_2, no_gaps, nop, l16, l17, bad;
  reg [40:0]  ext_s, ext_any;
  reg [32:0]  raw, pad_val;
  reg [31:0]  raw_fill, pattern;
  reg [24:0]  raw_at;
  reg [22:0]  ext_pitch, loc_pitch;
  reg [21:0]  len, n_burst, loc_s, loop0, count0, loop1, count1, loop2, count2, row_len, block;
  reg [20:0]  last0, last1, last2, last_row;
  reg [11:0]  left, right;
  reg [8:0]   pad_l, pad_r;
  reg [4:0]   l2, run_low, to_block, ext_used, odd0, odd1, odd2;
  reg [2:0]   ext_in, loc_in, unit, elem_low, atomic_type, ext_unit;
  reg [1:0]   elem, n_loops, widen, pad_en, atomic_op, atomic_low;
  reg         is_known, fill, bursts, strided, loads, pads, updates, units, sub, half, has0,
              has1, has2, counted, legacy, in_bytes, pad, val_wide, nosat, several, group,
              fills, l03, wide_burst, wide_row, wide_fill, l05, on_chip, l06, stride_end, l07,
              ext_free, l08, l09, l10, no_segment;
  pto_words_t loc;
  pto_dma_job_t job;

  always @* begin
    {ext_addr, loc_addr, ext_s0, ext_s1, ext_s2, loc_s0, loc_s1, loc_s2, ext_row, loc_row} = '0;
    {ext_len, foot, more, digits, is, rule, from_2, no_gaps, nop, l16, l17, bad, ext_s} = '0;
    {ext_any, raw, pad_val, raw_fill, pattern, raw_at, ext_pitch, loc_pitch, len, n_burst} = '0;
    {loc_s, loop0, count0, loop1, count1, loop2, count2, row_len, block, last0, last1, last2} = '0;
    {last_row, left, right, pad_l, pad_r, l2, run_low, to_block, ext_used, odd0, odd1, odd2} = '0;
    {ext_in, loc_in, unit, elem_low, atomic_type, ext_unit, elem, n_loops, widen, pad_en} = '0;
    {atomic_op, atomic_low, is_known, fill, bursts, strided, loads, pads, updates, units, sub} = '0;
    {half, has0, has1, has2, counted, legacy, in_bytes, pad, val_wide, nosat, several, group} = '0;
    {fills, l03, wide_burst, wide_row, wide_fill, l05, on_chip, l06, stride_end, l07} = '0;
    {ext_free, l08, l09, l10, no_segment} = '0;
    {loc, job} = '0;
    if (desc_valid_i && room) begin
      // A fill has rows of a pattern and reads nothing; ext_in and loc_in: UB is both sub-blocks;
      // unit: log2 of the bytes of a unit, 0 for rows with strides; loads: rows come from GM; pads:
      // has a pad clause, DMA-L03, L09, L10; updates: has an atomic update, DMA-L16, L17; from_2:
      // rules 2, 3, 4 for 5, 6, 12, of fills, BT and FB; *_low: address bits below an element.
      is = Ops & (256'd1 << desc_i[`PTO_DESC_OPCODE]);
      {is_known, fill, bursts, strided, ext_in, loc_in, unit, loads, pads, updates, from_2} =
          //                                           ext loc unit  load  pad   atomic rules
          ({17{is[`PTO_OP_MTE_GM_UB]}}   & {STRIDED, GM, UB, 3'd0, 1'b1, 1'b1, 1'b0, 1'b0})
        | ({17{is[`PTO_OP_MTE_UB_GM]}}   & {STRIDED, GM, UB, 3'd0, 1'b0, 1'b0, 1'b1, 1'b0})
        | ({17{is[`PTO_OP_MTE_GM_L1]}}   & {STRIDED, GM, L1, 3'd0, 1'b1, 1'b0, 1'b0, 1'b0})
        | ({17{is[`PTO_OP_MTE_L1_UB]}}   & {STRIDED, L1, UB, 3'd5, 1'b0, 1'b0, 1'b0, 1'b0})
        | ({17{is[`PTO_OP_MTE_UB_UB]}}   & {BURST,   UB, UB, 3'd5, 1'b0, 1'b0, 1'b0, 1'b0})
        | ({17{is[`PTO_OP_MTE_UB_L1]}}   & {BURST,   UB, L1, 3'd5, 1'b0, 1'b0, 1'b0, 1'b0})
        | ({17{is[`PTO_OP_MTE_L1_BT]}}   & {BURST,   L1, BT, 3'd2, 1'b0, 1'b0, 1'b0, 1'b1})
        | ({17{is[`PTO_OP_MTE_L1_FB]}}   & {BURST,   L1, FB, 3'd6, 1'b0, 1'b0, 1'b0, 1'b1})
        | ({17{is[`PTO_OP_RAW_FILL_L1]}} & {FILL,    GM, L1, 3'd5, 1'b0, 1'b0, 1'b0, 1'b1});
      units = unit != 3'd0;

      // ---- fields of a fill; the start saturates as addresses do ----
      raw_at   = {1'b0, desc_i[`PTO_FILL_DST_ADDR]} + {1'b0, desc_i[`PTO_FILL_OFFSET]};
      raw      = desc_i[`PTO_FILL_RAW];
      raw_fill = desc_i[`PTO_FILL_WORD32] ? raw[31:0] : {2{raw[15:0]}};

      // ---- fields. A loop that the op does not have counts once and moves nothing. ----
      elem     = desc_i[`PTO_DMA_ELEM_LOG2];
      n_loops  = strided ? desc_i[`PTO_DMA_N_LOOPS] : 2'd0;
      l2       = desc_i[`PTO_DMA_L2];
      sub      = bursts ? desc_i[`PTO_BURST_UB_SUB] : desc_i[`PTO_DMA_UB_SUB];
      widen    = desc_i[`PTO_BURST_WIDEN];
      half     = loc_in == BT && (widen == 2'd1 || widen == 2'd2);  // source of two bytes
      len      = fill ? {6'd0, desc_i[`PTO_FILL_LEN]}
               : bursts ? {5'd0, desc_i[`PTO_BURST_LEN]} : desc_i[`PTO_DMA_LEN];
      n_burst  = fill ? {6'd0, desc_i[`PTO_FILL_N_BURST]}
               : bursts ? {5'd0, desc_i[`PTO_BURST_N_BURST]} : desc_i[`PTO_DMA_N_BURST];
      ext_addr = fill ? 44'd0 : bursts ? {20'd0, desc_i[`PTO_BURST_SRC_ADDR]}
               : desc_i[`PTO_DMA_EXT_ADDR];
      loc_addr = fill ? {raw_at[23:5] | {19{raw_at[24]}}, raw_at[4:0]}
               : bursts ? desc_i[`PTO_BURST_DST_ADDR] : desc_i[`PTO_DMA_LOC_ADDR];
      ext_s    = fill ? 41'd0 : bursts ? {24'd0, desc_i[`PTO_BURST_SRC_GAP]}
               : desc_i[`PTO_DMA_EXT_STRIDE];
      loc_s    = fill ? {6'd0, desc_i[`PTO_FILL_DST_GAP]}
               : bursts ? {5'd0, desc_i[`PTO_BURST_DST_GAP]} : desc_i[`PTO_DMA_LOC_STRIDE];

      has0 = n_loops > 2'd0;
      has1 = n_loops > 2'd1;
      has2 = n_loops > 2'd2;
      loop0  = desc_i[`PTO_DMA_LOOP0_COUNT];
      count0 = has0 ? loop0 : 22'd1;
      loop1  = desc_i[`PTO_DMA_LOOP1_COUNT];
      count1 = has1 ? loop1 : 22'd1;
      loop2  = desc_i[`PTO_DMA_LOOP2_COUNT];
      count2 = has2 ? loop2 : 22'd1;
      ext_s0 = has0 ? desc_i[`PTO_DMA_LOOP0_EXT_STRIDE] : 41'd0;
      ext_s1 = has1 ? desc_i[`PTO_DMA_LOOP1_EXT_STRIDE] : 41'd0;
      ext_s2 = has2 ? desc_i[`PTO_DMA_LOOP2_EXT_STRIDE] : 41'd0;
      loc_s0 = has0 ? desc_i[`PTO_DMA_LOOP0_LOC_STRIDE] : 22'd0;
      loc_s1 = has1 ? desc_i[`PTO_DMA_LOOP1_LOC_STRIDE] : 22'd0;
      loc_s2 = has2 ? desc_i[`PTO_DMA_LOOP2_LOC_STRIDE] : 22'd0;

      // ---- pad clause ----
      pad_en   = desc_i[`PTO_DMA_PAD_EN];
      pad_l    = desc_i[`PTO_DMA_PAD_LEFT];
      pad_r    = desc_i[`PTO_DMA_PAD_RIGHT];
      pad_val  = desc_i[`PTO_DMA_PAD_VALUE];
      counted  = pad_l != 9'd0 || pad_r != 9'd0;
      legacy   = desc_i[`PTO_DMA_PAD_LEGACY];
      in_bytes = legacy && LegacyPadElements == 0;
      pad      = pads && (pad_en == 2'd1 || ((PadUnselectedRegister != 0) && legacy
                                             && pad_en == 2'd0 && counted));
      left     = in_bytes ? {3'd0, pad_l} : {3'd0, pad_l} << elem;
      right    = in_bytes ? {3'd0, pad_r} : {3'd0, pad_r} << elem;
      elem_low = (elem == 2'd0) ? 3'b000 : (elem == 2'd1) ? 3'b001
               : (elem == 2'd2) ? 3'b011 : 3'b111;   // address bits below an element
      val_wide = (elem == 2'd0) ? |pad_val[32:8]
               : (elem == 2'd1) ? |pad_val[32:16] : pad_val[32];
      pattern  = (elem == 2'd0) ? {4{pad_val[7:0]}}
               : (elem == 2'd1) ? {2{pad_val[15:0]}} : pad_val[31:0];

      // ---- atomic update of GM ----
      atomic_type = updates ? desc_i[`PTO_DMA_ATOMIC_TYPE] : 3'd0;
      atomic_op   = updates ? desc_i[`PTO_DMA_ATOMIC_OP] : 2'd0;
      nosat       = updates && desc_i[`PTO_DMA_NOSAT];
        case (atomic_type)
          3'd1, 3'd4:       atomic_low = 2'b11;  // f32, s32
          3'd2, 3'd3, 3'd6: atomic_low = 2'b01;  // f16, s16, bf16
          default:          atomic_low = 2'b00;  // none, s8, and what is no type
        endcase

      // ---- rows in bytes ----
      several  = n_burst > 22'd1;
      group    = (CompactLegal != 0) && !units && several
              && loc_s == len;       // rows without a gap (A-60)
      ext_unit = half ? 3'd1 : unit;
      row_len  = len << unit;        // bytes on the local side
      ext_len  = fill ? 22'd0 : len << ext_unit;
      // Exact in 22 bits where DMA-L09 holds.
      block    = (len + {10'd0, left} + {10'd0, right} + 22'd31) & ~22'd31;
      // Bytes from the end of the row, or of its compact group, to the next multiple of 32.
      run_low  = len[4:0] * (group ? n_burst[4:0] : 5'd1);      // modulo 32
      fills    = (TailFill != 0) && loads && !pad;
      to_block = (fills || (pad && group)) ? 5'd0 - run_low : 5'd0;
      foot     = (pad && !group) ? ((PadEndBlock != 0) ? block : {1'b0, loc_s[20:0]})
               : (group || !fills) ? row_len : row_len + {17'd0, to_block};
      more     = group ? to_block : 5'd0;
      // Row strides: of bursts with gaps the length and the gap.
      ext_pitch = {6'd0, {1'b0, len[15:0]} + {1'b0, ext_s[15:0]}} << ext_unit;
      loc_pitch = {6'd0, {1'b0, len[15:0]} + {1'b0, loc_s[15:0]}} << unit;
      ext_row   = units ? {17'd0, ext_pitch} : ext_s[39:0];
      loc_row   = units ? loc_pitch : {2'd0, loc_s[20:0]};
      no_gaps   = bursts && ext_s[16:0] == 17'd0 && loc_s[16:0] == 17'd0;

      // ---- rules but the extents ----
      nop = (len == 22'd0) || (n_burst == 22'd0)
         || (count0 == 22'd0) || (count1 == 22'd0) || (count2 == 22'd0);

      l03 = pad && elem == 2'd3;            // only a legacy copy can have it
      ext_any = ext_s0 | ext_s1 | ext_s2;
      wide_burst = |(len >> `PTO_W_MTE_L1_UB_LEN) || |(ext_s >> `PTO_W_MTE_L1_UB_EXT_STRIDE)
                || |(loc_s >> `PTO_W_MTE_L1_UB_LOC_STRIDE)
                || |(ext_any >> `PTO_W_MTE_L1_UB_LOOP_EXT_STRIDE)
                || |(n_burst >> (strided || from_2 ? `PTO_W_MTE_L1_UB_N_BURST
                                                             : `PTO_W_MTE_UB_UB_N_BURST));
      wide_row   = |(len >> LenBits) || |(n_burst >> LenBits) || loc_s[21] || ext_s[40]
                || ext_any[40];
      wide_fill  = |(len >> `PTO_W_RAW_FILL_L1_LEN) || |(n_burst >> `PTO_W_RAW_FILL_L1_N_BURST)
                || |(loc_s >> `PTO_W_RAW_FILL_L1_DST_GAP) || |(raw >> `PTO_W_RAW_FILL_L1_RAW)
                || desc_i[`PTO_FILL_BELOW];
      l05 = (fill ? wide_fill : units ? wide_burst : wide_row)
         || count0[21] || loc_s0[21] || count1[21] || loc_s1[21] || count2[21] || loc_s2[21]
         || (pads && (|(l2 >> `PTO_W_MTE_GM_UB_L2) || pad_en[1]
                      || ((pad || legacy) && (pad_l[8] || pad_r[8]))))
         || (updates && |(l2 >> `PTO_W_MTE_UB_GM_L2))
         || (pad && val_wide) || (pads && legacy && pad_en == 2'd0 && counted && !pad);
      on_chip = ext_in != GM;
      l06 = |loc_addr[4:0] || (on_chip && |ext_addr[4:0])
         || (bursts && from_2 && loc_addr[5]);        // BT-L03, FB-L03: 64 bytes
      // Offsets from 32 of the on-chip strides of one count, of both sides where both are on chip.
      ext_used = {5{on_chip}};
      odd0     = loc_s0[4:0] | (ext_s0[4:0] & ext_used);
      odd1     = loc_s1[4:0] | (ext_s1[4:0] & ext_used);
      odd2     = loc_s2[4:0] | (ext_s2[4:0] & ext_used);
      stride_end = pad && PadEndBlock == 0; // the stride counts for a single row, too
      l07 = (((several && !units) || stride_end) && !group && |loc_s[4:0])
         || (count0 > 22'd1 && |odd0) || (count1 > 22'd1 && |odd1) || (count2 > 22'd1 && |odd2);
      ext_free = (RowRepeatLegal != 0) && loads;
      l08 = several && !units && ((ext_s < {19'd0, len} && !ext_free) || loc_s < len);
      l09 = pad && (|(len[2:0] & elem_low) || left > 12'd32 || right > 12'd32
                    || |((left[2:0] | right[2:0]) & elem_low));  // of element counts always 0
      l10 = pad && (several || stride_end)
         && {11'd0, left} + {1'b0, len} + {11'd0, right} > {1'b0, loc_s};
      l16 = |((len[1:0] | ext_addr[1:0] | (several ? ext_s[1:0] : 2'd0)
               | (count0 > 22'd1 ? ext_s0[1:0] : 2'd0) | (count1 > 22'd1 ? ext_s1[1:0] : 2'd0)
               | (count2 > 22'd1 ? ext_s2[1:0] : 2'd0)) & atomic_low);
      l17 = atomic_type == 3'd7 || (atomic_type != 3'd0 && atomic_op == 2'd3);

      // FB-L04: the segment of the destination; it does not wait for the extents, as a NOP has it.
      no_segment = loc_in == FB && loc_addr[23:16] != `PTO_FB_PRE_QUANT
                && loc_addr[23:16] != `PTO_FB_PRE_RELU;

      // Rules 2 to 4 are three numbers below L05, L06 and, for a segment, 7.
      bad = !is_known || l03 || l05 || l06 || no_segment || l07 || l08 || l09 || l10;
      rule = !is_known ? 4'd0 : l03 ? 4'd3 : l05 ? 4'd5 : l06 ? 4'd6
           : (no_segment || l07) ? 4'd7 : l08 ? 4'd8 : l09 ? 4'd9 : 4'd10;     // of a bad op

      // ---- extents: base + sum of (count - 1) * stride + the last row ----
      last0 = has0 ? loop0[20:0] - 21'd1 : 21'd0;
      last1 = has1 ? loop1[20:0] - 21'd1 : 21'd0;
      last2 = has2 ? loop2[20:0] - 21'd1 : 21'd0;
      last_row = n_burst[20:0] - 21'd1;
      digits = {3'd0, last2, 3'd0, last1, 3'd0, last0, 3'd0, last_row};

      // ---- the rows ----
      loc.cut     = 1'b0;                 // of each row: the loops
      loc.last    = 1'b0;
      loc.id      = 4'd0;
      loc.space   = (loc_in == UB && sub) ? `PTO_SPACE_UB1 : loc_in;
      loc.addr    = loc_addr[19:0];
      loc.len     = fill ? 20'd0 : row_len[19:0];
      loc.left    = pad ? left[5:0] : 6'd0;
      loc.foot    = foot[20:0];
      loc.pattern = fill ? raw_fill : pad ? pattern : 32'd0;
      loc.fill    = fills && pads;
      loc.elem    = elem;
      job.row        = {nosat, atomic_op, atomic_type, half ? widen : 2'd0,
                        (ext_in == UB && sub) ? `PTO_SPACE_UB1 : ext_in, ext_addr[39:0], loc};
      job.more       = more;
      job.last       = {last2, last1, last0, no_gaps ? 21'd0 : last_row};
      job.ext_stride = {ext_s2[39:0], ext_s1[39:0], ext_s0[39:0], ext_row[39:0]};
      job.loc_stride = {loc_s2[19:0], loc_s1[19:0], loc_s0[19:0], loc_row[19:0]};
    end
  end

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
    .in_tail_i    (ext_len),
    .in_digits_i  (digits),
    .in_strides_i ({ext_s2[39:0], ext_s1[39:0], ext_s0[39:0], ext_row}),
    .out_valid_o  (job_valid_o),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (ext_sum)
  );
  pto_extent #(
    .Strides     (4),
    .PerStride   (3),
    .StrideWidth (23),
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
    .in_strides_i ({2'd0, loc_s2[20:0], 2'd0, loc_s1[20:0], 2'd0, loc_s0[20:0], loc_row}),
    .out_valid_o  (loc_valid),
    .out_ready_i  (job_ready_i),
    .out_sum_o    (loc_sum)
  );
  assign desc_ready_o = ext_last && room;

  wire               is_bad, is_nop, is_l16, is_l17, is_from_2, is_one;
  wire [3:0]         first_rule;
  wire pto_dma_job_t kept;

  pto_fifo #(
    .Width(TagWidth + 10 + `PTO_DMA_JOB_BITS),
    .Depth(4)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && ext_last),
    .wr_ready_o (room),
    .wr_data_i  ({desc_tag_i, bad, rule, nop, l16, l17, from_2, no_gaps, job}),
    .rd_valid_o (busy_o),
    .rd_ready_i (job_valid_o && job_ready_i),
    .rd_data_o  ({job_tag_o, is_bad, first_rule, is_nop, is_l16, is_l17, is_from_2, is_one, kept})
  );

  // The extents are complete here: DMA-L12, or rule 4, and the higher numbers after them. A NOP
  // accesses no byte, so only these hold for it trivially. A destination in FB ends in its segment.
  wire [2:0]             ext_space = kept.row.ext_space;
  wire [2:0]             loc_space = kept.row.loc.space;
  wire [19:0]            loc_from  = kept.row.loc.addr;
  wire [ExtSumWidth-1:0] ext_end = ext_space == GM ? GM_END
                                 : {{(ExtSumWidth - LocSumWidth){1'b0}},
                                    ext_space == L1 ? L1_END : UB_END};
  wire [LocSumWidth-1:0] loc_end = loc_space == L1 ? L1_END : loc_space == BT ? BT_END
                                 : loc_space == FB
                                 ? {26'd0, loc_from[19:`PTO_FB_SEGMENT_SHIFT], FB_END} : UB_END;
  wire out_of_range = !is_nop && (ext_sum > ext_end || loc_sum > loc_end);
  wire is_illegal   = is_bad || out_of_range || is_l16 || is_l17;

  wire [7:0] is_rule = is_bad ? {4'd0, is_from_2 ? first_rule - 4'd3 : first_rule}
                     : out_of_range ? (is_from_2 ? 8'd4 : 8'd12)
                     : is_l16 ? 8'd16 : is_l17 ? 8'd17 : 8'd0;
  assign job_verdict_o = {is_illegal || is_nop, is_illegal, is_rule};

  // A burst op without gaps is one row.
  wire [19:0]   one_len = loc_sum[19:0] - loc_from;
  pto_dma_job_t out;
  always @* begin
    out = kept;
    if (is_one) begin
      out.row.loc.len  = one_len;
      out.row.loc.foot = {1'b0, one_len};
    end
    if ((Ops & ~BURSTS) == 256'd0) begin     // there are no loops, which synthesis cannot see
      out.more               = 5'd0;
      out.last[83:21]        = 63'd0;
      out.ext_stride[159:40] = 120'd0;
      out.loc_stride[79:20]  = 60'd0;
    end
  end
  assign job_o = out;

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_DMA_NOSAT_LSB + `PTO_DMA_NOSAT_CW;
  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], is, loc_last, loc_valid};
endmodule

`default_nettype wire
