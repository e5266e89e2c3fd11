// SPDX-License-Identifier: Apache-2.0
//
// The verdict of pto_dma_check on every descriptor is that of the rules of dma.md 5 and 9, written
// here a second time from sections 1 to 6. The extents are cut out: what goes into pto_extent is that
// of the specification, and the verdict is right for any sum. The job of a legal op has the rows of its loops.
// Sources: common/dma/pto_dma_check.sv
// Variant: Ops=256'h2001e
// Variant: Ops=256'h2001e LenBits=21 PadEndBlock=1 TailFill=1 RowRepeatLegal=1 CompactLegal=1 PadUnselectedRegister=1 LegacyPadElements=1
// Bugs: l03_after_l05:as_specified l07_loop2:as_specified store_rule16_loop2:as_specified
// Bugs: l12_ub_pad:terms fill_sum_wraps:terms source_pitch_wraps_at_2_16:terms
// Bugs: compact_padded_refused:as_specified pad_end_without_right:terms
`include "pto_dma_cut.vh"

  // ---- the op ----
  wire [7:0] opcode = desc[`PTO_DESC_OPCODE];
  wire is_gm_ub = opcode == `PTO_OP_MTE_GM_UB;
  wire is_ub_gm = opcode == `PTO_OP_MTE_UB_GM;
  wire is_gm_l1 = opcode == `PTO_OP_MTE_GM_L1;
  wire is_l1_ub = opcode == `PTO_OP_MTE_L1_UB;
  wire is_fill  = opcode == `PTO_OP_RAW_FILL_L1;
  wire load     = is_gm_ub || is_gm_l1;
  wire strided  = load || is_ub_gm;
  wire served   = Ops[opcode] && (strided || is_l1_ub || is_fill);

  // ---- its operands; a loop that is not there has count 1 and strides 0 ----
  wire [1:0]  elem    = desc[`PTO_DMA_ELEM_LOG2];
  wire [1:0]  n_loops = desc[`PTO_DMA_N_LOOPS];
  wire [1:0]  pad_en  = desc[`PTO_DMA_PAD_EN];
  wire        legacy  = desc[`PTO_DMA_PAD_LEGACY];
  wire [4:0]  l2      = desc[`PTO_DMA_L2];
  wire [8:0]  left    = desc[`PTO_DMA_PAD_LEFT];
  wire [8:0]  right   = desc[`PTO_DMA_PAD_RIGHT];
  wire [32:0] value   = desc[`PTO_DMA_PAD_VALUE];
  wire [21:0] len     = desc[`PTO_DMA_LEN];
  wire [21:0] n       = desc[`PTO_DMA_N_BURST];
  wire [43:0] ext     = desc[`PTO_DMA_EXT_ADDR];
  wire [23:0] loc     = desc[`PTO_DMA_LOC_ADDR];
  wire [40:0] ext_s   = desc[`PTO_DMA_EXT_STRIDE];
  wire [21:0] loc_s   = desc[`PTO_DMA_LOC_STRIDE];
  wire        has0    = n_loops >= 2'd1;
  wire        has1    = n_loops >= 2'd2;
  wire        has2    = n_loops == 2'd3;
  wire [21:0] count0  = has0 ? desc[`PTO_DMA_LOOP0_COUNT] : 22'd1;
  wire [21:0] count1  = has1 ? desc[`PTO_DMA_LOOP1_COUNT] : 22'd1;
  wire [21:0] count2  = has2 ? desc[`PTO_DMA_LOOP2_COUNT] : 22'd1;
  wire [40:0] ext_s0  = has0 ? desc[`PTO_DMA_LOOP0_EXT_STRIDE] : 41'd0;
  wire [40:0] ext_s1  = has1 ? desc[`PTO_DMA_LOOP1_EXT_STRIDE] : 41'd0;
  wire [40:0] ext_s2  = has2 ? desc[`PTO_DMA_LOOP2_EXT_STRIDE] : 41'd0;
  wire [21:0] loc_s0  = has0 ? desc[`PTO_DMA_LOOP0_LOC_STRIDE] : 22'd0;
  wire [21:0] loc_s1  = has1 ? desc[`PTO_DMA_LOOP1_LOC_STRIDE] : 22'd0;
  wire [21:0] loc_s2  = has2 ? desc[`PTO_DMA_LOOP2_LOC_STRIDE] : 22'd0;
  wire [2:0]  atomic  = desc[`PTO_DMA_ATOMIC_TYPE];
  wire [1:0]  update  = desc[`PTO_DMA_ATOMIC_OP];
  wire [15:0] fill_len = desc[`PTO_FILL_LEN];
  wire [15:0] fill_n   = desc[`PTO_FILL_N_BURST];
  wire [15:0] fill_gap = desc[`PTO_FILL_DST_GAP];
  wire [24:0] fill_at  = {1'b0, desc[`PTO_FILL_DST_ADDR]} + {1'b0, desc[`PTO_FILL_OFFSET]};

  wire several = n > 22'd1;
  wire nop = is_fill ? fill_len == 16'd0 || fill_n == 16'd0
             : len == 22'd0 || n == 22'd0 || count0 == 22'd0 || count1 == 22'd0 || count2 == 22'd0;

  // ---- padding (dma.md 3): which rows have it, its bytes, and where a row ends (dma.md 2) ----
  wire counted  = left != 9'd0 || right != 9'd0;
  wire pad      = is_gm_ub && (pad_en == 2'd1
                               || (PadUnselectedRegister == 1 && legacy && pad_en == 2'd0 && counted));
  wire in_bytes = legacy && LegacyPadElements == 0;
  wire [11:0] l_bytes = in_bytes ? {3'd0, left} : {3'd0, left} << elem;
  wire [11:0] r_bytes = in_bytes ? {3'd0, right} : {3'd0, right} << elem;
  wire [2:0]  part    = elem == 2'd0 ? 3'd0 : elem == 2'd1 ? 3'd1 : elem == 2'd2 ? 3'd3 : 3'd7;
  wire [23:0] need    = {12'd0, l_bytes} + {2'd0, len} + {12'd0, r_bytes};
  wire compact  = CompactLegal == 1 && strided && several && loc_s == len;
  wire [9:0]  all_low = {5'd0, n[4:0]} * {5'd0, len[4:0]};       // n * len, low bits of which count
  wire [23:0] packed_end  = {2'd0, len} + {19'd0, 5'd0 - all_low[4:0]};
  wire [23:0] blocks_end  = {({2'd0, len} + 24'd31) >> 5, 5'd0};
  wire [23:0] pad_end     = {(need + 24'd31) >> 5, 5'd0};
  wire [23:0] foot = is_l1_ub ? {2'd0, len} << 5
                     : pad ? (compact ? packed_end : PadEndBlock == 1 ? pad_end : {2'd0, loc_s})
                     : !load || TailFill == 0 ? {2'd0, len}
                     : compact ? packed_end : blocks_end;

  // ---- the rules of the strided ops ----
  wire l03 = pad && elem == 2'd3;
  wire wide_row = is_l1_ub ? len > 22'd65535 || n > 22'd4095 || ext_s > 41'd65535 || loc_s > 22'd65535
                           : len > (22'd1 << LenBits) - 22'd1 || n > (22'd1 << LenBits) - 22'd1
                             || ext_s > 41'hff_ffff_ffff || loc_s > 22'd2097151;
  wire [40:0] most_ext = is_l1_ub ? 41'd2097151 : 41'hff_ffff_ffff;
  wire wide_loop = count0 > 22'd2097151 || count1 > 22'd2097151 || count2 > 22'd2097151
                   || ext_s0 > most_ext || ext_s1 > most_ext || ext_s2 > most_ext
                   || loc_s0 > 22'd2097151 || loc_s1 > 22'd2097151 || loc_s2 > 22'd2097151;
  wire wide_pad = is_gm_ub && (pad_en > 2'd1
                  || ((pad || legacy) && (left > 9'd255 || right > 9'd255))
                  || (pad && elem == 2'd0 && value > 33'hff) || (pad && elem == 2'd1 && value > 33'hffff)
                  || (pad && value > 33'hffff_ffff)
                  || (PadUnselectedRegister == 0 && legacy && pad_en == 2'd0 && counted));
  wire l05 = wide_row || wide_loop || wide_pad || (is_gm_ub && l2 > 5'd3) || (is_ub_gm && l2 > 5'd15);
  wire l06 = loc % 24'd32 != 24'd0 || (is_l1_ub && ext % 44'd32 != 44'd0);
  wire odd0 = count0 > 22'd1 && (loc_s0 % 22'd32 != 22'd0 || (is_l1_ub && ext_s0 % 41'd32 != 41'd0));
  wire odd1 = count1 > 22'd1 && (loc_s1 % 22'd32 != 22'd0 || (is_l1_ub && ext_s1 % 41'd32 != 41'd0));
  wire odd2 = count2 > 22'd1 && (loc_s2 % 22'd32 != 22'd0 || (is_l1_ub && ext_s2 % 41'd32 != 41'd0));
  wire l07 = odd0 || odd1 || odd2
             || (strided && !compact && (several || (pad && PadEndBlock == 0))
                 && loc_s % 22'd32 != 22'd0);
  wire l08 = strided && several && (loc_s < len || (!(load && RowRepeatLegal == 1)
                                                    && ext_s < {19'd0, len}));
  wire l09 = pad && ((len[2:0] & part) != 3'd0 || l_bytes > 12'd32 || r_bytes > 12'd32
                     || (in_bytes && ((left[2:0] | right[2:0]) & part) != 3'd0));
  wire l10 = pad && (several || PadEndBlock == 0) && need > {2'd0, loc_s};
  wire l12 = !nop && (\u_out.u_ext.sum > (is_l1_ub ? 64'd524288 : 64'd1 << 40)
                      || \u_out.u_loc.sum > (is_gm_l1 ? 46'd524288 : 46'd262144));
  wire half  = atomic == 3'd2 || atomic == 3'd3 || atomic == 3'd6;     // elements of 2 bytes
  wire whole = atomic == 3'd1 || atomic == 3'd4;                       // of 4; type 7 is DMA-L17
  wire [1:0] remains = len[1:0] | ext[1:0] | (several ? ext_s[1:0] : 2'd0)
                       | (count0 > 22'd1 ? ext_s0[1:0] : 2'd0)
                       | (count1 > 22'd1 ? ext_s1[1:0] : 2'd0)
                       | (count2 > 22'd1 ? ext_s2[1:0] : 2'd0);
  wire l16 = is_ub_gm && ((half && remains[0]) || (whole && remains != 2'd0));
  wire l17 = is_ub_gm && (atomic == 3'd7 || (atomic != 3'd0 && update == 2'd3));

  // ---- the rules of the fill, and the verdict ----
  wire f02 = fill_n > 16'd32767 || fill_len > 16'd32767 || fill_gap > 16'd32767
             || desc[`PTO_FILL_RAW] > 33'hffff_ffff || desc[`PTO_FILL_BELOW];
  wire f03 = fill_at % 25'd32 != 25'd0;
  wire f04 = !nop && \u_out.u_loc.sum > 46'd524288;
  wire early = is_fill ? f02 || f03 : l03 || l05 || l06 || l07 || l08 || l09 || l10;
  wire bad   = !served || early || (is_fill ? f04 : l12 || l16 || l17);
  wire [7:0] rule = !served ? 8'd0
                    : is_fill ? (f02 ? 8'd2 : f03 ? 8'd3 : 8'd4)
                    : l03 ? 8'd3 : l05 ? 8'd5 : l06 ? 8'd6 : l07 ? 8'd7 : l08 ? 8'd8 : l09 ? 8'd9
                    : l10 ? 8'd10 : l12 ? 8'd12 : l16 ? 8'd16 : 8'd17;

  // ---- the terms of both ends: base + tail + sum of (count - 1) * stride ----
  wire [22:0] ext_pitch = is_l1_ub ? ({1'b0, len} + {1'b0, ext_s[21:0]}) << 5 : 23'd0;
  wire [22:0] loc_pitch = is_fill ? ({7'd0, fill_len} + {7'd0, fill_gap}) << 5
                          : is_l1_ub ? ({1'b0, len} + {1'b0, loc_s}) << 5 : {1'b0, loc_s};
  wire [23:0] rows_less_1 = is_fill ? {8'd0, fill_n} - 24'd1 : {2'd0, n} - 24'd1;
  wire [95:0] less_1 = {is_fill ? 72'd0 : {{2'd0, count2} - 24'd1, {2'd0, count1} - 24'd1,
                                           {2'd0, count0} - 24'd1}, rows_less_1};
  wire ext_ok = is_fill
    ? \u_in.u_ext.in_base_i == 44'd0 && \u_in.u_ext.in_tail_i == 22'd0
    : (\u_in.u_ext.in_base_i == ext
        && \u_in.u_ext.in_tail_i == (is_l1_ub ? len << 5 : len)
        && (!several || \u_in.u_ext.in_strides_i [39:0]
            == (is_l1_ub ? {17'd0, ext_pitch} : ext_s[39:0]))
        && (count0 == 22'd1 || \u_in.u_ext.in_strides_i [79:40] == ext_s0[39:0])
        && (count1 == 22'd1 || \u_in.u_ext.in_strides_i [119:80] == ext_s1[39:0])
        && (count2 == 22'd1 || \u_in.u_ext.in_strides_i [159:120] == ext_s2[39:0]));
  wire loc_ok =
    {1'b0, \u_in.u_loc.in_tail_i } == (is_fill ? {8'd0, fill_len} << 5 : foot)
    && (is_fill ? (fill_at[24] ? \u_in.u_loc.in_base_i >= 24'd524288
                   : \u_in.u_loc.in_base_i == fill_at[23:0])
        : \u_in.u_loc.in_base_i == loc)
    && (rows_less_1 == 24'd0 || \u_in.u_loc.in_strides_i [22:0] == loc_pitch)
    && (is_fill
        || ((count0 == 22'd1 || \u_in.u_loc.in_strides_i [45:23] == {1'b0, loc_s0})
            && (count1 == 22'd1 || \u_in.u_loc.in_strides_i [68:46] == {1'b0, loc_s1})
            && (count2 == 22'd1 || \u_in.u_loc.in_strides_i [91:69] == {1'b0, loc_s2})));

  // ---- the job: a field that no byte of the op depends on is free ----
  wire [31:0] pattern = is_fill ? (desc[`PTO_FILL_WORD32] ? desc[`PTO_FILL_RAW_LSB +: 32]
                                   : {2{desc[`PTO_FILL_RAW_LSB +: 16]}})
                        : !pad ? 32'd0 : elem == 2'd0 ? {4{value[7:0]}}
                        : elem == 2'd1 ? {2{value[15:0]}} : value[31:0];
  wire [23:0] row_foot = is_fill ? {8'd0, fill_len} << 5 : compact ? {2'd0, len} : foot;
  wire [23:0] row_more = is_fill || !compact ? 24'd0 : foot - {2'd0, len};
  wire [2:0]  ub       = desc[`PTO_DMA_UB_SUB] ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  wire pto_words_t   words;
  wire pto_row_t     row;
  wire pto_dma_job_t its;
  assign words.cut      = 1'b0;
  assign words.last     = 1'b0;
  assign words.id       = 4'd0;
  assign words.space    = is_fill || is_gm_l1 ? `PTO_SPACE_L1 : ub;
  assign words.addr     = !is_fill ? loc[19:0] : fill_at[24] ? job_out.row.loc.addr : fill_at[19:0];
  assign words.len      = is_fill ? 20'd0 : is_l1_ub ? len[19:0] << 5 : len[19:0];
  assign words.left     = pad ? l_bytes[5:0] : 6'd0;
  assign words.foot     = row_foot[20:0];
  assign words.pattern  = pattern;
  assign words.fill     = TailFill == 1 && is_gm_ub && !pad;
  assign words.elem     = is_gm_ub ? elem : job_out.row.loc.elem;
  assign row.atomic.kind  = is_ub_gm ? atomic : 3'd0;
  assign row.atomic.op    = row.atomic.kind == 3'd0 ? job_out.row.atomic.op : update;
  assign row.atomic.nosat = row.atomic.kind == 3'd0 ? job_out.row.atomic.nosat
                            : desc[`PTO_DMA_NOSAT];
  assign row.widen      = 2'd0;
  assign row.ext_space  = is_l1_ub ? `PTO_SPACE_L1 : `PTO_SPACE_GM;
  assign row.ext_addr   = is_fill ? job_out.row.ext_addr : ext[39:0];
  assign row.loc        = words;
  assign its.row        = row;
  assign its.more       = row_more[4:0];
  assign its.last       = {less_1[92:72], less_1[68:48], less_1[44:24], less_1[20:0]};
  assign its.ext_stride = {count2 == 22'd1 || is_fill ? job_out.ext_stride[159:120] : ext_s2[39:0],
                           count1 == 22'd1 || is_fill ? job_out.ext_stride[119:80] : ext_s1[39:0],
                           count0 == 22'd1 || is_fill ? job_out.ext_stride[79:40] : ext_s0[39:0],
                           !several || is_fill ? job_out.ext_stride[39:0]
                           : is_l1_ub ? {17'd0, ext_pitch} : ext_s[39:0]};
  assign its.loc_stride = {count2 == 22'd1 || is_fill ? job_out.loc_stride[79:60] : loc_s2[19:0],
                           count1 == 22'd1 || is_fill ? job_out.loc_stride[59:40] : loc_s1[19:0],
                           count0 == 22'd1 || is_fill ? job_out.loc_stride[39:20] : loc_s0[19:0],
                           rows_less_1 == 24'd0 ? job_out.loc_stride[19:0] : loc_pitch[19:0]};

  wire taken = rst_n && desc_valid && ready_in;
  always @* begin
    // Both sums take the same digits.
    assume(\u_in.u_ext.last == \u_in.u_loc.last );
    // Rules of class S: a form is 0 or 1, and pad of the v0.6 form is not of 8-byte elements.
    assume(!is_gm_ub || legacy || (pad_en <= 2'd1 && (pad_en == 2'd0 || elem != 2'd3)));
    // A sum is not less than its base, of which fill bytes may lie after all memories; a fill reads
    // nothing.
    assume(!is_fill || \u_out.u_ext.sum <= 64'd1 << 40);
    assume(!(is_fill && fill_at[24]) || \u_out.u_loc.sum > 46'd524288);
    if (rst_n) begin
      in_step: assert(\u_in.u_ext.in_valid_i == \u_in.u_loc.in_valid_i
                      && \u_in.u_ext.in_skip_i == \u_in.u_loc.in_skip_i
                      && \u_in.u_ext.in_digits_i == \u_in.u_loc.in_digits_i
                      && taken == (\u_in.u_ext.in_valid_i && \u_in.u_ext.last )
                      && taken == (\u_in.u_jobs.wr_valid_i && \u_in.u_jobs.wr_ready_o )
                      && valid_out == \u_out.u_ext.out_valid_o
                      && \u_out.u_jobs.rd_ready_i == (valid_out && job_ready)
                      && (!valid_out || (\u_out.u_ext.out_ready_i == job_ready
                                         && \u_out.u_loc.out_ready_i == job_ready)));
      terms: assert(!taken || !served || early || nop
                    || (!\u_in.u_ext.in_skip_i && \u_in.u_ext.in_digits_i == less_1
                        && ext_ok && loc_ok));
      as_specified: assert(!taken || (verdict.bad == bad && verdict.idle == (bad || nop)
                                      && (!bad || verdict.rule == rule) && tag_out == desc_tag));
      job_exact: assert(!taken || !served || early || nop || job_out == its);
      reach_legal: assert(!(taken && !verdict.bad && !verdict.idle));
      reach_nop: assert(!(taken && !verdict.bad && verdict.idle));
      reach_rule_10: assert(!(taken && verdict.rule == 8'd10));
      reach_end: assert(!(taken && (verdict.rule == 8'd4 || verdict.rule == 8'd12)));
    end
  end
endmodule
