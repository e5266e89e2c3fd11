// SPDX-License-Identifier: Apache-2.0
//
// The verdict of pto_l0_check on every descriptor is that of the rules of l0_loads.md 5, written here a
// second time from sections 1, 2 and 4. Lemmas tie the registers of the part to those here; a product
// of factors that the part does not multiply is free, but for what is true of any such product. The
// job of a legal op has the loops of sections 2 and 4, addresses modulo the 2^15 blocks that it counts.
// Sources: pto_mte1/pto_l0_check.sv
// Bugs: l0_rule3_stride_zero:as_specified l0_rule4_of_256:as_specified
// Bugs: l0_rule5_four_bits:as_specified l0_rule6_one_fractal:as_specified
// Bugs: l0_rule6_far_start:as_specified l0_rule_order:as_specified
// Bugs: start_times_stride_in_27_bits:lemma_at depth_of_4_bits_in_7_bits:lemma_columns
// Bugs: columns_of_4_bits_in_5_bits:lemma_columns
`include "pto_records.vh"

module prove (
  input wire         clk,
  input wire         desc_valid,
  input wire [511:0] desc,
  input wire [7:0]   desc_tag,
  input wire         job_ready,
  input wire [31:0]  at,                     // start * stride of the source
  input wire [23:0]  over,                   // (steps - 1) * stride of the source
  input wire [25:0]  across                  // (columns - 1) * stride of the destination
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire               desc_ready, busy, job_valid;
  wire [7:0]         job_tag;
  wire pto_verdict_t verdict;
  wire pto_l0_job_t  job;
  pto_l0_check u_check (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(desc_valid), .desc_ready_o(desc_ready), .desc_i(desc),
    .desc_tag_i(desc_tag), .busy_o(busy), .job_valid_o(job_valid), .job_ready_i(job_ready),
    .job_tag_o(job_tag), .job_verdict_o(verdict), .job_o(job)
  );
  (* hierconn *) wire         \u_check.bad_q ;
  (* hierconn *) wire         \u_check.nop_q ;
  (* hierconn *) wire         \u_check.far_q ;
  (* hierconn *) wire         \u_check.scales_q ;
  (* hierconn *) wire [2:0]   \u_check.rule_q ;
  (* hierconn *) wire [14:0]  \u_check.src_q ;
  (* hierconn *) wire [21:0]  \u_check.src_room_q ;
  (* hierconn *) wire [27:9]  \u_check.dst_q ;
  (* hierconn *) wire [27:0]  \u_check.src_first_q ;
  (* hierconn *) wire [21:0]  \u_check.src_reach_q ;
  (* hierconn *) wire [16:0]  \u_check.dst_units_q ;
  (* hierconn *) wire [9:0]   \u_check.last_column ;
  (* hierconn *) wire [9:0]   \u_check.depth ;

  // ---- the operands ----
  wire [7:0]  opcode     = desc[`PTO_DESC_OPCODE];
  wire [1:0]  elem       = desc[`PTO_L0_ELEM];
  wire [23:0] src        = desc[`PTO_L0_SRC_ADDR];
  wire [27:0] dst        = desc[`PTO_L0_DST_ADDR];
  wire [16:0] m_start    = desc[`PTO_L0_M_START];
  wire [16:0] k_start    = desc[`PTO_L0_K_START];
  wire [8:0]  m_step     = desc[`PTO_L0_M_STEP];
  wire [8:0]  k_step     = desc[`PTO_L0_K_STEP];
  wire [16:0] src_stride = desc[`PTO_L0_SRC_STRIDE];
  wire [16:0] dst_stride = desc[`PTO_L0_DST_STRIDE];
  wire data = opcode == `PTO_OP_MTE_L1_L0A || opcode == `PTO_OP_MTE_L1_L0B;
  wire mx   = opcode == `PTO_OP_MTE_L1_L0A_MX || opcode == `PTO_OP_MTE_L1_L0B_MX;
  wire turn = !mx && desc[`PTO_L0_TRANSPOSE];
  wire nop  = m_step == 9'd0 || k_step == 9'd0;

  // ---- the rules but the ends ----
  wire l03 = m_start > 17'd65535 || k_start > 17'd65535 || m_step > 9'd255 || k_step > 9'd255
             || src_stride > 17'd65535 || dst_stride > 17'd65535
             || src_stride < 17'd1 || dst_stride < 17'd1;
  // Of scales dst is a multiple of 16 and a 16th of it a multiple of 32.
  wire l04 = src % 24'd32 != 24'd0 || dst % 28'd512 != 28'd0;
  wire l05 = turn && ((elem == 2'd0 && m_step % 9'd2 != 9'd0) || (elem == 2'd3 && m_step % 9'd4 != 9'd0)
                      || (elem == 2'd2 && k_step % 9'd2 != 9'd0));
  wire early = !(data || mx) || l03 || l04 || l05;
  wire [2:0] first = !(data || mx) ? 3'd0 : l03 ? 3'd3 : l04 ? 3'd4 : 3'd5;

  // ---- the loops, in fractals of 512 bytes (section 2): columns at a stride, each of a depth; of
  // scales in fragments of 32 bytes (section 4). A transposed tile has its P rows as columns of C0.
  wire [15:0] start  = mx ? m_start[15:0] : k_start[15:0];
  wire [15:0] offset = mx ? k_start[15:0] : m_start[15:0];
  wire [7:0]  steps  = (mx ? m_step[7:0] : k_step[7:0]) - 8'd1;
  wire [7:0]  length = mx ? k_step[7:0] : m_step[7:0];
  wire [11:0] p      = {m_step[7:0], 4'd0};                           // 16 * m_step
  wire [13:0] q      = elem == 2'd0 ? {1'b0, k_step[7:0], 5'd0} : elem == 2'd1 ? {2'd0, k_step[7:0], 4'd0}
                       : elem == 2'd2 ? {3'd0, k_step[7:0], 3'd0} : {k_step[7:0], 6'd0};  // C0 * k_step
  wire [11:0] p_cols = elem == 2'd0 ? p >> 5 : elem == 2'd1 ? p >> 4 : elem == 2'd2 ? p >> 3 : p >> 6;
  wire [13:0] q_rows = q >> 4;
  wire [9:0]  cols   = (turn ? p_cols[9:0] : {2'd0, mx ? m_step[7:0] : k_step[7:0]}) - 10'd1;
  wire [9:0]  depth  = turn ? q_rows[9:0] : {2'd0, length};
  wire [1:0]  place  = opcode == `PTO_OP_MTE_L1_L0A ? `PTO_L0_L0A : opcode == `PTO_OP_MTE_L1_L0B
                       ? `PTO_L0_L0B : opcode == `PTO_OP_MTE_L1_L0A_MX ? `PTO_L0_L0A_MX : `PTO_L0_L0B_MX;
  wire [20:0] base   = {2'd0, src[23:5]} + (mx ? {5'd0, offset} : {1'b0, offset, 4'd0});

  // ---- the op of the verdict ----
  reg         have = 1'b0;
  reg         early_q, nop_q, mx_q;
  reg         none_at_q, none_over_q, none_across_q;                   // a factor is 0
  reg  [2:0]  first_q;
  reg         turn_q;
  reg  [1:0]  elem_q, place_q;
  reg  [7:0]  tag_q, steps_q, length_q;
  reg  [15:0] start_q, src_stride_q, dst_stride_q;
  reg  [9:0]  cols_q, depth_q;
  reg  [14:0] base_q;
  reg  [21:0] room_q;
  reg  [27:0] dst_q;
  reg  [27:0] low_at_q;                      // products of the low bits
  reg  [21:0] low_over_q;
  reg  [16:0] low_across_q;
  wire take = rst_n && desc_valid && desc_ready;
  always @(posedge clk) if (rst_n) begin
    if (take) have <= 1'b1;
    else if (job_ready) have <= 1'b0;
    if (take) begin
      {early_q, nop_q, mx_q, first_q, tag_q} <= {early, nop, mx, first, desc_tag};
      {start_q, src_stride_q, dst_stride_q} <= {start, src_stride[15:0], dst_stride[15:0]};
      {steps_q, length_q, cols_q, depth_q, dst_q} <= {steps, length, cols, depth, dst};
      {turn_q, elem_q, place_q, base_q} <= {turn, elem, place, base[14:0]};
      {none_at_q, none_over_q, none_across_q} <= {start == 16'd0, steps == 8'd0, cols == 10'd0};
      room_q       <= 22'd16384 - {1'b0, base};
      low_at_q     <= {14'd0, start[13:0]} * {14'd0, src_stride[13:0]};
      low_over_q   <= {14'd0, steps} * {8'd0, src_stride[13:0]} + {14'd0, length};
      low_across_q <= {8'd0, \u_check.last_column [8:0]} * {10'd0, dst_stride[6:0]}
                      + {7'd0, \u_check.depth };
    end
  end

  // ---- LD-L06: what both memories have after the op, negative if it does not end in them ----
  // Products in range are those of the lemmas.
  wire at_low     = start_q < 16'd16384 && src_stride_q < 16'd16384;
  wire over_low   = src_stride_q < 16'd16384;
  wire across_low = dst_stride_q < 16'd128;
  wire [31:0] first_units  = at_low ? {4'd0, \u_check.src_first_q } : at;
  wire [23:0] reach_units  = over_low ? {2'd0, \u_check.src_reach_q } : over;
  wire [25:0] across_units = across_low ? {9'd0, \u_check.dst_units_q } : across;
  wire [40:0] src_left = {{19{\u_check.src_room_q [21]}}, \u_check.src_room_q }
                         - (\u_check.scales_q ? {9'd0, first_units} : {5'd0, first_units, 4'd0})
                         - (\u_check.scales_q ? {17'd0, reach_units} : {13'd0, reach_units, 4'd0});
  wire [37:0] dst_left = (\u_check.scales_q ? 38'd128 : 38'd2048) - (\u_check.scales_q ? {19'd0, dst_q[27:9]} : {15'd0, dst_q[27:9], 4'd0})
                         - (\u_check.scales_q ? {12'd0, across_units} : {8'd0, across_units, 4'd0});
  wire l06 = !nop_q && (src_left[40] || dst_left[37]);                 // in blocks of 32 bytes
  wire bad = early_q || l06;
  wire far = start_q >= 16'd16384                // the part does not multiply
             || (src_stride_q >= 16'd16384 && (start_q != 16'd0 || steps_q != 8'd0))
             || (dst_stride_q >= 16'd128 && cols_q != 10'd0);

  // ---- the job: an operand that moves nothing is free ----
  wire [6:0]  c0  = elem_q == 2'd0 ? 7'd32 : elem_q == 2'd1 ? 7'd16 : elem_q == 2'd2 ? 7'd8 : 7'd64;
  wire [11:0] row = mx_q ? {4'd0, length_q} : 12'd16 * length_q;       // blocks of 32 bytes
  wire pto_l0_job_t its;
  assign its.turn      = turn_q;
  assign its.unit      = mx_q ? job.unit : elem_q == 2'd3 ? 2'd0 : elem_q == 2'd0 ? 2'd1
                         : elem_q == 2'd1 ? 2'd2 : 2'd3;
  assign its.src       = base_q + (mx_q ? first_units[14:0] : 15'd16 * first_units[14:0]);
  assign its.src_pitch = steps_q == 8'd0 ? job.src_pitch
                         : mx_q ? src_stride_q[14:0] : 15'd16 * src_stride_q[14:0];
  assign its.row       = row;
  assign its.rows      = steps_q;
  assign its.dst       = ({13'd0, place_q} << (`PTO_L0_SEGMENT_SHIFT - 5))
                         | (mx_q ? dst_q[23:9] : dst_q[19:5]);
  assign its.dst_pitch = cols_q == 10'd0 ? job.dst_pitch
                         : mx_q ? dst_stride_q[14:0] : 15'd16 * dst_stride_q[14:0];
  assign its.run       = turn_q ? {5'd0, c0} - 12'd1 : row - 12'd1;    // C0 lines of a square
  assign its.mid       = cols_q[8:0];
  assign its.outer     = turn_q ? steps_q : 8'd0;

  always @* begin
    // The exact products, or where the part does not multiply, what holds of any product.
    assume(start_q < 16'd16384 || at >= {2'd0, src_stride_q, 14'd0});
    assume(src_stride_q < 16'd16384 || at >= {2'd0, start_q, 14'd0});
    assume(start_q != 16'd0 || at == 32'd0);
    assume(src_stride_q < 16'd16384 || over >= {2'd0, steps_q, 14'd0} + {16'd0, length_q});
    assume(steps_q != 8'd0 || over == {16'd0, length_q});
    assume(dst_stride_q < 16'd128 || across >= {9'd0, cols_q, 7'd0} + {16'd0, depth_q});
    assume(cols_q != 10'd0 || across == {16'd0, depth_q});
    if (rst_n) begin
      lemma_have: assert(job_valid == have);
      lemma_early: assert(!have || (\u_check.bad_q == early_q && \u_check.nop_q == nop_q
                                    && (!early_q || \u_check.rule_q == first_q)));
      lemma_form: assert(!have || (\u_check.scales_q == mx_q && \u_check.dst_q == dst_q[27:9]));
      lemma_columns: assert(\u_check.last_column == cols && \u_check.depth == depth);
      lemma_room: assert(!have || \u_check.src_room_q == room_q);
      lemma_job: assert(!have || \u_check.src_q == base_q);
      lemma_base: assert(!have || room_q[21] || room_q <= 22'd16384);
      lemma_legal: assert(!have || early_q || nop_q
                          || (src_stride_q != 16'd0 && dst_stride_q != 16'd0 && length_q != 8'd0
                              && depth_q != 10'd0 && !cols_q[9] && dst_q[8:0] == 9'd0));
      lemma_far: assert(!have || early_q || nop_q || \u_check.far_q == far);
      lemma_at: assert(!have || \u_check.src_first_q == low_at_q);
      lemma_over: assert(!have || \u_check.src_reach_q == low_over_q);
      lemma_across: assert(!have || \u_check.dst_units_q == low_across_q);
      lemma_none: assert(!have || (none_at_q == (start_q == 16'd0) && none_over_q == (steps_q == 8'd0)
                                   && none_across_q == (cols_q == 10'd0)));
      lemma_at_0: assert(!have || !none_at_q || \u_check.src_first_q == 28'd0);
      lemma_over_0: assert(!have || !none_over_q || \u_check.src_reach_q == {14'd0, length_q});
      lemma_across_0: assert(!have || !none_across_q || \u_check.dst_units_q == {7'd0, depth_q});
      taken: assert(desc_ready == (!have || job_ready));
      as_specified: assert(!have || (verdict.bad == bad && verdict.idle == (bad || nop_q)
                                     && job_tag == tag_q
                                     && (!bad || verdict.rule == (early_q ? {5'd0, first_q} : 8'd6))));
      job_exact: assert(!have || verdict.bad || nop_q || job == its);
      reach_legal: assert(!(have && !verdict.bad && !verdict.idle));
    end
  end
endmodule
