// SPDX-License-Identifier: Apache-2.0
//
// Checks one strided DMA descriptor against its D rules (DMA-L03 to L12, lowest number wins) and
// the zero-count test, and unpacks it into a job. One instance serves any of mte_gm_ub, mte_ub_gm,
// mte_gm_l1 and mte_l1_ub; the opcode of each descriptor decides widths, spaces and rules, and
// fields without an operand of the op are ignored. No access of a bad op reaches a bus: the check
// ends before the first row. Extents are exact (up to 2^64, sums never wrap, A-18).
//
//   op         ext side         local side       rules beyond L05, L06, L07 and L12
//   mte_gm_ub  GM, source       UB, destination  L08; L03, L09 and L10 (pad clause)
//   mte_ub_gm  GM, destination  UB, source       L08
//   mte_gm_l1  GM, source       L1, destination  L08
//   mte_l1_ub  L1, source       UB, destination  own widths (L05), L06 on ext too; L07 for the
//                                                loop strides alone, of both sides
//
// mte_l1_ub counts lengths and gaps in blocks of 32 bytes; its job has bytes and strides as those
// of the other ops. The parameters are the knobs of profiles.md: LenBits limits len and n_burst of
// the ops with a GM side (L05); PadEndBlock ends a padded row with the 32-byte block that holds its
// last demanded byte, not at its stride; TailFill fills the last block of an unpadded row of
// mte_gm_ub (first element of the row) and mte_gm_l1 (zeros); RowRepeatLegal frees a GM source
// stride from L08; CompactLegal frees the row stride of a compact group (rows of any length without
// gaps and pad) from L07, and only the last row of each burst group is filled.
//
// Throughput: the extent is summed from products of one 8-bit digit of a count and one stride,
// one digit that is not zero per clock, at least one clock. An op with d such digits has more
// than d rows, so the check keeps up with the rows; only after an op of fewer rows than d, of
// one clock each, may an op start up to d - 1 clocks late.
// Latency: 1 + max(1, digits) clocks. Limits: GmAddrWidth 40, LocalAddrWidth <= 20. Spec: dma.md 1,
// 3, 5.
//
//   clk         _/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______     two digits: summed in two clocks, taken in the second
//   desc_ready  _____/~~~\_______
//   job_valid   _________/~~~\___     verdict and job, stay until job_ready
`default_nettype none
`include "pto_desc.vh"

module pto_dma_check #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served, out of 1 to 4
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12)
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer LenBits        = 16,     // legal bits of len and n_burst beside GM: 16 or 21
  parameter integer PadEndBlock    = 0,      // end of a padded row: 0 its stride, 1 its block
  parameter integer TailFill       = 0,      // block behind an unpadded row: 0 kept, 1 filled
  parameter integer RowRepeatLegal = 0,      // GM source stride below len: 0 DMA-L08, 1 legal
  parameter integer CompactLegal   = 0       // ragged rows without gaps: 0 DMA-L07, 1 legal
) (
  input  wire                        clk_i,            // clock
  input  wire                        rst_ni,           // asynchronous reset, active low
  input  wire                        desc_valid_i,     // a descriptor is there
  output wire                        desc_ready_o,     // it is taken; its check ends this clock
  input  wire [DescWidth-1:0]        desc_i,           // the descriptor, stable until taken
  input  wire [TagWidth-1:0]         desc_tag_i,       // its tag
  output wire                        job_valid_o,      // a judged op is there
  input  wire                        job_ready_i,      // it is taken
  output wire [TagWidth-1:0]         job_tag_o,        // tag of the op
  output wire                        job_idle_o,       // no rows: bad op or NOP
  output wire                        job_bad_o,        // a rule is violated, or opcode unknown
  output wire [7:0]                  job_rule_o,       // number of that rule, 0: unknown opcode
  output wire [GmAddrWidth-1:0]      job_ext_addr_o,   // ext address of the first row
  output wire [LocalAddrWidth-1:0]   job_loc_addr_o,   // local address of the first row
  output wire [2:0]                  job_space_o,      // local space
  output wire [LocalAddrWidth:0]     job_len_o,        // data bytes of a row
  output wire [5:0]                  job_left_o,       // pad bytes before the data
  output wire [LocalAddrWidth:0]     job_foot_o,       // local bytes of a row, pad, fill included
  output wire [LocalAddrWidth:0]     job_foot_end_o,   // those of the last row of a burst group
  output wire [31:0]                 job_pattern_o,    // pad pattern of four bytes
  output wire [2:0]                  job_repeat_o,     // fill: bit 2 first element, log2 size 1:0
  output wire [83:0]                 job_last_o,       // counts less 1: loop 2, 1, 0, rows
  output wire [4*GmAddrWidth-1:0]    job_ext_stride_o, // ext strides in the same order
  output wire [4*LocalAddrWidth-1:0] job_loc_stride_o  // local strides in the same order
);
  localparam integer ExtSumWidth = 65;       // 2^44 + 4 * 2^21 * 2^40 + 2^21 < 2^64
  localparam integer LocSumWidth = 46;       // 2^24 + 2^12 * 2^22 + 4 * 2^21 * 2^21 < 2^45
  localparam [ExtSumWidth-1:0] GM_END  = {{(ExtSumWidth - 1){1'b0}}, 1'b1} << `PTO_GM_ADDR_BITS;
  localparam [LocSumWidth-1:0] UB_END  = {{(LocSumWidth - 32){1'b0}}, UbSize[31:0]};
  localparam [LocSumWidth-1:0] L1_END  = {{(LocSumWidth - 32){1'b0}}, L1Size[31:0]};

  // ---- the op ----
  wire [7:0] opcode   = desc_i[`PTO_DESC_OPCODE];
  wire       is_gm_ub = Ops[`PTO_OP_MTE_GM_UB] && opcode == `PTO_OP_MTE_GM_UB;
  wire       is_ub_gm = Ops[`PTO_OP_MTE_UB_GM] && opcode == `PTO_OP_MTE_UB_GM;
  wire       is_gm_l1 = Ops[`PTO_OP_MTE_GM_L1] && opcode == `PTO_OP_MTE_GM_L1;
  wire       is_l1_ub = Ops[`PTO_OP_MTE_L1_UB] && opcode == `PTO_OP_MTE_L1_UB;
  wire       is_known = is_gm_ub || is_ub_gm || is_gm_l1 || is_l1_ub;
  wire       ext_l1   = is_l1_ub;            // the ext side is on chip
  wire       loc_l1   = is_gm_l1;            // the local side is L1, not UB

  // ---- fields. A loop that the op does not have counts once and moves nothing. ----
  wire [1:0]  elem     = desc_i[`PTO_DMA_ELEM_LOG2];
  wire [1:0]  n_loops  = desc_i[`PTO_DMA_N_LOOPS];
  wire [4:0]  l2       = desc_i[`PTO_DMA_L2];
  wire [21:0] len      = desc_i[`PTO_DMA_LEN];
  wire [21:0] n_burst  = desc_i[`PTO_DMA_N_BURST];
  wire [43:0] ext_addr = desc_i[`PTO_DMA_EXT_ADDR];
  wire [23:0] loc_addr = desc_i[`PTO_DMA_LOC_ADDR];
  wire [40:0] ext_s    = desc_i[`PTO_DMA_EXT_STRIDE];
  wire [21:0] loc_s    = desc_i[`PTO_DMA_LOC_STRIDE];

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
  wire        in_bytes = desc_i[`PTO_DMA_PAD_IN_BYTES];
  wire        pad      = pad_en == 2'd1;
  wire        fits     = elem != 2'd3;       // an element of the pattern fits (DMA-L03)
  wire [11:0] left     = in_bytes ? {3'd0, pad_l} : {3'd0, pad_l} << elem;
  wire [11:0] right    = in_bytes ? {3'd0, pad_r} : {3'd0, pad_r} << elem;
  wire [2:0]  elem_low = (elem == 2'd0) ? 3'b000 : (elem == 2'd1) ? 3'b001
                       : (elem == 2'd2) ? 3'b011 : 3'b111;   // address bits below an element
  wire        val_wide = (elem == 2'd0) ? |pad_val[32:8]
                       : (elem == 2'd1) ? |pad_val[32:16] : pad_val[32];
  wire [31:0] pattern  = (elem == 2'd0) ? {4{pad_val[7:0]}}
                       : (elem == 2'd1) ? {2{pad_val[15:0]}} : pad_val[31:0];

  // ---- compact group: rows without pad and gaps, of one iteration of the loops ----
  wire many     = n_burst > 22'd1;
  wire from_gm  = is_gm_ub || is_gm_l1;
  wire compact  = CompactLegal != 0 && from_gm && !pad && many && loc_s == len;

  // ---- bytes of a row. Those of fill reach up to a multiple of 32, so five bits decide. ----
  wire [20:0] row_len   = ext_l1 ? {len[15:0], 5'd0} : len[20:0];
  wire [21:0] demanded  = {10'd0, left} + len + {10'd0, right};
  wire [20:0] pad_foot  = (PadEndBlock != 0) ? {demanded[20:5] + {15'd0, |demanded[4:0]}, 5'd0}
                        : loc_s[20:0];
  wire [4:0]  group_low = compact ? n_burst[4:0] * len[4:0] : len[4:0];
  wire [4:0]  fill      = (TailFill != 0 && from_gm) ? 5'd0 - group_low : 5'd0;
  wire [20:0] foot_end  = pad ? pad_foot : row_len + {16'd0, fill};
  wire [20:0] foot      = compact ? row_len : foot_end;

  // ---- rules but the extents ----
  wire nop = (len == 22'd0) || (n_burst == 22'd0)
          || (count0 == 22'd0) || (count1 == 22'd0) || (count2 == 22'd0);

  wire l03 = pad && !fits;
  wire [40:0] ext_loop = ext_s0 | ext_s1 | ext_s2;
  wire l05_l1 = |(len >> `PTO_W_MTE_L1_UB_LEN) || |(n_burst >> `PTO_W_MTE_L1_UB_N_BURST)
             || |(ext_s >> `PTO_W_MTE_L1_UB_EXT_STRIDE) || |(loc_s >> `PTO_W_MTE_L1_UB_LOC_STRIDE)
             || |(ext_loop >> `PTO_W_MTE_L1_UB_LOOP_EXT_STRIDE);
  wire l05_gm = |(len >> LenBits) || |(n_burst >> LenBits) || loc_s[21]
             || ext_s[40] || ext_loop[40];
  wire l05 = (ext_l1 ? l05_l1 : l05_gm)
          || count0[21] || loc_s0[21] || count1[21] || loc_s1[21] || count2[21] || loc_s2[21]
          || (is_gm_ub && |(l2 >> `PTO_W_MTE_GM_UB_L2))
          || (is_ub_gm && |(l2 >> `PTO_W_MTE_UB_GM_L2))
          || pad_en[1] || pad_l[8] || pad_r[8] || (pad && val_wide)
          || (pad_en == 2'd0 && (pad_l != 9'd0 || pad_r != 9'd0));
  wire l06 = |loc_addr[4:0] || (ext_l1 && |ext_addr[4:0]);
  // Offsets from 32 of the on-chip strides of one count, from both sides where both are on chip.
  // Gaps have none.
  wire [4:0]  ext_used = {5{ext_l1}};
  wire [4:0]  odd_row  = (ext_l1 || compact) ? 5'd0 : loc_s[4:0];
  wire [4:0]  odd0     = loc_s0[4:0] | (ext_s0[4:0] & ext_used);
  wire [4:0]  odd1     = loc_s1[4:0] | (ext_s1[4:0] & ext_used);
  wire [4:0]  odd2     = loc_s2[4:0] | (ext_s2[4:0] & ext_used);
  wire l07 = ((many || pad) && |odd_row) || (count0 > 22'd1 && |odd0)
          || (count1 > 22'd1 && |odd1) || (count2 > 22'd1 && |odd2);
  wire repeats = RowRepeatLegal != 0 && from_gm;           // a GM source stride is not tested
  wire l08 = !ext_l1 && many && ((ext_s < {19'd0, len} && !repeats) || loc_s < len);
  wire l09 = pad && (|(len[2:0] & elem_low) || left > 12'd32 || right > 12'd32
                     || |((left[2:0] | right[2:0]) & elem_low));  // of element counts always 0
  wire l10 = pad && ({11'd0, left} + {1'b0, len} + {11'd0, right} > {1'b0, loc_s});

  reg       bad;
  reg [3:0] rule;
  always @* begin
    bad  = 1'b1;
    rule = 4'd0;
    if (!is_known) rule = 4'd0;
    else if (l03) rule = 4'd3;
    else if (l05) rule = 4'd5;
    else if (l06) rule = 4'd6;
    else if (l07) rule = 4'd7;
    else if (l08) rule = 4'd8;
    else if (l09) rule = 4'd9;
    else if (l10) rule = 4'd10;
    else bad = 1'b0;
  end

  // ---- extents: base + sum of (count - 1) * stride, digit by digit ----
  wire [20:0]  last0 = count0[20:0] - 21'd1;
  wire [20:0]  last1 = count1[20:0] - 21'd1;
  wire [20:0]  last2 = count2[20:0] - 21'd1;
  wire [20:0]  last_row = n_burst[20:0] - 21'd1;
  wire [127:0] digits = {11'd0, last2, 11'd0, last1, 11'd0, last0, 11'd0, last_row};

  // Row strides in bytes: a gap counts from the end of the burst.
  wire [16:0]  ext_pitch = {1'b0, len[15:0]} + {1'b0, ext_s[15:0]};
  wire [16:0]  loc_pitch = {1'b0, len[15:0]} + {1'b0, loc_s[15:0]};
  wire [39:0]  ext_row = ext_l1 ? {18'd0, ext_pitch, 5'd0} : ext_s[39:0];
  wire [21:0]  loc_row = ext_l1 ? {loc_pitch, 5'd0} : {1'b0, loc_s[20:0]};

  reg [15:0]            seen_q;              // digits already summed
  reg [ExtSumWidth-1:0] ext_acc_q;
  reg [LocSumWidth-1:0] loc_acc_q;

  function [15:0] digit_used;                // which of the 16 digits are not zero
    input [127:0] value;
    integer k;
    for (k = 0; k < 16; k = k + 1) digit_used[k] = |value[8*k +: 8];
  endfunction

  function [3:0] lowest;                     // index of the lowest set bit, 0 if there is none
    input [15:0] set;
    integer k;
    begin
      lowest = 4'd0;
      for (k = 15; k >= 0; k = k - 1) if (set[k]) lowest = k[3:0];
    end
  endfunction

  wire [15:0] todo  = (nop || bad) ? 16'd0 : digit_used(digits) & ~seen_q;
  wire        done  = (todo & (todo - 16'd1)) == 16'd0;
  wire [3:0]  sel   = lowest(todo);
  wire [7:0]  digit = (todo == 16'd0) ? 8'd0 : digits[{sel, 3'b000} +: 8];

  reg [39:0] ext_mul;
  reg [21:0] loc_mul;
  always @* begin
    case (sel[3:2])
      2'd0:    begin ext_mul = ext_row;      loc_mul = loc_row;              end
      2'd1:    begin ext_mul = ext_s0[39:0]; loc_mul = {1'b0, loc_s0[20:0]}; end
      2'd2:    begin ext_mul = ext_s1[39:0]; loc_mul = {1'b0, loc_s1[20:0]}; end
      default: begin ext_mul = ext_s2[39:0]; loc_mul = {1'b0, loc_s2[20:0]}; end
    endcase
  end

  wire [47:0] ext_prod = {40'd0, digit} * {8'd0, ext_mul};
  wire [29:0] loc_prod = {22'd0, digit} * {8'd0, loc_mul};
  wire [ExtSumWidth-1:0] ext_base = (seen_q == 16'd0) ? {21'd0, ext_addr} : ext_acc_q;
  wire [LocSumWidth-1:0] loc_base = (seen_q == 16'd0) ? {22'd0, loc_addr} : loc_acc_q;
  wire [ExtSumWidth-1:0] ext_sum  = ext_base + ({17'd0, ext_prod} << {sel[1:0], 3'b000});
  wire [LocSumWidth-1:0] loc_sum  = loc_base + ({16'd0, loc_prod} << {sel[1:0], 3'b000});

  // ---- the checked op ----
  reg                        job_valid_q;
  reg [TagWidth-1:0]         tag_q;
  reg                        bad_q;
  reg [3:0]                  rule_q;
  reg                        nop_q;
  reg [ExtSumWidth-1:0]      ext_sum_q;
  reg [LocSumWidth-1:0]      loc_sum_q;
  reg [GmAddrWidth-1:0]      ext_addr_q;
  reg [LocalAddrWidth-1:0]   loc_addr_q;
  reg                        ext_l1_q;
  reg                        loc_l1_q;
  reg                        sub_q;
  reg [20:0]                 len_q;
  reg [5:0]                  left_q;
  reg [20:0]                 foot_q;
  reg [20:0]                 foot_end_q;
  reg [31:0]                 pattern_q;
  reg [2:0]                  repeat_q;
  reg [83:0]                 last_q;
  reg [4*GmAddrWidth-1:0]    ext_stride_q;
  reg [4*LocalAddrWidth-1:0] loc_stride_q;

  wire job_free = !job_valid_q || job_ready_i;
  wire load     = desc_valid_i && done && job_free;
  assign desc_ready_o = done && job_free;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q      <= 16'd0;
      job_valid_q <= 1'b0;
    end else begin
      if (load) seen_q <= 16'd0;
      else if (desc_valid_i && !done) seen_q <= seen_q | (16'd1 << sel);
      if (job_free) job_valid_q <= load;
    end
  end

  always @(posedge clk_i) begin
    if (desc_valid_i && !done) begin
      ext_acc_q <= ext_sum;
      loc_acc_q <= loc_sum;
    end
    if (load) begin
      tag_q        <= desc_tag_i;
      bad_q        <= bad;
      rule_q       <= rule;
      nop_q        <= nop;
      ext_sum_q    <= ext_sum;
      loc_sum_q    <= loc_sum;
      ext_addr_q   <= ext_addr[GmAddrWidth-1:0];
      loc_addr_q   <= loc_addr[LocalAddrWidth-1:0];
      ext_l1_q     <= ext_l1;
      loc_l1_q     <= loc_l1;
      sub_q        <= desc_i[`PTO_DMA_UB_SUB];
      len_q        <= row_len;
      left_q       <= pad ? left[5:0] : 6'd0;
      foot_q       <= foot;
      foot_end_q   <= foot_end;
      pattern_q    <= pad ? pattern : 32'd0;
      repeat_q     <= {TailFill != 0 && is_gm_ub && !pad, elem};
      last_q       <= {last2, last1, last0, last_row};
      ext_stride_q <= {ext_s2[GmAddrWidth-1:0], ext_s1[GmAddrWidth-1:0],
                       ext_s0[GmAddrWidth-1:0], ext_row[GmAddrWidth-1:0]};
      loc_stride_q <= {loc_s2[LocalAddrWidth-1:0], loc_s1[LocalAddrWidth-1:0],
                       loc_s0[LocalAddrWidth-1:0], loc_row[LocalAddrWidth-1:0]};
    end
  end

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_DMA_LOOP2_LOC_STRIDE_LSB + `PTO_DMA_LOOP2_LOC_STRIDE_CW;
  wire unused = &{1'b0, desc_i[DescWidth-1:UsedBits], demanded[21]};

  // DMA-L12 last: it is the highest number, and a NOP accesses no byte.
  wire [ExtSumWidth-1:0] ext_end = ext_l1_q ? {{(ExtSumWidth - LocSumWidth){1'b0}}, L1_END}
                                 : GM_END;
  wire [LocSumWidth-1:0] loc_end = loc_l1_q ? L1_END : UB_END;
  // Strides are not negative, so that the last row of the last iteration ends last.
  wire l12 = (ext_sum_q + {44'd0, len_q} > ext_end)
          || (loc_sum_q + {25'd0, foot_end_q} > loc_end);

  assign job_valid_o      = job_valid_q;
  assign job_tag_o        = tag_q;
  assign job_bad_o        = bad_q || (!nop_q && l12);
  assign job_idle_o       = job_bad_o || nop_q;
  assign job_rule_o       = bad_q ? {4'd0, rule_q} : (!nop_q && l12) ? 8'd12 : 8'd0;
  assign job_loc_addr_o   = loc_addr_q;
  assign job_space_o      = loc_l1_q ? `PTO_SPACE_L1 : sub_q ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  assign job_ext_addr_o   = ext_addr_q;
  assign job_ext_stride_o = ext_stride_q;
  assign job_len_o        = len_q[LocalAddrWidth:0];       // of a legal op, as the next two
  assign job_foot_o       = foot_q[LocalAddrWidth:0];
  assign job_foot_end_o   = foot_end_q[LocalAddrWidth:0];
  assign job_left_o       = left_q;
  assign job_pattern_o    = pattern_q;
  assign job_repeat_o     = repeat_q;
  assign job_last_o       = last_q;
  assign job_loc_stride_o = loc_stride_q;
endmodule

`default_nettype wire
