// SPDX-License-Identifier: Apache-2.0
//
// The verdict of pto_fix_check on every descriptor is that of the rules of fixpipe.md 10, written
// here a second time from sections 1, 2, 4, 6 and 10. Both sums grow by the product of one digit of
// 8 bits and its stride per clock; the factors are those of the specification, each digit is added
// once, and one that is left out is 0.
// Sources: pto_fix/pto_fix_check.sv
// Variant: Modes=1
// Bugs: fix_l07_s8_128:as_specified fix_l14_unit_flag_one:as_specified
// Bugs: fix_l16_dst_of_16_bit:as_specified fix_l17_without_d3:as_specified
// Bugs: fix_l22_exact_end:as_specified fix_rule_priority:as_specified split_on_l1:as_specified
// Bugs: fix_l26_op_without_type:as_specified dn_rows_lose_bit_12:lemma_counts
`include "pto_desc.vh"

module prove #(
  parameter integer Modes = 0                // knob modes: 1 is a5
) (
  input wire         clk,
  input wire         desc_valid,
  input wire [409:0] offered,                // the descriptor, until it is held
  input wire         job_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  reg          have = 1'b0;                  // a descriptor is being judged
  reg  [409:0] held;
  wire [409:0] desc = have ? held : offered;
  wire         job_valid, idle, bad;
  wire [7:0]   rule;
  wire [11:0]  last_word;
  pto_fix_check #(.ModesA5(Modes)) u_check (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(have || desc_valid), .desc_i(desc),
    .job_valid_o(job_valid), .job_ready_i(job_ready), .job_idle_o(idle), .job_bad_o(bad),
    .job_rule_o(rule), .job_last_word_o(last_word)
  );
  (* hierconn *) wire [1:0]  \u_check.state_q ;
  (* hierconn *) wire        \u_check.bad_q ;
  (* hierconn *) wire        \u_check.nop_q ;
  (* hierconn *) wire        \u_check.l23_q ;
  (* hierconn *) wire        \u_check.l26_q ;
  (* hierconn *) wire [1:0]  \u_check.elem_q ;
  (* hierconn *) wire [7:0]  \u_check.src_digit ;
  (* hierconn *) wire [15:0] \u_check.src_mul ;
  (* hierconn *) wire [7:0]  \u_check.dst_digit ;
  (* hierconn *) wire [31:0] \u_check.dst_mul ;
  (* hierconn *) wire [39:0] \u_check.src_digits_q ;
  (* hierconn *) wire [31:0] \u_check.dst_digits_q ;
  (* hierconn *) wire [4:0]  \u_check.src_todo_q ;
  (* hierconn *) wire [3:0]  \u_check.dst_todo_q ;
  (* hierconn *) wire [33:0] \u_check.src_prod_q ;
  (* hierconn *) wire [33:0] \u_check.src_sum_q ;
  (* hierconn *) wire [49:0] \u_check.dst_prod_q ;
  (* hierconn *) wire [49:0] \u_check.dst_sum_q ;

  // ---- the operands ----
  wire [7:0]  opcode     = desc[`PTO_DESC_OPCODE];
  wire [3:0]  dst_type   = desc[`PTO_FIX_DST_TYPE];
  wire [5:0]  quant      = desc[`PTO_FIX_QUANT];
  wire [23:0] records    = desc[`PTO_FIX_QUANT_ADDR];
  wire [2:0]  relu       = desc[`PTO_FIX_RELU];
  wire [23:0] alphas     = desc[`PTO_FIX_RELU_ADDR];
  wire        clipped    = desc[`PTO_FIX_CLIP_EN];
  wire [15:0] clip       = desc[`PTO_FIX_CLIP];
  wire [2:0]  type_of_atomic = desc[`PTO_FIX_ATOMIC_TYPE];
  wire [1:0]  op_of_atomic   = desc[`PTO_FIX_ATOMIC_OP];
  wire [2:0]  unit_flag  = desc[`PTO_FIX_UNIT_FLAG];
  wire [1:0]  layout     = desc[`PTO_FIX_LAYOUT];
  wire [1:0]  split      = desc[`PTO_FIX_SPLIT];
  wire [1:0]  ub_mode    = desc[`PTO_FIX_UB_MODE];
  wire [1:0]  ub_sub     = desc[`PTO_FIX_UB_SUB];
  wire        loop3      = desc[`PTO_FIX_LOOP3_EN];
  wire [16:0] count      = desc[`PTO_FIX_LOOP3_COUNT];
  wire [16:0] s3         = desc[`PTO_FIX_LOOP3_SRC];
  wire [32:0] d3         = desc[`PTO_FIX_LOOP3_DST];
  wire [16:0] k          = desc[`PTO_FIX_K];
  wire [16:0] m          = desc[`PTO_FIX_M];
  wire [12:0] n          = desc[`PTO_FIX_N];
  wire [16:0] src_stride = desc[`PTO_FIX_SRC_STRIDE];
  wire [32:0] ds         = desc[`PTO_FIX_DST_STRIDE];
  wire [23:0] src        = desc[`PTO_FIX_SRC_ADDR];
  wire [43:0] dst        = desc[`PTO_FIX_DST_ADDR];
  wire [2:0]  sid        = desc[`PTO_FIX_SID];
  wire [4:0]  l2         = desc[`PTO_FIX_L2];

  wire gm = opcode == `PTO_OP_MTE_L0C_GM;
  wire l1 = opcode == `PTO_OP_MTE_L0C_L1;
  wire ub = opcode == `PTO_OP_MTE_L0C_UB;
  wire rows_first = layout <= 2'd1;          // omitted, which is nz2nd, and nz2nd
  wire dn = layout == 2'd2;
  wire nz = layout == 2'd3;
  wire split_m = ub && ub_mode == 2'd1;
  wire split_n = ub && ub_mode == 2'd2;
  wire nop = m == 17'd0 || n == 13'd0 || (loop3 && count == 17'd0);

  // Elements in nibbles: f32 and i32 8; f16, bf16 and i16 4; 8-bit types 2; s4 1.
  wire       s4 = dst_type == 4'd9;
  wire [3:0] e  = dst_type == 4'd0 || dst_type == 4'd1 ? 4'd8
                  : dst_type == 4'd2 || dst_type == 4'd3 || dst_type == 4'd4 ? 4'd4
                  : s4 ? 4'd1 : 4'd2;
  wire [1:0] e_log2 = e == 4'd8 ? 2'd3 : e == 4'd4 ? 2'd2 : e == 4'd2 ? 2'd1 : 2'd0;
  // Elements of a block of 32 bytes, less 1.
  wire [32:0] in_block = e == 4'd8 ? 33'd7 : e == 4'd4 ? 33'd15 : e == 4'd2 ? 33'd31 : 33'd63;

  // Codes of the modes with a vector, of which the next one has a scalar.
  reg vec_quant;
  always @*
    case (quant)
      6'd2, 6'd4, 6'd6, 6'd8, 6'd10, 6'd12, 6'd14, 6'd17, 6'd19, 6'd21, 6'd23, 6'd25, 6'd27, 6'd29,
      6'd31, 6'd33, 6'd35: vec_quant = 1'b1;
      default: vec_quant = 1'b0;
    endcase
  wire vec_relu = relu == 3'd3;
  wire [15:0] most_clip = dst_type == 4'd2 ? 16'h7bff : dst_type == 4'd8 ? 16'd255
                          : dst_type == 4'd9 ? 16'd7 : dst_type == 4'd7 ? 16'd127 : 16'd32767;

  // ---- the rules but the ends ----
  wire l07 = clipped && (clip < 16'd1 || clip > most_clip);
  wire l14 = m > (nz ? 17'd65535 : 17'd8192) || n > 13'd4095 || src_stride > 17'd65535
             || ds < 33'd1 || ds > 33'hffff_ffff || (gm && (sid > 3'd3 || l2 > 5'd15))
             || !(unit_flag == 3'd0 || unit_flag == 3'd2 || unit_flag == 3'd3)
             || (dn && (k < 17'd1 || k > 17'd65535)) || (nz && split > 2'd1)
             || (loop3 && (count > 17'd65535 || s3 > 17'd65535 || d3 > 33'hffff_ffff))
             || (ub && ub_mode == 2'd0 && ub_sub > 2'd1);
  wire l15 = n > 13'd16 && src_stride % 17'd16 != 17'd0;
  wire l16 = src % 24'd64 != 24'd0 || (gm ? (e == 4'd8 && dst % 44'd4 != 44'd0)
                                            || (e == 4'd4 && dst % 44'd2 != 44'd0)
                                       : dst % 44'd32 != 44'd0);
  wire l17 = (l1 || ub) && ((ds & in_block) != 33'd0 || (loop3 && (d3 & in_block) != 33'd0));
  wire l18 = s4 && (ds % 33'd2 != 33'd0 || (loop3 && d3 % 33'd2 != 33'd0)
                    || (rows_first && n % 13'd2 != 13'd0) || (dn && m % 17'd2 != 17'd0));
  wire l19 = nz && (split == 2'd1 ? n % 13'd8 != 13'd0 : n % 13'd16 != 13'd0);
  wire l20 = (unit_flag >= 3'd2 && dn && k != 17'd1)
             || (Modes == 1 && nz && split == 2'd1 && (!gm || unit_flag != 3'd0));
  wire l21 = (split_m && m % 17'd2 != 17'd0) || (split_n && n % 13'd32 != 13'd0);
  wire l22 = (vec_quant && (records[23:16] != 8'd0 || records % 24'd128 != 24'd0
                            || (!nop && {4'd0, records[15:0]} + {4'd0, n, 3'd0} > 20'd4096)))
             || (vec_relu && (alphas[23:16] > 8'd1 || alphas % 24'd64 != 24'd0
                              || (!nop && {4'd0, alphas[15:0]} + {5'd0, n, 2'd0} > 20'd4096)));
  wire l26 = gm && (type_of_atomic == 3'd7 || (op_of_atomic == 2'd3 && type_of_atomic != 3'd0));
  wire served = gm || l1 || ub;
  wire early  = !served || l07 || l14 || l15 || l16 || l17 || l18 || l19 || l20 || l21 || l22;
  wire [7:0] first = !served ? 8'd0 : l07 ? 8'd7 : l14 ? 8'd14 : l15 ? 8'd15 : l16 ? 8'd16
                     : l17 ? 8'd17 : l18 ? 8'd18 : l19 ? 8'd19 : l20 ? 8'd20 : l21 ? 8'd21 : 8'd22;

  // ---- what both ends are made of, by section 2: the counts, less 1, of what has a stride ----
  // Source, in words of 16 accumulators: repeats at S3, groups of 16 columns, rows at K. Rows that
  // follow each other are in the first sum.
  wire [15:0] repeats = loop3 ? count[15:0] - 16'd1 : 16'd0;
  wire [12:0] n_last  = n - 13'd1;
  wire [15:0] m_last  = m[15:0] - 16'd1;
  wire        follow  = !dn || k == 17'd1;
  wire [39:0] src_counts = {follow ? 16'd0 : m_last, n_last[11:4], repeats};
  wire [33:0] src_first  = {16'd0, src[23:6]} + (follow ? {18'd0, m_last} : 34'd0);
  // Destination, in elements: repeats at D3; rows, columns or groups of columns at DS; elements
  // from there to the end. Each half of a split is its own.
  wire [15:0] rows    = split_m ? m[16:1] : m[15:0];
  wire [12:0] columns = split_n ? n >> 1 : n;
  wire [12:0] groups  = split == 2'd1 ? n >> 3 : n >> 4;
  wire [15:0] dst_rows = (dn ? {3'd0, n} : nz ? {3'd0, groups} : rows) - 16'd1;
  wire [31:0] dst_counts = {dst_rows, repeats};
  wire [49:0] dst_first  = dn ? {34'd0, m[15:0]}
                           : nz ? (split == 2'd1 ? {31'd0, m[15:0], 3'd0} : {30'd0, m[15:0], 4'd0})
                           : {37'd0, columns};

  // ---- the descriptor that is judged ----
  wire        start   = rst_n && desc_valid && !have;
  wire        summing = have && \u_check.state_q == 2'd1;
  reg         early_q, nop_q, l26_q, end_q;
  reg  [1:0]  e_log2_q;
  reg  [7:0]  first_q;
  reg  [3:0]  clocks;
  reg  [39:0] src_counts_q;
  reg  [31:0] dst_counts_q;
  reg  [4:0]  src_some, src_added;           // digits that are not 0, and those that were added
  reg  [3:0]  dst_some, dst_added;
  reg         src_due, dst_due;              // the product of a digit is still to be added
  reg  [33:0] src_term, src_sum;
  reg  [49:0] dst_term, dst_sum;
  wire [4:0]  src_left = src_some & ~src_added;
  wire [3:0]  dst_left = dst_some & ~dst_added;
  wire [2:0]  src_at = src_left[0] ? 3'd0 : src_left[1] ? 3'd1 : src_left[2] ? 3'd2
                       : src_left[3] ? 3'd3 : 3'd4;
  wire [1:0]  dst_at = dst_left[0] ? 2'd0 : dst_left[1] ? 2'd1 : dst_left[2] ? 2'd2 : 2'd3;
  wire [23:0] src_product = {16'd0, \u_check.src_digit } * {8'd0, \u_check.src_mul };
  wire [39:0] dst_product = {32'd0, \u_check.dst_digit } * {8'd0, \u_check.dst_mul };
  wire [53:0] end_at  = {9'd0, dst, 1'b0}    // in nibbles
                        + ({4'd0, \u_check.dst_sum_q } << \u_check.elem_q );
  wire [53:0] most    = gm ? 54'd1 << 41 : l1 ? 54'd1 << 20 : 54'd1 << 19;
  wire        l23     = \u_check.src_sum_q > 34'd4095 || end_at > most;
  integer b;
  always @(posedge clk) if (rst_n) begin
    if (start) have <= 1'b1;
    else if (job_valid && job_ready) have <= 1'b0;
    if (start) begin
      held <= offered;
      {early_q, nop_q, l26_q, first_q, e_log2_q} <= {early, nop, l26, first, e_log2};
      {src_counts_q, dst_counts_q}     <= {src_counts, dst_counts};
      {src_sum, src_term} <= {src_first, 34'd0};
      {dst_sum, dst_term} <= {dst_first, 50'd0};
      {src_due, dst_due}  <= 2'd0;
      src_added <= 5'd0;
      dst_added <= 4'd0;
      for (b = 0; b < 5; b = b + 1) src_some[b] <= src_counts[8*b +: 8] != 8'd0;
      for (b = 0; b < 4; b = b + 1) dst_some[b] <= dst_counts[8*b +: 8] != 8'd0;
      clocks <= 4'd1;
    end else if (clocks != 4'd15) clocks <= clocks + 4'd1;
    if (summing) begin
      src_sum <= \u_check.src_sum_q + \u_check.src_prod_q ;    // lemmas: of the sum and term here
      dst_sum <= \u_check.dst_sum_q + \u_check.dst_prod_q ;
      src_term <= src_left == 5'd0 ? 34'd0
                  : {10'd0, src_product} << (src_at == 3'd1 || src_at == 3'd4 ? 8 : 0);
      dst_term <= dst_left == 4'd0 ? 50'd0 : {10'd0, dst_product} << (dst_at[0] ? 8 : 0);
      {src_due, dst_due} <= {src_left != 5'd0, dst_left != 4'd0};
      if (src_left != 5'd0) src_added[src_at] <= 1'b1;
      if (dst_left != 4'd0) dst_added[dst_at] <= 1'b1;
    end
    if (have && \u_check.state_q == 2'd2) end_q <= l23;
  end

  function [3:0] ones;
    input [4:0] set;
    ones = {3'd0, set[0]} + {3'd0, set[1]} + {3'd0, set[2]} + {3'd0, set[3]} + {3'd0, set[4]};
  endfunction

  wire l23_q = !nop_q && end_q;
  wire wrong = early_q || l23_q || l26_q;

  always @* begin
    // Rules of class S.
    assume(dst_type <= 4'd9 && quant <= 6'd36 && relu <= 3'd3);
    assume(!clipped || dst_type == 4'd2 || dst_type == 4'd4 || dst_type >= 4'd7);
    assume(!ub || ub_mode != 2'd3);
    assume(!loop3 || layout == 2'd1 || dn);
    assume(!nz || dst_type == 4'd0);
    assume(!(split_m || split_n) || (rows_first && !loop3));
    if (rst_n) begin
      lemma_have: assert(have == (\u_check.state_q != 2'd0));
      lemma_early: assert(!have || (\u_check.bad_q == early_q && \u_check.nop_q == nop_q));
      lemma_rule: assert(!have || !early_q || rule == first_q);
      lemma_26: assert(!have || \u_check.l26_q == l26_q);
      lemma_size: assert(!have || \u_check.elem_q == e_log2_q);
      lemma_end: assert(!job_valid || early_q || \u_check.l23_q == (!nop_q && end_q));
      lemma_counts: assert(!have || early_q || nop_q || (\u_check.src_digits_q == src_counts_q
                                                         && \u_check.dst_digits_q == dst_counts_q));
      lemma_left: assert(!have || early_q || nop_q || (\u_check.src_todo_q == src_left
                                                       && \u_check.dst_todo_q == dst_left));
      lemma_factors: assert(!summing || early_q || nop_q
                            || ((src_left == 5'd0
                                 || (\u_check.src_digit == src_counts_q[8*src_at +: 8]
                                     && \u_check.src_mul == (src_at <= 3'd1 ? s3[15:0]
                                                             : src_at == 3'd2 ? src_stride[15:0]
                                                             : k[15:0])))
                                && (dst_left == 4'd0
                                    || (\u_check.dst_digit == dst_counts_q[8*dst_at +: 8]
                                        && \u_check.dst_mul == (dst_at <= 2'd1 ? d3[31:0]
                                                                : ds[31:0])))));
      lemma_src_term: assert(!have || early_q || nop_q || \u_check.src_prod_q == src_term);
      lemma_dst_term: assert(!have || early_q || nop_q || \u_check.dst_prod_q == dst_term);
      lemma_src_sum: assert(!have || early_q || nop_q || \u_check.src_sum_q == src_sum);
      lemma_dst_sum: assert(!have || early_q || nop_q || \u_check.dst_sum_q == dst_sum);
      lemma_clocks: assert(!have || (\u_check.state_q == 2'd1
                                     ? clocks <= 4'd6 && clocks != 4'd0
                                       && (src_left == 5'd0 || ones(src_added) == clocks - 4'd1)
                                       && (dst_left == 4'd0
                                           || ones({1'b0, dst_added}) == clocks - 4'd1)
                                     : \u_check.state_q != 2'd2 || clocks <= 4'd7));
      complete: assert(!have || early_q || nop_q || \u_check.state_q == 2'd1
                       || (src_left == 5'd0 && dst_left == 4'd0 && !src_due && !dst_due));
      in_time: assert(!have || job_valid || clocks < 4'd8);
      as_specified: assert(!job_valid || (bad == wrong && idle == (wrong || nop_q)
                                          && (!wrong || rule == (early_q ? first_q : l23_q ? 8'd23
                                                                 : 8'd26))
                                          && (wrong || nop_q || last_word == src_sum[11:0])));
      reach_legal: assert(!(job_valid && !bad && !idle));
      reach_nop: assert(!(job_valid && !bad && idle));
      reach_end: assert(!(job_valid && rule == 8'd23));
    end
  end
endmodule
